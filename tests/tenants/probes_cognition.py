"""Short tests of isolation in cognition: whose evidence is read, under whose key a step and an answer lie."""

from typing import Any
from urllib.parse import unquote

from agents.cognition import evidence_sources
from agents.cognition.core import memory_store, planner
from schemas.cognition import CognitionStep
from schemas.learning import ConsultationRecorded
from schemas.topics import ANSWERS_OUT, COGNITION_STEPS, MEMORY_CONSULTATIONS
from streams.testing.pipeline import Pipeline
from tests.builders.deep_answers import broken_reasoner
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
# One conversation with the same ids in every tenant, by users of one name.
TALK = ("Vamos falar da lancha {mark} hoje.", "A lancha {mark} está no cais 14, ancorada desde maio.")
OF_TALK = "Em que cais está ancorada a lancha?"
WEB: dict[str, Any] = {"headers": {"user_id": "web"}}


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
            for number, text in enumerate(TALK):
                fathom.clock.advance(1)
                said = text.format(mark=tenant.canary)
                fathom.say(said, tenant=tenant.name, conversation="t1", message_id=f"t{number}", **WEB)
        came: set[str] = set()
        fathom.graph, fathom.index = Noting(fathom.graph, came), Noting(fathom.index, came)  # type: ignore[assignment]
        fathom.crash("cognition")
        for tenant in (ACME, GAMA):
            fathom.say(QUESTION, tenant=tenant.name, message_id="m1", **WEB)
            fathom.say(OF_TALK, tenant=tenant.name, conversation="c2", message_id="m2", deep=True, **WEB)
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
    spoken = [step.state for _, step in steps if step.state.message_id == "m2"]
    assert all(each.turn for state in spoken for each in state.passages.values()), "a talk is quoted beside nothing"
    assert {state.tenant_id for state in spoken if state.citations_used} == {ACME.name, GAMA.name}
    _consultations(next(step for _, step in reversed(steps) if step.state.message_id == "m1"))


def failed() -> None:
    """The end of a run that fails is that of its tenant."""
    with broken_reasoner(), Pipeline(partitions=1, **ON) as fathom:
        for tenant in (ACME, GAMA):
            fathom.say(QUESTION, tenant=tenant.name, message_id="m1")
        _told_of_both(fathom)
    planned, planner.planned = planner.planned, _broken
    try:
        with Pipeline(partitions=1, **ON) as fathom:
            for tenant in (ACME, GAMA):
                fathom.say(QUESTION, tenant=tenant.name, message_id="m1")
            _told_of_both(fathom)
    finally:
        planner.planned = planned


def _broken(*_: Any, **__: Any) -> Any:
    raise ZeroDivisionError("division by zero")


def _told_of_both(fathom: Pipeline) -> None:
    ends = [each for each in fathom.events(COGNITION_STEPS) if each.event.failed is not None]
    assert [each.envelope.tenant for each in ends] == [ACME.name, GAMA.name]
    for each in ends:
        owner = each.envelope.tenant
        assert unquote(each.key.partition("|")[0]) == each.event.state.tenant_id == owner, "the end of somebody else's"


def _consultations(last: CognitionStep) -> None:
    """One run of two tenants would be two consultations."""
    ids = set()
    for tenant in (ACME, GAMA):
        made = memory_store.consultation(last.state.model_copy(update={"tenant_id": tenant.name}))
        assert isinstance(made, ConsultationRecorded)
        ids.add(made.consultation_id)
    assert len(ids) == 2


OF_COGNITION = {COGNITION_STEPS.name, ANSWERS_OUT.name, MEMORY_CONSULTATIONS.name}
