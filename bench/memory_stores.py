"""What `bench.memory` fills and asks: the index, the graph and the working sets, embedded or on a server."""

import asyncio
import os
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any, Protocol

import httpx

from agents.core.conversation.memory import Session, turn_of
from agents.core.language.text import content_words
from agents.ports.passages import PassageQuery
from bench import filling
from bench.filling import CLIENT, NOON, USER, Texts
from schemas.base import Conversation
from streams import config
from streams.config import secret
from streams.stores.graph.embedded.engine import EmbeddedGraph
from streams.stores.graph.neo4j_engine import Neo4jGraph, Neo4jServer, open_graph
from streams.stores.passages.index_process import IndexProcess
from streams.stores.passages.qdrant_edge import QdrantEdgeIndex
from streams.stores.passages.qdrant_server import QdrantServerIndex
from streams.stores.sessions.redis_working_sets import RedisWorkingSets, connect
from streams.stores.sessions.valkey import Valkey
from streams.stores.settings import QdrantServer

NEVER = 10**12
BATCH = 500
AS_OF = NOON + timedelta(days=30)
LIMIT = 30
SETTLE_S = 900.0

Calls = Mapping[str, Callable[[], Awaitable[Any]]]


class Subject(Protocol):
    """A store of one class of memory."""

    noted: list[dict[str, Any]]

    @property
    def pid(self) -> int | None:
        """The process that answers; None of a server's."""

    async def open(self, mark: str) -> None:
        """Start; `mark` keeps this run's tenants from another's."""

    async def fill_own(self, texts: Texts, first: int, last: int) -> None:
        """Write the asker's items of a range."""

    async def fill_others(self, texts: Texts, first: int, last: int) -> None:
        """Write other tenants' items of a range."""

    async def settle(self) -> dict[str, Any]:
        """Make ready to be asked; what that took, and what it holds."""

    def calls(self, texts: Texts) -> Calls:
        """The retrievals, by class."""

    def rates(self) -> dict[str, int]:
        """Records per second of each writer."""

    async def close(self) -> None:
        """End what was started."""


class Filled:
    """What all subjects have: tenants of their own, notes, and how long writing took."""

    def __init__(self, folder: Path, url: str | None) -> None:
        self.folder = folder
        self.url = url
        self.noted: list[dict[str, Any]] = []
        self._written: Counter[str] = Counter()
        self._seconds: Counter[str] = Counter()
        self.mark = ""

    @property
    def own(self) -> str:
        return f"bench-own-{self.mark}"

    @property
    def pid(self) -> int | None:
        return None

    async def write(self, name: str, records: int, work: Awaitable[object]) -> None:
        began = time.perf_counter()
        await work
        self._seconds[name] += time.perf_counter() - began  # type: ignore[assignment]
        self._written[name] += records

    def rates(self) -> dict[str, int]:
        return {name: round(count / self._seconds[name]) for name, count in self._written.items()}


class IndexSubject(Filled):
    """Passages: written where no model is needed, asked in a process of their own with the model."""

    async def open(self, mark: str) -> None:
        self.mark = mark
        self._asked: IndexProcess | None = None
        self._filled: QdrantEdgeIndex | QdrantServerIndex | None = None
        self._embedder = filling.UseEmbedder()
        settings = config.load()
        self._server = None if self.url is None else QdrantServer(self.url, settings.qdrant_api_key_file)

    async def fill_own(self, texts: Texts, first: int, last: int) -> None:
        await self._fill(texts, self.own, first, last)

    async def fill_others(self, texts: Texts, first: int, last: int) -> None:
        for tenant, start, end in filling.others(first, last):
            await self._fill(texts, f"{tenant}-{self.mark}", start, end)

    async def _fill(self, texts: Texts, tenant: str, first: int, last: int) -> None:
        index = await self._filling()
        for start in range(first, last, BATCH):
            made = filling.passages(texts, start, min(start + BATCH, last))
            await self.write("passages", len(made), index.upsert(tenant, "semantic", made))

    @property
    def pid(self) -> int | None:
        # Beside a server it is where the questions get their vectors.
        return None if self._asked is None else self._asked.pid

    async def _filling(self) -> QdrantEdgeIndex | QdrantServerIndex:
        if self._asked is not None:
            await self._asked.close()
            self._asked = None
        if self._filled is None and self._server is None:
            self._filled = QdrantEdgeIndex(self.folder / "index", self._embedder)
        elif self._filled is None and self._server is not None:
            file = self._server.api_key_file
            key = None if file is None else file.read_text().strip()
            self._filled = QdrantServerIndex(self._server.url, self._embedder, api_key=key)
            await self._filled.open()
        assert self._filled is not None
        return self._filled

    async def settle(self) -> dict[str, Any]:
        filled, began = await self._filling(), time.perf_counter()
        if self._server is not None:
            await until_green(self._server)
        settled = time.perf_counter() - began
        await filled.close()
        self._filled = None
        began = time.perf_counter()
        self._asked = IndexProcess(self._server or self.folder / "index")
        await asyncio.to_thread(self._asked.wait)
        about = {"settle_s": round(settled, 1), "open_s": round(time.perf_counter() - began, 2)}
        if self._server is None and self._asked.pid is not None:
            about |= {"resident_mb": resident_mb(self._asked.pid), "disk_mb": disk_mb(self.folder)}
        return about

    def calls(self, texts: Texts) -> Calls:
        index = self._asked
        assert index is not None

        async def semantic() -> None:
            query = PassageQuery(texts.question(), "pt", LIMIT, AS_OF, kinds=("chunk",), user_id=USER)
            await index.search(self.own, "semantic", query)

        return {"passages": semantic}

    async def close(self) -> None:
        for index in (self._asked, self._filled):
            if index is not None:
                await index.close()


class GraphSubject(Filled):
    """Claims, summaries and knowledge, as many of each; written in batches."""

    async def open(self, mark: str) -> None:
        self.mark = mark
        self._graph: EmbeddedGraph | Neo4jGraph
        if self.url is None:
            self._graph = EmbeddedGraph(self.folder / "graph")
        else:
            settings = config.load()
            password = secret("neo4j_password_file", settings.neo4j_password_file)
            self._graph = open_graph(Neo4jServer(self.url, settings.neo4j_user, password))

    async def fill_own(self, texts: Texts, first: int, last: int) -> None:
        await self._fill(texts, self.own, first, last)

    async def fill_others(self, texts: Texts, first: int, last: int) -> None:
        for tenant, start, end in filling.others(first, last):
            await self._fill(texts, f"{tenant}-{self.mark}", start, end)

    async def _fill(self, texts: Texts, tenant: str, first: int, last: int) -> None:
        for name, make, store in (
            ("claims", filling.claim, self._graph.write_claims),
            ("summaries", filling.summary, self._graph.write_summaries),
            ("knowledge", filling.knowledge, self._graph.write_knowledge),
        ):
            for batch in filling.in_batches(make, texts, tenant, first, last, BATCH):
                await self.write(name, len(batch), store(batch))

    async def settle(self) -> dict[str, Any]:
        if self.url is not None:
            return {}
        return {"resident_mb": resident_mb(), "disk_mb": disk_mb(self.folder)}

    @property
    def pid(self) -> int | None:
        return os.getpid() if self.url is None else None

    def calls(self, texts: Texts) -> Calls:
        graph, tenant = self._graph, self.own
        talk = {"client_id": CLIENT, "conversation_id": filling.CONVERSATION}
        shared: dict[str, Any] = {"access_level": "public", "as_of": AS_OF, "limit": 5}

        def terms() -> list[str]:
            return list(content_words(texts.question(), "pt"))

        return {
            "persona": lambda: graph.persona(tenant, USER, AS_OF),
            "summaries": lambda: graph.summaries(tenant, user_id=USER, conversation_id=None, as_of=AS_OF, limit=8),
            "claims": lambda: graph.claims(tenant, **talk, as_of=AS_OF, limit=20),
            "claims_about": lambda: graph.claims_about(tenant, reader=USER, subjects=terms(), as_of=AS_OF, limit=10),
            "playbooks": lambda: graph.playbooks(tenant, terms=terms(), **shared),
            "concepts": lambda: graph.named(tenant, reader=USER, terms=terms(), **shared),
        }

    async def close(self) -> None:
        await self._graph.close()


class TurnsSubject(Filled):
    """Working sets: a conversation of 400 turns is the most there is; others are conversations of ten."""

    async def open(self, mark: str) -> None:
        self.mark = mark
        self._server: Valkey | None = None
        url = self.url
        if url is None:
            self._server = Valkey(self.folder / "valkey")
            await asyncio.to_thread(self._server.start)
            url = f"unix://{self._server.socket}"
        self._sets = RedisWorkingSets(connect(url))

    async def fill_own(self, texts: Texts, first: int, last: int) -> None:
        await self._fill(texts, self._talk(self.own, 0), first, last)

    async def fill_others(self, texts: Texts, first: int, last: int) -> None:
        for start in range(first, last, 10):
            await self._fill(texts, self._talk(f"bench-others-{self.mark}", start), start, min(start + 10, last))

    def _talk(self, tenant: str, number: int) -> Conversation:
        return Conversation(tenant=tenant, client_id=CLIENT, conversation_id=f"c-{number}")

    async def _fill(self, texts: Texts, talk: Conversation, first: int, last: int) -> None:
        session = Session(frame_id="f1")
        for n in range(first, last):
            turn = turn_of("user", texts.sentence(20), NOON, {"message_id": f"m{n}", "seq": n})
            await self.write("turns", 1, self._sets.append(talk, "f1", turn, session, b"{}", 50))

    async def settle(self) -> dict[str, Any]:
        pid = None if self._server is None else self._server.pid
        return {} if pid is None else {"resident_mb": resident_mb(pid)}

    @property
    def pid(self) -> int | None:
        return None if self._server is None else self._server.pid

    def calls(self, texts: Texts) -> Calls:
        del texts
        talk = self._talk(self.own, 0)
        return {
            "working_set": lambda: self._sets.open(talk, "new", 20),
            "turns": lambda: self._sets.turns(talk, "f1", up_to_seq=NEVER, limit=20),
        }

    async def close(self) -> None:
        await self._sets.close()
        if self._server is not None:
            await asyncio.to_thread(self._server.stop)


async def until_green(server: QdrantServer) -> None:
    key = {} if server.api_key_file is None else {"api-key": server.api_key_file.read_text().strip()}
    async with httpx.AsyncClient(base_url=server.url, headers=key) as client, asyncio.timeout(SETTLE_S):
        while (await client.get("/collections/fathom_semantic")).json()["result"]["status"] != "green":  # noqa: ASYNC110
            await asyncio.sleep(0.5)


def resident_mb(pid: int | str = "self") -> int:
    """Resident memory of a process."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return round(next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024)


def disk_mb(folder: Path) -> int:
    """What the files of a folder take on the disk."""
    return round(sum(path.stat().st_blocks * 512 for path in folder.rglob("*") if path.is_file()) / 2**20)
