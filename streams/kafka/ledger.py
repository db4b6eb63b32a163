"""Read what a join's output partitions already hold, so that a restarted join emits nothing twice (design §6).

Output partition p is the ledger of input partition p. Everything in the uncommitted suffix of the input was emitted
after the suffix began; reading from a little before that time finds it, however long the output is.
"""

import asyncio
import time
from collections.abc import Iterable
from typing import Any

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import KafkaError, KafkaTimeoutError

from schemas.envelope import Received
from schemas.topics import Topic
from streams.kafka.log_reader import PROMPT, events
from streams.kafka.security import PLAINTEXT, Security

# Also covers the assembler's window for "the pack before" (two minutes) and clocks that differ a little.
LOOK_BACK_MS = 3 * 60 * 1000
RETRY_S = 0.5


async def read(
    bootstrap: str,
    source: str,
    ledger: Topic,
    partitions: Iterable[int],
    group: str,
    security: Security = PLAINTEXT,
) -> dict[int, list[Received[Any]]]:
    """The recent records of each output partition, oldest first; waits as long as no broker answers."""
    numbers = tuple(partitions)
    while numbers:
        try:
            return await _read(bootstrap, source, ledger, numbers, group, security)
        except KafkaError as error:
            # Raised, it would end the worker: brokers that go are back, and the next rebalance cancels this.
            if not (error.retriable or isinstance(error, KafkaTimeoutError)):
                raise
            await asyncio.sleep(RETRY_S)
    return {}


async def _read(
    bootstrap: str, source: str, ledger: Topic, partitions: Iterable[int], group: str, security: Security
) -> dict[int, list[Received[Any]]]:
    found: dict[int, list[Received[Any]]] = {partition: [] for partition in partitions}
    offsets = AIOKafkaConsumer(
        bootstrap_servers=bootstrap, group_id=group, enable_auto_commit=False, **PROMPT, **security.client_options()
    )
    try:
        await offsets.start()
        since = await _first_uncommitted(offsets, source, found)
        outputs = [TopicPartition(ledger.name, partition) for partition in found]
        ends = await offsets.end_offsets(outputs)
        begins = await _begins(offsets, ledger.name, since, ends)
        # What cannot be read is an outsider's on our output: it cannot have been emitted by us.
        async for emitted in events(offsets, {tp: (begins[tp], ends[tp]) for tp in outputs}):
            found[emitted.partition].append(emitted)
    finally:
        await offsets.stop()
    return found


async def _first_uncommitted(consumer: AIOKafkaConsumer, source: str, partitions: Iterable[int]) -> dict[int, int]:
    """The timestamp (ms) of each input partition's first uncommitted record; now, where everything is committed."""
    inputs = [TopicPartition(source, partition) for partition in partitions]
    times = {tp.partition: int(time.time() * 1000) for tp in inputs}
    ends = await consumer.end_offsets(inputs)
    starts = await consumer.beginning_offsets(inputs)
    pending: list[TopicPartition] = []
    consumer.assign(inputs)
    for tp in inputs:
        at = max(await consumer.committed(tp) or 0, starts[tp])
        if at < ends[tp]:
            consumer.seek(tp, at)
            pending.append(tp)
    consumer.pause(*[tp for tp in inputs if tp not in pending])
    while pending:
        batches = await consumer.getmany(*pending, timeout_ms=1000, max_records=len(pending) * 4)
        for tp, batch in batches.items():
            if batch and tp in pending:
                times[tp.partition] = batch[0].timestamp
                pending.remove(tp)
                consumer.pause(tp)
    return times


async def _begins(
    consumer: AIOKafkaConsumer, topic: str, since: dict[int, int], ends: dict[TopicPartition, int]
) -> dict[TopicPartition, int]:
    """Where to begin reading: `LOOK_BACK_MS` before the input's first uncommitted record."""
    asked = {TopicPartition(topic, partition): at - LOOK_BACK_MS for partition, at in since.items()}
    found = await consumer.offsets_for_times(asked)
    return {tp: ends[tp] if found.get(tp) is None else found[tp].offset for tp in asked}
