"""Who keeps a view whole looks again and again, whatever happened at the last look."""

import asyncio
import logging

import pytest

from agents.errors import Unavailable
from streams.views import recoverable


def test_an_error_ends_no_looking_and_is_said_once_until_a_look_succeeds(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(recoverable, "LOOK_EVERY_S", 0)
    looks = iter([ValueError("a bug"), ValueError("a bug"), Unavailable("redis", "away"), None, ValueError("again")])
    done = asyncio.Event()

    async def look() -> None:
        try:
            outcome = next(looks)
        except StopIteration:
            done.set()
            return
        if outcome is not None:
            raise outcome

    async def scenario() -> None:
        task = asyncio.create_task(recoverable.poll_forever(look))
        await asyncio.wait_for(done.wait(), 10)
        task.cancel()

    with caplog.at_level(logging.ERROR):
        asyncio.run(scenario())
    assert [(record.message, str(record.exc_info and record.exc_info[1])) for record in caplog.records] == [
        ("view.bug", "a bug"),
        ("view.bug", "again"),
    ]
