"""A member leaves its group whatever its client does on the way out."""

import asyncio
import logging
from types import SimpleNamespace
from typing import Any

import pytest

from streams.faust.consumer import DirectConsumer


async def cancels_itself() -> None:
    """As aiokafka does with its heartbeat: it cancels a task that has not begun, and awaits it."""
    heartbeat = asyncio.create_task(asyncio.sleep(60))
    heartbeat.cancel()
    await heartbeat


async def fails() -> None:
    raise OSError("the coordinator is gone")


async def leaves() -> None:
    """In order."""


@pytest.mark.parametrize(
    ("stop", "said"),
    [
        (cancels_itself, "group fathom.depth: left with CancelledError()"),
        (fails, "group fathom.depth: left with OSError('the coordinator is gone')"),
        (leaves, None),
    ],
)
def test_leaving_ends_however_the_client_ends(stop: Any, said: str | None, caplog: pytest.LogCaptureFixture) -> None:
    consumer: Any = SimpleNamespace(
        client=SimpleNamespace(stop=stop),
        app=SimpleNamespace(conf=SimpleNamespace(id="fathom.depth")),
        log=logging.getLogger("test.leaving"),
    )
    asyncio.run(DirectConsumer.on_stop(consumer))
    assert [record.getMessage() for record in caplog.records] == ([said] if said else [])
