"""Open joins are bounded by the bytes of their parts: the oldest is settled as if its deadline had passed."""

from collections.abc import Iterator
from datetime import timedelta

import pytest

from agents.core.packs.join import ITEM_BYTES
from agents.core.packs.join_table import JoinRules, JoinTable
from agents.stages.assembler import _summarise
from schemas.envelope import Received, Refused, Settled, Step
from schemas.packs import ContextPack
from schemas.retrieval import JoinOpened, JoinTicked, MemoryClass, PartFound
from streams.stores.tokens import EstimatedTokens
from tests.builders.events import AT, chunk, opened, part, received

LARGE = 100_000
Numbers = Iterator[int]


@pytest.fixture
def offsets() -> Numbers:
    return iter(range(1_000))


def table(max_bytes: int) -> JoinTable:
    return JoinTable(0, JoinRules(EstimatedTokens(), _summarise, max_bytes=max_bytes))


def terms(number: int) -> JoinOpened:
    return opened(message_id=f"m{number}").model_copy(update={"pack_id": f"p{number}"})


def large_part(number: int) -> PartFound:
    return part(MemoryClass.SEMANTIC, chunk(f"c{number}", "x" * LARGE), pack_id=f"p{number}")


def added(joins: JoinTable, offsets: Numbers, event: JoinOpened | PartFound) -> list[Step]:
    record: Received[JoinOpened | PartFound] = received(event, offset=next(offsets), at=AT)
    return list(joins.add(record))


def packs(steps: list[Step]) -> list[tuple[str, str]]:
    sent = [getattr(step, "event", None) for step in steps]
    return [(event.pack_id, event.settled_by) for event in sent if isinstance(event, ContextPack)]


def test_of_joins_that_take_too_many_bytes_the_oldest_is_settled_as_at_its_deadline(offsets: Numbers) -> None:
    joins = table(3 * LARGE + 10 * ITEM_BYTES)
    settled = [packs([*added(joins, offsets, terms(n)), *added(joins, offsets, large_part(n))]) for n in range(5)]
    assert settled == [[], [], [], [("p0", "deadline")], [("p1", "deadline")]]


def test_orphaned_parts_are_bounded_too(offsets: Numbers) -> None:
    joins = table(3 * LARGE + 10 * ITEM_BYTES)
    steps = [added(joins, offsets, large_part(n)) for n in range(4)]
    assert steps[:3] == [[], [], []]
    [refused] = steps[3]
    assert isinstance(refused, Refused)
    assert refused.code == "orphan_part"


def test_what_is_settled_or_comes_twice_is_not_counted(offsets: Numbers) -> None:
    joins = table(3 * LARGE + 10 * ITEM_BYTES)
    for _ in range(10):
        assert packs([*added(joins, offsets, terms(0)), *added(joins, offsets, large_part(0))]) == []
    others = [memory for memory in terms(0).wanted if memory is not MemoryClass.SEMANTIC]
    steps = [step for memory in others for step in added(joins, offsets, part(memory, pack_id="p0"))]
    assert packs(steps) == [("p0", "complete")]
    assert joins._bytes == 0


def test_a_tick_may_be_the_first_record_that_is_read(offsets: Numbers) -> None:
    assert list(table(LARGE).add(received(JoinTicked(at=AT), offset=3, at=AT))) == [Settled((("packs.partial", 0, 3),))]


@pytest.mark.covers("CF-75")
def test_parts_whose_plan_never_comes_are_refused_after_a_minute(offsets: Numbers) -> None:
    joins = table(3 * LARGE)
    assert added(joins, offsets, large_part(0)) == []
    assert not joins.due(AT + timedelta(seconds=59))
    later = AT + timedelta(seconds=61)
    assert joins.due(later)
    tick = joins.tick(later)
    record = received(tick.event, offset=next(offsets), at=later)
    [refused] = [step for step in joins.add(record) if isinstance(step, Refused)]
    assert refused.code == "orphan_part"
