"""Numbered records into a topic at a steady rate, workers beside it, and what came out."""

import asyncio
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.admin import AIOKafkaAdminClient, NewTopic

from tests.checkout import ROOT

REPOSITORY = ROOT
PARTITIONS = 4


class Worker:
    """A `tests.proofs.transport.worker` process."""

    def __init__(self, *arguments: str) -> None:
        command = [sys.executable, "-m", "tests.proofs.transport.worker", *arguments]
        self.process = subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE)

    async def joined(self) -> None:
        """Wait until the worker has its partitions."""
        assert self.process.stdout is not None
        line = await asyncio.to_thread(self.process.stdout.readline)
        assert line == b"joined\n", f"the worker ended with {self.process.poll()}"

    async def terminate(self) -> int:
        """SIGTERM; the exit code."""
        self.process.terminate()
        return await asyncio.to_thread(self.process.wait, 20)

    def freeze(self) -> None:
        """SIGSTOP: alive, and silent."""
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """SIGCONT."""
        self.process.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        """SIGKILL."""
        self.process.kill()
        self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()


class Traffic:
    """Records 0, 1, 2, … in one topic, their copies in another."""

    def __init__(self, bootstrap: str, name: str, rate: int) -> None:
        self.bootstrap, self.rate = bootstrap, rate
        self.group, self.source, self.target = f"{name}-group", f"{name}-source", f"{name}-target"
        self.sent = 0
        self.workers: list[Worker] = []

    def worker(self) -> Worker:
        """Start one more worker."""
        worker = Worker(self.bootstrap, self.group, self.source, self.target)
        self.workers.append(worker)
        return worker

    async def create_topics(self) -> None:
        """Make both topics."""
        admin = AIOKafkaAdminClient(bootstrap_servers=self.bootstrap)
        await admin.start()
        topics = [NewTopic(name, PARTITIONS, 1) for name in (self.source, self.target)]
        await admin.create_topics(topics)
        await admin.close()

    async def send(self) -> None:
        """Send at the rate until cancelled."""
        # Idempotent: a repeat must be the worker's, never this producer's retry.
        producer = AIOKafkaProducer(bootstrap_servers=self.bootstrap, linger_ms=2, enable_idempotence=True)
        await producer.start()
        began = time.monotonic()
        try:
            while True:
                while self.sent < (time.monotonic() - began) * self.rate:
                    n = self.sent
                    await producer.send(self.source, b"%d" % n, key=b"%d" % (n % 97))
                    self.sent += 1
                await asyncio.sleep(0.02)
        finally:
            await producer.stop()

    async def copies(self, patience: float = 20.0) -> Counter[int]:
        """How often each record was copied: waits for all, then a moment longer for repeats."""
        consumer = AIOKafkaConsumer(self.target, bootstrap_servers=self.bootstrap, auto_offset_reset="earliest")
        await consumer.start()
        seen: Counter[int] = Counter()
        quiet_since = time.monotonic()
        try:
            while time.monotonic() - quiet_since < (1.0 if len(seen) >= self.sent else patience):
                for records in (await consumer.getmany(timeout_ms=200)).values():
                    quiet_since = time.monotonic()
                    seen.update(int(record.value) for record in records)
        finally:
            await consumer.stop()
        return seen


@asynccontextmanager
async def traffic(bootstrap: str, name: str, rate: int = 300) -> AsyncIterator[Traffic]:
    """Fresh topics of that name; every worker is killed at the end."""
    flow = Traffic(bootstrap, f"{name}-{time.time_ns()}", rate)
    await flow.create_topics()
    try:
        yield flow
    finally:
        for worker in flow.workers:
            worker.kill()


@asynccontextmanager
async def flowing(flow: Traffic) -> AsyncIterator[None]:
    """Records flow in while the block runs."""
    sending = asyncio.create_task(flow.send())
    try:
        yield
    finally:
        sending.cancel()
        await asyncio.wait({sending})
        if not sending.cancelled():
            sending.result()


@asynccontextmanager
async def shared(flow: Traffic) -> AsyncIterator[tuple[Worker, Worker]]:
    """Two workers that share the partitions, and records that flow in while the block runs."""
    first, second = flow.worker(), flow.worker()
    await asyncio.gather(first.joined(), second.joined())
    async with flowing(flow):
        yield first, second


def lost_and_repeated(flow: Traffic, seen: Counter[int]) -> tuple[int, int]:
    """How many records have no copy, and how many copies there are too many."""
    return flow.sent - len(seen), sum(seen.values()) - len(seen)
