"""Who reads the log up to where it ends must not be held up by the fetch that waits there for more."""

import ast
import asyncio
import re
import time
from importlib.metadata import version
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import pytest
from aiokafka import TopicPartition

from schemas.topics import CONVERSATION_TURNS
from streams.config import ConfigError
from streams.kafka import aiokafka_private, clients, log_reader
from streams.kafka.log_reader import events, newest_first, records
from streams.kafka.records import Record, may_name
from streams.kafka.time_slice import SLICE_S
from streams.views.kafka_log import MAX_BUFFERED, portions
from tests.checkout import ROOT
from tests.unit.house import tree

A, B = TopicPartition("turns", 0), TopicPartition("turns", 1)


class Consumer:
    """Partitions whose offsets have gaps, a piece at a time."""

    def __init__(self, logs: dict[TopicPartition, list[int]]) -> None:
        self.logs = logs
        self.at: dict[TopicPartition, int] = {}

    def assign(self, partitions: list[TopicPartition]) -> None:
        self.at = dict.fromkeys(partitions, -1)

    def seek(self, tp: TopicPartition, offset: int) -> None:
        self.at[tp] = offset

    def pause(self, *_: TopicPartition) -> None: ...

    async def position(self, tp: TopicPartition) -> int:
        return self.at[tp]

    async def getmany(self, *partitions: TopicPartition, **_: int) -> dict[TopicPartition, list[SimpleNamespace]]:
        found = {}
        for tp in partitions:
            offsets = [offset for offset in self.logs[tp] if offset >= self.at[tp]][:2]
            self.at[tp] = offsets[-1] + 1 if offsets else 100
            found[tp] = [SimpleNamespace(offset=offset, partition=tp.partition) for offset in offsets]
        return found


@pytest.mark.parametrize(
    ("ranges", "expected"),
    [
        ({A: (0, 4)}, [(0, 0), (0, 3)]),
        ({A: (1, 9), B: (2, 3)}, [(0, 3), (0, 4), (0, 8), (1, 2)]),
        ({A: (5, 8)}, []),
        ({A: (9, 9), B: (0, 2)}, [(1, 1)]),
        ({}, []),
    ],
    ids=["gaps", "several", "all taken away", "one is empty", "none"],
)
def test_exactly_these_offsets_are_read(ranges, expected):
    consumer = Consumer({A: [0, 3, 4, 8, 9], B: [1, 2, 7]})
    found = asyncio.run(records(consumer, ranges))
    assert sorted((each.partition, each.offset) for each in found) == expected


def test_the_newest_windows_come_first_and_say_what_is_left():
    # A: 0..9, B: 0..2, windows of 2, then 4, then 4
    consumer = Consumer({A: list(range(10)), B: [0, 1, 2]})

    async def read() -> list[tuple[list[tuple[int, int]], list[int]]]:
        windows = newest_first(consumer, {A: (0, 10), B: (0, 3)}, 2, 4)
        return [
            (sorted((each.partition, each.offset) for each in found), [end - begin for begin, end in left.values()])
            async for found, left in windows
        ]

    assert asyncio.run(read()) == [
        ([(0, 8), (0, 9), (1, 1), (1, 2)], [8, 1]),
        ([(0, 4), (0, 5), (0, 6), (0, 7), (1, 0)], [4, 0]),
        ([(0, 0), (0, 1), (0, 2), (0, 3)], [0, 0]),
    ]


def test_of_an_empty_log_there_is_one_window_of_nothing():
    async def read() -> list[object]:
        return [each async for each in newest_first(Consumer({A: []}), {A: (7, 7)}, 2, 4)]

    assert asyncio.run(read()) == [([], {A: (7, 7)})]


@pytest.mark.parametrize(
    ("name", "value", "headers", "expected"),
    [
        ("m-1", b'{"message_id":"m-1"}', (), True),
        ("m-1", b'{"message_id":"m-2"}', (), False),
        ("m-1", None, (("ce_id", b"m-1"),), True),
        ("m-1", None, (), False),
        ("ação", b'{"id":"a\\u00e7\\u00e3o"}', (), True),
    ],
)
def test_a_raw_record_tells_that_it_cannot_name_an_id(name: str, value: bytes | None, headers: Any, expected: bool):
    assert may_name(Record("turns", 0, 0, 0, b"k", value, headers), name) is expected


class Long(Consumer):
    """A partition whose records all lie at hand."""

    async def getmany(self, *partitions: TopicPartition, **_: int) -> dict[TopicPartition, list[SimpleNamespace]]:
        [tp] = partitions
        at = self.at[tp]
        self.at[tp] += 1
        return {tp: [SimpleNamespace(offset=at, partition=0, topic=CONVERSATION_TURNS.name)]}


def test_whoever_reads_a_long_log_lets_the_loop_answer_heartbeats_meanwhile(monkeypatch):
    """Decoded in one go, 20,000 turns held it for longer than a session: every takeover lost what it took over."""
    decoded: list[int] = []
    turns: list[int] = []

    def slow(_topic: object, record: SimpleNamespace) -> SimpleNamespace:
        until = time.perf_counter() + SLICE_S / 2
        while time.perf_counter() < until:
            pass
        decoded.append(record.offset)
        return record

    async def heartbeats() -> None:
        while True:
            turns.append(len(decoded))
            await asyncio.sleep(0)

    async def read() -> None:
        beating = asyncio.create_task(heartbeats())
        assert [each.offset async for each in events(Long({}), {A: (0, 100)})] == list(range(100))
        beating.cancel()

    monkeypatch.setattr(log_reader.codec, "decode_record", slow)
    asyncio.run(read())
    assert max(after - before for before, after in pairwise(turns)) <= 3


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ({}, [[0, 1, 2, 3]]),
        ({0: 1, 1: 1, 2: 1, 3: 1}, [[0, 1, 2, 3]]),
        ({0: MAX_BUFFERED, 1: 1, 2: 1, 3: MAX_BUFFERED}, [[0], [1, 2], [3]]),
        ({1: 3 * MAX_BUFFERED, 2: MAX_BUFFERED - 1, 3: 1}, [[0], [1], [2, 3]]),
    ],
    ids=["empty", "short", "long ones alone", "one longer than all"],
)
def test_of_a_long_log_one_partition_is_held_at_a_time(sizes, expected):
    ranges = {TopicPartition("turns", number): (10, 10 + size) for number, size in sizes.items()}
    assert portions(ranges, range(4)) == expected
    assert portions(ranges, ()) == []


MADE = {"AIOKafkaConsumer", "AIOKafkaProducer", "AIOKafkaAdminClient"}


def test_every_client_of_ours_is_made_in_one_file_and_says_how_long_a_broker_may_hold_its_fetch():
    made = {
        path.relative_to(ROOT).as_posix()
        for path in tree.naming(MADE, "streams")
        for call in tree.nodes(path)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in MADE
    }
    assert made == {"streams/kafka/clients.py"}

    async def wait_ms(**options: int) -> int:
        return int(clients.new_consumer("127.0.0.1:1", **options)._fetch_max_wait_ms)

    assert asyncio.run(wait_ms()) == clients.PROMPT_MS
    assert asyncio.run(wait_ms(fetch_max_wait_ms=500)) == 500


def test_another_version_of_aiokafka_is_refused_in_a_sentence():
    aiokafka_private.check_version(version("aiokafka"))
    with pytest.raises(ConfigError, match=r"aiokafka 0\.15\.0 is installed.*install aiokafka==0\.14\.0"):
        aiokafka_private.check_version("0.15.0")


PRIVATE = re.compile(r"\b\w*(client|producer|consumer|coordinator|accumulator|admin)\._[a-z]")


def test_what_aiokafka_does_not_publish_is_used_in_one_file():
    """Of a client that is ours by name; our own classes call theirs `self._client`, and so on."""
    lines = [
        f"{path.relative_to(ROOT)}:{number}"
        for folder in ("kafka", "faust", "views", "replay")
        for path in (ROOT / "streams" / folder).rglob("*.py")
        if path.name != "aiokafka_private.py"
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if PRIVATE.search(line.replace("self._consumer.", ""))
    ]
    assert lines == []


def test_an_idle_reader_lets_its_fetches_be_held_until_something_comes():
    came = iter([True, *[False] * 6, True, *[False] * 6])
    paused = {A}

    async def fetch(*_: object) -> bool:
        return next(came)

    fetcher = SimpleNamespace(_proc_fetch_request=fetch, _fetch_min_bytes=1, _fetch_max_wait_ms=500)
    client: Any = SimpleNamespace(_fetcher=fetcher, paused=lambda: paused)

    async def waits(count: int) -> list[int]:
        held = []
        for _ in range(count):
            await fetcher._proc_fetch_request()
            held.append(fetcher._fetch_max_wait_ms)
        return held

    aiokafka_private.fetch_patiently(client)
    assert asyncio.run(waits(5)) == [500] * 5  # a resumed partition waits for the fetch of the others
    paused.clear()
    assert asyncio.run(waits(2)) == [500] * 2
    assert asyncio.run(waits(7)) == [500, 500, 500, 500, 3_000, 3_000, 3_000]
