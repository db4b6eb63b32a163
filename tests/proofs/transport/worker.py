"""One worker process: copies `SOURCE` to `TARGET` as a member of `GROUP`, until SIGTERM.

    python -m tests.proofs.transport.worker BOOTSTRAP GROUP SOURCE TARGET

Every record is sent and acknowledged by the broker before its own ack. Exits 0 after a graceful
stop, 1 when the group failed. One line on standard output says when the group is joined.
"""

import asyncio
import signal
import sys

import uvloop
from aiokafka import AIOKafkaProducer

from streams.faust.consumer_group import ConsumerGroup
from streams.kafka.records import Record, TopicPartition


class Copier:
    """Sends what the sink is given and acknowledges it when the send is."""

    def __init__(self, bootstrap: str, group: str, source: str, target: str) -> None:
        self._target = target
        self._producer = AIOKafkaProducer(bootstrap_servers=bootstrap, acks="all", enable_idempotence=True)
        self._sending: set[asyncio.Task[None]] = set()
        self.group = ConsumerGroup(
            group,
            [source],
            bootstrap=bootstrap,
            sink=self._take,
            on_revoked=self._drain,
            session_timeout=3.0,
            heartbeat_interval=0.5,
        )

    def _take(self, record: Record) -> None:
        task = asyncio.create_task(self._copy(record))
        self._sending.add(task)
        task.add_done_callback(self._sending.discard)

    async def _copy(self, record: Record) -> None:
        await self._producer.send_and_wait(self._target, record.value, key=record.key, partition=record.partition)
        self.group.ack(record.topic, record.partition, record.offset)

    async def _drain(self, _: frozenset[TopicPartition]) -> None:
        if self._sending:
            await asyncio.wait(set(self._sending))

    async def run(self) -> int:
        """Work until SIGTERM or a failure; the exit code."""
        told = asyncio.Event()
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, told.set)
        await self._producer.start()
        await self.group.start()
        sys.stdout.write("joined\n")
        sys.stdout.flush()
        assert self.group.failed is not None
        stopping = asyncio.ensure_future(told.wait())
        ends: set[asyncio.Future[object]] = {stopping, self.group.failed}  # type: ignore[arg-type]
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        await self.group.stop()
        await self._producer.stop()
        return int(self.group.failed.done())


async def _main() -> int:
    return await Copier(*sys.argv[1:5]).run()


if __name__ == "__main__":
    sys.exit(uvloop.run(_main()))
