"""What was sent before: fingerprints of the documents in the log, so that only changes are sent again.

The log decides, not a file beside it: the stores are filled from it, whoever sent a document and from where.
"""

import asyncio
from hashlib import blake2b

import orjson
from aiokafka import AIOKafkaConsumer, ConsumerRecord

from schemas.base import entity_key
from schemas.topics import DOCUMENTS_IN, dead_letter_topic
from streams.edges.client import clients
from streams.edges.client.records import OutgoingRecord
from streams.kafka import log_reader
from streams.runtime.dead_letters import place_of

REFUSED = dead_letter_topic("ingestion")
# A longer log is not read to its end, and everything is sent: again is harmless, only slower.
SECONDS = 30.0
# Documents may have some megabytes each.
READ_AT_ONCE = 50


class KnownDocuments:
    """The fingerprints of the newest version of each document, by key: of its bytes, and of its fields without date."""

    def __init__(self) -> None:
        self._of_key: dict[bytes, tuple[bytes, bytes]] = {}
        self._places: dict[tuple[int, int], bytes] = {}

    def has(self, prepared: OutgoingRecord, *, as_it_is: bool) -> bool:
        """Whether the newest version is equal; `as_it_is` for one that states its own date."""
        known = self._of_key.get(prepared.key)
        if known is None:
            return False
        return known[0] == _hash(prepared.value) if as_it_is else known[1] == _undated(prepared.value)

    def names(self, tenant: str, document_id: str) -> bool:
        """Whether there is a document of this id."""
        return entity_key(tenant, document_id).encode() in self._of_key

    def note(self, record: ConsumerRecord) -> None:
        """Keep a later version of a document."""
        if record.key is not None and record.value is not None:
            self._of_key[record.key] = _hash(record.value), _undated(record.value)
            self._places[record.partition, record.offset] = record.key

    def forget(self, refused: ConsumerRecord) -> None:
        """Forget a document that ingestion refused, by its dead letter."""
        if (place := place_of(refused.headers)) is not None:
            self._of_key.pop(self._places.get((place.partition, place.offset), b""), None)


async def sent_before(bootstrap: str) -> KnownDocuments:
    """The documents in the log; none where it takes too long to read."""
    partitions = clients.partitions_of(await clients.partition_counts(bootstrap), [DOCUMENTS_IN.name, REFUSED])
    async with clients.reading(bootstrap, partitions) as consumer:
        try:
            async with asyncio.timeout(SECONDS):
                return await _read(consumer, len(partitions) // 2)
        except TimeoutError:
            return KnownDocuments()


async def _read(consumer: AIOKafkaConsumer, count: int) -> KnownDocuments:
    known = KnownDocuments()
    ranges = await log_reader.full_ranges(consumer, DOCUMENTS_IN.name, range(count))
    async for batch in log_reader.batches(consumer, ranges, most=READ_AT_ONCE):
        for record in batch:
            known.note(record)
    ranges = await log_reader.full_ranges(consumer, REFUSED, range(count))
    async for batch in log_reader.batches(consumer, ranges):
        for record in batch:
            known.forget(record)
    return known


def _hash(value: bytes) -> bytes:
    return blake2b(value, digest_size=16).digest()


def _undated(value: bytes) -> bytes:
    try:
        fields = orjson.loads(value)
    except orjson.JSONDecodeError:
        return b""
    if not isinstance(fields, dict):
        return b""
    fields.pop("created_at", None)
    return _hash(orjson.dumps(fields, option=orjson.OPT_SORT_KEYS))
