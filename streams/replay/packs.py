"""Replay of packs: the plan of reads and writes, and the run that remakes them on a topic of its own."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from aiokafka import AIOKafkaProducer

from agents.ports.models import TokenCounter
from agents.stages.assembler import Assembler
from schemas.topics import PACKS_PARTIAL
from streams import policies
from streams.config import Settings
from streams.kafka import topics_admin, topics_plan
from streams.kafka.security import security_of
from streams.replay.exact import Headers, ReplayRange, Verdict, compare
from streams.replay.log import Log, PartitionRange
from streams.replay.selection import REPLAY_HEADER, Selection

# The maximum of unacknowledged records.
UNDER_WAY = 500


@dataclass(frozen=True, slots=True)
class TopicExtent:
    """The content to read of a topic: number of records, times of the first and last (ms; None for none)."""

    topic: str
    records: int
    period: tuple[int, int] | None


async def extents(log: Log, spans: Mapping[str, Sequence[PartitionRange]]) -> list[TopicExtent]:
    """What a replay of these spans reads."""
    return [TopicExtent(topic, sum(map(len, todo)), await log.period(todo)) for topic, todo in spans.items()]


async def create(bootstrap: str, settings: Settings, name: str, topic: str, partitions: int) -> None:
    """Make the replay's own topic, like another and with as many partitions."""
    [like] = [each for each in topics_plan.wanted(partitions, settings.replication) if each.name == topic]
    await topics_admin.create_missing(bootstrap, [replace(like, name=name)], security_of(settings))


class ReplayWriter:
    """Writes records of a replay to one of its topics, several in flight; `flush` awaits all of them."""

    def __init__(self, producer: AIOKafkaProducer, topic: str, replay_id: str, marks: Headers = ()) -> None:
        self._producer = producer
        self._topic = topic
        self._marks = ((REPLAY_HEADER, replay_id.encode()), *marks)
        self._sent: list[asyncio.Future[object]] = []

    async def write(self, partition: int, key: bytes, value: bytes, headers: Headers) -> None:
        """Send a record to the partition of the recorded one."""
        marked = [*headers, *self._marks]
        sent = await self._producer.send(self._topic, value, key=key or None, partition=partition, headers=marked)
        self._sent.append(sent)
        if len(self._sent) >= UNDER_WAY:
            await self.flush()

    async def flush(self) -> None:
        """Raises the first error of a record that could not be stored."""
        sent, self._sent = self._sent, []
        await asyncio.gather(*sent)


async def remake(
    log: Log,
    todo: Sequence[ReplayRange],
    settings: Settings,
    tokens: TokenCounter,
    selection: Selection,
    writer: ReplayWriter,
    advance: Callable[[int, str], object],
) -> Verdict:
    """Remake the packs of all ranges and compare them with the recorded ones.

    The settings that affect packs must be those of the recorded ones.
    """
    verdict = Verdict()
    packs = policies.pack_policy(settings.pack_policy)
    for stretch in todo:
        assembler = Assembler(tokens, revise=settings.pack_revisions, packs=packs)
        before = verdict.records
        await compare(log, stretch, assembler, selection, verdict, writer.write)
        advance(verdict.records - before, f"{PACKS_PARTIAL.name}[{stretch.records.partition}]")
    await writer.flush()
    return verdict
