"""What Faust 0.15.3 does wrong around a rebalance, on stock and on ours, on a scripted client.

A test on `stock` asserts that the defect is there: it says why our transport replaces that part,
and fails, to be deleted together with the fix, once Faust has repaired it.
"""

import asyncio
from types import SimpleNamespace
from typing import Any

from faust.types import TP as FAUST_TP

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

ASSIGNED = {TP}


# -- fix 6: the commit of a revocation


def test_stock_forgets_what_was_acknowledged_before_it_commits_a_revocation() -> None:
    async def scenario() -> list[int]:
        client = ScriptedClient(range(3))
        consumer = stock_consumer(stock_app(), client, settle)
        async with draining(consumer):
            await settle(200)
        stock_ack(consumer, 0, 1, 2)
        await consumer.on_partitions_revoked({FAUST_TP(*TP)})
        return client.commits

    assert asyncio.run(scenario()) == []


def test_a_revocation_drains_then_commits_then_forgets() -> None:
    async def scenario() -> tuple[list[int], bool]:
        client = ScriptedClient(range(3))

        async def drain(_: frozenset[Any]) -> None:
            await settle(3)
            for offset in range(3):
                consumer.ack(TP, offset)

        async with owning(client, lambda _: None, on_revoked=drain) as consumer:
            await consumer.on_partitions_revoked(ASSIGNED)
            return client.commits, TP in consumer.delivery.marks

    assert asyncio.run(scenario()) == ([3], False)


# -- fix 7: a partition nothing was ever committed of


def test_stock_never_reads_again_what_it_dropped_before_the_first_commit() -> None:
    async def scenario() -> list[int]:
        found: list[int] = []

        async def take(record: Any) -> None:
            found.append(record.offset)

        client = ScriptedClient(range(8))
        client.positions[TP] = 5  # fetched, and dropped by the first of two rebalances
        consumer = stock_consumer(stock_app(), client, take)
        await consumer.perform_seek()
        async with draining(consumer):
            await settle()
        return found

    assert asyncio.run(scenario()) == [5, 6, 7]


def test_a_partition_without_a_commit_is_read_from_its_beginning() -> None:
    async def scenario() -> list[int]:
        found: list[int] = []
        client = ScriptedClient(range(8))
        client.positions[TP] = 5
        async with owning(client, take_into(found)):
            return found

    assert asyncio.run(scenario()) == list(range(8))


# -- fix 8: an offset below the commit


def test_stock_waits_for_ever_for_a_record_below_the_commit() -> None:
    async def scenario() -> bool:
        consumer = stock_consumer(stock_app(), ScriptedClient([], committed=7), settle)
        consumer._committed_offset[FAUST_TP(*TP)] = 7
        late = message(5)
        consumer.track_message(late)
        consumer.ack(late)
        return late in consumer.unacked

    assert asyncio.run(scenario())


def test_a_record_below_the_commit_is_neither_delivered_nor_waited_for() -> None:
    async def scenario() -> tuple[list[int], list[int]]:
        found: list[int] = []
        client = ScriptedClient(range(5, 9), committed=7)
        async with direct_consumer(client, take_into(found)) as consumer:
            await consumer.on_partitions_assigned(ASSIGNED)
            client.seek(TP, 5)
            await settle()
            for offset in (5, 8, 7):
                consumer.ack(TP, offset)
            await consumer.commit()
            return found, client.commits

    assert asyncio.run(scenario()) == ([7, 8], [9])


# -- fix 10: two rebalances in a row


def test_stock_resumes_the_flow_in_the_middle_of_the_next_rebalance() -> None:
    async def scenario() -> bool:
        app = stock_app()
        client = ScriptedClient(range(3), committed=1)
        consumer = stock_consumer(app, client, settle)
        consumer.stop_flow()
        app._fetcher = SimpleNamespace(maybe_start=lambda: asyncio.sleep(0))
        app.on_rebalance_end = lambda: None

        async def next_rebalance() -> None:
            consumer.stop_flow()
            app.consumer_generation_id += 1

        client.during_seek = next_rebalance
        await app.tables.recovery._resume_streams(app.consumer_generation_id)
        return bool(consumer.flow_active)

    assert asyncio.run(scenario())


def test_the_next_rebalance_ends_the_take_over_of_the_one_before() -> None:
    async def scenario() -> tuple[bool, list[str]]:
        events: list[str] = []
        client = ScriptedClient(range(3), committed=1)

        async def assigned(_: frozenset[Any]) -> None:
            events.append("assigned")

        async def next_rebalance() -> None:
            rebalance.set()
            await revoked.wait()

        rebalance, revoked = asyncio.Event(), asyncio.Event()
        client.during_seek = next_rebalance
        async with direct_consumer(client, lambda _: None, on_assigned=assigned) as consumer:
            await consumer.on_partitions_assigned(ASSIGNED)
            await rebalance.wait()
            await consumer.on_partitions_revoked(ASSIGNED)
            revoked.set()
            await settle()
            between = consumer.flow_active
            await consumer.on_partitions_assigned(ASSIGNED)
            await settle()
            return between, events

    assert asyncio.run(scenario()) == (False, ["assigned"])
