"""One stage on the runtime against a bare aiokafka and pydantic loop: same records, same broker, taken in turns.

    make bench-runtime            last line: {"ratio": …}

The broker is the embedded one, in a process of its own. The work of both is the same: read a message of about 330
bytes, validate it, make a plan, send it with acks=all. The stage adds what a stage is for: envelope and headers in and
out, order per key, every send awaited before its source is acknowledged, low-watermark commits.
"""

import asyncio
import gc
import logging
import tempfile
import time
import uuid
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import ClassVar

import uvloop
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.admin import AIOKafkaAdminClient, NewTopic

from bench.measure import finish, median, say
from schemas.base import Event
from schemas.envelope import Outgoing, Received
from schemas.topics import WEEK, Topic
from streams import config
from streams.broker.process import BrokerProcess
from streams.faust.consumer_group import ConsumerGroup
from streams.kafka.producer import Producer
from streams.runtime.group_runner import GroupRunner
from streams.runtime.up import COLLECT
from streams.stage import Stage

RECORDS = 40_000
PARTITIONS = 4
TURNS = 3


class Message(Event):
    TYPE: ClassVar[str] = "bench.message.v1"
    event_id: str
    message_id: str
    conversation_id: str
    client_id: str
    author: str
    text: str
    ts: float
    seq: int
    lang: str | None = None
    tags: tuple[str, ...] = ()


class Plan(Event):
    TYPE: ClassVar[str] = "bench.plan.v1"
    event_id: str
    message_id: str
    conversation_id: str
    depth: str
    score: float
    classes: tuple[str, ...]
    ts: float


SOURCE = Topic("bench.messages", (Message,), "conversation", WEEK, "benchmark input")
SINK = Topic("bench.plans", (Plan,), "conversation", WEEK, "benchmark output")


def plan_of(message: Message) -> Plan:
    return Plan(
        event_id="p:" + message.message_id,
        message_id=message.message_id,
        conversation_id=message.conversation_id,
        depth="deep" if len(message.text) > 100 else "shallow",
        score=0.5,
        classes=("facts", "decisions", "claims"),
        ts=message.ts,
    )


class Planning:
    """The stage: what a bare loop does, as a handler."""

    def __init__(self, done: asyncio.Event) -> None:
        self.count = 0
        self.began = 0.0
        self._done = done

    async def handle(self, record: Received[Message]) -> Sequence[Outgoing]:
        if not self.count:
            self.began = time.perf_counter()
        self.count += 1
        if self.count == RECORDS:
            self._done.set()
        return (Outgoing(SINK, record.key, plan_of(record.event), record.envelope),)


def message_of(n: int) -> Message:
    return Message(
        event_id=f"e{n:08d}",
        message_id=f"m{n:08d}",
        conversation_id=f"conv-{n % 500}",
        client_id="web",
        author=f"user-{n % 37}",
        text="lorem ipsum dolor sit amet consectetur " * 4,
        ts=1.79e9 + n,
        seq=n,
        lang="en",
        tags=("a", "b"),
    )


async def send(producer: AIOKafkaProducer, n: int) -> None:
    """Append one message to the producer's batch."""
    message = message_of(n)
    key, value = message.conversation_id.encode(), message.model_dump_json().encode()
    await producer.send(SOURCE.name, value, key=key, headers=[("tenant", b"acme"), ("ce_type", Message.TYPE.encode())])


async def preload(bootstrap: str, records: int = RECORDS) -> None:
    admin = AIOKafkaAdminClient(bootstrap_servers=bootstrap)
    await admin.start()
    await admin.create_topics([NewTopic(topic.name, PARTITIONS, 1) for topic in (SOURCE, SINK)])
    await admin.close()
    producer = AIOKafkaProducer(bootstrap_servers=bootstrap, linger_ms=20, max_batch_size=131_072)
    await producer.start()
    for n in range(records):
        await send(producer, n)
    await producer.stop()


async def bare(bootstrap: str) -> float:
    """Records per second of the plain loop: no envelope, no order across awaits, commit each second."""
    producer = AIOKafkaProducer(bootstrap_servers=bootstrap, linger_ms=5, acks="all", enable_idempotence=True)
    await producer.start()
    consumer = AIOKafkaConsumer(
        SOURCE.name,
        bootstrap_servers=bootstrap,
        group_id=f"bare-{uuid.uuid4().hex[:6]}",
        auto_offset_reset="earliest",
        enable_auto_commit=False,
    )
    await consumer.start()
    count, began, committed = 0, 0.0, time.perf_counter()
    while count < RECORDS:
        batches = await consumer.getmany(timeout_ms=1000)
        if batches and not count:
            began = time.perf_counter()
        for records in batches.values():
            for record in records:
                plan = plan_of(Message.model_validate_json(record.value))
                await producer.send(SINK.name, plan.model_dump_json().encode(), key=record.key)
                count += 1
        if time.perf_counter() - committed > 1:
            await producer.flush()
            await consumer.commit()
            committed = time.perf_counter()
    await producer.flush()
    await consumer.commit()
    took = time.perf_counter() - began
    await consumer.stop()
    await producer.stop()
    return RECORDS / took


@asynccontextmanager
async def running_stage(bootstrap: str, group_id: str, planning: Planning) -> AsyncIterator[GroupRunner]:
    """The stage as a worker runs it."""
    stage = Stage("bench", (SOURCE,), (SINK,), lambda _: planning)
    producer = Producer(bootstrap)
    await producer.start()
    runner = GroupRunner("bench", [(stage, planning)], producer, config.load({}))
    group = ConsumerGroup(
        group_id,
        runner.topics,
        bootstrap=bootstrap,
        sink=runner.sink,
        on_assigned=runner.on_assigned,
        on_revoked=runner.on_revoked,
    )
    runner.join(group)
    await group.start()
    yield runner
    await group.stop()
    await producer.stop()


async def staged(bootstrap: str) -> float:
    """Records per second of the stage, until the last record is acknowledged."""
    done = asyncio.Event()
    planning = Planning(done)
    async with running_stage(bootstrap, f"stage-{uuid.uuid4().hex[:6]}", planning) as runner:
        await done.wait()
        await runner.idle()
        return RECORDS / (time.perf_counter() - planning.began)


async def measure(bootstrap: str) -> tuple[list[float], list[float]]:
    await preload(bootstrap)
    bares, stages = [], []
    for turn in range(TURNS):
        bares.append(await bare(bootstrap))
        stages.append(await staged(bootstrap))
        say(f"turn {turn + 1}: bare {bares[-1]:,.0f}/s, stage {stages[-1]:,.0f}/s, ratio {stages[-1] / bares[-1]:.2f}")
    return bares, stages


def main() -> None:
    logging.basicConfig(level=logging.WARNING)
    uvloop.install()
    gc.set_threshold(*COLLECT)  # as a worker does; for both
    with tempfile.TemporaryDirectory() as folder, BrokerProcess() as broker:
        bootstrap = broker.start(Path(folder) / "broker")
        bares, stages = asyncio.run(measure(bootstrap))
    ratios = [stage / plain for stage, plain in zip(stages, bares, strict=True)]
    finish(
        "runtime",
        "make bench-runtime",
        {
            "ratio": round(median(ratios), 3),
            "stage_per_s": round(median(stages)),
            "bare_per_s": round(median(bares)),
            "records": RECORDS,
            "turns": TURNS,
        },
    )


if __name__ == "__main__":
    main()
