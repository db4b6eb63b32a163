"""Producers in other languages compress, and some write what nobody can read: `fathom up` goes on, and says so."""

import asyncio
import json
from typing import Any

import pytest
from aiokafka import AIOKafkaProducer

from schemas.topics import TOPICS
from tests.builders.batches import batch, changed
from tests.contract.broker_cluster import put, wire
from tests.e2e.calls import produce, until
from tests.e2e.conftest import Tenant, Up
from tests.e2e.processes import fathom

GARBAGE = changed(batch([b"a", b"b"]), records=b"\xff" * 60)
BROKEN_GZIP = changed(batch([b"a", b"b"]), records=b"\x1f\x8b this is no gzip at all", attributes=1)
OF_THE_FUTURE = changed(batch([b"a", b"b"]), attributes=7)
OUTSIDE = [topic.name for topic in TOPICS if topic.outside]


def message(tenant: Tenant, number: int) -> tuple[bytes, bytes]:
    said = {"message_id": f"{tenant.name}-{number}", "role": "user", "content": f"Which dock is number {number}?"}
    said |= {"conversation_id": f"c{number}", "client_id": "web"}
    return f"{tenant.name}|web|c{number}".encode(), json.dumps(said).encode()


def pack_of(tenant: Tenant, message_id: str) -> Any:
    client = tenant.client()
    return until(lambda: (found := client.get(f"/packs/{message_id}")).status_code == 200 and found.json())


@pytest.mark.parametrize("codec", ["gzip", "snappy", "lz4", "zstd"])
def test_a_compressed_batch_of_messages_has_its_packs(tenant: Tenant, codec: str) -> None:
    numbers = [len(codec) * 10 + number + ord(codec[0]) * 100 for number in range(3)]

    async def send() -> None:
        async with AIOKafkaProducer(
            bootstrap_servers=tenant.bootstrap, compression_type=codec, linger_ms=50
        ) as producer:
            for number in numbers:
                key, value = message(tenant, number)
                await producer.send("messages.in", value, key=key, headers=[("tenant", tenant.name.encode())])

    asyncio.run(send())
    for number in numbers:
        assert pack_of(tenant, f"{tenant.name}-{number}")["message_id"] == f"{tenant.name}-{number}"


def test_what_nobody_can_read_is_set_aside_on_every_topic_of_outsiders_and_all_goes_on(up: Up, tenant: Tenant) -> None:
    async def write() -> list[tuple[str, int]]:
        async with wire(up.bootstrap) as connection:
            raws = [(topic, raw) for topic in OUTSIDE for raw in (GARBAGE, BROKEN_GZIP, OF_THE_FUTURE)]
            written = [(topic, await put(connection, topic, raw)) for topic, raw in raws]
        assert {code for _, (code, _) in written} == {0}
        return [(topic, base) for topic, (_, base) in written]

    written = asyncio.run(write())
    asked = {"question": "Is everything still there?", "conversation_id": "u", "client_id": "web"}
    assert tenant.client().post("/ask", json=asked).status_code == 200
    wanted = {f"{topic}:0:{base + 1}" for topic, base in written}
    until(lambda: wanted <= _set_aside(up).keys())
    assert "codec 7, which Kafka does not define" in _set_aside(up)[f"messages.in:0:{_base(written) + 1}"]
    assert tenant.client().get("/health/ready").status_code == 200


def _base(written: list[tuple[str, int]]) -> int:
    """The first offset of the last batch of messages."""
    return max(base for topic, base in written if topic == "messages.in")


def _set_aside(up: Up, reason: str = "unreadable_batch") -> dict[str, str]:
    """What the dead letters of a reason say, by the position of the batch."""
    said = fathom("dlq", "list", "--reason", reason, "--json", "--broker", up.bootstrap)
    return {each["original"]: each["detail"] for each in json.loads(said.stdout)["letters"]}


def test_a_header_without_a_value_is_a_dead_letter_and_nothing_worse(up: Up, tenant: Tenant) -> None:
    key, value = message(tenant, 7)
    produce(up.bootstrap, "messages.in", key, value, [("tenant", None), ("fathom-keys", None)])  # type: ignore[list-item]
    key, value = message(tenant, 8)
    produce(up.bootstrap, "messages.in", key, value, [("tenant", tenant.name.encode())])
    assert pack_of(tenant, f"{tenant.name}-8")


def test_records_with_neither_key_nor_value_are_dead_letters_on_every_topic(up: Up, tenant: Tenant) -> None:
    async def write() -> set[str]:
        async with wire(up.bootstrap) as connection:
            written = [(topic.name, await put(connection, topic.name, batch([None], key=None))) for topic in TOPICS]
        assert {code for _, (code, _) in written} == {0}
        return {f"{topic}:0:{base}" for topic, (_, base) in written if topic in OUTSIDE}

    wanted = asyncio.run(write())
    until(lambda: wanted <= _set_aside(up, "empty").keys())
    asked = {"question": "Is everything still there?", "conversation_id": "n", "client_id": "web"}
    assert tenant.client().post("/ask", json=asked).status_code == 200
