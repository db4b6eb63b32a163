"""Who reads the log up to where it ends must not be held up by the fetch that waits there for more."""

import ast
import asyncio
from pathlib import Path
from types import SimpleNamespace

import pytest
from aiokafka import TopicPartition

from streams.kafka_reading import records

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


def test_every_reader_of_ours_says_how_long_a_broker_may_hold_its_fetch():
    made, silent = 0, []
    for path in sorted((Path(__file__).parents[2] / "streams").rglob("*.py")):
        for call in (node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)):
            if isinstance(call.func, ast.Name) and call.func.id == "AIOKafkaConsumer":
                made += 1
                if path.parent.name == "transport":
                    continue  # a group's, whose options are put together before
                names = {each.arg or ast.unparse(each.value) for each in call.keywords}
                if not names & {"fetch_max_wait_ms", "PROMPT"}:
                    silent.append(f"{path.name}:{call.lineno}")
    assert silent == []
    assert made >= 5
