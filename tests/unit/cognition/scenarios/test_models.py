"""The models that the stage is built with."""

from agents.stages.assessor import Assessor
from agents.stages.presenter import Presenter
from streams.models.open import Models
from streams.testing.pipeline import Pipeline
from streams.topology import STAGES
from tests.unit.models.test_models import Model


def test_stages_are_built_with_what_was_opened():
    asked_for: list[str] = []
    model = Model()
    models = Models(model=lambda purpose: asked_for.append(purpose) or model)  # type: ignore[func-returns-value]
    with Pipeline(replace={"models": models}) as fathom:
        built = {stage.name: stage.handler(fathom.dependencies()) for stage in STAGES}
    assert set(asked_for) == {"depth", "assessment"}
    with Pipeline(replace={"models": models}, rag_cograg_model_tier="standard", rag_enable_cograg=True) as fathom:
        built = {stage.name: stage.handler(fathom.dependencies()) for stage in STAGES}
    assert set(asked_for) == {"depth", "assessment", "decomposition", "response", "verification"}
    assert isinstance(built["assessor"], Assessor)
    assert isinstance(built["presenter"], Presenter)
