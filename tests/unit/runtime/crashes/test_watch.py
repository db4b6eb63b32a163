"""What kills its process is a dead letter after three deaths, of every share of poison; what does not is handled."""

import asyncio
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from agents.errors import Unavailable
from streams.kafka.records import Record, TopicPartition
from streams.runtime.crashes import watch as watching
from streams.runtime.crashes.journal import InHand
from streams.runtime.crashes.watch import CODE, MAX_CRASHES, CrashWatch, Suspicion
from streams.stores.sessions.crash_counts import MemoryCrashCounts
from tests.builders.crash_lives import STAGE, TP, Behave, CrashLives

RECORDS = 60


@pytest.fixture(autouse=True)
def _no_respite(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "RESPITE_S", 0.01)


def poisoned(numbers: set[int], after: float = 0.0, healthy: float = 0.0005) -> Behave:
    async def behave(lives: CrashLives, number: int) -> None:
        if number in numbers:
            await asyncio.sleep(after)
            lives.die()
        await asyncio.sleep(healthy)

    return behave


def dead(lives: CrashLives) -> list[int]:
    return sorted(int(dict(letter.headers)["number"]) for letter in lives.letters)


@pytest.mark.covers("B13")
@pytest.mark.parametrize("after", [0.0, 0.003])
@pytest.mark.parametrize("poison", [{0}, {31}, {59}, {7, 8}, set(range(0, RECORDS, 10))])
def test_each_that_kills_is_a_dead_letter_after_three_deaths_and_nothing_else_is(
    tmp_path: Path, poison: set[int], after: float
):
    lives = CrashLives(tmp_path, RECORDS, poisoned(poison, after))
    asyncio.run(lives.live_on())
    assert dead(lives) == sorted(poison)
    assert set(lives.done) == set(range(RECORDS)) - poison
    assert lives.deaths <= MAX_CRASHES * len(poison)
    assert {number: lives.begun[number] for number in poison} == dict.fromkeys(poison, MAX_CRASHES)
    for letter in lives.letters:
        headers = dict(letter.headers)
        assert (headers["fathom_reason"], headers["fathom_attempts"]) == (CODE.encode(), b"3")
        assert headers["tenant"] == b"acme"
        assert letter.value == lives.log.records[TP][int(headers["number"])].value
        assert b"fathom dlq redrive" in headers["__streams.errors.message"]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.covers("B13")
def test_where_everything_kills_everything_is_a_dead_letter_and_the_partition_goes_on(tmp_path: Path):
    lives = CrashLives(tmp_path, 12, poisoned(set(range(12)), 0.001))
    asyncio.run(lives.live_on())
    assert dead(lives) == list(range(12))
    assert lives.committed == 12
    assert max(lives.begun.values()) == MAX_CRASHES


@pytest.mark.covers("B13", "AC-35")
def test_order_within_a_key_stays(tmp_path: Path):
    lives = CrashLives(tmp_path, RECORDS, poisoned({20, 33}, 0.001))
    asyncio.run(lives.live_on())
    for key in range(5):
        of_key = [number for number in lives.done if number % 5 == key]
        first = list(dict.fromkeys(of_key))
        assert first == sorted(first)


@pytest.mark.covers("B13")
@pytest.mark.parametrize("seed", range(3))
def test_kills_from_outside_make_no_dead_letter_and_lose_nothing(tmp_path: Path, seed: int):
    async def scenario() -> CrashLives:
        choose, lives = random.Random(seed), CrashLives(tmp_path, 10 * RECORDS, poisoned(set(), healthy=0.002))
        for _ in range(12):
            await lives.live(killed_after=choose.uniform(0.05, 0.2))
        await lives.live_on()
        return lives

    lives = asyncio.run(scenario())
    assert lives.deaths > 3
    assert lives.letters == []
    assert set(lives.done) == set(range(10 * RECORDS))
    assert lives.counts._counts == Counter()


@pytest.mark.covers("B13")
def test_what_was_in_hand_at_two_deaths_is_handled_alone_and_forgotten(tmp_path: Path):
    async def scenario(lives: CrashLives) -> None:
        for _ in range(2):
            assert not await lives.live(killed_after=0.05)
        assert lives.beside == [frozenset(range(40))] * 2
        assert await lives.live()

    lives = CrashLives(tmp_path, 40, poisoned(set(), healthy=0.1), keys=40)
    asyncio.run(scenario(lives))
    assert set(lives.done) == set(range(40))
    assert max(lives.most_beside.values()) == 0
    assert lives.letters == []
    assert not lives.watch.careful


def test_what_is_in_hand_for_long_holds_nobody_up_for_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(watching, "ALONE_S", 0.05)
    monkeypatch.setattr(watching, "QUIET_S", 0.05)

    async def wait(lives: CrashLives, number: int) -> None:
        await asyncio.sleep(2.0 if number < 5 else 0.001)

    async def scenario(lives: CrashLives) -> float:
        for _ in range(2):
            assert not await lives.live(killed_after=0.2)
        began = asyncio.get_running_loop().time()
        living = asyncio.ensure_future(lives.live())
        while len(set(lives.done)) < RECORDS - 5:  # noqa: ASYNC110 - of another task
            await asyncio.sleep(0.001)
        took = asyncio.get_running_loop().time() - began
        assert await living
        return took

    lives = CrashLives(tmp_path, RECORDS, wait, keys=RECORDS)
    # Five that are in hand at each death for as long as they may wait: the first one's turn, and no more.
    assert asyncio.run(scenario(lives)) < 1.5
    assert lives.letters == []


def test_a_suspect_that_waits_for_a_store_is_not_in_hand_and_lets_others_go_on(tmp_path: Path):
    down = [True]

    async def behave(lives: CrashLives, number: int) -> None:
        if number == 0 and down[0]:
            raise Unavailable("graph")
        await asyncio.sleep(0.001)

    async def scenario(lives: CrashLives) -> None:
        await lives.counts.crashed({str(InHand(STAGE, TP.topic, 0, 0)): 0})
        await lives.counts.crashed({str(InHand(STAGE, TP.topic, 0, 0)): 0})
        assert not await lives.live(killed_after=1.0)
        assert set(lives.done) == set(range(1, 10))
        assert lives.counts._counts[str(InHand(STAGE, TP.topic, 0, 0))] == 2
        down[0] = False
        assert await lives.live()

    lives = CrashLives(tmp_path, 10, behave, keys=10)
    asyncio.run(scenario(lives))
    assert lives.counts._counts == Counter()
    assert lives.letters == []


def test_while_the_store_is_away_journals_stay_for_the_next_start(tmp_path: Path):
    async def scenario(lives: CrashLives) -> None:
        lives.counts.away = True
        assert not await lives.live()
        assert not await lives.live()
        assert len(list(tmp_path.glob("*.journal"))) == 2
        lives.counts.away = False
        await lives.live_on()

    lives = CrashLives(tmp_path, 20, poisoned({4}))
    asyncio.run(scenario(lives))
    assert dead(lives) == [4]
    assert lives.deaths == 3
    assert list(tmp_path.iterdir()) == []


@pytest.mark.covers("B13")
def test_a_guilty_record_that_is_delivered_again_is_not_handled_again(tmp_path: Path):
    async def scenario(lives: CrashLives) -> None:
        await lives.live_on()
        lives._acked.discard(4)  # not committed before another death
        await lives.live_on()

    lives = CrashLives(tmp_path, 20, poisoned({4}))
    asyncio.run(scenario(lives))
    assert lives.begun[4] == MAX_CRASHES
    assert dead(lives) == [4, 4]


def test_suspects_below_the_committed_offset_are_forgotten(tmp_path: Path):
    async def scenario(lives: CrashLives) -> None:
        await lives.live_on()
        await lives.counts.crashed({str(InHand(STAGE, TP.topic, 0, 3)): 0, "of another version": 0})
        await lives.live()

    lives = CrashLives(tmp_path, 20, poisoned(set()))
    asyncio.run(scenario(lives))
    assert set(lives.counts._counts) == {"of another version"}


def test_what_kills_late_is_found_by_more_deaths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(watching, "ALONE_S", 0.02)
    lives = CrashLives(tmp_path, 30, poisoned({11}, after=0.1), keys=30)
    asyncio.run(lives.live_on())
    assert dead(lives) == [11]
    assert MAX_CRASHES < lives.deaths <= 7


@pytest.mark.covers("B13")
def test_a_process_that_ends_soon_after_its_start_whatever_it_handles_accuses_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(watching, "RESPITE_S", 0.5)

    async def scenario(lives: CrashLives) -> None:
        for _ in range(10):
            assert not await lives.live(killed_after=0.15)
        await lives.live_on()

    lives = CrashLives(tmp_path, 20, poisoned(set(), healthy=0.2), keys=20)
    asyncio.run(scenario(lives))
    assert lives.letters == []
    assert set(lives.done) == set(range(20))


@dataclass
class Waiting:
    """A record that waits for a stage."""

    record: Record


@pytest.mark.covers("B13", "AC-35")
def test_of_records_that_are_handled_together_a_suspect_is_taken_by_itself_in_its_place():
    async def scenario() -> list[list[int]]:
        counts = MemoryCrashCounts()
        watch = CrashWatch(None, counts)
        for _ in range(2):
            await counts.crashed({str(InHand("assembler", "packs.partial", 0, 2)): 0})
        await watch.assigned(["assembler"], {TopicPartition("packs.partial", 0): 0})
        ready = [Waiting(Record("packs.partial", 0, offset, 0, b"k", b"v", ())) for offset in range(5)]
        taken: list[list[int]] = []

        async def process(some: Sequence[Waiting]) -> None:
            taken.append([each.record.offset for each in some])

        while ready:
            ready = ready[await watch.process("assembler", ready, process) :]
        assert not watch.careful
        return taken

    assert asyncio.run(scenario()) == [[0, 1], [2], [3, 4]]


@pytest.mark.covers("B13")
def test_another_worker_that_gains_the_partition_knows_and_others_partitions_are_none_of_its_business():
    async def scenario() -> None:
        counts = MemoryCrashCounts()
        await counts.crashed({str(InHand("depth", "messages.in", number, 7)): 0 for number in range(4)})
        await counts.crashed({str(InHand("depth", "messages.in", number, 7)): 1 for number in range(4)})
        watch = CrashWatch(None, counts)
        await watch.assigned(["planner"], {TopicPartition("messages.in", 0): 0})
        assert not watch.careful
        await watch.assigned(["depth"], {TopicPartition("messages.in", 2): 5})
        found = [watch.suspicion("depth", Record("messages.in", number, 7, 0, b"", b"", ())) for number in range(4)]
        assert found == [None, None, Suspicion(2, 1), None]
        watch.revoked(["depth"])
        assert not watch.careful

    asyncio.run(scenario())


def test_a_gate_that_was_closed_for_suspects_that_are_cancelled_opens_again():
    async def scenario() -> None:
        counts = MemoryCrashCounts()
        await counts.crashed({str(InHand("depth", "messages.in", 0, offset)): 0 for offset in range(3)})
        await counts.crashed({str(InHand("depth", "messages.in", 0, offset)): 0 for offset in range(3)})
        watch = CrashWatch(None, counts)
        await watch.assigned(["depth"], {TopicPartition("messages.in", 0): 0})

        async def forever(_: Sequence[Waiting]) -> None:
            await asyncio.Event().wait()

        async def take(offset: int) -> None:
            record = Waiting(Record("messages.in", 0, offset, 0, b"", b"", ()))
            await watch.process("depth", [record], forever)

        tasks = [asyncio.create_task(take(offset)) for offset in range(3)]
        await asyncio.sleep(0.01)
        for task in tasks:
            task.cancel()
            await asyncio.sleep(0)
        await asyncio.gather(*tasks, return_exceptions=True)
        watch.revoked(["depth"])
        assert not watch.careful
        async with asyncio.timeout(1):
            await watch._open.wait()

    asyncio.run(scenario())


@pytest.mark.covers("B13")
def test_what_is_killed_without_a_fault_takes_one_death_more(tmp_path: Path):
    lives = CrashLives(tmp_path, 30, poisoned({11}, after=0.002))
    lives.faults = False
    asyncio.run(lives.live_on())
    assert dead(lives) == [11]
    assert lives.deaths == MAX_CRASHES + 1
