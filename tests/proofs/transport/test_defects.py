"""Each named defect of Faust 0.15.3, shown on stock and shown absent here, on a scripted client.

A test on `stock` asserts that the defect is there: it says why our transport replaces that part,
and fails, to be deleted together with the fix, once Faust has repaired it.
"""

import asyncio
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest
from faust.types import TP as FAUST_TP

from streams.kafka.records import Record
from tests.proofs.transport.scripted import (
    TP,
    ScriptedClient,
    direct_consumer,
    draining,
    message,
    owning,
    settle,
    stock_ack,
    stock_app,
    stock_consumer,
    take_into,
)

# -- D1: records are skipped when the flow is on while the consumer seeks


def test_stock_skips_records_when_recovery_ends_while_records_flow() -> None:
    async def scenario() -> list[int]:
        app = stock_app()
        app.Table("counts", partitions=1)
        queue = app.FlowControlQueue(clear_on_resume=True)

        async def into_queue(record: Any) -> None:
            await queue.put(record.offset)

        client = ScriptedClient(range(10), committed=3)
        client.during_seek = partial(settle, 20)
        consumer = stock_consumer(app, client, into_queue)
        app.flow_control.resume()
        consumer.pause_partitions({FAUST_TP(*TP)})
        app.tables.actives_ready = True
        app._fetcher = SimpleNamespace(maybe_start=lambda: asyncio.sleep(0))
        app.on_rebalance_end = lambda: None
        async with draining(consumer):
            await app.tables.recovery.on_recovery_completed(app.consumer_generation_id)
            await settle()
        return [queue.get_nowait() for _ in range(queue.qsize())]

    processed = asyncio.run(scenario())
    assert set(processed) < set(range(3, 10))


def test_no_record_is_skipped_when_records_wait_during_the_seek() -> None:
    async def scenario() -> list[int]:
        found: list[int] = []
        client = ScriptedClient(range(10), committed=3)
        client.during_seek = partial(settle, 20)
        async with owning(client, take_into(found)):
            return found

    assert asyncio.run(scenario()) == list(range(3, 10))


def test_no_fetch_is_made_while_a_seek_is_under_way() -> None:
    async def scenario() -> int:
        client = ScriptedClient(range(10), committed=3)
        fetches: list[int] = []

        async def seeking() -> None:
            client.arrive(10, 11)
            await settle(20)
            fetches.append(client.fetches)

        client.during_seek = seeking
        async with owning(client, take_into([])):
            return fetches[0]

    assert asyncio.run(scenario()) == 0


# -- D2: the commit passes a record in flight


async def stock_commits(offsets: list[int], acked: list[int]) -> list[int]:
    client = ScriptedClient(offsets)
    app = stock_app()
    seen: list[int] = []

    async def see(record: Any) -> None:
        seen.append(record.offset)

    consumer = stock_consumer(app, client, see)
    async with draining(consumer):
        await settle()
    assert seen == offsets
    stock_ack(consumer, *acked)
    await consumer.commit()
    return client.commits


async def our_commits(offsets: list[int], acked: list[int]) -> list[int]:
    client = ScriptedClient(offsets)
    async with owning(client, lambda _: None) as consumer:
        for offset in acked:
            consumer.ack(TP, offset)
        await consumer.commit()
        return list(client.commits)


in_flight = pytest.mark.parametrize(
    ("offsets", "acked", "past", "expected"),
    [
        pytest.param(list(range(10)), list(range(1, 10)), 10, [], id="the first of the log"),
        pytest.param([0, 1, 5, 6], [0, 1, 6], 7, [5], id="the one that closes a gap"),
    ],
)


@in_flight
def test_stock_commits_past_a_record_in_flight(
    offsets: list[int], acked: list[int], past: int, expected: list[int]
) -> None:
    assert past not in expected
    assert asyncio.run(stock_commits(offsets, acked)) == [past]


@pytest.mark.covers("CF-67")
@in_flight
def test_the_commit_stops_before_a_record_in_flight(
    offsets: list[int], acked: list[int], past: int, expected: list[int]
) -> None:
    assert past not in expected
    assert asyncio.run(our_commits(offsets, acked)) == expected


# -- D3: the record at the read offset is taken again


async def _read_again(client: ScriptedClient) -> None:
    await settle()
    client.seek(TP, 4)
    client.arrive()
    await settle()


def test_stock_takes_the_last_record_again() -> None:
    async def scenario() -> list[int]:
        found: list[int] = []

        async def take(record: Any) -> None:
            found.append(record.offset)

        client = ScriptedClient(range(5))
        async with draining(stock_consumer(stock_app(), client, take)):
            await _read_again(client)
        return found

    assert asyncio.run(scenario()) == [0, 1, 2, 3, 4, 4]


def test_the_last_record_is_taken_once() -> None:
    async def scenario() -> list[int]:
        found: list[int] = []
        client = ScriptedClient(range(5))
        async with direct_consumer(client, take_into(found)) as consumer:
            await consumer.on_partitions_assigned({TP})
            await _read_again(client)
            return found

    assert asyncio.run(scenario()) == [0, 1, 2, 3, 4]


# -- D9: an exception acknowledges


def test_stock_acknowledges_a_record_whose_handling_raised() -> None:
    async def scenario() -> list[int]:
        client = ScriptedClient([0])
        app = stock_app()
        consumer = stock_consumer(app, client, settle)
        failing = message(0)
        consumer.track_message(failing)
        stream = app.topic(TP.topic, value_serializer="raw").stream()
        failing.incref()
        event = app.create_event(None, b"", {}, failing)
        app.flow_control.resume()
        stream.channel.queue.put_nowait(event)

        async def agent() -> None:
            async for _ in stream:
                raise ValueError("a bug in the agent")

        with pytest.raises(ValueError, match="a bug"):
            await agent()
        await settle()
        await consumer.commit()
        return client.commits

    assert asyncio.run(scenario()) == [1]


@pytest.mark.covers("CF-67")
def test_a_sink_that_raises_acknowledges_nothing() -> None:
    async def scenario() -> tuple[int | None, list[int]]:
        def fail(_: Record) -> None:
            raise ValueError("a bug in the sink")

        client = ScriptedClient([0])
        async with owning(client, fail) as consumer:
            await consumer.commit()
            held = consumer.delivery.marks[TP].oldest()
            return (None if held is None else held[0]), client.commits

    assert asyncio.run(scenario()) == (0, [])
