"""The broker's connections: frames in, responses out, the requests of one connection strictly in order."""

import asyncio
import logging
import struct
from collections.abc import Callable, Coroutine, Mapping
from typing import cast

from streams.broker.apis import APIS, codec
from streams.broker.errors import Code
from streams.broker.wire import Answer, Decoded, Layout, WireError

log = logging.getLogger(__name__)

Handler = Callable[[Decoded], Answer | Coroutine[object, object, Answer] | None]  # None: no answer
PREFIX = struct.Struct(">hhi")
API_VERSIONS = 18
MAX_REQUEST_BYTES = 32 * 1024 * 1024


class Connection(asyncio.Protocol):
    def __init__(self, handlers: Mapping[str, Handler], live: set["Connection"], most: int) -> None:
        self._handlers, self._live, self._most = handlers, live, most
        self._buffer = bytearray()
        self._answering: asyncio.Future[Answer] | None = None
        self._writable = True

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        if len(self._live) >= self._most:
            log.warning("connection refused: %d are open", self._most)
            self.transport.abort()
            return
        self._live.add(self)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 the protocol's signature
        self._live.discard(self)
        self._buffer.clear()
        if self._answering is not None:
            self._answering.cancel()

    def pause_writing(self) -> None:
        self._writable = False

    def resume_writing(self) -> None:
        self._writable = True
        self._work()

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        self._work()

    def _work(self) -> None:
        """Serve received requests; stop reading while more than a whole request is unprocessed."""
        while self._answering is None and self._writable and not self.transport.is_closing():
            frame = self._next_frame()
            if frame is None:
                break
            self._serve(frame)
        behind = len(self._buffer) > MAX_REQUEST_BYTES + 4
        (self.transport.pause_reading if behind else self.transport.resume_reading)()

    def _next_frame(self) -> bytes | None:
        size = int.from_bytes(self._buffer[:4], "big")
        if len(self._buffer) >= 4 and not PREFIX.size <= size <= MAX_REQUEST_BYTES:
            self._refuse("a frame of %d bytes", size)
        if len(self._buffer) < 4 + size or self.transport.is_closing():
            return None
        frame = bytes(memoryview(self._buffer)[4 : 4 + size])
        del self._buffer[: 4 + size]
        return frame

    def _serve(self, frame: bytes) -> None:
        key, version, correlation = PREFIX.unpack_from(frame)
        found = codec(key, version)
        if key == API_VERSIONS:
            code = Code.UNSUPPORTED_VERSION if found is None else Code.NONE
            _, _, layout = found or codec(key, 0)  # type: ignore[misc]
            self._send(correlation, layout, (code, [(api.key, api.first, api.last) for api in APIS], 0))
            return
        if found is None:
            self._refuse("request %d in version %d, which is not offered", key, version)
            return
        name, request, response = found
        try:
            answer = self._handlers[name](request.decode(frame))
        except WireError as e:
            self._refuse("a malformed %s request: %s", name, e)
            return
        if asyncio.iscoroutine(answer):
            self._answering = asyncio.ensure_future(answer)
            self._answering.add_done_callback(lambda done: self._answered(correlation, response, done))
        elif answer is not None:
            self._send(correlation, response, answer)

    def _answered(self, correlation: int, layout: Layout, done: asyncio.Future[Answer]) -> None:
        self._answering = None
        # The client may have disconnected during its long poll.
        if done.cancelled() or self.transport.is_closing():
            return
        if done.exception() is not None:
            log.error("a request failed; its connection is closed", exc_info=done.exception())
            self.transport.close()
            return
        self._send(correlation, layout, done.result())
        self._work()

    def _send(self, correlation: int, layout: Layout, values: Answer) -> None:
        body = layout.encode(values)
        self.transport.write(struct.pack(">ii", len(body) + 4, correlation) + body)

    def _refuse(self, reason: str, *args: object) -> None:
        log.warning("connection closed: " + reason, *args)  # noqa: G003 reasons are constants of this file
        self._buffer.clear()
        self.transport.close()
