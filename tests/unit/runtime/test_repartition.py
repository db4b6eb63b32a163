"""A record in another partition than its conversation's is written again there, as the same event."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import orjson
import pytest

from schemas.base import Conversation
from schemas.envelope import Received
from schemas.topics import DOCUMENTS_IN, MESSAGES_IN, Topic
from streams import config
from streams.kafka.producer import partition_of
from streams.kafka.records import Record
from streams.runtime.group_runner import GroupRunner
from streams.stage import Stage
from streams.testing.pipeline import FakeClock, MemoryLog
from tests.unit.runtime.test_runner import Member

PARTITIONS = 12
HERE = Conversation(tenant="acme", client_id="web", conversation_id="c1")
HOME = partition_of(HERE.key(), PARTITIONS)
ELSEWHERE = (HOME + 1) % PARTITIONS


class Kept:
    def __init__(self) -> None:
        self.seen: list[Received[Any]] = []

    async def handle(self, record: Received[Any]) -> Sequence[Any]:
        self.seen.append(record)
        return ()


class Depth:
    """The first stage of a worker that counts so many partitions, and what it was given."""

    def __init__(self, topic: Topic = MESSAGES_IN, partitions: int | None = PARTITIONS) -> None:
        self.log, self.kept, self.member = MemoryLog(FakeClock(), PARTITIONS), Kept(), Member()
        rows = [(Stage("depth", (topic,), (), lambda d: None, first=True), self.kept)]
        self.runner = GroupRunner("depth", rows, self.log, config.load({}), partitions=partitions)
        self.runner.join(self.member)

    async def deliver(self, *records: Record) -> None:
        for record in records:
            self.runner.sink(record)
        while self.runner.load():  # noqa: ASYNC110 - what has been done, the runner tells nobody
            await asyncio.sleep(0)


def record(
    value: dict[str, Any], partition: int, offset: int = 0, topic: Topic = MESSAGES_IN, **headers: str
) -> Record:
    named = {"tenant": "acme", **headers}
    raw = orjson.dumps({"conversation_id": "c1", "client_id": "web", **value})
    return Record(topic.name, partition, offset, 1_000, None, raw, tuple((n, t.encode()) for n, t in named.items()))


def delivered(*records: Record, **made: Any) -> Depth:
    async def run() -> Depth:
        depth = Depth(**made)
        await depth.deliver(*records)
        return depth

    return asyncio.run(run())


SHAPES = {
    "turn": {"role": "user", "content": "And the budget?"},
    "ask": {"question": "E o orçamento?", "nickname": "Ana"},
    "forgotten": {"forgotten": True},
    "structured": {},
}


@pytest.mark.parametrize("shape", SHAPES)
def test_it_is_written_again_as_the_same_event_where_its_conversation_is(shape: str) -> None:
    wrong = record(SHAPES[shape], ELSEWHERE, 7, user_id="ana", min_depth="D2" if shape == "turn" else "")
    if shape != "turn":
        wrong = replace(wrong, headers=tuple(h for h in wrong.headers if h[0] != "min_depth"))
    if shape == "structured":
        data = {"role": "user", "content": "Hi", "conversation_id": "c1", "client_id": "web"}
        event = {
            "specversion": "1.0", "id": "e1", "source": "s", "type": "chat.message-received.v1",
            "time": "2026-01-02T03:04:05Z", "data": data,
        }  # fmt: skip
        headers = (("tenant", b"acme"), ("content-type", b"application/cloudevents+json"))
        wrong = replace(wrong, value=orjson.dumps(event), headers=headers)
    here = delivered(wrong, partitions=None).kept.seen[0]
    depth = delivered(wrong)
    assert depth.kept.seen == []
    assert depth.member.acked == [7]
    (moved,) = depth.log.of(MESSAGES_IN.name)
    assert moved.partition == HOME
    assert moved.key == HERE.key().encode()
    there = delivered(moved).kept.seen[0]
    assert there.event == here.event
    assert there.envelope == here.envelope


def test_what_lies_right_was_moved_or_belongs_to_no_conversation_alone_is_handled_where_it_is() -> None:
    turn = SHAPES["turn"]
    depth = delivered(record(turn, HOME, 1), record(turn, ELSEWHERE, 2, fathom_moved="true"))
    assert [each.offset for each in depth.kept.seen] == [1, 2]
    assert depth.log.of(MESSAGES_IN.name) == []
    value = {"document_id": "d1", "title": "t", "text": "x"}
    document = replace(record({}, ELSEWHERE, 3, topic=DOCUMENTS_IN), value=orjson.dumps(value))
    depth = delivered(document, topic=DOCUMENTS_IN)
    assert [each.offset for each in depth.kept.seen] == [3]
    assert depth.log.of(DOCUMENTS_IN.name) == []


def test_two_partitions_of_one_conversation_become_one() -> None:
    turns = [record({"role": "user", "content": str(n)}, (HOME + n) % PARTITIONS, 9 - n) for n in range(1, 6)]
    depth = delivered(*turns)
    moved = depth.log.of(MESSAGES_IN.name)
    assert {each.partition for each in moved} == {HOME}
    assert sorted(orjson.loads(each.value or b"")["content"] for each in moved) == ["1", "2", "3", "4", "5"]
