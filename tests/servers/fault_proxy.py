"""A way to a server that fails as networks and servers do, and counts what goes to it."""

import asyncio
import socket
import struct
from contextlib import suppress
from enum import StrEnum
from itertools import cycle
from types import TracebackType
from typing import Self

HOST = "127.0.0.1"
SLOW_S = 5.0
FLAP_S = 0.7
# Sends a reset instead of an end, and forgets what is not yet sent.
ABRUPTLY = struct.pack("ii", 1, 0)


class Mode(StrEnum):
    """What the way does to those who take it."""

    OPEN = "open"
    REFUSED = "refused"
    HUNG = "hung"
    SLOW = "slow"
    RESET = "reset"
    FLAPPING = "flapping"


class FaultProxy:
    """Forwards to a port of this machine; `calls` are the pieces that clients sent, `connections` those they opened."""

    def __init__(self, port: int) -> None:
        self._to = port
        self._mode = Mode.OPEN
        self._server: asyncio.Server | None = None
        self._flapping: asyncio.Task[None] | None = None
        self._writers: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self.port = 0
        self.calls = 0
        self.connections = 0

    async def __aenter__(self) -> Self:
        await self._listen()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.be(Mode.REFUSED)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def be(self, mode: Mode) -> None:
        """Fail so from now on, or no longer; whoever is connected loses that connection when the mode changes."""
        if self._flapping is not None:
            self._flapping.cancel()
            self._flapping = None
        await self._set(mode)
        if mode == Mode.FLAPPING:
            self._flapping = asyncio.create_task(self._flap())

    async def _flap(self) -> None:
        for mode in cycle((Mode.REFUSED, Mode.OPEN)):
            await self._set(mode)
            await asyncio.sleep(FLAP_S)

    async def _set(self, mode: Mode) -> None:
        before, self._mode = self._mode, mode
        if mode == Mode.REFUSED:
            if self._server is not None:
                self._server.close()
                self._server = None
        else:
            await self._listen()
        # A server that hangs or slows down does not end its connections; all others do, also when they come back.
        if mode in (Mode.REFUSED, Mode.OPEN) and before != mode:
            self.cut()

    async def _listen(self) -> None:
        if self._server is None:
            self._server = await asyncio.start_server(self._connected, HOST, self.port)
            self.port = self._server.sockets[0].getsockname()[1]

    def cut(self) -> None:
        """End all connections abruptly."""
        for writer in self._writers:
            with suppress(OSError):
                writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, ABRUPTLY)
            writer.transport.abort()
        self._writers.clear()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        self.connections += 1
        self._writers.add(writer)
        try:
            there, to_server = await asyncio.open_connection(HOST, self._to)
        except OSError:
            writer.transport.abort()
            return
        self._writers.add(to_server)
        with suppress(OSError, asyncio.CancelledError):  # at the end all are cancelled
            await asyncio.gather(self._asked(reader, to_server), self._answered(there, writer))

    async def _asked(self, reader: asyncio.StreamReader, to_server: asyncio.StreamWriter) -> None:
        while piece := await reader.read(65_536):
            self.calls += 1
            if self._mode == Mode.HUNG:
                continue
            to_server.write(piece)
            await to_server.drain()
        to_server.close()

    async def _answered(self, there: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while piece := await there.read(65_536):
            if self._mode == Mode.SLOW:
                await asyncio.sleep(SLOW_S)
            elif self._mode == Mode.HUNG:
                continue
            elif self._mode == Mode.RESET:
                writer.write(piece[: len(piece) // 2])
                await writer.drain()
                self.cut()
                return
            writer.write(piece)
            await writer.drain()
        writer.close()
