"""`/ask` at a real socket: bodies that are slow or endless, callers that are gone, connections by the hundred."""

import asyncio
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.builders.http_server import QUESTION, TOKEN, Echo, served, until
from tests.unit.edges.http.test_ask import JSON, answers, detail, never


def test_a_body_that_never_ends_is_given_up_at_its_bound(tmp_path: Path):
    sent = 0

    async def endless() -> Any:
        nonlocal sent
        while True:
            sent += 64_000
            yield b" " * 64_000
            await asyncio.sleep(0)

    async def story(client: httpx.AsyncClient) -> None:
        # It is refused, or the connection is closed under who goes on sending.
        with suppress(httpx.NetworkError):
            assert (await client.post("/ask", content=endless(), headers=JSON)).status_code == 413

    exchange = Echo(answers)
    served(tmp_path, exchange, story, socket=True)
    assert 32_000_000 < sent < 64_000_000
    assert exchange.asked == []


def test_a_body_that_is_too_large_is_refused_once_it_is_sent(tmp_path: Path):
    async def story(client: httpx.AsyncClient) -> str:
        return detail(await client.post("/ask", content=b" " * 10_000_000, headers=JSON), 413)

    assert "256,000 bytes" in served(tmp_path, Echo(answers), story, socket=True)


def test_a_body_that_stands_still_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    async def stuck() -> Any:
        yield b'{"question"'
        await asyncio.sleep(1)

    monkeypatch.setattr("streams.edges.http.bodies.SECONDS", 0.2)

    async def story(client: httpx.AsyncClient) -> str:
        return detail(await client.post("/ask", content=stuck(), headers=JSON), 408)

    assert "0.2 s" in served(tmp_path, Echo(answers), story, socket=True)


def test_a_caller_that_is_gone_is_waited_for_no_longer(tmp_path: Path):
    exchange = Echo(never)

    async def story(client: httpx.AsyncClient) -> None:
        asking = asyncio.create_task(client.post("/ask", json=QUESTION))
        await until(lambda: exchange.waiting)
        asking.cancel()
        await until(lambda: not exchange.waiting)

    served(tmp_path, exchange, story, socket=True)
    assert len(exchange.asked) == 1


def test_five_hundred_connections_wait_at_a_time_and_each_gets_its_own_answer(tmp_path: Path):
    exchange = Echo(never, most=1_000)

    async def one(base: httpx.URL, number: int) -> tuple[bytes, Any]:
        # By hand: five hundred connections of httpx take half a minute.
        reading, writing = await asyncio.open_connection(base.host, base.port)
        body = json.dumps({**QUESTION, "conversation_id": f"c{number}"}).encode()
        head = f"POST /ask HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {TOKEN}\r\n"
        head += f"content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
        writing.write(head.encode() + body)
        said = await reading.readuntil(b"\r\n\r\n")
        length = int(said.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
        answer = json.loads(await reading.readexactly(length))
        writing.close()
        return said.partition(b"\r\n")[0], answer

    async def story(client: httpx.AsyncClient) -> list[tuple[bytes, Any]]:
        asking = [asyncio.create_task(one(client.base_url, number)) for number in range(500)]
        await until(lambda: exchange.waiting == 500)
        for prepared, wanted in exchange.asked:
            place = json.loads(prepared.value)["conversation_id"]
            value = json.dumps({"message_id": wanted.message_id, "user_id": wanted.user, "revision": 1, "of": place})
            exchange.waits.came(wanted.topic, wanted.key, value.encode())
        return await asyncio.gather(*asking)

    said = served(tmp_path, exchange, story, socket=True)
    assert [status for status, _ in said] == [b"HTTP/1.1 200 OK"] * 500
    assert [answer["of"] for _, answer in said] == [f"c{number}" for number in range(500)]
