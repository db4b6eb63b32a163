"""Calls over a socket: one that nobody waits for is taken back, and a link that cannot be read is broken for all."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from streams.stores.pickled_calls import CANCEL, Link, framed, received


@asynccontextmanager
async def linked() -> AsyncIterator[tuple[Link, asyncio.StreamReader, asyncio.StreamWriter]]:
    ours, theirs = socket.socketpair()
    reader, writer = await asyncio.open_connection(sock=theirs)
    link = Link(*await asyncio.open_connection(sock=ours), "it has ended")
    try:
        yield link, reader, writer
    finally:
        await link.close()
        writer.close()


def test_a_call_that_is_cancelled_is_taken_back_by_its_number() -> None:
    async def story() -> list[Any]:
        async with linked() as (link, reader, _):
            asking = asyncio.create_task(link.ask("search", "x"))
            first = await received(reader)
            asking.cancel()
            return [first[:2], (await received(reader))[:2]]

    assert asyncio.run(story()) == [(1, "search"), (1, CANCEL)]


@pytest.mark.parametrize("answer", [b"\x00\x00\x00\x04nope", framed((1, "no error", None))])
def test_a_link_whose_answer_cannot_be_read_is_broken_at_once(answer: bytes) -> None:
    async def story() -> bool:
        async with linked() as (link, reader, writer):
            asking = asyncio.create_task(link.ask("search", "x"))
            await received(reader)
            writer.write(answer)
            with pytest.raises(ConnectionResetError, match="it has ended"):
                await asyncio.wait_for(asking, 10)
            return link.broken

    assert asyncio.run(story())
