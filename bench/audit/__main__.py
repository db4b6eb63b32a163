"""Audit beside a million records: sealing, verifying, and the explanation of one message, on a broker of its own.

The message is located with a graph that has its decision, and without any, by its conversation or by nothing.
"""

import argparse
import asyncio
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

from confluent_kafka import Producer

from agents.ports.graph import DecisionReader
from schemas import codec
from schemas.base import Conversation, derive, entity_key
from schemas.memory import PackDecision
from schemas.topics import AUDIT_HEADS, MEMORY_DECISIONS, TOPICS
from streams.audit import sealing
from streams.audit.chain import AUDITED
from streams.audit.sealing import AuditLog
from streams.broker.process import BrokerProcess
from streams.edges.audit.explaining import explanation_of
from streams.edges.client import clients
from streams.explanations.locating import ExplanationQuery
from streams.kafka import topics_admin, topics_plan
from streams.kafka.producer import partition_of
from streams.testing.pipeline import Pipeline

RECORDS, PARTITIONS, LOOKS = 1_000_000, 3, 9

Clocks = tuple[float, float]


def fill(bootstrap: str, pattern: PackDecision, headers: list[Any], numbers: range) -> None:
    """Decisions on messages of ten thousand conversations."""
    producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 20, "queue.buffering.max.messages": 500_000})
    raw = codec.dump(pattern)
    for number in numbers:
        key = entity_key("acme", f"talk-{number % 10_000}")
        value = raw.replace(pattern.message_id.encode(), derive("bench", number).encode())
        partition = partition_of(key, PARTITIONS)
        while True:
            try:
                producer.produce(MEMORY_DECISIONS.name, value, key, partition=partition, headers=headers)
                break
            except BufferError:
                producer.poll(0.1)
    producer.flush()


def copy(bootstrap: str, fathom: Pipeline) -> None:
    """Every record of a pipeline, where a broker has its key."""
    producer = Producer({"bootstrap.servers": bootstrap})
    for topic in TOPICS:
        for record in fathom.log.of(topic.name):
            key = (record.key or b"").decode()
            producer.produce(
                topic.name, record.value, record.key, partition=partition_of(key, PARTITIONS),
                headers=list(record.headers),
            )  # fmt: skip
    producer.flush()


async def audited(bootstrap: str) -> tuple[str, str, int]:
    """The times to seal and to verify, and how many records."""
    counts = await clients.partition_counts(bootstrap)
    kept = await topics_admin.retentions(bootstrap, [*AUDITED, AUDIT_HEADS.name])
    async with clients.reading(bootstrap, [], wait_ms=10) as consumer, clients.producing(bootstrap) as producer:
        log = AuditLog(consumer, counts, kept)
        began = time.perf_counter(), time.process_time()
        _, newest = await sealing.seal(log, producer, lambda: datetime.now(UTC).replace(microsecond=0))
        sealed = time.perf_counter(), time.process_time()
        found = await sealing.verify(log, datetime.now(UTC), newest, lambda _: None)
        assert found.breaks == []
        ended = time.perf_counter(), time.process_time()
        return _apart(began, sealed), _apart(sealed, ended), found.verified


def _apart(one: Clocks, other: Clocks) -> str:
    """The time between two moments, and what this process computed in it."""
    return f"{other[0] - one[0]:.2f} s (CPU {other[1] - one[1]:.2f} s)"


async def looked(bootstrap: str, asked: ExplanationQuery, graph: DecisionReader | None) -> str:
    """The median time of an explanation."""
    took, computed = [], []
    for _ in range(LOOKS if graph else 3):
        began, computing = time.perf_counter(), time.process_time()
        found = await explanation_of(bootstrap, asked, graph, 120)
        took.append(time.perf_counter() - began)
        computed.append(time.process_time() - computing)
        assert found.packs
    return f"{median(took):.2f} s (CPU {median(computed):.2f} s)"


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=RECORDS)
    count = parser.parse_args().records
    broker: Any = BrokerProcess()
    with tempfile.TemporaryDirectory(prefix="fathom-bench-") as folder, Pipeline() as fathom:
        bootstrap = broker.start(Path(folder) / "broker", 0, partitions=PARTITIONS)
        try:
            asyncio.run(topics_admin.create_missing(bootstrap, topics_plan.wanted(PARTITIONS)))
            message = fathom.say("How does the refund of a trip work? Explain it.")
            fathom.wait(3)
            decision = fathom.one(MEMORY_DECISIONS, message_id=message)
            [record] = fathom.log.of(MEMORY_DECISIONS.name)
            fill(bootstrap, decision, [*record.headers], range(count // 2))
            copy(bootstrap, fathom)
            fill(bootstrap, decision, [*record.headers], range(count // 2, count))
            seal_s, verify_s, verified = asyncio.run(audited(bootstrap))
            print(f"sealed {verified:,} records in {seal_s}, verified in {verify_s}", flush=True)
            where = Conversation(tenant="acme", client_id="web", conversation_id="c1")
            for name, asked, graph in (
                ("with a graph", ExplanationQuery("acme", message), fathom.graph),
                ("by its conversation", ExplanationQuery("acme", message, where=where), None),
                ("by nothing", ExplanationQuery("acme", message), None),
            ):
                print(f"explained {name} in {asyncio.run(looked(bootstrap, asked, graph))}", flush=True)
        finally:
            broker.stop()


if __name__ == "__main__":
    main()
