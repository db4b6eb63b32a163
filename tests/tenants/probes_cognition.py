"""Short tests of isolation in cognition: whose evidence is read, under whose key a step and an answer lie."""

from typing import Any
from urllib.parse import unquote

from agents import evidence_sources
from agents.core.cognition import memory_store
from schemas.cognition import CognitionStep
from schemas.learning import ConsultationRecorded
from schemas.topics import ANSWERS_OUT, COGNITION_STEPS, MEMORY_CONSULTATIONS
from streams.testing.pipeline import Pipeline
from tests.tenants.canaries import foreign
from tests.tenants.probes import ACME, GAMA
from tests.tenants.probes_events import Noting
from tests.tenants.talks import hand_in, shown

ON: dict[str, Any] = {
    "rag_enable_cograg": True,
    "rag_cograg_verification_enabled": True,
    "rag_cograg_evidence_refinement_enabled": True,
    "rag_cograg_theme_retrieval_enabled": True,
    "rag_cograg_memory_enabled": True,
}
QUESTION = "O que diz o art. 59 da CLT sobre horas extras e em quantos dias é pago o reembolso?"
LAW = (
    "# CLT\n\n## Art. 59\n\nHoras extras {mark}: até duas por dia.\n\n"
    "## Exceções\n\nAo art. 59 da CLT cabem exceções {mark}.\n"
)


def answered() -> None:
    """Two tenants with so few hits of a search that the links of the graph bring more."""
    few = evidence_sources.CANDIDATES
    evidence_sources.CANDIDATES = 1
    try:
        _answered()
    finally:
        evidence_sources.CANDIDATES = few


def _answered() -> None:
    """Two tenants with the same ids are answered from their own documents under their own keys; no one else is read."""
    with Pipeline(partitions=1, **ON) as fathom:
        for tenant in (ACME, GAMA):
            hand_in(fathom, tenant)
            fathom.document("l1", "CLT", LAW.format(mark=tenant.canary), tenant=tenant.name)
        came: set[str] = set()
        fathom.graph, fathom.index = Noting(fathom.graph, came), Noting(fathom.index, came)  # type: ignore[assignment]
        fathom.crash("cognition")
        for tenant in (ACME, GAMA):
            fathom.say(QUESTION, tenant=tenant.name, message_id="m1")
        events = shown(fathom)
        steps = [(each.envelope.tenant, each.event) for each in fathom.events(COGNITION_STEPS)]
    assert came == {ACME.name, GAMA.name}, came
    for tenant in (ACME, GAMA):
        mine = [each for each in events[tenant.name] if each[0] in OF_COGNITION]
        assert {topic for topic, _, _ in mine} == OF_COGNITION
        assert all(unquote(key.partition("|")[0]) == tenant.name for _, key, _ in mine), "a key of somebody else's"
        assert not (wrong := foreign(tenant, *(text for _, _, text in mine))), wrong
        assert all(tenant.canary in text for topic, _, text in mine if topic == ANSWERS_OUT.name)
    assert all(isinstance(step, CognitionStep) and step.state.tenant_id == owner for owner, step in steps)
    _consultations(steps[-1][1])


def _consultations(last: CognitionStep) -> None:
    """One run of two tenants would be two consultations."""
    ids = set()
    for tenant in (ACME, GAMA):
        made = memory_store.consultation(last.state.model_copy(update={"tenant_id": tenant.name}))
        assert isinstance(made, ConsultationRecorded)
        ids.add(made.consultation_id)
    assert len(ids) == 2


OF_COGNITION = {COGNITION_STEPS.name, ANSWERS_OUT.name, MEMORY_CONSULTATIONS.name}
