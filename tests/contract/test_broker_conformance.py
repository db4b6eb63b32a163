"""Records, topics and offsets: what any Kafka broker must do, on the embedded one or on FATHOM_TEST_KAFKA."""

import asyncio
import struct
import time

import pytest
from aiokafka.errors import MessageSizeTooLargeError
from aiokafka.protocol import metadata, transaction

from tests.contract.broker_cluster import (
    Wire,
    batch,
    bounds,
    consumer,
    create_topic,
    eventually,
    fetch_request,
    fresh,
    producer,
    put,
    read_values,
    wire,
)

CORRUPT, UNKNOWN_TOPIC, TOO_LARGE = 2, 3, 10
BAD_RECORD = 87
OUT_OF_RANGE, GAP, OLD_EPOCH, UNSUPPORTED = 1, 45, 47, 35


def test_a_record_comes_back_with_key_value_headers_and_timestamp(bootstrap: str) -> None:
    async def scenario() -> None:
        topic = await create_topic(bootstrap)
        headers = [("ce_type", b"chat.v1"), ("empty", b"")]
        async with producer(bootstrap) as client:
            sent = await client.send_and_wait(
                topic, b"value", key=b"key", headers=headers, timestamp_ms=1_700_000_000_123
            )
        async with consumer(bootstrap, topic) as reader:
            record = await asyncio.wait_for(reader.getone(), 10)
        assert (record.key, record.value, list(record.headers)) == (b"key", b"value", headers)
        assert (record.offset, record.timestamp) == (sent.offset, 1_700_000_000_123)

    asyncio.run(scenario())


def test_a_tombstone_keeps_its_null_value(bootstrap: str) -> None:
    async def scenario() -> list[bytes | None]:
        topic = await create_topic(bootstrap)
        async with producer(bootstrap) as client:
            await client.send_and_wait(topic, None, key=b"key")
            await client.send_and_wait(topic, b"", key=b"key")
        return await read_values(bootstrap, topic, 2)

    assert asyncio.run(scenario()) == [None, b""]


def test_each_partition_keeps_its_order_and_counts_its_own_offsets(bootstrap: str) -> None:
    async def scenario() -> None:
        topic = await create_topic(bootstrap, partitions=3)
        async with producer(bootstrap, linger_ms=2) as client:
            sends = [await client.send(topic, b"%d" % i, partition=i % 3) for i in range(300)]
            offsets = [(await sent).offset for sent in sends]
        assert offsets == [i // 3 for i in range(300)]
        for partition in range(3):
            got = await read_values(bootstrap, topic, 100, partition=partition)
            assert got == [b"%d" % i for i in range(partition, 300, 3)]

    asyncio.run(scenario())


def test_a_gzip_batch_is_stored_and_returned_as_it_came(bootstrap: str) -> None:
    async def scenario() -> list[bytes | None]:
        topic = await create_topic(bootstrap)
        async with producer(bootstrap, compression_type="gzip", linger_ms=20) as client:
            sends = [await client.send(topic, b"x" * 500 + b"%d" % i) for i in range(50)]
            await asyncio.gather(*sends)
        return await read_values(bootstrap, topic, 50)

    assert asyncio.run(scenario()) == [b"x" * 500 + b"%d" % i for i in range(50)]


def test_a_message_just_below_the_limit_passes_and_one_above_is_too_large(bootstrap: str) -> None:
    async def scenario() -> None:
        topic = await create_topic(bootstrap)
        async with producer(bootstrap, max_request_size=4_000_000) as client:
            await client.send_and_wait(topic, b"m" * 1_000_000)
            with pytest.raises(MessageSizeTooLargeError):
                await client.send_and_wait(topic, b"m" * 1_100_000)
            await client.send_and_wait(topic, b"after")
        assert await read_values(bootstrap, topic, 2) == [b"m" * 1_000_000, b"after"]

    asyncio.run(scenario())


def test_a_topic_may_have_a_limit_of_its_own(bootstrap: str) -> None:
    async def scenario() -> None:
        topic = await create_topic(bootstrap, configs={"max.message.bytes": "1000"})
        async with wire(bootstrap) as connection:
            assert (await put(connection, topic, batch(b"m" * 2000)))[0] == TOO_LARGE
            assert await put(connection, topic, batch(b"m" * 500)) == (0, 0)

    asyncio.run(scenario())


def test_a_damaged_batch_is_refused_and_the_connection_lives_on(bootstrap: str) -> None:
    good = batch(b"one", b"two")
    flipped = good[:-1] + bytes((good[-1] ^ 1,))

    async def scenario() -> None:
        topic = await create_topic(bootstrap)
        async with wire(bootstrap) as connection:
            assert (await put(connection, topic, flipped))[0] == CORRUPT
            assert await put(connection, topic, good) == (0, 0)
            assert await bounds(connection, topic) == (0, 2)

    asyncio.run(scenario())


def test_a_batch_without_records_is_refused(bootstrap: str) -> None:
    async def scenario() -> None:
        topic = await create_topic(bootstrap)
        async with wire(bootstrap) as connection:
            assert (await put(connection, topic, batch()))[0] == BAD_RECORD
            assert await bounds(connection, topic) == (0, 0)

    asyncio.run(scenario())


def test_neither_produce_nor_metadata_creates_a_topic(bootstrap: str) -> None:
    async def scenario() -> None:
        topic = fresh("never")
        async with wire(bootstrap) as connection:
            assert (await put(connection, topic, batch(b"lost")))[0] == UNKNOWN_TOPIC
            for _ in range(2):
                answer = await connection.ask(metadata.MetadataRequest_v4([topic], True))
                assert answer.topics[0][0] == UNKNOWN_TOPIC

    asyncio.run(scenario())


def test_produce_to_a_partition_that_does_not_exist_is_an_unknown_partition(bootstrap: str) -> None:
    async def scenario() -> list[int]:
        topic = await create_topic(bootstrap, partitions=2)
        async with wire(bootstrap) as connection:
            return [(await put(connection, topic, batch(b"x"), partition=p))[0] for p in (1, 2)]

    assert asyncio.run(scenario()) == [0, UNKNOWN_TOPIC]


# Idempotent producers


async def _producer_id(connection: Wire) -> int:
    async def granted() -> int | None:
        answer = await connection.ask(transaction.InitProducerIdRequest_v0(None, 60_000))
        return answer.producer_id if answer.error_code == 0 else None

    return await eventually(granted)


def test_a_repeated_batch_is_answered_with_its_first_offset_and_not_stored_again(bootstrap: str) -> None:
    async def scenario() -> None:
        topic = await create_topic(bootstrap)
        async with wire(bootstrap) as connection:
            pid = await _producer_id(connection)
            for sequence in range(5):
                raw = batch(b"v%d" % sequence, producer=(pid, 0, sequence))
                assert await put(connection, topic, raw) == (0, sequence)
            for sequence in range(5):
                raw = batch(b"v%d" % sequence, producer=(pid, 0, sequence))
                assert await put(connection, topic, raw) == (0, sequence)
            assert await bounds(connection, topic) == (0, 5)

    asyncio.run(scenario())


def test_a_gap_in_the_sequence_is_refused_and_can_be_filled(bootstrap: str) -> None:
    async def scenario() -> None:
        topic = await create_topic(bootstrap)
        async with wire(bootstrap) as connection:
            pid = await _producer_id(connection)
            assert (await put(connection, topic, batch(b"a", b"b", producer=(pid, 0, 0))))[0] == 0
            assert (await put(connection, topic, batch(b"d", producer=(pid, 0, 3))))[0] == GAP
            assert await put(connection, topic, batch(b"c", producer=(pid, 0, 2))) == (0, 2)
            assert await put(connection, topic, batch(b"d", producer=(pid, 0, 3))) == (0, 3)

    asyncio.run(scenario())


def test_an_older_epoch_is_fenced_and_a_newer_one_starts_at_zero(bootstrap: str) -> None:
    async def scenario() -> None:
        topic = await create_topic(bootstrap)
        async with wire(bootstrap) as connection:
            pid = await _producer_id(connection)
            assert (await put(connection, topic, batch(b"a", producer=(pid, 1, 0))))[0] == 0
            assert (await put(connection, topic, batch(b"z", producer=(pid, 0, 1))))[0] == OLD_EPOCH
            assert (await put(connection, topic, batch(b"b", producer=(pid, 2, 7))))[0] == GAP
            assert await put(connection, topic, batch(b"b", producer=(pid, 2, 0))) == (0, 1)

    asyncio.run(scenario())


# Fetching


def test_a_fetch_waits_for_records_and_wakes_when_they_come(bootstrap: str) -> None:
    async def scenario() -> float:
        topic = await create_topic(bootstrap)
        async with wire(bootstrap) as reader, wire(bootstrap) as writer:
            request = fetch_request([(topic, 0, 0)], max_wait=5_000)
            reader.send(request)
            waiting = asyncio.ensure_future(reader.receive(request))
            done, _ = await asyncio.wait([waiting], timeout=0.1)
            assert not done
            began = time.perf_counter()
            raw = batch(b"news")
            await put(writer, topic, raw)
            [(_, [answer])] = (await asyncio.wait_for(waiting, 20)).topics
            assert answer[-1][8:12] == raw[8:12]
            return time.perf_counter() - began

    assert asyncio.run(scenario()) < 4.5


def test_a_fetch_without_records_ends_after_its_wait(bootstrap: str) -> None:
    async def scenario() -> None:
        topic = await create_topic(bootstrap)
        async with wire(bootstrap) as connection:
            began = time.perf_counter()
            [(_, [answer])] = (await connection.ask(fetch_request([(topic, 0, 0)], max_wait=200))).topics
            assert (answer[1], answer[-1] or b"") == (0, b"")
            assert 0.15 < time.perf_counter() - began < 20

    asyncio.run(scenario())


def test_a_fetch_respects_its_size_over_all_partitions_but_always_brings_one_batch(bootstrap: str) -> None:
    async def scenario() -> None:
        topic = await create_topic(bootstrap, partitions=2)
        async with wire(bootstrap) as connection:
            raw = batch(b"m" * 10_000)
            for partition in (0, 0, 0, 1):
                await put(connection, topic, raw, partition)
            everything = [(topic, 0, 0), (topic, 1, 0)]

            async def sizes(max_bytes: int, partition_bytes: int = 1 << 20) -> list[int]:
                request = fetch_request(everything, max_bytes=max_bytes, partition_bytes=partition_bytes)
                answer = await connection.ask(request)
                return [len(p[-1] or b"") // len(raw) for _, partitions in answer.topics for p in partitions]

            assert await sizes(1 << 20) == [3, 1]
            assert await sizes(2 * len(raw) + 100) == [2, 0]
            assert sum(await sizes(1)) == 1
            assert await sizes(1 << 20, partition_bytes=1) == [1, 0]

    asyncio.run(scenario())


def test_a_fetch_outside_the_log_is_out_of_range(bootstrap: str) -> None:
    async def scenario() -> None:
        topic = await create_topic(bootstrap)
        async with wire(bootstrap) as connection:
            await put(connection, topic, batch(b"a", b"b"))
            codes = []
            for at in (2, 3):
                [(_, [answer])] = (await connection.ask(fetch_request([(topic, 0, at)]))).topics
                codes.append(answer[1])
            assert codes == [0, OUT_OF_RANGE]

    asyncio.run(scenario())


def test_the_requests_of_one_connection_are_answered_in_order(bootstrap: str) -> None:
    async def scenario() -> None:
        topic = await create_topic(bootstrap)
        async with wire(bootstrap) as connection:
            slow = fetch_request([(topic, 0, 0)], max_wait=300)
            quick = metadata.MetadataRequest_v1([topic])
            sent = [connection.send(slow), connection.send(quick)]
            answered = []
            for request in (slow, quick):
                await connection.receive(request)
                answered.append(connection.answered)
            assert answered == sent

    asyncio.run(scenario())


def test_a_client_that_is_newer_is_told_which_versions_there_are(bootstrap: str) -> None:
    async def scenario() -> None:
        async with wire(bootstrap) as connection:
            body = struct.pack(">hhih4s", 18, 99, 7, 4, b"test") + b"\0"
            connection.write(struct.pack(">i", len(body)) + body)
            size = struct.unpack(">i", await connection.read(4))[0]
            frame = await connection.read(size)
            correlation, code, count = struct.unpack_from(">ihi", frame)
            assert (correlation, code) == (7, UNSUPPORTED)
            offered = {key: last for key, _, last in struct.iter_unpack(">hhh", frame[10 : 10 + 6 * count])}
            assert offered[18] >= 0
            assert await put(connection, await create_topic(bootstrap), batch(b"x")) == (0, 0)

    asyncio.run(scenario())


@pytest.mark.parametrize("frame", [b"GET / HTTP/1.1\r\n\r\n", struct.pack(">i", -5), b"\0\0\0\x0a" + b"\xff" * 10])
def test_bytes_that_are_no_request_close_only_their_connection(bootstrap: str, frame: bytes) -> None:
    async def scenario() -> None:
        topic = await create_topic(bootstrap)
        async with wire(bootstrap) as good, wire(bootstrap) as bad:
            bad.write(frame)
            assert await asyncio.wait_for(bad.ended(), 5)
            assert await put(good, topic, batch(b"still here")) == (0, 0)

    asyncio.run(scenario())
