"""Records of several topics that lie at hand together are handed over in the order in which they were written."""

import asyncio
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from aiokafka import TopicPartition

from streams.faust.fetch_loop import FetchLoop
from streams.faust.watermark import Watermark
from streams.kafka.records import Record

CALLS, RESULTS = TopicPartition("calls", 0), TopicPartition("results", 0)


class Client:
    """Has one batch to give, and remembers where it was sought to."""

    def __init__(self, batch: dict[TopicPartition, list[Any]]) -> None:
        self.sought: list[tuple[TopicPartition, int]] = []
        self.empty = asyncio.Event()
        self._batch = batch
        self._closed = False
        self._coordinator = SimpleNamespace(check_errors=lambda: None)
        self._subscription = SimpleNamespace(reassignment_in_progress=False)
        self._fetcher = self

    async def fetched_records(self, *_: object) -> dict[TopicPartition, list[Any]]:
        batch, self._batch = self._batch, {}
        if not batch:
            self.empty.set()
        return batch

    def _create_fetch_waiter(self) -> "asyncio.Future[None]":
        return asyncio.get_running_loop().create_future()

    def seek(self, tp: TopicPartition, offset: int) -> None:
        self.sought.append((tp, offset))

    def pause(self, _: TopicPartition) -> None:
        pass


def _records(*times: int) -> list[Any]:
    return [
        SimpleNamespace(offset=offset, timestamp=at, key=b"k", value=b"", headers=()) for offset, at in enumerate(times)
    ]


async def _delivered(
    batch: dict[TopicPartition, list[Any]], pause: tuple[str, int] | None = None
) -> tuple[Sequence[tuple[str, int]], Client]:
    taken: list[tuple[str, int]] = []

    def sink(record: Record) -> None:
        taken.append((record.topic, record.offset))
        if taken[-1] == pause:
            delivery.pause(TopicPartition(record.topic, record.partition))

    delivery, client = FetchLoop(sink), Client(batch)
    delivery.reset({tp: Watermark(0, None) for tp in batch})
    delivery.renew(float("inf"))
    delivery.start()
    running = asyncio.create_task(delivery.run(client))  # type: ignore[arg-type]
    await asyncio.wait_for(client.empty.wait(), 30)
    running.cancel()
    return taken, client


@pytest.mark.covers("CF-54")
def test_what_was_written_first_is_handed_over_first_whatever_topic_it_is_in() -> None:
    batch = {CALLS: _records(20, 40), RESULTS: _records(10, 30, 30)}
    taken, client = asyncio.run(_delivered(batch))
    assert taken == [("results", 0), ("calls", 0), ("results", 1), ("results", 2), ("calls", 1)]
    assert client.sought == []


def test_a_partition_keeps_its_order_where_its_clocks_go_back() -> None:
    taken, _ = asyncio.run(_delivered({CALLS: _records(20, 5), RESULTS: _records(10)}))
    assert [offset for topic, offset in taken if topic == "calls"] == [0, 1]
    assert sorted(taken) == [("calls", 0), ("calls", 1), ("results", 0)]


def test_a_partition_that_is_paused_gets_nothing_more_of_the_batch_and_all_of_it_later() -> None:
    batch = {CALLS: _records(20, 40, 60), RESULTS: _records(10, 30, 50)}
    taken, client = asyncio.run(_delivered(batch, pause=("calls", 0)))
    assert taken == [("results", 0), ("calls", 0), ("results", 1), ("results", 2)]
    assert client.sought == [(CALLS, 1)]


class Held:
    """A loop over one partition whose first record stands until it is let go."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, records: int) -> None:
        monkeypatch.setattr("streams.faust.fetch_loop.MAX_AHEAD", 3)
        self.taken: list[int] = []
        self.loop = FetchLoop(self._take)
        self.client = Client({CALLS: _records(*range(records))})
        self.resumed: list[TopicPartition] = []
        self.client.resume = self.resumed.append  # type: ignore[attr-defined]
        self.loop.reset({CALLS: Watermark(0, None)})

    def _take(self, record: Record) -> None:
        self.taken.append(record.offset)
        if record.offset:
            self.loop.marks[CALLS].ack(record.offset)
            self.loop.acked(CALLS)


def test_a_partition_stops_some_way_ahead_of_a_record_that_stands_and_goes_on_after_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def story() -> Held:
        held = Held(monkeypatch, 10)
        held.loop.renew(float("inf"))
        held.loop.start()
        running = asyncio.create_task(held.loop.run(held.client))  # type: ignore[arg-type]
        for _ in range(10):
            await asyncio.sleep(0)
        assert (held.taken, held.client.sought, held.resumed) == ([0, 1, 2, 3], [(CALLS, 4)], [])
        held.loop.marks[CALLS].ack(0)
        held.loop.acked(CALLS)
        assert held.resumed == [CALLS]
        running.cancel()
        return held

    asyncio.run(story())


def test_a_process_that_was_stopped_within_a_batch_takes_nothing_more_of_it() -> None:
    """Its lease is over: the rest may be handled by the new owner already."""
    taken: list[int] = []

    def sink(record: Record) -> None:
        taken.append(record.offset)
        loop.renew(0.0)  # as after a stop of the process for longer than its session

    async def story() -> Client:
        client = Client({CALLS: _records(1, 2, 3)})
        loop.reset({CALLS: Watermark(0, None)})
        loop.renew(float("inf"))
        loop.start()
        running = asyncio.create_task(loop.run(client))  # type: ignore[arg-type]
        for _ in range(10):
            await asyncio.sleep(0)
        running.cancel()
        return client

    loop = FetchLoop(sink)
    client = asyncio.run(story())
    assert taken == [0]
    assert client.sought == [(CALLS, 1)]
