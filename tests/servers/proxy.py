"""A way to a server that can be looked at, cut and blocked."""

import asyncio
from contextlib import suppress
from urllib.parse import urlsplit


class Proxy:
    """A way to the server that can be looked at, cut and blocked."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._to = parts.hostname, parts.port
        self._scheme = parts.scheme
        self._writers: list[asyncio.StreamWriter] = []
        self.sent = bytearray()
        self.connections = 0
        self.open = self.most_open = 0
        self.cut_at: bytes | None = None
        self.tired: set[asyncio.StreamReader] = set()
        self._readers: list[asyncio.StreamReader] = []
        self.flowing = asyncio.Event()
        self.flowing.set()

    async def __aenter__(self) -> "Proxy":
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.url = f"{self._scheme}://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        self.cut()
        self.flowing.set()
        await self._server.wait_closed()

    def cut(self) -> None:
        for writer in self._writers:
            writer.close()
        self._writers.clear()

    def tire(self) -> None:
        """Whatever is sent next on a connection that is open now meets its end, as at a server that just gave it up."""
        self.tired.update(self._readers)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.open += 1
        self.most_open = max(self.most_open, self.open)
        there, to_server = await asyncio.open_connection(*self._to)
        self._writers += [writer, to_server]
        self._readers.append(reader)
        try:
            async with asyncio.TaskGroup() as both:
                both.create_task(self._pump(reader, to_server, self.sent))
                both.create_task(self._pump(there, writer, bytearray()))
        finally:
            self.open -= 1

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, seen: bytearray) -> None:
        with suppress(OSError):
            while chunk := await reader.read(65536):
                if reader in self.tired:
                    self.cut()
                    break
                await self.flowing.wait()
                seen += chunk
                writer.write(chunk)
                await writer.drain()
                if self.cut_at is not None and self.cut_at in chunk:
                    self.cut_at = None
                    self.flowing.clear()
                    await asyncio.sleep(0.2)  # the server has had the time to commit; its answer does not come through
                    self.cut()
                    self.flowing.set()
        writer.close()
