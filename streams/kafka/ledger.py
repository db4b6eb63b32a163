"""Reading of a join's output partitions, so that a restarted join emits nothing twice.

Output partition p is the ledger of input partition p. Everything in the uncommitted suffix of the input was emitted
after the suffix began; reading from a little before that time finds it, however long the output is. What a stage before
sends again after it was committed here is looked for further back, when it comes.
"""

import asyncio
import time
from collections.abc import Callable, Collection, Sequence
from datetime import UTC, datetime
from typing import Any

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import KafkaError, KafkaTimeoutError

from schemas.base import time_of
from schemas.envelope import Received
from schemas.topics import Topic
from streams.kafka import clients
from streams.kafka.log_reader import bounds, events, first_records, written_since
from streams.kafka.security import PLAINTEXT, Security

# Also covers the assembler's window for the previous pack (two minutes) and clock differences.
LOOK_BACK_MS = 3 * 60 * 1000
RETRY_S = 0.5
# More than this no join remembers of a partition.
MOST = 50_000
# What takes the records of a partition.
Take = Callable[[Received[Any]], None]
Start = Callable[[int], Take]
ALWAYS = datetime.min.replace(tzinfo=UTC)


async def read(
    bootstrap: str,
    sources: Sequence[str],
    ledger: Topic,
    partitions: Collection[int],
    group: str,
    start: Start,
    security: Security = PLAINTEXT,
    *,
    since: datetime | None = None,
) -> dict[int, datetime]:
    """Pass on the records of each output partition since a time, or the recent ones, oldest first.

    `start` is called for each partition before its first record, and again where the reading begins anew after an
    error. Returns since when each was read, `ALWAYS` for all of it. Waits while no broker answers.
    """
    numbers = tuple(partitions)
    while numbers:
        try:
            return await _read(bootstrap, sources, ledger, numbers, group, start, security, since)
        except KafkaError as error:
            # Raised, it would end the worker: an absent broker comes back, and the next rebalance cancels this.
            if not (error.retriable or isinstance(error, KafkaTimeoutError)):
                raise
            await asyncio.sleep(RETRY_S)
    return {}


async def _read(
    bootstrap: str,
    sources: Sequence[str],
    ledger: Topic,
    partitions: Collection[int],
    group: str,
    start: Start,
    security: Security,
    wanted: datetime | None,
) -> dict[int, datetime]:
    found = {partition: start(partition) for partition in partitions}
    consumer = clients.new_consumer(bootstrap, security, group_id=group)
    try:
        await consumer.start()
        if wanted is None:
            since = await _first_uncommitted(consumer, sources, found)
            begins = {partition: at - LOOK_BACK_MS for partition, at in since.items()}
        else:
            begins = dict.fromkeys(found, int(wanted.timestamp() * 1000))
        whole = await bounds(consumer, ledger.name, found)
        kept = {tp: (max(first, end - MOST), end) for tp, (first, end) in whole.items()}
        outputs = await written_since(consumer, kept, begins)
        # Unreadable records on our output are an outsider's: they were not emitted by us.
        async for emitted in events(consumer, outputs):
            found[emitted.partition](emitted)
    finally:
        await consumer.stop()
    from_first = {tp.partition for tp, (begin, _) in outputs.items() if begin <= kept[tp][0]}
    return {partition: ALWAYS if partition in from_first else time_of(begins[partition]) for partition in found}


async def _first_uncommitted(
    consumer: AIOKafkaConsumer, sources: Sequence[str], partitions: Collection[int]
) -> dict[int, int]:
    """When (ms) the oldest uncommitted record of each partition was written, of any source; now without one.

    Never later than now: the timestamp may be a producer's, whose clock is ahead.
    """
    uncommitted: dict[TopicPartition, tuple[int, int]] = {}
    inputs = {tp: ends for source in sources for tp, ends in (await bounds(consumer, source, partitions)).items()}
    consumer.assign(list(inputs))
    for tp, (first, end) in inputs.items():
        uncommitted[tp] = (max(await consumer.committed(tp) or 0, first), end)
    now = int(time.time() * 1000)
    found = await first_records(consumer, uncommitted)
    begins = dict.fromkeys(partitions, now)
    for tp, record in found.items():
        begins[tp.partition] = min(begins[tp.partition], max(record.timestamp, 0))
    return begins
