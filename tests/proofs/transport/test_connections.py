"""Under uvloop a connection that has ended says so as an error that aiokafka does not know."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any

import pytest
import uvloop
from aiokafka import TopicPartition
from aiokafka.client import AIOKafkaClient
from aiokafka.errors import KafkaConnectionError
from aiokafka.protocol.metadata import MetadataRequest

from streams.faust.consumer import DirectConsumer
from streams.faust.crash_mark import PartitionMarks
from streams.kafka import aiokafka_private, security


def on_uvloop(bootstrap: str, story: Callable[[AIOKafkaClient], Awaitable[None]]) -> None:
    async def main() -> None:
        aiokafka_private.prepare()
        client = AIOKafkaClient(bootstrap_servers=bootstrap, **security.PLAINTEXT.client_options())
        await client.bootstrap()
        try:
            await asyncio.wait_for(story(client), 20)
        finally:
            await client.close()

    uvloop.run(main())


async def connected(client: AIOKafkaClient) -> Any:
    [node] = [broker.nodeId for broker in client.cluster.brokers()]
    assert await client.ready(node)
    return await client._get_conn(node)


async def breaks(connection: Any) -> None:
    """The transport has ended and its reader has not been told: on a busy loop there is a moment in between."""
    writer = connection._writer
    writer.transport.abort()
    for _ in range(5):
        await asyncio.sleep(0)
    assert "closed=True" in repr(writer.transport)
    connection._writer, connection._reader = writer, asyncio.StreamReader()
    connection._read_task = asyncio.create_task(asyncio.sleep(60))
    assert connection.connected()


def test_a_request_on_a_connection_that_broke_is_a_connection_error(broker: Any) -> None:
    async def story(client: AIOKafkaClient) -> None:
        connection = await connected(client)
        await breaks(connection)
        with pytest.raises(KafkaConnectionError, match="broken"):
            await connection.send(MetadataRequest([]))
        assert not connection.connected()

    on_uvloop(broker.bootstrap, story)


def test_metadata_is_still_kept_after_a_connection_broke_under_its_request(broker: Any) -> None:
    async def story(client: AIOKafkaClient) -> None:
        connection = await connected(client)
        [place] = [place for place, each in client._conns.items() if each is connection]
        await breaks(connection)
        assert await asyncio.wait_for(client.force_metadata_update(), 10)  # on a connection made for it
        await client._conns[place].close()
        client._conns[place] = connection
        assert await asyncio.wait_for(client.force_metadata_update(), 10) in (True, False)
        assert not client._sync_task.done()
        assert await asyncio.wait_for(client.force_metadata_update(), 10)

    on_uvloop(broker.bootstrap, story)


def test_other_errors_of_a_request_stay_what_they_are() -> None:
    with pytest.raises(RuntimeError, match="a bug"):
        aiokafka_private.sends(lambda *_: (_ for _ in ()).throw(RuntimeError("a bug")))(SimpleNamespace(), None)


def test_a_consumer_whose_client_no_longer_keeps_metadata_crashes_instead_of_waiting_for_ever(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def story(broken: bool) -> list[BaseException]:
        async def keeps() -> None:
            if broken:
                raise RuntimeError("gone")
            await asyncio.sleep(60)

        async def commit(_: Any) -> None:
            raise TimeoutError

        async def crash(error: BaseException) -> None:
            crashed.append(error)

        crashed: list[BaseException] = []
        sync = asyncio.create_task(keeps())
        await asyncio.sleep(0)
        consumer: Any = SimpleNamespace(
            client=SimpleNamespace(commit=commit, _client=SimpleNamespace(_sync_task=sync)),
            app=SimpleNamespace(conf=SimpleNamespace(id="fathom.depth")),
            log=logging.getLogger("test.connections"),
            crash=crash,
            crashes=PartitionMarks(),
        )
        assert not await DirectConsumer._commit(consumer, {TopicPartition("t", 0): 1})
        sync.cancel()
        return crashed

    assert asyncio.run(story(broken=False)) == []
    [error] = asyncio.run(story(broken=True))
    assert isinstance(error, RuntimeError)
    assert "not committed: TimeoutError()" in caplog.text
