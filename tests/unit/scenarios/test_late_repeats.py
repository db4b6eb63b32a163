"""What a stage before the assembler sends again long after its pack is out: no pack twice, whatever has died since."""

import tracemalloc
from collections.abc import Iterator

import orjson
import pytest

from agents.core.packs.pack_ledger import Lacking, PackLedger
from agents.stages.assembler import Assembler
from schemas.packs import ContextPack, PartReport
from schemas.retrieval import MemoryClass
from schemas.topics import CONTEXT_PACKS, MEMORY_DECISIONS, PACKS_PARTIAL
from streams.stores.tokens import EstimatedTokens
from streams.testing.pipeline import Pipeline
from streams.topology import SPLIT
from tests.checkout import ROOT
from tests.tenants.memories import NOON, received
from tests.unit.scenarios.test_revisions import Asked, at, feed, partials

ASSEMBLER = "assembler"


@pytest.fixture(scope="module")
def several() -> list[Asked]:
    return partials("Qual a diferença entre projeto X e projeto Y?", "E qual é o prazo do projeto Y?")


@pytest.fixture
def fathom(several: list[Asked]) -> Iterator[Pipeline]:
    """Both packs are out, and committed."""
    with Pipeline(stages=[stage for stage in SPLIT if stage.name == ASSEMBLER], partitions=1) as made:
        for asked in several:
            feed(made, asked, asked)
        made.wait(5)
        assert len(made.log.of(CONTEXT_PACKS.name)) == 2
        yield made


def again(fathom: Pipeline, asked: Asked, minutes: float, *, order: list[str] | None = None) -> None:
    """The same records so much later, after the assembler died."""
    fathom.clock.advance(minutes * 60)
    fathom.crash(ASSEMBLER)
    for name in order or asked:
        record = asked[name]
        assert at(record) < fathom.clock.now()
        fathom.log.append(record.topic, record.key, record.value, record.headers, record.partition)
    fathom.settle()
    fathom.wait(120)
    fathom.settle()


@pytest.mark.covers("S0-18", "CF-14")
@pytest.mark.parametrize("minutes", [1, 4, 9, 12, 600])
def test_a_plan_that_is_sent_again_makes_no_second_pack(fathom: Pipeline, several: list[Asked], minutes: float) -> None:
    decided = len(fathom.events(MEMORY_DECISIONS))
    again(fathom, several[0], minutes)
    again(fathom, several[1], 0.1)
    assert len(fathom.log.of(CONTEXT_PACKS.name)) == 2
    assert len(fathom.events(MEMORY_DECISIONS)) == decided
    assert fathom.log.of("dead-letters.assembler") == []
    [(_, committed)] = fathom.committed(ASSEMBLER, PACKS_PARTIAL).items()
    assert committed == len(fathom.log.of(PACKS_PARTIAL.name))


def test_parts_that_come_before_their_terms_are_let_go_with_them(fathom: Pipeline, several: list[Asked]) -> None:
    again(fathom, several[0], 30, order=[*reversed(several[0])])
    assert len(fathom.log.of(CONTEXT_PACKS.name)) == 2
    assert fathom.log.of("dead-letters.assembler") == []


def test_a_plan_that_waited_as_long_and_has_no_pack_gets_one(several: list[Asked]) -> None:
    with Pipeline(stages=[stage for stage in SPLIT if stage.name == ASSEMBLER], partitions=1) as fathom:
        feed(fathom, several[0], several[0])
        again(fathom, several[1], 30)
        assert len(fathom.log.of(CONTEXT_PACKS.name)) == 2


def test_what_is_read_back_is_forgotten_first_and_a_revision_lacks_nothing() -> None:
    example = ContextPack.model_validate(
        orjson.loads((ROOT / "schemas/examples/context-packs.out/d2-degraded-en.json").read_bytes())["value"]
    )
    missing = PartReport(memory_class=MemoryClass.EPISODIC, status="missing", items=0)
    ledger = PackLedger()
    ledger.put("new", Lacking(frozenset(), NOON))
    packs = [
        example.model_copy(update={"pack_id": name, "revision": revision, "parts": (missing,)})
        for name, revision in (("old", 1), ("older", 1), ("old", 2))
    ]
    take = ledger.look_back()
    for pack in packs:
        take(received(pack, "acme"))
    ledger.remember(NOON)
    assert [*ledger] == ["older", "old", "new"]
    assert (ledger["older"].classes, ledger["old"].classes) == ({MemoryClass.EPISODIC}, set())


def test_a_partition_starts_with_twenty_thousand_packs_out_in_fifty_megabytes() -> None:
    """Decoded, each takes 28 to 38 KB. A tenth of them is started with, for a tenth of the memory."""
    value = orjson.loads((ROOT / "schemas/examples/context-packs.out/d2-degraded-en.json").read_bytes())["value"]
    packs = 2_000
    tracemalloc.start()
    try:
        take = Assembler(EstimatedTokens()).assigned(0)
        for number in range(packs):
            own = {"pack_id": f"pack-{number:06}", "conversation_id": f"conversation-{number // 4}"}
            take(received(ContextPack.model_validate(orjson.loads(orjson.dumps(value | own))), "acme"))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 50_000_000 * packs / 20_000
