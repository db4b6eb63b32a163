"""A record that kills its process is a dead letter after five deaths, and nothing else ever is for it.

Each life is a worker of its own over one partition and what the lives before left with their commits.
"""

import asyncio
import random
from collections.abc import Callable, Mapping, Sequence
from time import monotonic
from typing import Any, cast

import orjson
import pytest

from agents.concurrency import RetryUntil
from agents.errors import Unavailable
from schemas.envelope import Outgoing, Received
from schemas.topics import DOCUMENTS_IN, MEMORY_KNOWLEDGE
from streams import config
from streams.faust.crash_mark import CrashMark, PartitionMarks
from streams.faust.watermark import Watermark
from streams.kafka.records import Record, TopicPartition
from streams.runtime.group_runner import GroupRunner
from streams.runtime.suspects import CODE, SuspectTurns
from streams.stage import Stage
from streams.testing.log import MemoryMember
from streams.testing.pipeline import FakeClock, MemoryLog
from tests.unit.runtime.test_runner import OWN, document, own

TP = TopicPartition(DOCUMENTS_IN.name, 0)


class Broker:
    """The log of one partition, what is committed with which words, and what was sent."""

    def __init__(self, names: Sequence[str]) -> None:
        self.records = [document(offset, name, key=f"k{offset % 5}") for offset, name in enumerate(names)]
        self.committed: int | None = None
        self.metadata = ""
        self.sent = MemoryLog(FakeClock(), 1)
        self.handled: list[str] = []

    @property
    def letters(self) -> list[str]:
        return [orjson.loads(each.value or b"")["document_id"] for each in self.sent.of("dead-letters.ingestion")]


class Member:
    """A member as the consumer is: the same marks and the same watermark, over the broker above."""

    leased = True

    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self.left = 0
        self.marks = PartitionMarks()
        self.water = Watermark(broker.committed or 0, broker.committed)
        self.marks.begin({TP: (CrashMark.read(broker.metadata), len(broker.records))}, monotonic())
        if self.water.position < len(broker.records):
            self.commit(always=True)
            self.marks.touched([TP])

    def commit(self, *, always: bool = False) -> None:
        moved = self.water.committable()
        spared = {} if always else self.marks.spared({TP: self.water.oldest()}, monotonic())
        if moved is None and not always and not spared:
            return
        self._broker.committed = self.water.stand() if moved is None else moved
        [(_, mark)] = (self.marks.next([TP]) | spared).items()
        self._broker.metadata = mark.written()
        self.marks.stored({TP: mark})
        if moved is not None:
            self.water.commit(moved)

    def ends(self) -> None:
        self.commit(always=TP in self.marks.end())

    def ack(self, topic: str, partition: int, offset: int) -> None:
        self.water.ack(offset)

    def assignment(self) -> frozenset[TopicPartition]:
        return frozenset({TP})

    def position(self, tp: TopicPartition) -> int:
        return self.water.position

    def highwater(self, tp: TopicPartition) -> int:
        return len(self._broker.records)

    def found(self, tp: TopicPartition) -> tuple[CrashMark, int]:
        return self.marks.found[tp]

    async def leave(self, marks: Mapping[TopicPartition, CrashMark]) -> bool:
        self.left += 1
        self.marks.put(marks)
        self.commit(always=True)
        return True


class Dying:
    """A stage that dies of some records, with all that it has in hand, or of what comes from outside."""

    def __init__(self, broker: Broker, poison: Callable[[str], bool]) -> None:
        self._broker = broker
        self._poison = poison
        self.dead = asyncio.Event()
        self.most_at_once = 0
        self._in_hand = 0

    async def handle(self, record: Received[Any]) -> Sequence[Outgoing]:
        name = record.event.document_id
        self._in_hand += 1
        self.most_at_once = max(self.most_at_once, self._in_hand)
        await asyncio.sleep(0)
        if self._poison(name) or self.dead.is_set():
            self.dead.set()
            await asyncio.Event().wait()
        self._in_hand -= 1
        self._broker.handled.append(name)
        return ()


async def _life(broker: Broker, poison: Callable[[str], bool], commit_every: int, **settings: Any) -> tuple[bool, int]:
    member, stub = Member(broker), Dying(broker, poison)
    stage = Stage("ingestion", (DOCUMENTS_IN,), (MEMORY_KNOWLEDGE,), lambda d: None)
    runner = GroupRunner("ingestion", [(stage, stub)], broker.sent, config.load({}, **settings))
    runner.join(member)
    await runner.on_assigned(frozenset({TP}))
    waiting = asyncio.ensure_future(_deliver(runner, member, broker.records, commit_every))
    dying = asyncio.ensure_future(stub.dead.wait())
    await asyncio.wait({waiting, dying}, return_when=asyncio.FIRST_COMPLETED)
    if not stub.dead.is_set():
        await waiting
        member.ends()
    return stub.dead.is_set(), stub.most_at_once


async def _deliver(runner: GroupRunner, member: Member, records: Sequence[Record], commit_every: int) -> None:
    for record in records[member.water.position :]:
        member.water.deliver(record.offset, monotonic())
        if (later := runner.sink(record)) is not None:
            await later
        if commit_every and record.offset % commit_every == commit_every - 1:
            await asyncio.sleep(0)
            member.commit()
    await runner.idle()
    member.commit()


def lives(
    broker: Broker, poison: Callable[[str], bool], *, commit_every: int = 3, most: int = 60, **settings: Any
) -> int:
    """How many processes died until one came to the end; fails when there are too many."""
    for died in range(most):
        if not asyncio.run(_life(broker, poison, commit_every, **settings))[0]:
            return died
    raise AssertionError(f"{most} processes died, up to {broker.committed}: {broker.metadata}")


NAMES = [f"d{number}" for number in range(40)]


@pytest.mark.covers("B13", "CF-67")
@pytest.mark.parametrize("commit_every", [0, 1, 3, 10])
@pytest.mark.parametrize("bad", ["d0", "d1", "d17", "d39"])
def test_a_record_that_kills_is_a_dead_letter_after_five_deaths(bad: str, commit_every: int) -> None:
    broker = Broker(NAMES)
    died = lives(broker, lambda name: name == bad, commit_every=commit_every)
    # One more for each that came further before it died.
    assert 4 <= died <= (5 if bad == "d0" else 7)
    assert broker.letters == [bad]
    assert {*broker.handled} == {*NAMES} - {bad}
    assert (broker.committed, broker.metadata) == (40, "")


@pytest.mark.covers("B13", "CF-67")
def test_its_dead_letter_says_how_many_died_and_has_its_bytes() -> None:
    broker = Broker(NAMES)
    lives(broker, lambda name: name == "d5", commit_every=0)
    [letter] = broker.sent.of("dead-letters.ingestion")
    headers = {name: value.decode(errors="replace") for name, value in letter.headers}
    assert (headers["fathom_reason"], letter.value) == (CODE, broker.records[5].value)
    assert "5 processes died of it, the last 2 with nothing else in hand" in headers["__streams.errors.message"]


@pytest.mark.covers("B13")
@pytest.mark.parametrize("bad", [["d3", "d4", "d5"], ["d0", "d20", "d39"], [f"d{n}" for n in range(0, 40, 4)]])
def test_each_of_several_has_deaths_of_its_own(bad: list[str]) -> None:
    broker = Broker(NAMES)
    assert lives(broker, lambda name: name in bad) <= 6 * len(bad)
    assert broker.letters == bad
    assert {*broker.handled} == {*NAMES} - {*bad}


@pytest.mark.covers("B13", "CF-67")
def test_what_is_given_up_is_committed_before_anything_else_is_begun() -> None:
    """Or it would be a dead letter a second time where the process dies of a suspect of another partition."""
    broker = Broker(NAMES)
    broker.committed, broker.metadata = 5, "deaths 5, alone 5, times 2"

    async def given_up() -> None:
        member = Member(broker)
        stage = Stage("ingestion", (DOCUMENTS_IN,), (MEMORY_KNOWLEDGE,), lambda d: None)
        runner = GroupRunner("ingestion", [(stage, Dying(broker, bool))], broker.sent, config.load({}))
        runner.join(member)
        await runner.on_assigned(frozenset({TP}))
        member.water.deliver(5, monotonic())
        if (later := runner.sink(broker.records[5])) is not None:
            await later
        await runner.idle()

    asyncio.run(given_up())
    assert (broker.letters, broker.handled) == (["d5"], [])
    assert (broker.committed, broker.metadata) == (6, "")


@pytest.mark.covers("B13")
@pytest.mark.parametrize("seed", range(30))
def test_kills_from_outside_make_no_dead_letter(seed: int) -> None:
    """At random, but each after some records were done: three in a row at one place would be a poison to anybody."""
    chance = random.Random(seed)
    broker, last = Broker(NAMES), [0]

    def killed(_name: str) -> bool:
        if len(broker.handled) < last[0] + 6 or chance.random() > 0.2:
            return False
        last[0] = len(broker.handled)
        return True

    lives(broker, killed, commit_every=chance.choice([1, 2, 5]))
    assert broker.letters == []
    assert {*broker.handled} == {*NAMES}
    assert broker.metadata == ""


@pytest.mark.covers("B13")
def test_processes_that_lived_on_with_a_record_before_they_were_killed_are_not_counted_at_it() -> None:
    """As where a record waits for minutes, or a writer is behind, and workers are killed again and again."""
    broker = Broker(NAMES)
    for lived, words in [(5.0, "deaths 1"), (5.0, "deaths 2"), (11.0, ""), (11.0, ""), (5.0, "deaths 1")]:
        member = Member(broker)
        member.water.deliver(0, monotonic() - lived)
        member.commit()
        assert broker.metadata == words


@pytest.mark.covers("B13")
def test_a_process_with_nothing_of_a_partition_in_hand_is_not_counted_there() -> None:
    broker = Broker(NAMES)
    broker.committed, broker.metadata = 0, "deaths 1"
    member = Member(broker)
    assert broker.metadata == "deaths 2"
    assert member.marks.spared({TP: None}, monotonic()) == {}
    assert member.marks.spared({TP: None}, monotonic() + 11) == {TP: CrashMark()}


@pytest.mark.covers("B13")
def test_what_was_alone_in_hand_at_a_death_is_remembered_however_long_the_next_process_lives() -> None:
    broker = Broker(NAMES)
    broker.committed, broker.metadata = 0, "deaths 3, alone 7, times 1"
    member = Member(broker)
    member.water.deliver(0, monotonic() - 60)
    member.commit()
    assert broker.metadata == "deaths 4, alone 7, times 1"


@pytest.mark.covers("B13")
def test_one_kill_while_a_record_is_alone_accuses_nobody() -> None:
    """The third in a row without a commit, as it happens where a record waits and workers are killed: all go on."""
    broker = Broker(NAMES)
    killed = iter([True, True, True])

    def poison(name: str) -> bool:
        return name == "d7" and next(killed, False)

    assert lives(broker, poison) == 3
    assert broker.letters == []
    assert {*broker.handled} == {*NAMES}
    assert broker.metadata == ""


@pytest.mark.covers("B13")
@pytest.mark.parametrize("wait", ["a store", "what it names"])
def test_what_waits_is_alone_no_longer_and_others_go_on_with_what_it_waits_for(wait: str) -> None:
    async def scenario() -> list[str]:
        came, seen = asyncio.Event(), list[str]()

        async def look() -> bool | None:
            return came.is_set() or None

        class Waiting:
            async def handle(self, record: Received[Any]) -> Sequence[Outgoing]:
                seen.append(record.event.document_id)
                if record.event.document_id == "second":
                    came.set()
                elif wait == "what it names":
                    assert await RetryUntil(60.0).find(look)
                elif not came.is_set():
                    raise Unavailable("index", "is away")
                return ()

        broker = Broker(["first", "second"])
        broker.committed, broker.metadata = 0, "deaths 2"
        stage = Stage("ingestion", (DOCUMENTS_IN,), (MEMORY_KNOWLEDGE,), lambda d: None)
        runner = GroupRunner("one", [(stage, Waiting())], broker.sent, config.load({}))
        runner.join(Member(broker))
        await runner.on_assigned(frozenset({TP}))
        async with asyncio.timeout(10):
            for record in broker.records:
                if (later := runner.sink(record)) is not None:
                    await later
            await runner.idle()
        assert broker.metadata in ("deaths 1", "deaths 2")
        return seen

    assert {*asyncio.run(scenario())} == {"first", "second"}


@pytest.mark.covers("B13")
def test_what_stands_behind_a_record_that_waits_for_another_group_stops_nobody() -> None:
    async def scenario() -> list[str]:
        turns, came, seen = SuspectTurns(), asyncio.Event(), list[str]()

        async def look() -> bool | None:
            return came.is_set() or None

        class Waiting:
            async def handle(self, record: Received[Any]) -> Sequence[Outgoing]:
                name = record.event.document_id
                if name == "first":
                    assert await RetryUntil(60.0).find(look)
                elif name == "other":
                    came.set()
                seen.append(name)
                return ()

        def group(name: str, broker: Broker) -> GroupRunner:
            stage = Stage("ingestion", (DOCUMENTS_IN,), (MEMORY_KNOWLEDGE,), lambda d: None)
            runner = GroupRunner(name, [(stage, Waiting())], broker.sent, config.load({}), suspect_turns=turns)
            runner.join(Member(broker))
            return runner

        # The first and the last have one key.
        dying = Broker(["first", *(f"d{number}" for number in range(4)), "behind"])
        dying.committed, dying.metadata = 0, "deaths 2"
        one, other = group("one", dying), group("other", Broker(["other"]))
        for runner in (one, other):
            await runner.on_assigned(frozenset({TP}))
        async with asyncio.timeout(10):
            for record in dying.records:
                if (later := one.sink(record)) is not None:
                    await later
            while "d3" not in seen:  # noqa: ASYNC110 - it has no event of its own
                await asyncio.sleep(0)
            await asyncio.sleep(0.05)
            if (later := other.sink(document(0, "other"))) is not None:
                await later
            await one.idle()
        return seen

    assert asyncio.run(scenario())[-2:] == ["first", "behind"]


@pytest.mark.covers("B13")
def test_records_of_a_conversation_stay_in_order_across_topics_of_which_one_is_suspected() -> None:
    """Else a join would see a pack after what follows from it."""

    async def scenario() -> list[str]:
        seen = list[str]()

        class Noting:
            async def handle(self, record: Received[Any]) -> Sequence[Outgoing]:
                seen.append(record.event.document_id)
                return ()

        log = MemoryLog(FakeClock(), 1)
        member = MemoryMember(log)
        member.left[TP] = CrashMark(2)
        records = [document(0, "first", key="k"), own(document(0, "second", key="k"))]
        for record in records:
            log.records[TopicPartition(record.topic, 0)].append(cast("Any", record))
        stage = Stage("ingestion", (DOCUMENTS_IN, OWN), (MEMORY_KNOWLEDGE,), lambda d: None)
        runner = GroupRunner("one", [(stage, Noting())], log, config.load({}))
        runner.join(member)
        await runner.on_assigned(frozenset(TopicPartition(record.topic, 0) for record in records))
        for record in records:
            if (later := runner.sink(record)) is not None:
                await later
        await runner.idle()
        return seen

    assert asyncio.run(scenario()) == ["first", "second"]


def test_without_the_setting_a_record_kills_for_ever() -> None:
    with pytest.raises(AssertionError, match="60 processes died, up to"):
        lives(Broker(NAMES), lambda name: name == "d5", max_crashes=0)


def test_after_two_deaths_at_one_place_suspects_are_in_hand_together_then_one_at_a_time() -> None:
    broker = Broker(NAMES)

    def life() -> tuple[int, str]:
        together = asyncio.run(_life(broker, lambda name: name == "d5", 0))[1]
        return together, broker.metadata

    assert [life() for _ in range(5)] == [
        (5, "deaths 1"), (5, "deaths 2"), (5, "deaths 3, alone 0-39, times 1"),
        (1, "deaths 4, alone 5, times 1"), (1, "deaths 5, alone 5, times 2"),
    ]  # fmt: skip


def test_many_suspects_of_many_kills_cost_few_commits_and_others_go_on_between() -> None:
    """One by one, 256 of some forty partitions after a run with kills were minutes of records to read."""

    async def scenario() -> tuple[list[str], int]:
        turns, seen = SuspectTurns(), list[str]()

        class Noting:
            async def handle(self, record: Received[Any]) -> Sequence[Outgoing]:
                seen.append(record.event.document_id)
                return ()

        def group(name: str, broker: Broker) -> tuple[GroupRunner, Member]:
            stage = Stage("ingestion", (DOCUMENTS_IN,), (MEMORY_KNOWLEDGE,), lambda d: None)
            runner, member = (
                GroupRunner(name, [(stage, Noting())], broker.sent, config.load({}), suspect_turns=turns),
                Member(broker),
            )
            runner.join(member)
            return runner, member

        dying = Broker([f"s{number}" for number in range(300)])
        dying.committed, dying.metadata = 0, "deaths 2"
        (one, member), (other, _) = group("one", dying), group("other", Broker(["b"]))
        for runner in (one, other):
            await runner.on_assigned(frozenset({TP}))
        reading = asyncio.create_task(_deliver(one, member, dying.records, 0))
        while not turns.busy:  # noqa: ASYNC110 - of a task of its own
            await asyncio.sleep(0)
        later = other.sink(document(0, "b"))
        assert later is not None
        await later
        await reading
        assert dying.metadata == "deaths 1"
        return seen, member.left

    seen, left = asyncio.run(scenario())
    assert {*seen} == {"b", *(f"s{number}" for number in range(300))}
    assert seen.index("b") <= 64
    assert left <= 2 * 256 / 64


def test_no_group_begins_anything_beside_a_record_that_is_alone() -> None:
    """Else it would be blamed for what that does."""

    async def scenario() -> list[str]:
        turns, seen = SuspectTurns(), list[str]()
        hold = asyncio.Event()

        class Noting:
            async def handle(self, record: Received[Any]) -> Sequence[Outgoing]:
                seen.append(record.event.document_id)
                if record.event.document_id == "suspect":
                    await hold.wait()
                return ()

        def group(name: str, broker: Broker) -> GroupRunner:
            stage = Stage("ingestion", (DOCUMENTS_IN,), (MEMORY_KNOWLEDGE,), lambda d: None)
            runner = GroupRunner(name, [(stage, Noting())], broker.sent, config.load({}), suspect_turns=turns)
            runner.join(Member(broker))
            return runner

        dying = Broker(["suspect", "next"])
        dying.committed, dying.metadata = 0, "deaths 2"
        one, other = group("one", dying), group("other", Broker(["a", "b"]))
        for runner in (one, other):
            await runner.on_assigned(frozenset({TP}))
        assert other.sink(document(0, "a")) is None
        first = one.sink(dying.records[0])
        assert first is not None
        await first
        while not turns.busy:  # noqa: ASYNC110 - of a task of its own
            await asyncio.sleep(0)
        later, after = other.sink(document(1, "b")), one.sink(dying.records[1])
        assert later is not None
        assert after is not None
        waiting = asyncio.gather(later, after)
        await asyncio.sleep(0.02)
        assert seen == ["a", "suspect"]
        assert dying.metadata == "deaths 3, alone 0, times 1"
        hold.set()
        await waiting
        await one.idle()
        return seen

    assert sorted(asyncio.run(scenario())[2:]) == ["b", "next"]


@pytest.mark.parametrize(
    ("words", "mark"),
    [
        ("", CrashMark()),
        ("deaths 2", CrashMark(2)),
        ("deaths 3, alone 17, times 1", CrashMark(3, range(17, 18), 1)),
        ("deaths 3, alone 17-80, times 1", CrashMark(3, range(17, 81), 1)),
        ("by kafka-consumer-groups", CrashMark()),
        ("deaths -1", CrashMark()),
        ("deaths 2, alone", CrashMark()),
    ],
)
def test_what_is_left_with_a_commit_is_read_and_others_words_say_nothing(words: str, mark: CrashMark) -> None:
    assert CrashMark.read(words) == mark
    assert CrashMark.read(mark.written()) == mark
