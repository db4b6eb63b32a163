"""Transactions: what is visible when, who is fenced, and offsets that are committed with the records."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from aiokafka import AIOKafkaProducer, TopicPartition
from aiokafka.errors import ProducerFenced
from aiokafka.protocol import transaction

from tests.contract.broker_cluster import (
    Wire,
    batch,
    consumer,
    create_topic,
    eventually,
    fetch_request,
    fresh,
    producer,
    put,
    read_values,
    wire,
)

OLD_EPOCH, WRONG_STATE, UNKNOWN_ID, BAD_TIMEOUT = 47, 48, 49, 50
RETRY = (14, 15, 16, 51)  # a coordinator that is loading, or still ends the transaction before


@asynccontextmanager
async def transactional(bootstrap: str, name: str = "") -> AsyncIterator[AIOKafkaProducer]:
    async with producer(bootstrap, transactional_id=name or fresh("tx")) as client:
        yield client


async def retried(connection: Wire, request: object) -> object:
    """The first answer that is not "try again"; its error code may be zero or not."""

    async def settled() -> object:
        answer = await connection.ask(request)
        return None if answer.error_code in RETRY else answer

    return await eventually(settled)


class Tx:
    """A transactional producer by hand: it sends what a real client would not."""

    def __init__(self, connection: Wire, name: str) -> None:
        self._connection, self.name = connection, name
        self.id, self.epoch, self._sequence = -1, -1, {}

    async def start(self, timeout_ms: int = 60_000) -> int:
        answer = await retried(self._connection, transaction.InitProducerIdRequest_v0(self.name, timeout_ms))
        if answer.error_code == 0:
            self.id, self.epoch, self._sequence = answer.producer_id, answer.producer_epoch, {}
        return answer.error_code

    async def add(self, topic: str, partition: int = 0) -> int:
        request = transaction.AddPartitionsToTxnRequest_v0(self.name, self.id, self.epoch, [(topic, [partition])])

        async def settled() -> tuple[int] | None:
            [(_, [(_, code)])] = (await self._connection.ask(request)).errors
            return None if code in RETRY else (code,)

        return (await eventually(settled))[0]

    async def write(self, topic: str, value: bytes) -> int:
        sequence = self._sequence.get(topic, 0)
        raw = batch(value, producer=(self.id, self.epoch, sequence), transactional=True)
        code, _ = await put(self._connection, topic, raw, transactional_id=self.name)
        if code == 0:
            self._sequence[topic] = sequence + 1
        return code

    async def end(self, commit: bool) -> int:
        request = transaction.EndTxnRequest_v0(self.name, self.id, self.epoch, commit)
        return (await retried(self._connection, request)).error_code


def test_committed_records_are_read_and_aborted_ones_are_not(bootstrap: str) -> None:
    async def scenario() -> None:
        topic = await create_topic(bootstrap)
        async with transactional(bootstrap) as client:
            async with client.transaction():
                await client.send(topic, b"kept")
            await client.begin_transaction()
            await (await client.send(topic, b"dropped"))
            await client.abort_transaction()
            async with client.transaction():
                await client.send(topic, b"kept too")
        assert await read_values(bootstrap, topic, 2, committed=True) == [b"kept", b"kept too"]
        assert await read_values(bootstrap, topic, 3) == [b"kept", b"dropped", b"kept too"]

    asyncio.run(scenario())


def test_an_open_transaction_hides_what_follows_it_until_it_ends(bootstrap: str) -> None:
    async def scenario() -> None:
        topic = await create_topic(bootstrap)
        async with transactional(bootstrap) as client:
            await client.begin_transaction()
            await (await client.send(topic, b"pending"))
            async with wire(bootstrap) as connection:
                await put(connection, topic, batch(b"plain"))
                [(_, [answer])] = (await connection.ask(fetch_request([(topic, 0, 0)], committed=True))).topics
                assert (answer[2], answer[3], answer[-1] or b"") == (2, 0, b"")
            await client.commit_transaction()
        assert await read_values(bootstrap, topic, 2, committed=True) == [b"pending", b"plain"]

    asyncio.run(scenario())


def test_a_waiting_reader_of_committed_records_wakes_at_the_commit(bootstrap: str) -> None:
    async def scenario() -> None:
        topic = await create_topic(bootstrap)
        async with transactional(bootstrap) as client, wire(bootstrap) as connection:
            await client.begin_transaction()
            await (await client.send(topic, b"pending"))
            request = fetch_request([(topic, 0, 0)], max_wait=5_000, committed=True)
            connection.send(request)
            waiting = asyncio.ensure_future(connection.receive(request))
            done, _ = await asyncio.wait([waiting], timeout=0.1)
            assert not done
            await client.commit_transaction()
            [(_, [answer])] = (await asyncio.wait_for(waiting, 3)).topics
            assert answer[-1]

    asyncio.run(scenario())


def test_one_transaction_covers_several_topics(bootstrap: str) -> None:
    async def scenario() -> None:
        one, two = await create_topic(bootstrap), await create_topic(bootstrap)
        async with transactional(bootstrap) as client:
            await client.begin_transaction()
            await (await client.send(one, b"gone"))
            await (await client.send(two, b"gone"))
            await client.abort_transaction()
            async with client.transaction():
                await client.send(one, b"1")
                await client.send(two, b"2")
        assert await read_values(bootstrap, one, 1, committed=True) == [b"1"]
        assert await read_values(bootstrap, two, 1, committed=True) == [b"2"]

    asyncio.run(scenario())


def test_a_zombie_is_fenced_and_its_open_transaction_aborted(bootstrap: str) -> None:
    async def scenario() -> None:
        topic, name = await create_topic(bootstrap), fresh("tx")
        async with transactional(bootstrap, name) as zombie:
            await zombie.begin_transaction()
            await (await zombie.send(topic, b"from the zombie"))
            async with transactional(bootstrap, name) as successor:
                async with successor.transaction():
                    await successor.send(topic, b"from its successor")
                with pytest.raises(ProducerFenced):
                    await (await zombie.send(topic, b"too late"))
                with pytest.raises(ProducerFenced):
                    await zombie.commit_transaction()
        assert await read_values(bootstrap, topic, 1, committed=True) == [b"from its successor"]

    asyncio.run(scenario())


def test_a_zombie_cannot_write_even_where_its_successor_never_wrote(bootstrap: str) -> None:
    async def scenario() -> None:
        topic, name = await create_topic(bootstrap), fresh("tx")
        async with wire(bootstrap) as one, wire(bootstrap) as two:
            zombie, successor = Tx(one, name), Tx(two, name)
            assert await zombie.start() == 0
            assert await zombie.add(topic) == 0
            assert await successor.start() == 0
            assert successor.id == zombie.id
            assert successor.epoch > zombie.epoch
            assert await zombie.write(topic, b"too late") != 0
            assert await zombie.add(topic) == OLD_EPOCH
            assert await zombie.end(commit=True) == OLD_EPOCH

    asyncio.run(scenario())


def test_a_batch_outside_any_transaction_is_refused(bootstrap: str) -> None:
    async def scenario() -> None:
        announced, silent = await create_topic(bootstrap), await create_topic(bootstrap)
        async with wire(bootstrap) as connection:
            tx = Tx(connection, fresh("tx"))
            await tx.start()
            assert await tx.write(silent, b"not begun") == WRONG_STATE
            assert await tx.add(announced) == 0
            assert await tx.write(announced, b"fine") == 0
            assert await tx.write(silent, b"not announced") == WRONG_STATE
            assert await tx.end(commit=True) == 0

    asyncio.run(scenario())


def test_ending_twice_the_same_way_is_a_retry_and_the_other_way_an_error(bootstrap: str) -> None:
    async def scenario() -> None:
        topic = await create_topic(bootstrap)
        async with wire(bootstrap) as connection:
            tx = Tx(connection, fresh("tx"))
            await tx.start()
            await tx.add(topic)
            await tx.write(topic, b"once")
            assert [await tx.end(True), await tx.end(True), await tx.end(False)] == [0, 0, WRONG_STATE]
        assert await read_values(bootstrap, topic, 1, committed=True) == [b"once"]

    asyncio.run(scenario())


def test_ids_and_timeouts_that_cannot_be_are_refused(bootstrap: str) -> None:
    async def scenario() -> None:
        topic = await create_topic(bootstrap)
        async with wire(bootstrap) as connection:
            assert await Tx(connection, fresh("tx")).start(timeout_ms=10**9) == BAD_TIMEOUT
            tx = Tx(connection, fresh("tx"))
            await tx.start()
            tx.id += 100_000
            assert await tx.add(topic) == UNKNOWN_ID

    asyncio.run(scenario())


def test_a_transaction_left_open_is_aborted_after_its_timeout(bootstrap: str) -> None:
    async def scenario() -> None:
        topic = await create_topic(bootstrap)
        async with wire(bootstrap) as connection:
            tx = Tx(connection, fresh("tx"))
            await tx.start(timeout_ms=1_000)
            await tx.add(topic)
            assert await tx.write(topic, b"forgotten") == 0
            await put(connection, topic, batch(b"plain"))

            async def released() -> bool:
                [(_, [answer])] = (await connection.ask(fetch_request([(topic, 0, 0)], committed=True))).topics
                return answer[3] == 3

            await eventually(released, within=15)
            assert await tx.end(commit=True) in (OLD_EPOCH, WRONG_STATE)
        assert await read_values(bootstrap, topic, 1, committed=True) == [b"plain"]

    asyncio.run(scenario())


def test_offsets_in_a_transaction_count_only_when_it_commits(bootstrap: str) -> None:
    async def scenario() -> None:
        topic, name = await create_topic(bootstrap), fresh("group")
        part = TopicPartition(topic, 0)
        async with consumer(bootstrap, topic, group_id=name) as reader, transactional(bootstrap) as client:
            await client.begin_transaction()
            await client.send_offsets_to_transaction({part: 5}, name)
            await client.abort_transaction()
            assert await reader.committed(part) is None
            await client.begin_transaction()
            await client.send_offsets_to_transaction({part: 7}, name)
            assert await reader.committed(part) is None
            await client.commit_transaction()

            async def committed() -> bool:
                return await reader.committed(part) == 7

            await eventually(committed)

    asyncio.run(scenario())
