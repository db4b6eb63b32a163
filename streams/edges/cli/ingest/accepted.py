"""Turns that the log has already, and the wait until those sent are accepted, and can be found.

The log decides, not a file beside it: an import that was interrupted goes on from whatever machine.
"""

from collections.abc import Collection, Mapping
from hashlib import blake2b

import orjson
from aiokafka import AIOKafkaConsumer, ConsumerRecord, TopicPartition

from schemas.topics import (
    CONVERSATION_TURNS,
    MEMORY_CLAIMS,
    MEMORY_CORRECTIONS,
    MEMORY_ERASURES,
    MEMORY_SUMMARIES,
    MESSAGES_IN,
    Topic,
    dead_letter_topic,
)
from streams.edges.client import clients
from streams.edges.client.clients import Connected
from streams.edges.client.document_visibility import Seen, Visibility
from streams.edges.client.send import SentRecord
from streams.kafka import log_reader

DEPTH, LEARNING = "fathom.depth", "fathom.learning"
WRITERS: Mapping[str, tuple[Topic, ...]] = {
    "fathom.index-writers": (CONVERSATION_TURNS, MEMORY_SUMMARIES),
    "fathom.graph-writers": (CONVERSATION_TURNS, MEMORY_CLAIMS, MEMORY_CORRECTIONS),
}
REFUSED = dead_letter_topic("depth")


class KnownTurns:
    """The turns of the log by conversation and id, without those that are forgotten."""

    def __init__(self) -> None:
        self._seq_of: dict[bytes, int] = {}
        self._forgotten: dict[bytes, int] = {}

    def has(self, key: bytes, message_id: str) -> bool:
        """Whether the log has this turn of the conversation with this key."""
        seq = self._seq_of.get(_hash(key, message_id))
        return seq is not None and seq > self._forgotten.get(key, -1)

    def note(self, record: ConsumerRecord) -> None:
        """Take a turn, an erasure, or a message that is not accepted yet."""
        if record.key is None or record.value is None:
            return
        try:
            said = orjson.loads(record.value)
            if record.topic == MEMORY_ERASURES.name:
                self._forgotten[record.key] = max(said["up_to_seq"], self._forgotten.get(record.key, -1))
            elif isinstance(message_id := said.get("message_id"), str):
                self._seq_of[_hash(record.key, message_id)] = said.get("seq", record.offset)
        except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError):
            return  # a record of some other writer

    def add(self, key: bytes, message_id: str) -> None:
        """Count a turn as sent."""
        self._seq_of[_hash(key, message_id)] = 2**62


def _hash(key: bytes, message_id: str) -> bytes:
    return blake2b(b"%b\0%b" % (key, message_id.encode(errors="surrogatepass")), digest_size=16).digest()


async def known_turns(bootstrap: str) -> KnownTurns:
    """What the log has: the accepted turns, and the messages that the depth stage has not come to."""
    topics = [CONVERSATION_TURNS.name, MEMORY_ERASURES.name, MESSAGES_IN.name]
    counts = await clients.partition_counts(bootstrap)
    partitions = clients.partitions_of(counts, topics)
    async with clients.administering(bootstrap) as admin:
        committed = await admin.list_consumer_group_offsets(DEPTH)
    known = KnownTurns()
    async with clients.reading(bootstrap, partitions) as consumer:
        for topic in (MESSAGES_IN.name, CONVERSATION_TURNS.name, MEMORY_ERASURES.name):
            ranges = await log_reader.full_ranges(consumer, topic, range(counts[topic]))
            if topic == MESSAGES_IN.name:
                ranges = {tp: span for tp, first_end in ranges.items() if (span := _waiting(tp, first_end, committed))}
            await _read(consumer, ranges, known)
    return known


def _waiting(
    tp: TopicPartition, bounds: tuple[int, int], committed: Mapping[TopicPartition, object]
) -> tuple[int, int] | None:
    done = getattr(committed.get(tp), "offset", 0)
    first = max(bounds[0], done)
    return (first, bounds[1]) if first < bounds[1] else None


async def _read(consumer: AIOKafkaConsumer, ranges: log_reader.Ranges, known: KnownTurns) -> None:
    if ranges:
        async for batch in log_reader.batches(consumer, ranges):
            for record in batch:
                known.note(record)


class Acceptance(Visibility):
    """Follows turns from `messages.in` to the stores."""

    def __init__(self, broker: Connected) -> None:
        super().__init__(broker, REFUSED)

    async def accepted(self, sent: Collection[SentRecord], patience: float, seen: Seen) -> dict[SentRecord, str]:
        """Return once the depth stage has come to all; the reasons for those that it refused.

        Raises `CommandFailed` after so many seconds in which nothing moved.
        """
        await self._read(sent, patience, seen, group=DEPTH, what="turns to accept")
        return await self._refusals(sent)

    async def found(self, patience: float, seen: Seen) -> None:
        """Return once what is accepted now has been read for claims and summaries, and is in the stores."""
        turns = await self._broker.ends([CONVERSATION_TURNS.name])
        await self._committed(LEARNING, turns, patience, seen, what="turns to learn from")
        for group, topics in WRITERS.items():
            ends = await self._broker.ends([each.name for each in topics])
            await self._committed(group, ends, patience, seen, what="turns, claims and summaries to store")
