"""A reader of the command ends although its Kafka client's own stop does not."""

import asyncio
from typing import Any

import pytest

from streams.edges.client import clients


class Stuck:
    """A consumer that reads nothing and is never done with stopping."""

    def __init__(self, **_: Any) -> None:
        self.stopping = False

    async def start(self) -> None:
        """At once."""

    def assign(self, partitions: list[Any]) -> None:
        assert partitions == []

    async def end_offsets(self, _: list[Any]) -> dict[Any, int]:
        return {}

    beginning_offsets = end_offsets

    async def stop(self) -> None:
        self.stopping = True
        await asyncio.sleep(3600)


def test_a_cancelled_reader_ends_as_cancelled_though_its_client_does_not_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clients.kafka_clients, "AIOKafkaConsumer", Stuck)
    monkeypatch.setattr(clients, "STOP_S", 0.01)

    async def story() -> bool:
        async def reads() -> None:
            async with clients.reading("127.0.0.1:1", []) as consumer:
                found.append(consumer)
                begun.set()
                await asyncio.sleep(3600)

        found: list[Any] = []
        begun = asyncio.Event()
        task = asyncio.create_task(reads())
        await begun.wait()
        task.cancel()
        done, _ = await asyncio.wait({task}, timeout=5)
        assert found[0].stopping
        return bool(done) and task.cancelled()

    assert asyncio.run(story())


class Swallowing:
    """A consumer to which records come at the very moment in which its reader is cancelled."""

    def __init__(self) -> None:
        self.polls = 0

    async def getmany(self, *, timeout_ms: int) -> dict[Any, Any]:
        assert timeout_ms == 200
        self.polls += 1
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            if self.polls > 1:
                raise
            return {}
        raise AssertionError


def test_a_cancellation_that_the_client_took_for_done_ends_the_reader_all_the_same() -> None:
    async def story() -> tuple[bool, int]:
        consumer: Any = Swallowing()

        async def reads() -> None:
            while True:
                await clients.poll(consumer, 0.2)

        task = asyncio.create_task(reads())
        await asyncio.sleep(0)
        task.cancel()
        done, _ = await asyncio.wait({task}, timeout=5)
        cancelled = bool(done) and task.cancelled()
        task.cancel()
        return cancelled, consumer.polls

    assert asyncio.run(story()) == (True, 1)
