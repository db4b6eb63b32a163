"""More messages than can be looked up for: what a pack has then, and what is not asked of the stores."""

from collections.abc import Iterator, Sequence
from datetime import timedelta

import pytest

from agents.ports.passages import Hit
from schemas.envelope import Received
from schemas.retrieval import RetrievalPlan
from schemas.topics import DEPTH_CLASSIFIED, MEMORY_DECISIONS, PACKS_PARTIAL, RETRIEVAL_PLANS
from streams.stores.passages.memory import MemoryPassageIndex
from streams.stores.passages.vectors import HashingEmbedder
from streams.telemetry import metrics
from streams.testing.pipeline import Pipeline
from streams.topology import SPLIT

D0 = "Qual o email do João Silva?"
D2 = "por quê o prazo do contrato é de três meses?"


class CountingIndex(MemoryPassageIndex):
    """How often it was searched."""

    def __init__(self) -> None:
        super().__init__(HashingEmbedder())
        self.searches = 0

    async def search(self, *args: object, **options: object) -> Sequence[Hit]:
        self.searches += 1
        return await super().search(*args, **options)


@pytest.fixture
def index() -> CountingIndex:
    return CountingIndex()


@pytest.fixture
def full() -> list[float]:
    """For how many seconds more messages have waited than can be in progress."""
    return [0.0]


@pytest.fixture
def fathom(index: CountingIndex, full: list[float]) -> Iterator[Pipeline]:
    with Pipeline(replace={"index": index, "full_for": lambda _: full[0]}) as pipeline:
        pipeline.document("d1", "Contrato", "O prazo do contrato é de três meses porque a obra é pequena.")
        pipeline.say("O prazo do contrato é de três meses.", role="assistant")
        yield pipeline


def test_in_an_overload_a_deep_question_is_not_searched_for_and_its_pack_says_so(
    fathom: Pipeline, index: CountingIndex, full: list[float]
):
    def counted() -> float:
        return metrics.OVERLOAD.labels("D2")._value.get()

    full[0], before, told = 3.0, index.searches, counted()
    pack = fathom.ask(D2)
    assert counted() == told + 1
    assert index.searches == before
    assert [message.content for message in pack.working_set.recent_messages] == ["O prazo do contrato é de três meses."]
    assert pack.degraded
    assert set(pack.degraded_reasons) == {"semantic: overload", "episodic: overload"}
    assert {"semantic", "episodic"} <= set(pack.missing_sections)
    assert len(pack.missing_sections) == len(set(pack.missing_sections))
    assert pack.evidence is None
    assert pack.text is not None
    assert "Não foi possível consultar a tempo: conversas anteriores, documentos" in pack.text


@pytest.mark.parametrize(("text", "seconds"), [(D2, 0.4), (D0, 0.4), (D0, 3.0), (D0, 60.0)])
def test_what_is_over_soon_and_simple_questions_are_searched_for(
    fathom: Pipeline, index: CountingIndex, full: list[float], text: str, seconds: float
):
    full[0], before = seconds, index.searches
    pack = fathom.ask(text)
    assert index.searches > before
    assert not pack.degraded


@pytest.mark.covers("B16")
def test_in_an_overload_of_others_a_tenant_is_looked_up_for():
    with Pipeline(replace={"full_for": lambda tenant: 0.0 if tenant == "quiet" else 3.0}) as fathom:
        degraded = {tenant: fathom.ask(D2, tenant=tenant).degraded for tenant in ("quiet", "neighbour")}
    assert degraded == {"quiet": False, "neighbour": True}


def test_in_an_overload_a_simple_question_is_waited_for_and_looked_up_though_it_is_late():
    retrieval = [stage for stage in SPLIT if stage.group_name == "retrieval"]
    with Pipeline(replace={"full_for": lambda _: 3.0}, stages=[s for s in SPLIT if s not in retrieval]) as before:
        before.say(D0)
        plan = before.log.of(RETRIEVAL_PLANS.name)[0]
        before.wait(1.9)
        assert before.packs() == []
    with Pipeline(stages=retrieval) as fathom:
        fathom.clock.at = before.clock.at
        fathom.log.append(plan.topic, plan.key, plan.value, plan.headers)
        fathom.settle()
        assert "timeout" not in {status for status, _ in parts(fathom).values()}


def test_a_classification_that_is_sent_again_makes_the_same_plan():
    with Pipeline(stages=SPLIT) as fathom:
        fathom.say(D0)
        [classified] = fathom.log.of(DEPTH_CLASSIFIED.name)
        fathom.clock.advance(5)
        fathom.log.append(classified.topic, classified.key, classified.value, classified.headers)
        fathom.settle()
        first, again = fathom.log.of(RETRIEVAL_PLANS.name)
    assert first.value == again.value


def parts(fathom: Pipeline) -> dict[str, tuple[str, str | None]]:
    return {part.memory_class.value: (part.status.value, part.error) for part in fathom.parts()}


@pytest.mark.parametrize("revisions", [False, True])
def test_a_plan_read_after_its_deadline_asks_no_store_unless_packs_are_revised(revisions: bool):
    retrieval = [stage for stage in SPLIT if stage.group_name == "retrieval"]
    with Pipeline(stages=[s for s in SPLIT if s not in retrieval]) as before:
        before.say(D2)
        plan = before.log.of(RETRIEVAL_PLANS.name)[0]
    index = CountingIndex()
    with Pipeline(stages=retrieval, replace={"index": index}, pack_revisions=revisions) as fathom:
        fathom.clock.at = before.events(RETRIEVAL_PLANS)[0].event.deadline_at + timedelta(milliseconds=1)
        fathom.log.append(plan.topic, plan.key, plan.value, plan.headers)
        fathom.settle()
        answered = parts(fathom)
        assert bool(index.searches) is revisions
        assert set(answered) == {"working_set", "episodic", "semantic", "persona"}
        assert (
            all(status == "timeout" and "expired" in str(error) for status, error in answered.values()) is not revisions
        )


def test_however_many_parts_are_late_their_pack_is_audited_once():
    retrieval = [stage for stage in SPLIT if stage.group_name == "retrieval"]
    with Pipeline(stages=[s for s in SPLIT if s not in retrieval]) as fathom:
        fathom.say(D2)
        fathom.wait(3)
        plan: Received[RetrievalPlan] = fathom.events(RETRIEVAL_PLANS)[0]
        for memory in ("semantic", "episodic", "persona", "working_set"):
            part = {
                "kind": "part", "plan_id": plan.event.plan_id, "pack_id": plan.event.pack_id,
                "message_id": plan.event.message_id, "memory_class": memory, "status": "empty",
            }  # fmt: skip
            fathom.publish(PACKS_PARTIAL, part, {"tenant": "acme"}, plan.key.encode())
        audits = [r.event for r in fathom.events(MEMORY_DECISIONS) if r.event.kind == "late-part"]
        assert len(fathom.packs()) == 1
        assert [each.detail for each in audits] == [{"missing": ["episodic", "persona", "semantic", "working_set"]}]
