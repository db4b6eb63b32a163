"""The tier that a message states caps its plan: what it does not pay for is answered as skipped, and in time."""

from collections.abc import Iterator
from datetime import timedelta

import pytest

from agents.core.packs.planning import Limits
from agents.core.packs.tiers import PROCESSING_TIERS, with_latencies
from schemas.depth import DepthLevel
from schemas.retrieval import MemoryClass, PartFound
from schemas.topics import RETRIEVAL_PLANS
from streams import config
from streams.testing.pipeline import Pipeline
from tests.builders.events import plan

M = MemoryClass
WHY = "Qual a diferença entre o projeto X e o projeto Y?"
STATE = {M.WORKING_SET, M.PERSONA}


@pytest.fixture
def fathom() -> Iterator[Pipeline]:
    with Pipeline() as pipeline:
        yield pipeline


def parts(fathom: Pipeline) -> dict[MemoryClass, PartFound]:
    return {part.memory_class: part for part in fathom.parts()}


@pytest.mark.covers("AC-65", "CF-46", "CF-47", "S3-32")
def test_a_minimal_tier_asks_no_graph_and_no_index(fathom: Pipeline) -> None:
    fathom.document("d1", "Projeto X", "O projeto X tem três fases e o prazo é dia 15.")
    fathom.say("O projeto X atrasou")
    pack = fathom.ask(WHY, headers={"tier": "minimal"})
    assert pack.depth_level is DepthLevel.D2
    found = parts(fathom)
    skipped = {memory for memory, part in found.items() if part.status == "skipped"}
    assert skipped == {M.EPISODIC, M.SEMANTIC}
    assert {found[memory].error for memory in skipped} == {"tier"}
    assert pack.missing_sections == ("episodic", "semantic")
    assert {report.memory_class: report.error for report in pack.parts if report.status == "skipped"} == {
        M.EPISODIC: "tier",
        M.SEMANTIC: "tier",
    }
    assert not pack.degraded, "what was not paid for is not broken"
    assert pack.working_set.recent_messages
    assert (pack.semantic, pack.episodic) != (None, None)
    assert pack.semantic is not None
    assert pack.semantic.knowledge_chunks == ()
    [made] = [received.event for received in fathom.events(RETRIEVAL_PLANS) if received.event.tier]
    assert made.deadline_at - made.accepted_at == timedelta(milliseconds=200)


def test_without_a_tier_nothing_is_skipped(fathom: Pipeline) -> None:
    pack = fathom.ask(WHY)
    assert {report.status for report in pack.parts} <= {"ok", "empty"}
    assert pack.missing_sections == ()


@pytest.mark.covers("S3-32")
def test_a_standard_tier_looks_for_passages_but_not_for_what_they_are_related_to(fathom: Pipeline) -> None:
    fathom.document("d1", "Projeto X", "O prazo do projeto X depende de três fases.")
    fathom.say("O prazo do projeto X é dia 15", conversation="c1")
    why = "Por que o prazo do projeto X depende das fases?"
    narrow = fathom.ask(why, headers={"tier": "standard"}, conversation="c2").semantic
    wide = fathom.ask(why, headers={"tier": "deep"}, conversation="c3").semantic
    assert narrow is not None
    assert wide is not None
    assert narrow.knowledge_chunks
    assert wide.definitions, "what was said about the subject, which the narrow pack could have had"
    assert narrow.definitions == ()


BEYOND_THE_SESSION = {
    *("user_claims_in_session", "check_knowledge_conflicts"),
    *("relevant_past_discussions", "claim_related_concepts"),
}


@pytest.mark.covers("S3-32", "CF-46")
@pytest.mark.parametrize(
    ("tier", "skipped"),
    [
        ("minimal", BEYOND_THE_SESSION),
        ("standard", {"check_knowledge_conflicts"}),
        ("deep", set()),
        (None, set()),
    ],
)
def test_what_each_tier_leaves_out_of_a_reconciliation(tier: str | None, skipped: set[str]) -> None:
    made = plan(DepthLevel.D3, tier=tier)
    assert {source.selector for source in made.sources if source.skip == "tier"} == skipped
    assert {source.memory_class for source in made.sources} >= STATE
    assert not any(source.skip for source in made.sources if source.memory_class in STATE)


@pytest.mark.covers("CF-47")
@pytest.mark.parametrize(
    ("level", "tier", "milliseconds"),
    [
        (DepthLevel.D0, "deep", 1000),
        (DepthLevel.D2, "minimal", 200),
        (DepthLevel.D1, "standard", 1000),
        (DepthLevel.D2, "deep", 2000),
        (DepthLevel.D2, None, 2000),
    ],
)
def test_the_nearer_deadline_holds(level: DepthLevel, tier: str | None, milliseconds: int) -> None:
    made = plan(level, tier=tier)
    assert made.deadline_at - made.accepted_at == timedelta(milliseconds=milliseconds)


@pytest.mark.covers("AC-66", "S3-30")
def test_tiers_are_configurable() -> None:
    limits = config.load({"FATHOM_TIER_MINIMAL_MAX_LATENCY_MS": "150"}).limits()
    made = plan(DepthLevel.D2, limits, tier="minimal")
    assert made.deadline_at - made.accepted_at == timedelta(milliseconds=150)
    deep = limits.tiers["deep"]
    assert (deep.context_retrieval, deep.semantic_expansion, deep.cross_reference) == (True, True, True)
    assert deep.max_latency_ms == 10_000
    assert Limits().tiers == PROCESSING_TIERS == with_latencies({})


@pytest.mark.covers("S0-61")
@pytest.mark.parametrize(
    ("wait_ms", "longest", "milliseconds"), [(200, 30_000, 200), (5_000, 30_000, 5_000), (90_000, 30_000, 30_000)]
)
def test_the_time_is_the_callers(wait_ms: int, longest: int, milliseconds: int) -> None:
    with Pipeline() as fathom:
        pack = fathom.ask("Bom dia!", headers={"wait_ms": str(wait_ms)})
        [made] = [received.event for received in fathom.events(RETRIEVAL_PLANS)]
        assert made.deadline_at - made.accepted_at == timedelta(milliseconds=milliseconds)
        assert pack.options is not None
        assert pack.options.wait_ms == milliseconds
        assert ("wait_ms" in pack.options.clamped) is (wait_ms > longest)


def test_no_wait_is_shorter_than_a_pack_can_be() -> None:
    with Pipeline() as fathom:
        fathom.say("Bom dia!", headers={"wait_ms": "20"})
        [letter] = fathom.log.of("dead-letters.depth")
        assert dict(letter.headers)["fathom_reason"] == b"bad_options"
