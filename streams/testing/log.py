"""An in-memory log for tests: topics as lists, group positions, and the readers of views."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta

from agents.core.conversation.session_state import Recorded
from schemas import codec
from schemas.base import Event
from schemas.envelope import Received
from schemas.topics import BY_NAME, CONVERSATION_TURNS, DEPTH_CLASSIFIED, MEMORY_ERASURES
from streams.faust.crash_mark import NO_DEATHS, CrashMark
from streams.kafka.producer import StoredAt
from streams.kafka.records import Record, TopicPartition
from streams.views import tool_log
from streams.views.turn_log import recorded

EPOCH = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


class FakeClock:
    """A clock that tests advance."""

    def __init__(self, at: datetime = EPOCH) -> None:
        self.at = at

    def now(self) -> datetime:
        return self.at

    def advance(self, seconds: float) -> None:
        self.at += timedelta(seconds=seconds)


class MemoryLog:
    """Topics as lists of records; sends to topics in `refuse` fail like an unreachable broker."""

    def __init__(self, clock: FakeClock, partitions: int) -> None:
        self._clock = clock
        self.partitions = partitions
        self.records: dict[TopicPartition, list[Record]] = defaultdict(list)

    async def send(
        self,
        topic: str,
        key: bytes | None,
        value: bytes | None,
        headers: Sequence[tuple[str, bytes]],
        partition: int | None = None,
    ) -> "asyncio.Future[StoredAt]":
        done: asyncio.Future[StoredAt] = asyncio.get_running_loop().create_future()
        done.set_result(self.append(topic, key, value, headers, partition))
        return done

    def append(
        self,
        topic: str,
        key: bytes | None,
        value: bytes | None,
        headers: Iterable[tuple[str, bytes]] = (),
        partition: int | None = None,
    ) -> Record:
        assert key is not None or value is not None, "Kafka's client sends no such record"
        if partition is None:
            partition = sum(key or b"") % self.partitions
        log = self.records[TopicPartition(topic, partition)]
        stamp = int(self._clock.now().timestamp() * 1000)
        log.append(Record(topic, partition, len(log), stamp, key, value, tuple(headers)))
        return log[-1]

    def of(self, topic: str) -> list[Record]:
        """All records of a topic, partition by partition."""
        return [record for tp in sorted(self.records) if tp.topic == topic for record in self.records[tp]]


class MemoryMember:
    """The consumer group of a runner over the in-memory log."""

    def __init__(self, log: MemoryLog) -> None:
        self._log = log
        self.read: dict[TopicPartition, int] = defaultdict(int)
        self.acked: dict[TopicPartition, set[int]] = defaultdict(set)
        self.left: dict[TopicPartition, CrashMark] = {}
        self.leased = True

    def ack(self, topic: str, partition: int, offset: int) -> None:
        self.acked[TopicPartition(topic, partition)].add(offset)

    def assignment(self) -> frozenset[TopicPartition]:
        return frozenset(self.read)

    def position(self, tp: TopicPartition) -> int:
        return self.read[tp]

    def highwater(self, tp: TopicPartition) -> int:
        return len(self._log.records.get(tp, ()))

    def found(self, tp: TopicPartition) -> tuple[CrashMark, int]:
        return self.left.get(tp, NO_DEATHS), self.highwater(tp)

    async def leave(self, marks: Mapping[TopicPartition, CrashMark]) -> bool:
        self.left.update(marks)
        return True

    def committed(self, tp: TopicPartition) -> int:
        """The low watermark: everything before it is acknowledged."""
        offset = 0
        while offset in self.acked[tp]:
            offset += 1
        return offset


class _MemoryViewLog:
    def __init__(self, of: Callable[[str], Sequence[Record]]) -> None:
        self._of = of
        self.reads = 0


class MemoryTurnLog(_MemoryViewLog):
    """A `TurnLog` over records from a function; `reads` counts its reads."""

    async def read(
        self, partitions: Collection[int], span: timedelta | None
    ) -> AsyncGenerator[Mapping[int, Sequence[Recorded]], None]:
        """The turns of each partition, with their depth: of its last `span` of time, with None all."""
        self.reads += 1
        wanted = [record for record in self._of(CONVERSATION_TURNS.name) if record.partition in partitions]
        last = {record.partition: record.timestamp for record in wanted}
        if span is not None:
            milliseconds = int(span.total_seconds() * 1000)
            wanted = [record for record in wanted if record.timestamp >= last[record.partition] - milliseconds]
        others = [
            record
            for topic in (DEPTH_CLASSIFIED, MEMORY_ERASURES)
            for record in self._of(topic.name)
            if record.partition in partitions
        ]
        yield await recorded(_each(map(decoded, (*wanted, *others))), partitions)


class MemoryToolLog(_MemoryViewLog):
    """A `ToolLog` over records from a function; `reads` counts its reads."""

    async def read(
        self, partitions: Collection[int], span: timedelta | None
    ) -> AsyncGenerator[Mapping[int, Sequence[Received[Event]]], None]:
        """Verdicts, confirmations and results of each partition: of its last `span` of time, with None all."""
        self.reads += 1
        topics = (*tool_log.TOPICS, MEMORY_ERASURES.name)
        records = [each for topic in topics for each in self._of(topic) if each.partition in partitions]
        found = list(map(decoded, records))
        last = {(each.topic, each.partition): each for each in found if each.topic in tool_log.TOPICS}
        since = {} if span is None else tool_log.beginnings(last.values(), span)
        yield tool_log.by_partition(
            (each for each in found if each.timestamp >= since.get(each.partition, 0)), partitions
        )


async def _each(events: Iterable[Received[Event]]) -> AsyncIterator[Received[Event]]:
    for event in events:
        yield event


def decoded(record: Record) -> Received[Event]:
    """The event of a record."""
    return codec.decode_record(BY_NAME[record.topic], record)
