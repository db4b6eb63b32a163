"""What a process may have died of is narrowed down from death to death, by notes that the next one reads."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping

import pytest

from streams.faust.beginnings import RELEASED, Beginning
from streams.kafka.records import Record, TopicPartition
from streams.runtime.crash_loops import (
    CODE,
    MARGIN,
    MAX_DEATHS,
    PORTION,
    CarefulTurn,
    CrashGuard,
    CrashNote,
    suspicion,
)
from streams.runtime.dead_letters import Failure

TP = TopicPartition("t", 0)


class DiedError(BaseException):
    """The end of a process."""


class DyingProcess:
    """One life of a process with one group: its runner dies of poison, its notes are at the broker."""

    def __init__(self, broker: dict[str, object], poison: Mapping[int, str], end: int, stages: tuple[str, ...]) -> None:
        self._broker, self._poison, self._end, self._stages = broker, poison, end, stages
        self.handled: list[tuple[str, int]] = []
        self.dead: list[tuple[str, int, Failure]] = []
        self._acked: set[int] = set()

    def beginnings(self) -> Mapping[TopicPartition, Beginning]:
        note = self._broker.get("note")
        return {TP: Beginning(int(str(self._broker["offset"])), self._end, None if note is None else str(note))}

    async def note(self, notes: Mapping[TopicPartition, str | None]) -> None:
        self._broker |= {"offset": self._low(), "note": notes[TP] or "ahead=0"}

    def keep(self, notes: Mapping[TopicPartition, str]) -> None:
        self._broker["note"] = notes.get(TP, RELEASED)

    def _low(self) -> int:
        offset = int(str(self._broker["offset"]))
        while offset in self._acked:
            offset += 1
        return offset

    def sink(self, record: Record) -> Awaitable[None] | None:
        for stage in self._stages:
            self._handle(stage, record.offset)
        self._acked.add(record.offset)
        return None

    def load(self) -> int:
        return 0

    async def idle(self) -> None:
        return None

    async def take_stepwise(
        self, record: Record, before: Callable[[str], Awaitable[None]], refused: Mapping[str, Failure | None]
    ) -> None:
        for stage in self._stages:
            await before(stage)
            if stage not in refused:
                self._handle(stage, record.offset)
            elif (failure := refused[stage]) is not None:
                self.dead.append((stage, record.offset, failure))
                await before("")
        self._acked.add(record.offset)

    def _handle(self, stage: str, offset: int) -> None:
        self.handled.append((stage, offset))
        if self._poison.get(offset) in (stage, "any"):
            raise DiedError

    async def live(self) -> None:
        """Read everything there is; raises `DiedError`."""
        guard = CrashGuard(self, CarefulTurn())
        guard.join(self)
        guard.assigned()
        if not guard._suspects:
            await self.note({TP: None})
        for offset in range(int(str(self._broker["offset"])), self._end):
            if (waiting := guard.sink(Record("t", 0, offset, 0, b"k", b"v", ()))) is not None:
                await waiting
            if not guard._suspects and self._low() % 10 == 0:
                await self.note({TP: None})  # a commit now and then
        await asyncio.gather(*guard._tasks)
        await guard.revoked()


def lives(poison: Mapping[int, str], end: int = 60, stages: tuple[str, ...] = ("one", "two")) -> list[DyingProcess]:
    """The processes that it takes to read everything."""
    broker: dict[str, object] = {"offset": 0, "note": None}
    found: list[DyingProcess] = []
    while len(found) < 40:
        found.append(DyingProcess(broker, poison, end, stages))
        try:
            asyncio.run(found[-1].live())
        except DiedError:
            continue
        assert broker["note"] == RELEASED
        return found
    raise AssertionError("it never ends")


@pytest.mark.covers("B13")
@pytest.mark.parametrize("at", [0, 1, 33, 59])
def test_three_deaths_make_a_dead_letter_of_the_one_that_killed(at: int):
    found = lives({at: "two"})
    assert len(found) == MAX_DEATHS + 1
    [(stage, offset, failure)] = [letter for life in found for letter in life.dead]
    assert (stage, offset, failure.code, failure.attempts) == ("two", at, CODE, MAX_DEATHS)
    assert "fathom dlq redrive" in failure.detail
    assert {(stage, number) for life in found for stage, number in life.handled} >= {
        (stage, number) for stage in ("one", "two") for number in range(60) if (stage, number) != ("two", at)
    }
    assert sum(one == ("two", at) for life in found for one in life.handled) == MAX_DEATHS


@pytest.mark.covers("B13")
@pytest.mark.parametrize("many", [range(20, 23), range(0, 60, 20), range(60)])
def test_several_that_kill_are_found_one_after_the_other(many: range):
    end = min(many.stop, 60) if len(many) == 60 else 60
    end, many = (8, range(8)) if len(many) == 60 else (end, many)
    found = lives(dict.fromkeys(many, "one"), end)
    assert sorted(offset for life in found for _, offset, _ in life.dead) == list(many)
    assert len(found) - 1 <= MAX_DEATHS * len(many)


@pytest.mark.covers("B13")
def test_a_record_that_kills_two_stages_is_a_dead_letter_of_both_and_once_of_each():
    found = lives({7: "any"})
    assert sorted((stage, offset) for life in found for stage, offset, _ in life.dead) == [("one", 7), ("two", 7)]


def test_without_a_death_nothing_is_suspected():
    assert suspicion(Beginning(5, 90, None)) is None
    assert suspicion(Beginning(5, 90, RELEASED)) is None
    assert suspicion(Beginning(90, 90, "ahead=3")) is None


@pytest.mark.parametrize(
    ("note", "expected"),
    [
        ("ahead=40", CrashNote(1, 5, 5 + 40 + MARGIN)),
        ("", CrashNote(1, 5, 5 + MARGIN)),
        ("another tool's", CrashNote(1, 5, 5 + MARGIN)),
        ("deaths=1 records=2-18", CrashNote(2, 5, 18)),
        ("deaths=2 records=7-8 stage=claims", CrashNote(3, 7, 8, "claims")),
        ("deaths=2 records=2-5", CrashNote(1, 5, 5 + MARGIN)),
    ],
)
def test_a_note_tells_what_was_in_progress(note: str, expected: CrashNote):
    assert suspicion(Beginning(5, 5000, note)) == expected
    assert suspicion(Beginning(5, 5, note)) is None


def test_a_release_in_the_middle_of_a_search_leaves_it_to_the_next_owner():
    broker: dict[str, object] = {"offset": 5, "note": "deaths=1 records=5-21"}

    async def begin_and_release() -> None:
        process = DyingProcess(broker, {}, 60, ("one",))
        guard = CrashGuard(process, CarefulTurn())
        guard.join(process)
        guard.assigned()
        waiting = guard.sink(Record("t", 0, 5, 0, b"k", b"v", ()))
        assert waiting is not None
        await waiting
        await guard.revoked()

    asyncio.run(begin_and_release())
    assert broker["note"] == "deaths=1 records=6-21"


def test_others_wait_until_the_search_is_over():
    async def scenario() -> list[str]:
        turn, order = CarefulTurn(), []
        searching = DyingProcess({"offset": 0, "note": "ahead=0"}, {}, PORTION, ("one",))
        other = DyingProcess({"offset": 0, "note": RELEASED}, {}, 9, ("one",))
        first, second = CrashGuard(searching, turn), CrashGuard(other, turn)
        for guard, group in ((first, searching), (second, other)):
            guard.join(group)
            guard.assigned()
        waiting = second.sink(Record("t", 0, 0, 0, b"k", b"v", ()))
        assert waiting is not None
        later = asyncio.ensure_future(waiting)
        later.add_done_callback(lambda _: order.append("other"))
        for offset in range(PORTION):
            await asyncio.sleep(0)
            handed = first.sink(Record("t", 0, offset, 0, b"k", b"v", ()))
            assert handed is not None
            await handed
            order.append(str(offset))
        await later
        await asyncio.sleep(0)
        assert second.sink(Record("t", 0, 1, 0, b"k", b"v", ())) is None
        return order

    assert asyncio.run(scenario()) == [*map(str, range(PORTION)), "other"]
