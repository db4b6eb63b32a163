"""Short tests of isolation, each on a fresh store: what no mutant may survive. One raises when something leaks."""

import contextlib
import re
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import kglite
import pytest

from agents.errors import Rejected
from schemas.base import PUBLIC_TENANT, entity_key, message_key
from streams.stores.graph import cypher, queries
from streams.stores.graph.embedded.conversion import OLD
from streams.stores.graph.embedded.engine import EmbeddedGraph
from streams.stores.graph.embedded.tables import GraphTables
from streams.stores.graph.knowledge_rows import entity_id, theme_id
from streams.stores.graph.rows import ANYBODY, SHARED, Edge, NodeInsert, NodeUpsert, RowBatch, term_id
from streams.stores.graph.schema import LINK_ENDS, VERSION
from streams.stores.graph.store import Engine
from streams.stores.tenant import node_id
from tests.servers.cypher_graph import CypherGraph
from tests.tenants import memories
from tests.tenants.asking import LATER, Leaks, ask_all, ask_graph, reading
from tests.tenants.canaries import CANARY, Tenant
from tests.tenants.memories import NOON, received, said

# Alike in length, so that what they get differs in nothing but their names. Mutants put the second in others' places.
ACME, BETA, GAMA = (Tenant(name, f"cnry00000{n}x") for n, name in enumerate(("acme", "beta", "gama")))
THREE = [ACME, BETA, GAMA]
MEMORY = "/dev/shm"
NONE = ("", "ac\nme", "x" * 257)


def directory_of_a_probe() -> tempfile.TemporaryDirectory[str]:
    """In memory where the system has such files: hundreds of stores are made, and none needs to survive anything."""
    return tempfile.TemporaryDirectory(prefix="fathom-probe-", dir=MEMORY if Path(MEMORY).is_dir() else None)


def alike(of: Mapping[str, Any], what: str) -> None:
    """Everybody's is the same, but for names and marks."""
    first, *others = {name: plain(shown, name) for name, shown in of.items()}.items()
    for other in others:
        assert other[1] == first[1], f"{what}: {other[0]} and {first[0]} differ: {_difference(other[1], first[1])}"


def plain(shown: Any, name: str) -> str:
    """What was shown, without the tenant's own names and marks, and without numbers."""
    text = CANARY.sub("<mark>", shown if isinstance(shown, str) else repr(shown))
    return re.sub(
        r"[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{64}|\d+(?:\.\d+)?(?:e-\d+)?", "#", re.sub(rf"\b{name}\b", "<tenant>", text)
    )


def _difference(one: str, other: str) -> str:
    place = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return f"{one[max(place - 60, 0) : place + 60]!r} / {other[max(place - 60, 0) : place + 60]!r}"


async def refused(call: Callable[[], Any], code: str) -> None:
    with pytest.raises(Rejected, match=code):
        await call()


# --- the graph -----------------------------------------------------------------------------------------------------


@contextlib.asynccontextmanager
async def in_cypher(*, admin: bool = True) -> AsyncIterator[CypherGraph]:
    yield CypherGraph(admin=admin)


@contextlib.asynccontextmanager
async def embedded(*, admin: bool = True) -> AsyncIterator[EmbeddedGraph]:
    yield EmbeddedGraph(admin=admin)


async def graph(opened: Any) -> None:
    """What three tenants and everybody wrote, each finds; the graph of one is the graph of another."""
    async with opened() as store:
        await memories.remember(store, THREE)
        await _own_nodes(store)
        leaks = Leaks()
        await ask_all(ask_graph, store, THREE, leaks)
        assert leaks.found == [], leaks.found[0]
        reads = {each.name: [shown async for _, shown, *_ in reading(store, each, ())] for each in THREE}
        alike(reads, "what is read")
        await _removals(store)
    async with opened(admin=False) as store:
        await _refusals(store)


async def converted() -> None:
    """What a graph of an older release has of each tenant, the converted one has of it."""
    with directory_of_a_probe() as directory:
        old = CypherGraph(admin=True)
        old.engine._graph = kglite.open(str(Path(directory, OLD)), durable="normal", lock=False)
        await memories.remember(old, THREE)
        new = EmbeddedGraph(Path(directory))
        for text in (queries.ALL_NODES, queries.ALL_LINKS):
            before, after = [sorted(map(_ordered, await graph.engine.read(text, {}))) for graph in (old, new)]
            assert before == after
        await new.close()


def guarded() -> None:
    """No tenant writes into another's node, whatever id it names."""
    tables = GraphTables(None)
    tables.merged("Message", "acme|m1", ACME.name)
    with pytest.raises(ValueError, match="a node of 'acme' is not written for 'gama'"):
        tables.merged("Message", "acme|m1", GAMA.name)
    tables.close()


def _ordered(row: Mapping[str, Any]) -> str:
    return repr(sorted({**row, "props": sorted(row["props"].items())}.items()))


class Asked(Engine):
    """An engine that keeps what its reads are asked with."""

    def __init__(self, engine: Any) -> None:
        self._engine = engine
        self.with_: list[Mapping[str, Any]] = []

    async def read(self, query: str, parameters: Mapping[str, Any]) -> Any:
        self.with_.append(parameters)
        return await self._engine.read(query, parameters)


async def named(opened: Any) -> None:
    """What is found by its words is asked for by the asker's words and everybody's alone."""
    async with opened() as store:
        store.engine = asked = Asked(store.engine)
        found = {"access_level": "public", "as_of": LATER, "limit": 5, "terms": TERMS}
        for name in (*(each.name for each in THREE), PUBLIC_TENANT):
            asked.with_.clear()
            await store.named(name, reader="ana", **found)
            await store.playbooks(name, **found)
            terms = {id_ for parameters in asked.with_ for id_ in parameters["term_ids"]}
            whose = {name, PUBLIC_TENANT}
            assert terms == {node_id(each, term_id(key)) for each in whose for key in TERMS}


async def asked_for(opened: Any) -> None:
    """What complex questions read by ids is asked for by the asker's ids and everybody's alone."""
    async with opened() as store:
        await memories.remember(store, THREE)
        store.engine = asked = Asked(store.engine)
        limited: dict[str, Any] = {"access_level": "public", "as_of": LATER, "limit": 9}
        theme = theme_id("sub", "Prazo")
        for name in (*(each.name for each in THREE), PUBLIC_TENANT):
            asked.with_.clear()
            assert await store.themes(name, terms=TERMS, **limited)
            assert await store.near_themes(name, ids=[theme], **limited)
            assert await store.passages_about(name, themes=[theme, theme_id("macro", "viagens")], **limited)
            assert await store.passages_naming(name, names=[("name", "Aurora")], **limited)
            assert await store.passages_connected(name, chunk_uids=["ch1"], **limited)
            own = name != PUBLIC_TENANT
            found = await store.consultations(name, signature="sig", as_of=LATER, limit=9)
            assert [each.id for each in found] == ["q1"] * own
            assert [each.corrected for each in found] == [True] * own
            penalties = await store.penalties(name, chunk_uids=["ch1"], as_of=LATER)
            assert [each.question for each in penalties] == [said(each) for each in THREE if each.name == name]
            whose = {unquote(id_.partition("|")[0]) for each in asked.with_ for id_ in each.get("ids", ())}
            assert whose == {name, PUBLIC_TENANT}, whose
            for each in asked.with_:
                assert (each["tenant"], set(each["tenants"])) == (name, {name, PUBLIC_TENANT}), each
                assert len(set(each.get("ids", ()))) == len(each.get("ids", ())), "asked for twice"


async def _own_nodes(store: Any) -> None:
    nodes = await store.engine.read(queries.ALL_NODES, {})
    links = await store.engine.read(queries.ALL_LINKS, {})
    owner = {row["id"]: row["props"]["tenant_id"] for row in nodes}
    assert all(unquote(id_.partition("|")[0]) == tenant for id_, tenant in owner.items()), "a node of somebody else's"
    assert all(owner.get(row["finish"]) in (owner[row["start"]], PUBLIC_TENANT) for row in links), "a link leaves"
    by_tenant = {
        tenant.name: sorted(
            [plain((row["label"], row["id"], sorted(row["props"].items())), name) for row in nodes if _own(row, name)]
            + [plain((row["type"], row["start"], row["finish"]), name) for row in links if owner[row["start"]] == name]
        )
        for tenant in THREE
        if (name := tenant.name)
    }
    alike(by_tenant, "nodes and links")
    kinds = Counter(row["label"] for row in nodes if owner[row["id"]] == ACME.name)
    assert kinds >= Counter(("Message", "Claim", "Claim", "Claim", "Chunk", "Concept", "Objective", "AuditEvent")), (
        kinds
    )
    joined = {row["type"] for row in links if owner[row["start"]] == ACME.name}
    assert joined >= {"IN_CONVERSATION", "MADE_IN", "CORRECTS", "PART_OF", "HAS_STEP", "ABOUT", "USED_PROFILE"}, joined


def _own(row: Any, name: str) -> bool:
    return bool(row["props"]["tenant_id"] == name)


async def _removals(store: Any) -> None:
    """Only what is one's own is removed, whatever ids are given."""
    own = node_id(ACME.name, "k7")
    for tenant in THREE:
        before = {row["id"] for row in await store.engine.read(queries.ALL_NODES, {})}
        await store.remove(tenant.name, "Claim", [node_id(GAMA.name, "k6"), own, node_id(BETA.name, "k5")])
        after = {row["id"] for row in await store.engine.read(queries.ALL_NODES, {})}
        gone = {ACME: own, BETA: node_id(BETA.name, "k5"), GAMA: node_id(GAMA.name, "k6")}
        assert before - after == {gone[tenant]}, f"{tenant.name} removed {before - after}"


async def _refusals(store: Any) -> None:
    """What is everybody's is written by no tenant, and what is no tenant reads and writes nothing."""
    writes: list[tuple[Any, Any]] = [
        (store.write_turns, memories.turn("x")), (store.write_decisions, memories.decision("x")),
        (store.write_claims, memories.claim(1, "x")), (store.write_corrections, memories.correction("x")),
        (store.write_consultations, memories.consultation("x")), (store.write_summaries, memories.summary("x")),
        (store.write_knowledge, memories.knowledge("x")),
    ]  # fmt: skip
    for write, event in writes:
        await refused(lambda w=write, e=event: w([received(e, PUBLIC_TENANT)]), "public_tenant_read_only")
        for none in NONE:
            await refused(lambda w=write, e=event, n=none: w([received(e, n)]), "tenant_invalid")
    await refused(lambda: store.remove(PUBLIC_TENANT, "Claim", ["x"]), "public_tenant_read_only")
    for none in NONE:
        await refused(lambda n=none: store.persona(n, "ana", NOON), "tenant_invalid")
        await refused(
            lambda n=none: store.claims_about(n, reader="ana", subjects=["x"], as_of=NOON, limit=1), "tenant_invalid"
        )
    assert await store.engine.read(queries.ALL_NODES, {}) == []


async def stubs(opened: Any) -> None:
    """Nodes, and the ends of links that come before them, belong to whom they should."""
    async with opened() as store:
        await _stubs(store)


async def _stubs(store: Any) -> None:
    for number, (type_, (start, end)) in enumerate(LINK_ENDS.items()):
        public = PUBLIC_TENANT if type_ == "USED_PROFILE" else GAMA.name
        ids = node_id(GAMA.name, f"{start}{number}"), node_id(public, f"{end}{number}x")
        link = Edge(type_, *ids, GAMA.name, public, {"order": 1})
        await store.engine.write(RowBatch((), (), (link,), ()))
    for label in cypher.FACTS:
        row = NodeInsert(label, node_id(GAMA.name, "fact"), GAMA.name, {})
        await store.engine.write(RowBatch((row,), (), (), ()))
    for label in cypher.LATEST:
        version: Any = NOON if VERSION[label] == "recorded_at" else 1
        latest = NodeUpsert(label, node_id(GAMA.name, "latest"), GAMA.name, version, {}, NOON)
        await store.engine.write(RowBatch((), (latest,), (), ()))
    nodes = await store.engine.read(queries.ALL_NODES, {})
    assert len(nodes) == 2 * len(LINK_ENDS) + len(cypher.FACTS) + len(cypher.LATEST)
    assert all(row["props"].get("tenant_id") == row["id"].partition("|")[0] for row in nodes), "a stub of nobody's"


async def revised(opened: Any) -> None:
    """A new version of a tenant's document retires nothing of another's document of that name."""
    async with opened() as store:
        for tenant in (BETA, ACME, GAMA):
            await store.write_knowledge([received(memories.version(said(tenant), NOON), tenant.name)])
        newer = memories.version(said(ACME), memories.REVISED, shorter=True)
        await store.write_knowledge([received(newer, ACME.name)])
        alone = memories.version(said(ACME), NOON)
        entries = tuple(each.model_copy(update={"id": f"{each.id}-d9", "document_id": "d9"}) for each in alone.entries)
        alone = alone.model_copy(update={"document_id": "d9", "entries": entries})
        await store.write_knowledge([received(alone, ACME.name)])
        counted = {each.name: await store.passages_of(each.name, ["d9"], LATER) for each in (ACME, BETA)}
        assert [*counted[ACME.name]] == ["d9"], counted
        assert counted[BETA.name] == {}, counted
        # Without passages of its own a document is not listed, whatever another tenant's of that name has.
        bare_one = NodeUpsert("Document", node_id(BETA.name, "d9"), BETA.name, NOON, {"title": "Bare"}, NOON)
        await store.engine.write(RowBatch((), (bare_one,), (), ()))
        listed = {
            each.name: {one.document_id for one in await store.documents(each.name, as_of=LATER, limit=50)}
            for each in (ACME, BETA)
        }
        assert "d9" in listed[ACME.name] - listed[BETA.name], listed
        found = {each: await store.retired(each.name, document_id="d2", as_of=LATER) for each in THREE}
        assert {tenant.name for tenant, of in found.items() if of} == {ACME.name}, found
        assert len(found[ACME]) == 3
        nodes = await store.engine.read(queries.ALL_NODES, {})
        retired = {row["id"] for row in nodes if row["props"].get("retired_at") is not None}
        assert retired == {node_id(ACME.name, each) for each in ("ch2", "co3", "kn2", "pr2")}, retired


# --- what others point at ------------------------------------------------------------------------------------------

LINKED = {
    "detected_at": NOON,
    "kind": "correction",
    "score": 0.9,
    "status": "resolved",
    "order": 1,
    "relevancia": 1.0,
    "access": 0,
}
MOLE = "mole"


async def poison(store: Any) -> None:
    """Another tenant's memory, linked with everything of ours both ways, and nodes of its under ids like ours."""
    await memories.remember(store, [ACME, BETA])
    await _undocumented(store)
    by_label: dict[str, list[str]] = {}
    for row in await store.engine.read(queries.ALL_NODES, {}):
        by_label.setdefault(row["label"], []).append(row["id"])
    links = [
        Edge(type_, a, b, a.partition("|")[0], b.partition("|")[0], LINKED)
        for type_, (start, end) in LINK_ENDS.items()
        for a in by_label.get(start, ())
        for b in by_label.get(end, ())
        if {a.partition("|")[0], b.partition("|")[0]} == {ACME.name, BETA.name}
    ]
    await bare(store, [ACME, BETA])
    # As of the same time another's is newer.
    newer = memories.knowledge(said(BETA)).model_copy(update={"recorded_at": NOON + timedelta(days=1)})
    await store.write_knowledge([received(newer, BETA.name)])
    profile = {"user_id": MOLE, "user_role": said(BETA), "department": "x", "access_level": "public"}
    impostor = node_id(ACME.name, MOLE)
    props = {**profile, "objective_ids": [], "recorded_at": NOON, "created_at": NOON}
    mole = NodeInsert("UserProfile", impostor, BETA.name, props)
    objective = Edge(
        "HAS_OBJECTIVE", impostor, node_id(ACME.name, entity_key("ana", "o1")), BETA.name, ACME.name, LINKED
    )
    if isinstance(store, CypherGraph):
        # Only what a `NodeUpsert` writes has this label's text.
        mole = NodeUpsert("UserProfile", impostor, BETA.name, NOON, profile | {"objective_ids": []}, NOON)  # type: ignore[assignment]
        await store.engine.write(RowBatch((), (mole,), (*links, objective), ()))  # type: ignore[arg-type]
    else:
        await store.engine.write(RowBatch((mole,), (), (*links, objective), ()))


async def _undocumented(store: Any) -> None:
    """A theme of ours that no document of ours is about, and a decision on a message that is not there."""
    own = node_id(ACME.name, "t-alone")
    named = {"nome": "prazo alone", "nivel": "sub", "term_keys": ["praz"]}
    theme = NodeUpsert("Tema", own, ACME.name, NOON, named, NOON)
    term = Edge("HAS_TERM:Tema", own, node_id(ACME.name, term_id("praz")), ACME.name, ACME.name, {})
    above = Edge("SUBTEMA_DE", own, node_id(ACME.name, theme_id("macro", "viagens")), ACME.name, ACME.name, {})
    await store.engine.write(RowBatch((), (theme,), (term, above), ()))
    alone = memories.decision(said(ACME)).model_copy(update={"id": "d-alone", "message_id": "m-none"})
    await store.write_decisions([received(alone, ACME.name)])


async def clean(store: Any) -> None:
    """Only our own memory."""
    await memories.remember(store, [ACME])
    await _undocumented(store)
    await bare(store, [ACME])


async def bare(store: Any, everyone: Sequence[Tenant]) -> None:
    """A node of each of them under every label that we have none of, and from every node of ours a link to another's.

    The embedded graph has no links but those that are known.
    """
    nodes = await store.engine.read(queries.ALL_NODES, {})
    for label in cypher.LISTED.keys() - {row["label"] for row in nodes if _own(row, ACME.name)}:
        for tenant in everyone:
            id_ = node_id(tenant.name, "bare")
            if isinstance(store, EmbeddedGraph):
                store.engine._tables.merged(label, id_, tenant.name)
            else:
                made = f"MERGE (n:{label} {{id: $id}}) SET n.tenant_id = $tenant"
                store.engine._graph.cypher(made, params={"id": id_, "tenant": tenant.name})
    if BETA in everyone and isinstance(store, CypherGraph):
        for label in cypher.LISTED:
            mole = f"MATCH (a:{label}) WHERE a.tenant_id = $own MATCH (b:Claim {{id: $id}}) MERGE (a)-[:MOLE]->(b)"
            store.engine._graph.cypher(mole, params={"own": ACME.name, "id": node_id(BETA.name, "k1")})


TENANTS, TERMS = (ACME.name, BETA.name, PUBLIC_TENANT), ("prazo", "praz")
ASKED: dict[str, Any] = {
    "tenant": ACME.name, "tenants": [ACME.name, PUBLIC_TENANT], "user_id": "ana", "conversation_id": "c1",
    "reader": "ana", "anybody": ANYBODY, "shared": SHARED,
    "documents": ["d1", "d2"],
    "document_id": "d2", "after": "", "client_id": "web", "message_id": "m1", "subjects": ["prazo"], "terms": [*TERMS],
    "signature": "sig", "most": 50, "access": 9, "as_of": LATER, "limit": 99, "since": NOON, "until": LATER,
    "term_ids": [node_id(tenant, term_id(key)) for tenant in TENANTS for key in TERMS],
}  # fmt: skip
DECISION = memories.decision("x").id
IDS = ("m1", "s1", "k1", "k2", "k3", "k4", "pr1", "ana", "x-claim", "d1", "ch1", "co1", "q1", DECISION)
IDS += (
    message_key("web", "c1", "m1"),
    entity_id("name", "Aurora"),
    theme_id("macro", "viagens"),
    theme_id("sub", "Prazo"),
)


def parameters(text: str) -> list[dict[str, Any]]:
    """What a read is asked with, also for others' ids."""
    wanted = set(re.findall(r"\$(\w+)", text))
    ids = [node_id(tenant, id_) for tenant in TENANTS for id_ in IDS]
    ids += [memories.conversation(tenant, name=name).key() for tenant in TENANTS for name in ("c1", memories.GONE)]
    unknown = wanted - ASKED.keys() - {"ids"}
    assert not unknown, f"say in tests/tenants/probes.py what {sorted(unknown)} are asked with"
    own = {name: ASKED[name] for name in wanted & ASKED.keys()}
    return [{**own, "ids": [*ids, node_id(ACME.name, MOLE)]}]


async def answers(store: Any, text: str) -> list[str]:
    """The rows of a read, in an order of their own."""
    found = [row for asked in parameters(text) for row in await store.engine.read(text, asked)]
    kept = [{k: v for k, v in row.items() if k not in ("type", "title_")} for row in found]
    return sorted(repr(sorted(row.items(), key=lambda item: item[0])) for row in kept)


async def never_found(store: Any, text: str) -> set[str]:
    """The columns of an optional part in which no row has a value."""
    rows = [row for asked in parameters(text) for row in await store.engine.read(text, asked)]
    optional = re.findall(r"\b(\w+)\.\w+ AS (\w+)", text.partition("OPTIONAL MATCH")[2])
    found = set(re.findall(r"OPTIONAL MATCH .*\((\w+):", text))
    return {column for of, column in optional if of in found and all(row[column] is None for row in rows)}


async def removes_anothers(store: Any, label: str, text: str) -> bool:
    """Whether a text removes, for us, a node that is another's."""
    nodes = await store.engine.read(queries.ALL_NODES, {})
    others = [row["id"] for row in nodes if row["label"] == label and _own(row, BETA.name)]
    assert others, f"there is no {label} of another"
    await store.engine.erase(text, {"tenant": ACME.name, "ids": others[:1]})
    left = {row["id"] for row in await store.engine.read(queries.ALL_NODES, {}) if row["label"] == label}
    return others[0] not in left


async def unmoved(opened: Any, texts: Mapping[str, str]) -> None:
    """Nothing of others, whatever they point at and call themselves, changes an answer."""
    async with opened() as own, opened() as shared:
        await clean(own)
        await poison(shared)
        for name, text in texts.items():
            right = await answers(own, text)
            assert right, f"{name} finds nothing: no probe would notice what it lacks"
            assert not await never_found(own, text), f"{name} finds only half: no probe would notice what it lacks"
            assert await answers(shared, text) == right, name
