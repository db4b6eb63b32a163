"""The broker's connections: frames in, answers out, the requests of one connection strictly in order."""

import asyncio
import logging
import struct
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, cast

from streams.broker.apis import APIS, BY_KEY, codec
from streams.broker.errors import Code
from streams.broker.wire import WireError

log = logging.getLogger(__name__)

Handler = Callable[[Any], Any]
PREFIX = struct.Struct(">hhi")
API_VERSIONS = 18
MAX_REQUEST_BYTES = 32 * 1024 * 1024
MAX_QUEUED = 128


class Connection(asyncio.Protocol):
    def __init__(self, handlers: Mapping[str, Handler], live: set["Connection"], most: int) -> None:
        self._handlers, self._live, self._most = handlers, live, most
        self._buffer = bytearray()
        self._queue: deque[bytes] = deque()
        self._answering: asyncio.Future[Any] | None = None
        self._writable = True
        self._paused = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        if len(self._live) >= self._most:
            log.warning("connection refused: %d are open", self._most)
            self.transport.abort()
            return
        self._live.add(self)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 the protocol's signature
        self._live.discard(self)
        self._queue.clear()
        if self._answering is not None:
            self._answering.cancel()

    def pause_writing(self) -> None:
        self._writable = False

    def resume_writing(self) -> None:
        self._writable = True
        self._work()

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        at = 0
        while len(self._buffer) - at >= 4:
            size = int.from_bytes(self._buffer[at : at + 4], "big")
            if not PREFIX.size <= size <= MAX_REQUEST_BYTES:
                self._refuse("a frame of %d bytes", size)
                return
            if len(self._buffer) - at - 4 < size:
                break
            self._queue.append(bytes(memoryview(self._buffer)[at + 4 : at + 4 + size]))
            at += 4 + size
        if at:
            del self._buffer[:at]
        self._work()

    def _work(self) -> None:
        while self._queue and self._answering is None and self._writable and not self.transport.is_closing():
            self._serve(self._queue.popleft())
        crowded = len(self._queue) > MAX_QUEUED
        if crowded != self._paused and not self.transport.is_closing():
            self._paused = crowded
            (self.transport.pause_reading if crowded else self.transport.resume_reading)()

    def _serve(self, frame: bytes) -> None:
        key, version, correlation = PREFIX.unpack_from(frame)
        if key == API_VERSIONS:
            self._answer_versions(version, correlation)
            return
        found = codec(key, version)
        if found is None:
            self._refuse("request %d in version %d, which is not offered", key, version)
            return
        try:
            request = found.request.decode(frame)
        except WireError as e:
            self._refuse("a malformed %s request: %s", found.name, e)
            return
        answer = self._handlers[found.name](request)

        def send(values: Any) -> None:
            self._send(correlation, found.response.encode(values))

        if isinstance(answer, asyncio.Future):
            self._answering = answer
            answer.add_done_callback(lambda done: self._answered(done, send))
        elif answer is not None:
            send(answer)

    def _answered(self, done: asyncio.Future[Any], send: Callable[[Any], None]) -> None:
        self._answering = None
        # The client may be gone by the time its long poll ends: there is nobody to answer.
        if done.cancelled() or self.transport.is_closing():
            return
        if done.exception() is not None:
            log.error("a request failed; its connection is closed", exc_info=done.exception())
            self.transport.close()
            return
        send(done.result())
        self._work()

    def _answer_versions(self, version: int, correlation: int) -> None:
        offered = 0 <= version <= BY_KEY[API_VERSIONS].last
        found = codec(API_VERSIONS, version if offered else 0)
        assert found is not None
        code = Code.NONE if offered else Code.UNSUPPORTED_VERSION
        values = (code, [(api.key, api.first, api.last) for api in APIS], 0)
        self._send(correlation, found.response.encode(values))

    def _send(self, correlation: int, body: bytes) -> None:
        self.transport.write(struct.pack(">ii", len(body) + 4, correlation) + body)

    def _refuse(self, reason: str, *args: object) -> None:
        log.warning("connection closed: " + reason, *args)  # noqa: G003 reasons are constants of this file
        self._queue.clear()
        self.transport.close()
