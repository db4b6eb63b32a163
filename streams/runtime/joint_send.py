"""Sends of several stages as one: what the stages of a group make of the same record."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from time import monotonic

from agents.ports.handlers import JointHandler
from schemas.base import Event
from schemas.envelope import Outgoing

# Sends events by a name, or by the stage's own.
Send = Callable[[Sequence[Outgoing], str | None], Awaitable[None]]


class _Round:
    """Events that go out together: `full` once no other is awaited, `sent` once the broker has them."""

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        self.made: list[tuple[Outgoing, float]] = []
        self.full: asyncio.Future[None] = loop.create_future()
        self.sent: asyncio.Future[None] = loop.create_future()


class JointSend:
    """One record's events: the first stage that has one waits for the others, and sends for all of them."""

    def __init__(self) -> None:
        self._awaited = 0
        self._round: _Round | None = None

    def expect(self) -> None:
        """Count a stage that handles the record; all are counted before the first is done."""
        self._awaited += 1

    def absent(self) -> None:
        """Count a stage as done without an event: it failed, or had nothing to say."""
        self._awaited -= 1
        if not self._awaited:
            self._close()

    async def send(self, out: Outgoing, handler: JointHandler, cause: Event, send: Send, source: str) -> None:
        """Send an event, with those of the others where they come in time; returns when the broker has it.

        `cause` is what it was made of, `source` the name by which several are sent.
        """
        self._awaited -= 1
        mine = self._round
        if mine is not None:
            mine.made.append((out, monotonic()))
            if not self._awaited:
                self._close()
            await mine.sent
            return
        if not self._awaited:
            await send((out,), None)
            return
        self._round = mine = _Round()
        mine.made.append((out, monotonic()))
        timer = asyncio.get_running_loop().call_later(handler.patience(cause), self._close)
        try:
            await mine.full
            if len(mine.made) == 1:
                await send((out,), None)
            else:
                now = monotonic()
                whole = handler.joined([(each, int((now - at) * 1000)) for each, at in mine.made])
                await send((whole,), source)
        except BaseException:
            mine.sent.cancel()  # those that wait are of the same partition: they end as this one does
            raise
        finally:
            timer.cancel()
        if not mine.sent.done():
            mine.sent.set_result(None)

    def _close(self) -> None:
        """Let those that are there go out; the next one begins anew."""
        if self._round is not None and not self._round.full.done():
            self._round.full.set_result(None)
        self._round = None
