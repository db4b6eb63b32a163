"""What an assessment is to the depth of a pack: advice to a caller of tools, which caps nothing (S3)."""

import pytest

from agents.core.assessment.context_needs import assess
from agents.core.depth import levels
from schemas.depth import DepthLevel
from streams.testing.pipeline import Pipeline


@pytest.mark.covers("CF-10")
@pytest.mark.parametrize(
    ("query", "level"), [("Can you explain more?", DepthLevel.D2), ("explica melhor", DepthLevel.D2)]
)
def test_asking_back_needs_no_deep_context_though_its_pack_goes_deep(query: str, level: DepthLevel):
    assert assess(query, "Discussing error handling patterns").needs_deep_context is False
    with Pipeline() as fathom:
        fathom.say("Como funciona o faturamento?")
        fathom.say("Em três fases.", role="assistant")
        assert fathom.ask(query).depth_level is level  # the advice to a caller of tools caps no pack
        assert fathom.ask(query, headers={"tier": "minimal"}).missing_sections


@pytest.mark.covers("CF-10")
def test_of_what_is_nothing_else_the_depth_decides():
    asked = {"o segundo": DepthLevel.D0, "Os projetos X e Y, comparados": DepthLevel.D2}
    for query, level in asked.items():
        made = assess(query)
        assert (made.query_type, levels.classify(query, [], lang="pt").level) == ("other", level)
        assert made.needs_deep_context is (level is DepthLevel.D2)
