"""The embedded broker's files: torn tails, damage, retention, reads far behind the end."""

import asyncio
import time
from contextlib import suppress

import pytest
from aiokafka.protocol import admin

from streams.broker.errors import BrokerFailed
from tests.contract.broker_cluster import batch, bounds, create_topic, eventually, fetch_request, put, read_values, wire
from tests.contract.broker_node import Node, commit_offset, committed, fill, partitions
from tests.contract.test_broker_librdkafka import read as librdkafka_reads

OUT_OF_RANGE = 1


# Torn files


@pytest.mark.parametrize("tail", ["half", "garbage", "flipped", "zeros"])
def test_a_torn_tail_is_cut_off_and_written_over(node: Node, tail: str) -> None:
    address = node.start()
    topic = asyncio.run(create_topic(address))
    asyncio.run(fill(address, topic, b"one", b"two", b"three"))
    node.process.kill()
    [segment] = node.segments(topic)
    raw = segment.read_bytes()
    third = len(raw) // 3 * 2 + 1
    damaged = {
        "half": (raw[: third + 30], 2),
        "garbage": (raw + b"\x17" * 100, 3),
        "flipped": (raw[:-3] + bytes((raw[-3] ^ 4,)) + raw[-2:], 2),
        "zeros": (raw + bytes(4096), 3),
    }
    content, sound = damaged[tail]
    segment.write_bytes(content)
    address = node.start()
    assert asyncio.run(fill(address, topic, b"after")) == [(0, sound)]
    address = node.crash()
    expected = [*[b"one", b"two", b"three"][:sound], b"after"]
    assert asyncio.run(read_values(address, topic, sound + 1)) == expected


@pytest.mark.parametrize("name", ["offsets", "topics"])
def test_a_torn_last_journal_line_is_ignored_and_written_over(node: Node, name: str) -> None:
    address = node.start()
    topic = asyncio.run(create_topic(address))
    asyncio.run(fill(address, topic, *[b"x"] * 5))
    asyncio.run(commit_offset(address, "group", topic, 4))
    node.process.kill()
    with (node.directory / f"{name}.jsonl").open("ab") as journal:
        journal.write(b'{"topic":"half-writ')
    address = node.start()
    assert asyncio.run(committed(address, "group", topic)) == 4
    other = asyncio.run(create_topic(address))
    asyncio.run(commit_offset(address, "group", topic, 5))
    address = node.crash()
    assert asyncio.run(committed(address, "group", topic)) == 5
    assert asyncio.run(partitions(address, other)) == 1


def test_a_journal_damaged_in_the_middle_is_reported_not_guessed(node: Node) -> None:
    address = node.start()
    for _ in range(2):
        asyncio.run(create_topic(address))
    node.process.kill()
    journal = node.directory / "topics.jsonl"
    journal.write_bytes(b"{broken\n" + journal.read_bytes())
    with pytest.raises(BrokerFailed, match=r"topics\.jsonl is damaged at byte 0"):
        node.start()


# Damage


@pytest.mark.parametrize("segment_bytes", ["1024", "4194304"], ids=["earlier-file", "last-file"])
def test_what_is_around_a_damaged_record_is_read_by_every_client_with_its_offset(
    node: Node, capfd: pytest.CaptureFixture[str], segment_bytes: str
) -> None:
    values = [b"%d" % number * 300 for number in range(6)]
    address = node.start()
    topic = asyncio.run(create_topic(address, configs={"segment.bytes": segment_bytes}))
    asyncio.run(fill(address, topic, *values))
    node.process.stop()
    path = node.segments(topic)[0]
    raw = bytearray(path.read_bytes())
    raw[len(raw) // 3 if segment_bytes == "4194304" else 100] ^= 0xFF
    path.write_bytes(raw)
    address = node.start()
    lost = 2 if segment_bytes == "4194304" else 0
    kept = [*values[:lost], *values[lost + 1 :]]
    assert asyncio.run(read_values(address, topic, 5)) == kept
    assert [(each.offset(), each.value()) for each in librdkafka_reads(address, topic, 5)] == [
        (number, value) for number, value in enumerate(values) if number != lost
    ]
    assert asyncio.run(fill(address, topic, b"next")) == [(0, 6)]
    assert f"{path} is damaged at byte" in capfd.readouterr().err
    assert len([*path.parent.glob("*.damaged")]) == 1


def test_a_start_that_takes_long_says_so_and_is_waited_for(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    said = iter([b'{"event":"loading"}\n', b'{"event":"loading"}\n', b'{"event":"listening","bootstrap":"h:1"}\n'])
    monkeypatch.setattr(node.process, "start_module", lambda *_: None)
    monkeypatch.setattr(node.process, "ask", lambda _: next(said))
    assert node.start() == "h:1"


# Retention


def test_old_records_are_removed_by_size_and_stay_removed(node: Node) -> None:
    async def scenario() -> None:
        address = node.start(retention_check_s=0.1)
        configs = {"segment.bytes": "4096", "retention.bytes": "10000"}
        topic = await create_topic(address, configs=configs)
        await fill(address, topic, *[b"x" * 1000] * 30)

        async def trimmed() -> bool:
            with suppress(FileNotFoundError):  # a file that the broker removes between its listing and its size
                sizes = [segment.stat().st_size for segment in node.segments(topic)]
                return sum(sizes) >= 10_000 > sum(sizes[1:])
            return False

        await eventually(trimmed)
        async with wire(address) as connection:
            start, end = await bounds(connection, topic)
            [(_, [answer])] = (await connection.ask(fetch_request([(topic, 0, start - 1)]))).topics
            assert answer[1] == OUT_OF_RANGE
        assert 0 < start < end == 30
        assert len(await read_values(address, topic, 30 - start)) <= 30
        async with wire(node.crash()) as connection:
            assert await bounds(connection, topic) == (start, end)

    asyncio.run(scenario())


def test_old_records_are_removed_by_age_and_offsets_go_on(node: Node) -> None:
    async def scenario() -> None:
        address = node.start(retention_check_s=0.1)
        topic = await create_topic(address, configs={"retention.ms": "60000"})
        hour_ago = int(time.time() * 1000) - 3_600_000
        async with wire(address) as connection:
            for value in (b"a", b"b"):
                await put(connection, topic, batch(value, timestamps=(hour_ago,)))

            async def expired() -> bool:
                return await bounds(connection, topic) == (2, 2)

            await eventually(expired)
        address = node.crash()
        assert await fill(address, topic, b"c") == [(0, 2)]
        async with wire(address) as connection:
            assert await bounds(connection, topic) == (2, 3)

    asyncio.run(scenario())


def test_compaction_is_refused_with_a_reason(node: Node) -> None:
    async def scenario() -> tuple[int, str]:
        async with wire(node.start()) as connection:
            row = ("topic", 1, 1, [], [("cleanup.policy", "compact")])
            answer = await connection.ask(admin.CreateTopicsRequest_v2([row], 1_000, False))
            return answer.topic_errors[0][1:]

    code, message = asyncio.run(scenario())
    assert code == 40
    assert "cleanup.policy=compact" in message


def test_reads_far_behind_the_end_come_from_the_files(node: Node) -> None:
    async def scenario() -> None:
        address = node.start()
        topic = await create_topic(address, configs={"segment.bytes": "50000"})
        values = [b"%05d" % i + b"x" * 300 for i in range(1_000)]
        async with wire(address) as connection:
            for value in values:
                await put(connection, topic, batch(value))
            for offset in (0, 1, 137, 500, 998):
                request = fetch_request([(topic, 0, offset)], partition_bytes=1)
                [(_, [answer])] = (await connection.ask(request)).topics
                assert int.from_bytes(answer[-1][:8], "big") == offset
        assert len(node.segments(topic)) > 5
        assert await read_values(address, topic, 1_000) == values

    asyncio.run(scenario())
