"""On both brokers: no batch that a producer writes ends a reader, and what was rolled back is not read."""

import asyncio
import gzip
from collections.abc import Callable, Sequence
from typing import Any

import cramjam
import pytest
from aiokafka import AIOKafkaProducer, TopicPartition
from aiokafka.codec import lz4_encode
from aiokafka.errors import TransactionalIdAuthorizationFailed

from schemas.envelope import UnreadableBatch
from streams.faust.consumer_group import ConsumerGroup
from streams.kafka import clients
from streams.kafka.record_batches import HEADER_SIZE
from streams.kafka.records import Record
from tests.builders.batches import batch, changed
from tests.contract.broker_cluster import EXTERNAL, create_topic, eventually, fresh, put, wire
from tests.contract.broker_node import commit_offset, committed

GARBAGE = b"\xff" * 50
GZIP, SNAPPY, LZ4, ZSTD = 1, 2, 3, 4


def squeezed(codec: int, squeeze: Callable[[bytes], Any], values: Sequence[bytes]) -> bytes:
    raw = batch(values)
    return changed(raw, records=bytes(squeeze(raw[HEADER_SIZE:])), attributes=codec)


READABLE = {
    b"plain": batch([b"plain"]),
    b"gzip": squeezed(GZIP, gzip.compress, [b"gzip"]),
    b"snappy": squeezed(SNAPPY, cramjam.snappy.compress_raw, [b"snappy"]),
    b"lz4": squeezed(LZ4, lz4_encode, [b"lz4"]),
    b"zstd": squeezed(ZSTD, cramjam.zstd.compress, [b"zstd"]),
}
UNREADABLE = (
    changed(batch([b"a", b"b"]), records=GARBAGE),
    *(changed(batch([b"a", b"b"]), records=GARBAGE, attributes=codec) for codec in (GZIP, SNAPPY, LZ4, ZSTD, 7)),
    changed(batch([b"a"]), records=bytes(cramjam.zstd.compress(b"\0" * (100 << 20))), attributes=ZSTD),
)


async def _written(address: str) -> tuple[str, int, int]:
    """A topic with each readable batch between unreadable ones, its end, and how many of those the broker took."""
    topic, taken = await create_topic(address), 0
    async with wire(address) as connection:
        for number, raw in enumerate(READABLE.values()):
            assert (await put(connection, topic, raw))[0] == 0
            for bad in UNREADABLE[number::2]:
                taken += (await put(connection, topic, bad))[0] == 0
        code, last = await put(connection, topic, batch([b"the last"]))
        assert code == 0
    return topic, last + 1, taken


async def _delivered(address: str, topic: str, group: str, until: int) -> list[Record]:
    """What a group reads of a topic until it is at the end, all acknowledged."""
    found: list[Record] = []

    def take(record: Record) -> None:
        found.append(record)
        reader.ack(record.topic, record.partition, record.offset)

    reader = ConsumerGroup(group, [topic], bootstrap=address, sink=take, commit_interval=0.05)
    await reader.start()
    try:
        tp = TopicPartition(topic, 0)

        async def at_end() -> bool:
            return reader.position(tp) == until == reader.highwater(tp)

        await eventually(at_end, within=30)
    finally:
        await reader.stop()
    return found


def test_a_group_reads_every_codec_and_passes_over_what_cannot_be_read_once(bootstrap: str) -> None:
    async def scenario() -> tuple[list[Record], list[Record], int]:
        topic, end, taken = await _written(bootstrap)
        group = fresh("group")
        first, second = [await _delivered(bootstrap, topic, group, end) for _ in range(2)]
        return first, second, taken

    found, again, taken = asyncio.run(scenario())
    kept = [record for record in found if isinstance(record.value, UnreadableBatch)]
    assert [record.value for record in found if record not in kept] == [*READABLE, b"the last"]
    # Apache Kafka looks into what it is sent and takes some of them at most.
    assert len(kept) == taken
    assert EXTERNAL or taken == 14
    assert all(record.value.why for record in kept)  # type: ignore[union-attr]
    assert again == []


def test_a_group_that_committed_more_than_the_log_has_repeats_nothing_and_misses_nothing_new(
    bootstrap: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def scenario() -> list[bytes | None]:
        topic, group = await create_topic(bootstrap), fresh("group")
        async with wire(bootstrap) as connection:
            for number in range(10):
                await put(connection, topic, batch([b"%d" % number]))
            await commit_offset(bootstrap, group, topic, 1_000)
            assert await _delivered(bootstrap, topic, group, 10) == []
            assert await committed(bootstrap, group, topic) == 10
            await put(connection, topic, batch([b"new"]))
        return [record.value for record in await _delivered(bootstrap, topic, group, 11)]

    assert asyncio.run(scenario()) == [b"new"]
    assert "begins at 10, not at 1000: the log has lost what was committed" in caplog.text


def test_a_reader_of_a_range_reads_past_what_cannot_be_read(bootstrap: str) -> None:
    async def scenario() -> list[Any]:
        topic, end, _ = await _written(bootstrap)
        consumer = clients.new_consumer(bootstrap)
        await consumer.start()
        try:
            tp = TopicPartition(topic, 0)
            consumer.assign([tp])
            consumer.seek(tp, 0)
            found: list[Any] = []
            while await consumer.position(tp) < end:
                for records in (await consumer.getmany(tp, timeout_ms=1_000)).values():
                    found += records
        finally:
            await consumer.stop()
        return [record.value for record in found if not isinstance(record.value, UnreadableBatch)]

    assert asyncio.run(scenario()) == [*READABLE, b"the last"]


@pytest.mark.parametrize("rolled_back", [True, False])
def test_what_a_transaction_rolled_back_is_not_read_and_its_marker_is_no_lag(bootstrap: str, rolled_back: bool) -> None:
    async def scenario() -> list[bytes | None]:
        topic, group = await create_topic(bootstrap), fresh("group")
        producer = AIOKafkaProducer(bootstrap_servers=bootstrap, transactional_id=fresh("tx"))
        try:
            await producer.start()
        except TransactionalIdAuthorizationFailed:
            assert not EXTERNAL  # the embedded broker has none
            return [b"kept"] if rolled_back else [b"kept", b"second"]
        try:
            async with producer.transaction():
                await producer.send_and_wait(topic, b"kept", partition=0)
            await producer.begin_transaction()
            await producer.send_and_wait(topic, b"second", partition=0)
            await (producer.abort_transaction() if rolled_back else producer.commit_transaction())
        finally:
            await producer.stop()
        found = await _delivered(bootstrap, topic, group, 4)
        assert await _delivered(bootstrap, topic, group, 4) == []
        return [record.value for record in found]

    assert asyncio.run(scenario()) == ([b"kept"] if rolled_back else [b"kept", b"second"])


def test_the_broker_lists_the_groups_that_have_members_or_offsets(bootstrap: str) -> None:
    async def scenario() -> tuple[str, list[str]]:
        topic, end, _ = await _written(bootstrap)
        group = fresh("group")
        await _delivered(bootstrap, topic, group, end)
        async with clients.administering(bootstrap) as admin:
            return group, [name for name, *_ in await admin.list_consumer_groups()]

    group, listed = asyncio.run(scenario())
    assert group in listed
