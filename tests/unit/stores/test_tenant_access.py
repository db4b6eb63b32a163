"""There is no way to ask a store without a tenant: read from the classes, and tried with tenants that are none."""

import asyncio
import importlib
import inspect
import pkgutil
import typing
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import streams.runtime.stores
import streams.stores
import streams.views
from agents.core.conversation.erasure import Erasure
from agents.core.conversation.memory import Session, turn_of
from agents.core.language.dates import Span
from agents.errors import Rejected
from agents.ports import graph, passages, sessions
from agents.ports import memories as memories_port
from agents.ports.erasable import ConversationNodes
from agents.ports.graph import Asker
from agents.ports.passages import PassageQuery
from schemas.base import PUBLIC_TENANT, Conversation
from schemas.envelope import Received
from streams.stores.graph.store import GraphStore
from streams.stores.passages.index_process import IndexProcess
from streams.stores.passages.memory import MemoryPassageIndex
from streams.stores.passages.qdrant_edge import QdrantEdgeIndex
from streams.stores.passages.qdrant_server import QdrantServerIndex
from streams.stores.passages.vectors import HashingEmbedder
from streams.stores.sessions.memory import MemoryWorkingSets
from streams.stores.sessions.redis_working_sets import RedisWorkingSets
from streams.stores.sessions.votes import MemorySignalWeights, RedisSignalWeights
from tests.tenants import memories
from tests.tenants.canaries import REFUSED
from tests.tenants.memories import NOON, received

# What opens and closes a store, or says whether it answers: it touches nobody's memory.
LIFE = frozenset({"open", "close", "ping", "ready", "version", "compact"})
# Of partitions, by number: which are complete, and the token to restore one.
PARTITIONS = frozenset(
    {"incomplete_partitions", "start_restore", "complete_restore", "on_assigned", "restore_incomplete", "restore_loop"}
)
# Of texts that the caller gives: nothing of a tenant is read.
PURE = frozenset({"vectors"})
# Below the stores, with why nobody can ask them for a tenant's memory past a store.
BELOW = {
    "EmbeddedEngine": "only GraphStore._read, _write and remove ask it: test_query_texts",
    "Neo4jEngine": "only GraphStore._read, _write and remove ask it: test_query_texts",
    "GraphTables": "only EmbeddedEngine and its reads ask it, each with a tenant",
    "Engine": "the protocol of these three",
    "CircuitBreaker": "runs a call that a store has made",
    "BatchingEmbedder": "vectors of texts: pure computation",
    "GraphFileReader": "an engine that only reads: GraphStore._read asks it",
    "RemoteEngine": "only GraphStore._read, _write and remove ask it, in the process of an operator's command",
    "SameServer": "looks which server a connection is to; reads nothing of any tenant",
    "Link": "carries what IndexProcess, RemoteIndex and RemoteEngine are asked",
    "Calls": "carries what RemoteIndex and RemoteEngine are asked",
    "QuarantineFollower": "follows what the log says of all tenants; reads nothing of any",
    "StoreServer": "open to the owner of the data directory alone: test_stores_served",
    "QdrantCollections": "makes them, and their indexes",
    "QdrantConnection": "carries what QdrantServerIndex has made",
    "Stores": "opens and closes",
    **dict.fromkeys(
        ("KeyStore", "SqliteKeyStore", "RedisKeyStore"), "keys by the names of subjects, of which the tenant is a part"
    ),
    "HandLog": "gives outcomes in hand, each with its conversation",
    "KafkaToolLog": "reads the log of partitions, whose every record names its tenant",
    "KafkaTurnLog": "reads the log of partitions, whose every record names its tenant",
    "KafkaVoteLog": "reads the log of partitions, whose every record names its tenant",
    "KafkaViewLog": "what these three share",
}


def classes() -> Iterator[type]:
    packages = (streams.stores, streams.views)
    found = [module for each in packages for module in pkgutil.walk_packages(each.__path__, f"{each.__name__}.")]
    assert len(found) > 50
    for module in (*(each.name for each in found if not each.ispkg), streams.runtime.stores.__name__):
        if module.endswith("index_server"):
            continue
        for _, each in inspect.getmembers(importlib.import_module(module), inspect.isclass):
            if each.__module__ == module:
                yield each


def public_calls(store: type) -> dict[str, Callable[..., Any]]:
    return {
        name: call
        for name, call in inspect.getmembers(store, inspect.iscoroutinefunction)
        if not name.startswith("_")
        and name not in PARTITIONS | PURE
        and not (name in LIFE and len(inspect.signature(call).parameters) == 1)
    }


def takes_a_tenant(call: Callable[..., Any]) -> bool:
    """Whether its first argument is a tenant, a conversation, or rows whose envelopes have one."""
    parameters = [*inspect.signature(call).parameters.values()][1:]
    hints = typing.get_type_hints(call)
    if not parameters or parameters[0].default is not inspect.Parameter.empty:
        return False
    first = parameters[0]
    if first.name.lstrip("_") == "tenant":
        return hints[first.name] is str
    asked = hints[first.name]
    [inner, *_] = typing.get_args(asked) or (None,)
    return asked is Conversation or (typing.get_origin(inner) or inner) is Received


@pytest.mark.covers("AC-36", "CF-60")
def test_every_call_of_every_store_takes_a_tenant_first() -> None:
    stores = [found for found in classes() if public_calls(found) and found.__name__ not in BELOW]
    assert {found.__name__ for found in stores} >= {"RedisWorkingSets", "QdrantServerIndex", "Neo4jGraph", "NoIndex"}
    without = [f"{s.__name__}.{n}" for s in stores for n, call in public_calls(s).items() if not takes_a_tenant(call)]
    assert without == []


@pytest.mark.covers("AC-36")
@pytest.mark.parametrize(
    "port",
    [
        sessions.WorkingSets,
        sessions.SignalWeights,
        sessions.ToolSessions,
        passages.PassageIndex,
        passages.PassageInventory,
        graph.GraphReader,
        graph.GraphWriter,
        graph.GraphInventory,
        graph.DecisionReader,
        memories_port.MemoryReader,
    ],
    ids=lambda port: port.__name__,
)
def test_every_call_of_every_port_takes_a_tenant_first(port: type) -> None:
    calls = public_calls(port)
    assert calls
    assert [name for name, call in calls.items() if not takes_a_tenant(call)] == []


def test_a_call_without_a_tenant_would_be_found() -> None:
    class Bad:
        async def everything(self, limit: int) -> None: ...
        async def optional(self, tenant: str | None = None) -> None: ...
        async def rows(self, rows: list[int]) -> None: ...

    assert [name for name, call in public_calls(Bad).items() if not takes_a_tenant(call)] == [
        "everything",
        "optional",
        "rows",
    ]


def test_nothing_below_the_stores_is_excused_twice() -> None:
    assert BELOW.keys() <= {found.__name__ for found in classes()}


# --- what is no tenant is refused before anything is sent ----------------------------------------------------------


class Sent(AssertionError):
    """Something was asked of a driver."""


class Driver:
    """A driver of anything: it notes that it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __getattr__(self, name: str) -> Any:
        def ask(*_: Any, **__: Any) -> Any:
            self.asked.append(name)
            raise Sent(name)

        return ask


class Apart(IndexProcess):
    """An index process whose messages go to a driver."""

    def __init__(self, driver: Driver) -> None:
        super().__init__(Path("nowhere"), "hashing")
        self._driver = driver

    async def _linked(self) -> Any:
        return self._driver


class NoModel(HashingEmbedder):
    """An embedder that is one of those who must not be asked."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver

    def encode(self, texts: Any) -> Any:
        self._driver.asked.append("encode")
        raise Sent("encode")


def stores(driver: Driver, directory: Path) -> dict[str, Callable[[], Any]]:
    def server() -> QdrantServerIndex:
        index = QdrantServerIndex("http://127.0.0.1:1", NoModel(driver))
        index._client = index._collections._client = driver  # type: ignore[assignment]
        return index

    return {
        "graph": lambda: GraphStore(driver),  # type: ignore[arg-type]
        "redis": lambda: RedisWorkingSets(driver),  # type: ignore[arg-type]
        "sets": MemoryWorkingSets,
        "votes": MemorySignalWeights,
        "redis-votes": lambda: RedisSignalWeights(driver),  # type: ignore[arg-type]
        "index": lambda: MemoryPassageIndex(NoModel(driver)),
        "edge": lambda: QdrantEdgeIndex(directory, NoModel(driver)),
        "server": server,
        "process": lambda: Apart(driver),
    }


TURN = turn_of("user", "oi", NOON, {"message_id": "m1", "seq": 0})
ARGUMENTS: dict[str, Any] = {
    "reader": "ana", "shared": False,
    "user_id": "ana", "as_of": NOON, "conversation_id": "c1", "client_id": "web", "limit": 5, "subjects": ["prazo"],
    "max_claims": 5,
    "terms": ["prazo"], "access_level": "public", "collection": "semantic", "query": PassageQuery("x", "pt", 5, NOON),
    "passages": [memories.passage("x")], "message_id": "m1", "frame_id": "f1", "turn": TURN, "session": Session(),
    "outcome": b"", "keep": 5, "up_to_seq": 9, "partition": 0, "token": "t", "outcomes": [],
    "claim_id": "k1", "consultation_id": "q1", "pack_id": "p1",
    "vote": memories.vote("x"),
    "document_ids": ["d1"],
    "document_id": "d1", "signature": "sig", "themes": ["t"], "names": [("nome", "x")], "chunk_uids": ["c"],
    "erasure": Erasure(1, NOON), "nodes": ConversationNodes({"Message": ("x",)}), "counts": {},
    "forgotten": 1,
    "whose": Asker(), "since": NOON, "decision_ids": ["d1"], "claim_ids": ["k1"],
    "between": Span(NOON, NOON), "label": "Message", "after": "", "ids": ["x"],
}  # fmt: skip
EVENTS: dict[str, Any] = {
    "write_turns": memories.turn("x"), "write_decisions": memories.decision("x"),
    "write_claims": memories.claim(1, "x"), "write_corrections": memories.correction("x"),
    "write_summaries": memories.summary("x"), "write_knowledge": memories.knowledge("x"),
    "write_consultations": memories.consultation("x"),
}  # fmt: skip


def called(store: Any, name: str, tenant: str) -> Any:
    """A call of a store with everything as it should be, but for the tenant."""
    given: dict[str, Any] = {}
    for parameter in [*inspect.signature(getattr(type(store), name)).parameters][1:]:
        match parameter:
            case "tenant":
                given[parameter] = tenant
            case "conversation":
                # As it would be if its own check were forgotten: the keys are the last to look.
                given[parameter] = Conversation.model_construct(tenant=tenant, client_id="web", conversation_id="c1")
            case "conversations":
                given[parameter] = [Conversation(tenant="acme", client_id="web", conversation_id="c1")]
            case "rows":
                given[parameter] = [received(EVENTS[name], tenant)]
            case _:
                given[parameter] = ARGUMENTS[parameter]
    return getattr(store, name)(**given)


@pytest.mark.covers("AC-36", "CF-60", "S2-87")
@pytest.mark.parametrize(
    "kind", ["graph", "redis", "sets", "votes", "redis-votes", "index", "edge", "server", "process"]
)
def test_a_tenant_that_is_none_is_refused_by_every_call_before_anything_is_sent(kind: str, tmp_path: Path) -> None:
    driver = Driver()

    async def story() -> int:
        store = stores(driver, tmp_path)[kind]()
        count = 0
        for name in public_calls(type(store)):
            for none in REFUSED:
                with pytest.raises(Rejected, match="tenant_invalid"):
                    await called(store, name, none)
                count += 1
            if name not in ("search", *READS):  # what is everybody's may be read
                with pytest.raises(Rejected, match="public_tenant_read_only"):
                    await called(store, name, PUBLIC_TENANT)
        return count

    assert asyncio.run(story()) >= 2 * len(REFUSED)
    assert driver.asked == []


READS = (
    *("persona", "summaries", "events", "claims", "claims_of", "claims_about", "playbooks", "named"),
    *("claim", "consultation", "decision", "retired", "listed", "erased", "of_conversation"),
    *("themes", "near_themes", "passages_about", "passages_naming", "passages_connected"),
    *("consultations", "penalties"),
    *("decisions", "corrections", "unanswered", "questions", "decisions_on", "contested", "documents", "passages_of"),
)


@pytest.mark.parametrize("kind", ["graph", "redis", "redis-votes", "server", "process"])
def test_a_tenant_lets_every_call_through_to_the_driver(kind: str, tmp_path: Path) -> None:
    """Else the test above would pass on calls that never ask anybody."""

    async def story() -> None:
        driver = Driver()
        store = stores(driver, tmp_path)[kind]()
        for name in public_calls(type(store)):
            driver.asked.clear()
            with pytest.raises(Sent):
                await called(store, name, "acme")
            assert driver.asked, name

    asyncio.run(story())
