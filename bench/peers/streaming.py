"""A stage on each: records a second, CPU of a record, and the latency at a fixed rate."""

import asyncio
import json
import subprocess
import tempfile
import time
from pathlib import Path

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition

from bench.measure import median, percentile, say
from bench.peers.contestants import Unmeasured, running
from bench.pipeline import paced
from bench.running import cpu_s
from bench.runtime import PARTITIONS, SINK, preload, send
from streams.broker.process import BrokerProcess

RECORDS, RATE, SECONDS = 40_000, 500, 8
GIVE_UP_S, LOOK_EVERY_S = 120.0, 0.02
SYSTEMS = {"fathom": "Fathom", "faust": "Faust", "quix": "Quix Streams"}
Figures = dict[str, float]


async def full_speed(consumer: AIOKafkaConsumer, process: subprocess.Popen[bytes], broker: int) -> Figures:
    """From the first plan that is seen to the last one of what lay on the topic when the stage began."""
    first, until = (0, 0.0, 0.0, 0.0), time.monotonic() + GIVE_UP_S
    while time.monotonic() < until and process.poll() is None:
        done = sum((await consumer.end_offsets(consumer.assignment())).values())
        now = (done, time.perf_counter(), cpu_s(process.pid), cpu_s(broker))
        if done >= RECORDS:
            count, took, used, by_broker = (last - began for last, began in zip(now, first, strict=True))
            return {"per_s": count / took, "cpu_us": 1e6 * used / count, "broker_cpu_us": 1e6 * by_broker / count}
        if done and not first[0]:
            first = now
        await asyncio.sleep(LOOK_EVERY_S)
    raise Unmeasured(f"it made no {RECORDS} plans in {GIVE_UP_S:g} s")


async def at_rate(consumer: AIOKafkaConsumer, producer: AIOKafkaProducer, pid: int) -> Figures:
    """From the call that sends a message to the plan's arrival, both in this process."""
    sent: dict[str, float] = {}
    took: list[float] = []
    total = RATE * SECONDS
    await consumer.seek_to_end()

    async def read() -> None:
        async for record in consumer:
            took.append(1000 * (time.perf_counter() - sent[json.loads(record.value)["message_id"]]))
            if len(took) == total:
                return

    reading, before = asyncio.create_task(read()), cpu_s(pid)
    for due in paced(total, RATE):
        await due
        number = RECORDS + len(sent)
        sent[f"m{number:08d}"] = time.perf_counter()
        await send(producer, number)
    try:
        await asyncio.wait_for(reading, GIVE_UP_S)
    except TimeoutError:
        raise Unmeasured(f"{total - len(took)} of {total} plans were missing after {GIVE_UP_S:g} s") from None
    used = 1e6 * (cpu_s(pid) - before) / total
    return {"p50_ms": percentile(took, 0.5), "p95_ms": percentile(took, 0.95), "paced_cpu_us": used}


async def measured(name: str, bootstrap: str, broker: int) -> Figures:
    await preload(bootstrap, RECORDS)
    async with (
        AIOKafkaConsumer(bootstrap_servers=bootstrap) as consumer,
        AIOKafkaProducer(bootstrap_servers=bootstrap) as producer,
    ):
        consumer.assign([TopicPartition(SINK.name, number) for number in range(PARTITIONS)])
        with running("bench.peers.stages", name, bootstrap, own=name == "fathom") as process:
            found = await full_speed(consumer, process, broker)
            return found | await at_rate(consumer, producer, process.pid)


def once(name: str) -> Figures:
    """One turn, on a broker of its own."""
    with tempfile.TemporaryDirectory() as folder, BrokerProcess() as broker:
        bootstrap = broker.start(Path(folder) / "broker")
        assert broker.pid is not None
        found = asyncio.run(measured(name, bootstrap, broker.pid))
    say(f"{name}: {json.dumps({figure: round(value, 2) for figure, value in found.items()})}")
    return found


def row(system: str, turns: list[Figures]) -> dict[str, object]:
    """The median of each figure."""
    middle = {figure: median([turn[figure] for turn in turns]) for figure in turns[0]}
    whole = {figure: round(value) for figure, value in middle.items() if not figure.endswith("_ms")}
    return {"stage": system, **whole, **{name: round(middle[name], 1) for name in ("p50_ms", "p95_ms")}}
