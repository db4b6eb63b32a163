"""The embedded broker has no transactions: who asks for them is told so, and directories that hold some still open."""

import asyncio
import json
import struct
import time

import pytest
from aiokafka import AIOKafkaProducer
from aiokafka.errors import TransactionalIdAuthorizationFailed
from aiokafka.protocol import admin, transaction
from aiokafka.record.util import calc_crc32c
from confluent_kafka import KafkaError, KafkaException, Producer

from tests.contract.broker_cluster import batch, create_topic, put, read_values, wire
from tests.contract.broker_node import Node, committed, fill

BAD_RECORD, NOT_AUTHORISED = 87, 53
ADD_PARTITIONS, ADD_OFFSETS, END, COMMIT_OFFSETS, INIT_PRODUCER = 24, 25, 26, 28, 22


def test_no_request_about_transactions_is_offered(node: Node) -> None:
    async def scenario() -> set[int]:
        async with wire(node.start()) as connection:
            return {key for key, _, _ in (await connection.ask(admin.ApiVersionRequest_v0())).api_versions}

    offered = asyncio.run(scenario())
    assert INIT_PRODUCER in offered
    assert not offered & {ADD_PARTITIONS, ADD_OFFSETS, END, COMMIT_OFFSETS}


def test_a_transactional_id_is_refused_and_a_transactional_batch_too(node: Node) -> None:
    async def scenario() -> None:
        address = node.start()
        topic = await create_topic(address)
        async with wire(address) as connection:
            answer = await connection.ask(transaction.InitProducerIdRequest_v0("tx", 60_000))
            assert (answer.error_code, answer.producer_id) == (NOT_AUTHORISED, -1)
            plain = await connection.ask(transaction.InitProducerIdRequest_v0(None, 60_000))
            assert plain.error_code == 0
            raw = batch(b"no", producer=(plain.producer_id, 0, 0), transactional=True)
            assert (await put(connection, topic, raw))[0] == BAD_RECORD
        assert await read_values(address, topic, 0) == []

    asyncio.run(scenario())


def test_librdkafka_is_told_that_it_may_not_have_transactions(node: Node) -> None:
    client = Producer({"bootstrap.servers": node.start(), "transactional.id": "tx", "log_level": 0})
    began = time.monotonic()
    with pytest.raises(KafkaException) as raised:
        client.init_transactions(15)
    assert raised.value.args[0].code() == KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    assert "the embedded broker has no transactions" in raised.value.args[0].str()
    assert time.monotonic() - began < 10


def test_aiokafka_is_told_that_it_may_not_have_transactions(node: Node) -> None:
    async def scenario() -> None:
        client = AIOKafkaProducer(bootstrap_servers=node.start(), transactional_id="tx")
        try:
            with pytest.raises(TransactionalIdAuthorizationFailed):
                await asyncio.wait_for(client.start(), 10)
        finally:
            await client.stop()

    asyncio.run(scenario())


def _based(raw: bytes, offset: int) -> bytes:
    return struct.pack(">q", offset) + raw[8:]


def _marker(offset: int, producer: int) -> bytes:
    """The control batch that commits, as the broker wrote it when it had transactions."""
    record = bytes((32, 0, 0, 0, 8)) + struct.pack(">hh", 0, 1) + bytes((12,)) + struct.pack(">hi", 0, 0) + b"\0"
    signed = struct.pack(">hiqqqhii", 0x30, 0, 1, 1, producer, 0, -1, 1) + record
    return struct.pack(">qiibI", offset, 9 + len(signed), 0, 2, calc_crc32c(signed)) + signed


def test_a_directory_with_transactions_opens_and_goes_on(node: Node) -> None:
    ongoing = {"id": "tx", "producer": 1000, "epoch": 0, "timeout": 60.0, "state": "Ongoing"}
    journals = {
        "topics": [{"topic": "t", "partitions": 1, "configs": {}}, {"topic": "t", "partition": 0, "start": 0}],
        "offsets": [["g", "t", 0, 1, "", -1]],
        "transactions": [{"reserved": 2000}, {**ongoing, "partitions": [["t", 0]], "offsets": []}],
    }
    node.directory.mkdir(exist_ok=True)
    for name, lines in journals.items():
        (node.directory / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    segment = node.directory / "logs" / "t-0" / f"{0:020d}.log"
    segment.parent.mkdir(parents=True)
    kept, plain = (
        batch(b"kept", producer=(1000, 0, 0), transactional=True),
        batch(b"plain", producer=(1001, 0, 0)),
    )
    segment.write_bytes(kept + _marker(1, 1000) + _based(plain, 2))

    async def scenario() -> None:
        address = node.start()
        assert await committed(address, "g", "t") == 1
        assert await fill(address, "t", b"next") == [(0, 3)]
        for isolated in (True, False):
            assert await read_values(address, "t", 3, committed=isolated) == [b"kept", b"plain", b"next"]
        async with wire(address) as connection:
            assert await put(connection, "t", plain) == (0, 2)
            given = await connection.ask(transaction.InitProducerIdRequest_v0(None, 60_000))
            assert given.producer_id >= 2000

    asyncio.run(scenario())
    node.crash()
    assert segment.stat().st_size > len(kept) + len(plain)
