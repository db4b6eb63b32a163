"""Work for a caller who may go away: it ends when he does."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from typing import Any, TypeVar

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

T = TypeVar("T")


async def unless_gone(request: Request, work: Coroutine[object, object, T]) -> T | None:
    """What the work gives; None, and the work cancelled, once the caller has disconnected. The body must be read."""
    doing = asyncio.ensure_future(work)
    gone = asyncio.ensure_future(request.receive())
    try:
        either: set[asyncio.Future[Any]] = {doing, gone}
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        return doing.result() if doing.done() else None
    finally:
        await _ended(doing, gone)


class RelayedResponse(Response):
    """A response whose body is sent as it is made, for so many seconds; `ended` is called once, whoever ends it."""

    def __init__(
        self,
        status: int,
        headers: Mapping[str, str],
        body: AsyncIterator[bytes],
        ended: Callable[[], Awaitable[None]],
        longest_s: float | None = None,
    ) -> None:
        super().__init__(status_code=status, headers=headers)
        del self.headers["content-length"]
        self._parts = body
        self._ended = ended
        self._longest_s = longest_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002  (of ASGI)
        sending = asyncio.ensure_future(self._send(send))
        gone = asyncio.ensure_future(receive())
        try:
            either: set[asyncio.Future[Any]] = {sending, gone}
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED, timeout=self._longest_s)
            if sending.done():
                sending.result()
        finally:
            await _ended(sending, gone)
            await self._ended()

    async def _send(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        async for part in self._parts:
            if part:
                await send({"type": "http.response.body", "body": part, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _ended(*tasks: "asyncio.Future[Any]") -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
