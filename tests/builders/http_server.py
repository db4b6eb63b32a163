"""The application of `fathom serve` before an exchange that is not there: in this process, or at a socket of it."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal, TypeVar

import httpx
import uvicorn
from starlette.types import ASGIApp

from agents.core.caching.budget import CacheShare
from agents.ports.memories import RememberedReader
from agents.stages.assessor import Assessor
from schemas.base import Conversation
from streams import config
from streams.config import Settings
from streams.edges.client.records import OutgoingRecord
from streams.edges.client.send import SentRecord
from streams.edges.http import tokens
from streams.edges.http.app import api
from streams.edges.http.events.message_progress import MessageProgress
from streams.edges.http.events.progress_tail import Sees
from streams.edges.http.load_shedding import LoadShedding, tenant_of
from streams.edges.http.pending_replies import ExpectedReply, PendingReplies
from streams.telemetry.clock import SystemClock

T = TypeVar("T")
ASSESSOR = Assessor(SystemClock())
TOKEN, CONFINED, WHOLE = "acme-ana-0123456789", "beta-app-0123456789", "acme-app-0123456789"
GRANTS = {
    TOKEN: {"tenant": "acme", "user": "ana"},
    CONFINED: {"tenant": "beta", "client": "app"},
    WHOLE: {"tenant": "acme"},
}
HEADERS = {"authorization": f"Bearer {TOKEN}"}
QUESTION = {"question": "Qual o prazo?", "conversation_id": "c1", "nickname": "Ana", "client_id": "web"}
# The OpenAPI document, the same for every test: it takes half a second to make.
document = cache(api.document)
Reply = Callable[[OutgoingRecord, ExpectedReply], bytes | Exception | None]


class HeldTail:
    """The messages that may be watched, with who asked, and how many calls watch or wait for one."""

    def __init__(self) -> None:
        self.messages: list[tuple[str, Any, MessageProgress]] = []
        self.watching = 0

    def put(self, tenant: str, message_id: str, progress: MessageProgress, **whose: str) -> None:
        named = {"client_id": "web", "conversation_id": "c1", "user_id": "ana", **whose}
        self.messages.append((tenant, SimpleNamespace(message_id=message_id, **named), progress))

    async def watch(
        self, tenant: str, message_id: str, sees: Sees, stated: Conversation | None, until: float
    ) -> MessageProgress | None:
        self.watching += 1
        found = None
        try:
            while found is None and asyncio.get_running_loop().time() <= until:
                await asyncio.sleep(0.001)
                known = [each for each in self.messages if (each[0], each[1].message_id) == (tenant, message_id)]
                found = next((progress for _, plan, progress in reversed(known) if sees(plan)), None)
            return found
        finally:
            self.watching -= found is None

    def leave(self, progress: MessageProgress) -> None:
        self.watching -= 1


class Echo:
    """Answers by `reply`: bytes, an error, or never; remembers what was asked."""

    def __init__(self, reply: Reply, most: int = 100) -> None:
        self.asked: list[tuple[OutgoingRecord, ExpectedReply]] = []
        self.sent: list[OutgoingRecord] = []
        self.refusals: list[Exception] = []
        self.waits = PendingReplies(most, CacheShare(1_000_000))
        self.tail = HeldTail()
        self.shedding = LoadShedding()
        self.reachable = True
        self.reply = reply

    @property
    def waiting(self) -> int:
        return len(self.waits)

    async def send(self, prepared: OutgoingRecord) -> SentRecord:
        if self.refusals:
            raise self.refusals.pop(0)
        self.sent.append(prepared)
        return SentRecord("messages.in", 3, 43, prepared.name)

    async def ask(
        self, prepared: OutgoingRecord, wanted: ExpectedReply, within: float | None = None
    ) -> tuple[SentRecord | None, "asyncio.Future[bytes]"]:
        if within is not None:
            self.shedding.check(tenant_of(prepared.key), within)
        answer = self.waits.wait(wanted)
        self.asked.append((prepared, wanted))
        reply = self.reply(prepared, wanted)
        if isinstance(reply, Exception):
            answer.cancel()
            raise reply
        if reply is not None:
            answer.set_result(reply)
        return SentRecord("messages.in", 3, 42, prepared.name), answer


def settings_of(path: Path, **settings: str) -> Settings:
    path.write_text(json.dumps(GRANTS))
    return config.load({"FATHOM_ASK_TOKENS_FILE": str(path), **settings})


def app_of(settings: Settings, exchange: Any, graph: RememberedReader | None = None) -> ASGIApp:
    allowed = tokens.of_file(settings.ask_tokens_file, "ask_tokens_file")
    tail: Any = getattr(exchange, "tail", None) or HeldTail()
    return api.application(settings, exchange, tail, ASSESSOR, allowed, "127.0.0.1", lambda: graph)


class _Server(uvicorn.Server):
    """A server that ends once it is told, within milliseconds.

    uvicorn's own looks every 0.1 s whether it is to end, and then leaves its connections 0.1 s: more than a test takes.
    """

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.told = asyncio.Event()

    async def main_loop(self) -> None:
        await self.on_tick(0)  # sets the headers of every answer
        await self.told.wait()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for server in self.servers:
            server.close()
        for connection in list(self.server_state.connections):
            connection.shutdown()
        await until(lambda: not self.server_state.connections and not self.server_state.tasks)
        await self.lifespan.shutdown()


@asynccontextmanager
async def listening(app: ASGIApp, port: int = 0, lifespan: Literal["auto", "off"] = "off") -> AsyncIterator[str]:
    """The address of an application, at a free port unless one is named."""
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", port))
        listener.listen(600)
        server = _Server(uvicorn.Config(app, log_config=None, lifespan=lifespan))
        running = asyncio.create_task(server.serve([listener]))
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.told.set()
            await running


@asynccontextmanager
async def at_a_socket(settings: Settings, exchange: Any) -> AsyncIterator[httpx.AsyncClient]:
    """The application at a free port, and a client that shows a token."""
    # Without TLS a client needs no certificates, which take 20 ms to read.
    options: dict[str, Any] = {"timeout": 60, "limits": httpx.Limits(max_connections=600), "verify": False}
    async with (
        listening(app_of(settings, exchange), lifespan="auto") as base,
        httpx.AsyncClient(base_url=base, headers=HEADERS, **options) as client,
    ):
        yield client


@asynccontextmanager
async def in_process(settings: Settings, exchange: Any) -> AsyncIterator[httpx.AsyncClient]:
    """The application itself, and a client that shows a token."""
    transport = httpx.ASGITransport(app_of(settings, exchange))
    async with httpx.AsyncClient(base_url="http://127.0.0.1", headers=HEADERS, transport=transport) as client:
        yield client


def served(
    tmp_path: Path, exchange: Any, story: Callable[[httpx.AsyncClient], Awaitable[T]], *, socket: bool = False,
    **settings: str,
) -> T:  # fmt: skip
    """What a story gets of the application."""
    known = settings_of(tmp_path / "tokens.json", **settings)

    async def whole() -> T:
        async with (at_a_socket if socket else in_process)(known, exchange) as client:
            return await story(client)

    return asyncio.run(whole())


def posted(
    tmp_path: Path, reply: Reply, path: str = "/ask", body: Any = None, headers: dict[str, str] | None = None,
    **settings: str,
) -> tuple[httpx.Response, Echo]:  # fmt: skip
    """The response to one POST; a body that is bytes is sent as it is."""
    exchange = Echo(reply)
    raw = body if isinstance(body, bytes) else json.dumps(QUESTION if body is None else body).encode()

    async def story(client: httpx.AsyncClient) -> httpx.Response:
        return await client.post(path, content=raw, headers={"content-type": "application/json", **(headers or {})})

    return served(tmp_path, exchange, story, **settings), exchange


class Standing:
    """One application for many calls of which none changes anything in it."""

    def __init__(self, folder: Path, reply: Reply) -> None:
        self.exchange = Echo(reply)
        self._app = app_of(settings_of(folder / "tokens.json"), self.exchange)

    def posted(self, path: str, raw: bytes, headers: dict[str, str] | None = None) -> httpx.Response:
        async def call() -> httpx.Response:
            transport = httpx.ASGITransport(self._app)
            async with httpx.AsyncClient(base_url="http://127.0.0.1", headers=HEADERS, transport=transport) as client:
                return await client.post(
                    path, content=raw, headers={"content-type": "application/json", **(headers or {})}
                )

        return asyncio.run(call())


async def until(come: Callable[[], object]) -> None:
    """Let the loop turn until it has come."""
    while not come():  # noqa: ASYNC110 - what is waited for is the product's, which sets no event for it
        await asyncio.sleep(0.005)
