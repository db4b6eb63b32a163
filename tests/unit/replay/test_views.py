"""Views made again from the log: the same nodes, links, properties and passages; what is missing is mended."""

import asyncio
import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from agents.errors import Unavailable
from schemas.topics import CONVERSATION_TURNS
from streams.kafka.records import TopicPartition
from streams.replay import views
from streams.replay.reconcile import (
    Expectation,
    Findings,
    MissingOnly,
    PassageList,
    Ref,
    Refs,
    compare,
    found_in,
    per_tenant,
    put_back,
    take_out,
)
from streams.replay.selection import Selection
from streams.stores.graph.embedded.engine import EmbeddedEngine, EmbeddedGraph
from streams.stores.graph.rows import Edge, NameLink, NodeInsert, RowBatch
from streams.stores.graph.store import GraphStore
from streams.stores.passages.memory import MemoryPassageIndex
from streams.stores.passages.vectors import HashingEmbedder
from streams.testing.pipeline import Pipeline
from tests.builders.replay_log import LogInMemory

GUIDE = """# Reembolso

O reembolso de viagem da Aurora é pago em dez dias depois da aprovação da diretoria financeira.

# Como solicitar reembolso

1. Abrir o portal.
2. Anexar a nota fiscal.
"""
TALK = (
    ("user", "Qual é o prazo do projeto Aurora?"),
    ("assistant", "O prazo do projeto Aurora é dia 15."),
    ("user", "Não, o prazo do projeto Aurora mudou para dia 20"),
    ("user", "Explica melhor como funciona o reembolso de viagem"),
)
PROFILE = {"user_id": "web", "user_role": "analista", "department": "RH", "objectives": [{"id": "o1", "title": "Meta"}]}


@pytest.fixture(scope="module")
def fathom() -> Iterator[Pipeline]:
    with Pipeline() as pipeline:
        for tenant in ("acme", "other"):
            pipeline.document("guia", "Guia", GUIDE, tenant=tenant)
            pipeline.document("p1", "Perfil", tipo="profile", profile=PROFILE, tenant=tenant)
            for conversation in ("c1", "c2"):
                for role, text in TALK:
                    pipeline.say(text, role=role, conversation=conversation, tenant=tenant)
                    pipeline.wait(5)
        yield pipeline


class Fresh:
    """Emptied views, and what they are filled with."""

    def __init__(self, fathom: Pipeline) -> None:
        self.fathom = fathom
        self.log = LogInMemory(fathom.log)
        self.graph = EmbeddedGraph()
        self.index = MemoryPassageIndex(HashingEmbedder())

    def fill(self, selection: Selection | None = None, *, graph: Any = None, index: Any = None) -> views.Filled:
        built = replace(self.fathom.dependencies(), writer=graph or self.graph, index=index or self.index)
        stages = views.storing(graph=True, index=True)

        async def run() -> views.Filled:
            chosen = selection or Selection()
            spans = await views.spans_of(self.log, views.sources(stages), chosen, neighbours=True)
            return await views.fill(self.log, spans, views.Views(stages, built), chosen, lambda *_: None)

        return asyncio.run(run())


@pytest.fixture
def fresh(fathom: Pipeline) -> Fresh:
    return Fresh(fathom)


def graph_of(graph: EmbeddedGraph) -> tuple[Any, Any]:
    return graph.engine.nodes, graph.engine.links


def passages_of(index: MemoryPassageIndex) -> dict[Any, Any]:
    return {key: (found.passage, found.terms) for key, found in index._indexed.items()}


@pytest.mark.covers("AC-33", "CD-11")
def test_emptied_views_are_filled_with_the_same_nodes_links_properties_and_passages(fathom: Pipeline, fresh: Fresh):
    filled = fresh.fill()

    assert graph_of(fresh.graph) == graph_of(fathom.graph)
    assert passages_of(fresh.index) == passages_of(fathom.index)
    assert filled.topics[CONVERSATION_TURNS.name].selected == 16
    assert sum(count.refused + count.unreadable for count in filled.topics.values()) == 0


def test_filling_what_is_full_changes_nothing(fathom: Pipeline, fresh: Fresh):
    fresh.fill()
    fresh.fill()
    assert graph_of(fresh.graph) == graph_of(fathom.graph)
    assert passages_of(fresh.index) == passages_of(fathom.index)


def test_one_tenants_views_are_filled_alone(fathom: Pipeline, fresh: Fresh):
    fresh.fill(Selection(tenant="other"))
    owners = {node["tenant_id"] for nodes in fresh.graph.engine.nodes.values() for node in nodes.values()}
    assert owners == {"other", "_public"}
    assert passages_of(fresh.index) == {k: v for k, v in passages_of(fathom.index).items() if k[1] == "other"}


def test_one_conversations_views_are_filled_alone(fresh: Fresh):
    fresh.fill(Selection(tenant="acme", conversation="c2"))
    messages = fresh.graph.engine.nodes["Message"].values()
    assert {(node["tenant_id"], node.get("conversation_id", "c2")) for node in messages} == {("acme", "c2")}
    assert "Document" not in fresh.graph.engine.nodes


def test_from_a_time_on_passages_still_name_the_turns_before_it(fathom: Pipeline, fresh: Fresh):
    turns = [r for r in fathom.events(CONVERSATION_TURNS) if r.envelope.tenant == "acme"]
    since = turns[2].timestamp

    fresh.fill(Selection(since=since, tenant="acme"))

    late = {r.event.message_id for r in turns if r.timestamp >= since}
    found, before = passages_of(fresh.index), passages_of(fathom.index)
    # A mere question is no passage of its own.
    assert late & {key[2] for key in before} <= {key[2] for key in found}
    assert {key: before[key] for key in found} == found
    assert len(found) < len([key for key in before if key[1] == "acme"])


def test_a_record_that_cannot_be_read_is_counted_and_the_others_are_stored(fresh: Fresh, fathom: Pipeline):
    tp = TopicPartition(CONVERSATION_TURNS.name, 0)
    record = fathom.log.append(tp.topic, b"k", b"{", (), 0)
    try:
        filled = fresh.fill()
    finally:
        fathom.log.records[tp].remove(record)
    assert filled.topics[tp.topic].unreadable == 1
    assert graph_of(fresh.graph) == graph_of(fathom.graph)


def test_what_is_refused_is_counted_with_the_reason(fresh: Fresh, monkeypatch: pytest.MonkeyPatch):
    from agents.errors import Rejected

    async def refuse(_rows: Any) -> None:
        raise Rejected("tenant_invalid", "no")

    monkeypatch.setattr(fresh.graph, "write_claims", refuse)
    filled = fresh.fill()
    assert filled.topics["memory.claims"].refused > 0
    assert filled.why == "tenant_invalid: no"


def test_a_store_that_is_away_for_a_moment_is_waited_for(
    fathom: Pipeline, fresh: Fresh, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(views, "FIRST_WAIT", 0.001)
    away = [3]
    write = fresh.graph.engine.write

    async def flaky(rows: Any) -> None:
        if away[0]:
            away[0] -= 1
            raise Unavailable("graph")
        await write(rows)

    fresh.graph.engine.write = flaky
    fresh.fill()
    assert graph_of(fresh.graph) == graph_of(fathom.graph)


def found(fresh: Fresh, tenants: set[str]) -> Findings:
    expected = Expectation()
    fresh.fill(graph=expected.graph, index=expected.index)
    return asyncio.run(compare(expected.refs(), tenants, fresh.graph, fresh.index))


TENANTS = {"acme", "other", "_public"}


def test_votes_on_depth_go_to_redis_and_are_not_written_by_reconciling():
    assert "weight-writer" in {stage.name for stage in views.storing(graph=False, index=False, redis=True)}
    assert "weight-writer" not in {stage.name for stage in views.storing(graph=True, index=True)}


def test_a_type_of_links_with_several_ends_is_one_type_in_a_listing():
    expected = Expectation()
    link = Edge("PENALIZA:Chunk", "acme|k1", "acme|c1", "acme", "acme")
    asyncio.run(expected.graph.engine.write(RowBatch((), (), (link,), ())))
    links = of_kind(expected.refs(), "links")
    assert {link.of for link in links} == {"PENALIZA"}
    index = MemoryPassageIndex(HashingEmbedder())
    assert of_kind(asyncio.run(found_in({"acme"}, expected.graph, index)), "links") == links


@pytest.mark.covers("B15")
def test_a_clean_view_has_no_findings(fresh: Fresh):
    fresh.fill()
    findings = found(fresh, TENANTS)
    assert (len(findings.missing), len(findings.orphans)) == (0, 0)
    assert len(findings.expected) > 100
    assert found_everything(fresh) == findings.expected


def of_kind(refs: Refs, kind: str) -> set[Ref]:
    return {ref for ref in refs if ref.kind == kind}


def found_everything(fresh: Fresh) -> Refs:
    return asyncio.run(found_in(TENANTS, fresh.graph, fresh.index))


@pytest.mark.covers("B15")
@pytest.mark.parametrize("seed", range(3))
def test_what_was_deleted_is_found_and_mended_to_the_last_property(fathom: Pipeline, fresh: Fresh, seed: int):
    fresh.fill()
    whole = found_everything(fresh)
    chance = random.Random(seed)
    points = set(chance.sample(sorted(of_kind(whole, "passages")), 10))
    nodes = set(chance.sample(sorted(n for n in of_kind(whole, "nodes") if n.tenant != "_public"), 20))
    asyncio.run(take_out(points | nodes, fresh.graph, fresh.index))

    findings = found(fresh, TENANTS)
    assert of_kind(findings.missing, "passages") == points
    assert of_kind(findings.missing, "nodes") == nodes
    lost = {node.id for node in nodes}
    assert all(link.id in lost or link.end in lost for link in of_kind(findings.missing, "links"))
    assert len(findings.orphans) == 0

    lacking = PassageList(findings.missing)
    fresh.fill(graph=GraphStore(MissingOnly(fresh.graph.engine, findings.missing)), index=lacking)
    assert asyncio.run(put_back(fresh.index, lacking.kept)) == 10
    assert graph_of(fresh.graph) == graph_of(fathom.graph)
    assert passages_of(fresh.index) == passages_of(fathom.index)


def test_orphans_are_found_and_taken_out_and_nothing_else(fathom: Pipeline, fresh: Fresh):
    fresh.fill()
    fresh.fill(Selection(tenant="acme"), graph=(stranger := EmbeddedGraph()))
    row = next(iter(stranger.engine.nodes["Message"].values()))
    stray = NodeInsert("Message", "acme|stray", "acme", row)
    link = Edge("IN_CONVERSATION", "acme|stray", "acme|web|c1", "acme", "acme")
    asyncio.run(fresh.graph.engine.write(RowBatch((stray,), (), (link,), ())))
    [passage] = [each.passage for key, each in fresh.index._indexed.items() if key[1] == "acme"][:1]
    asyncio.run(fresh.index.upsert("acme", "episodic", [replace(passage, id="stray", key=None)]))

    findings = found(fresh, TENANTS)
    assert len(findings.missing) == 0
    assert {each.id for each in findings.orphans if each.kind != "links"} == {"acme|stray", "stray"}
    assert [row["orphans"] for row in per_tenant(findings) if row["orphans"]] == [1, 1, 1]

    asyncio.run(take_out(findings.orphans, fresh.graph, fresh.index))
    assert graph_of(fresh.graph) == graph_of(fathom.graph)
    assert passages_of(fresh.index) == passages_of(fathom.index)


def test_what_everybody_reads_is_never_an_orphan(fresh: Fresh):
    fresh.fill()
    fresh.graph.engine.nodes.setdefault("Concept", {})["_public|law"] = {"id": "_public|law", "tenant_id": "_public"}
    assert len(found(fresh, TENANTS).orphans) == 0


def test_a_lost_link_by_a_shared_name_is_mended_and_nothing_else_is_written():
    written: list[RowBatch] = []

    class Engine(EmbeddedEngine):
        async def write(self, rows: RowBatch) -> None:
            written.append(rows)

    lost = [Ref("acme", "links", "ABOUT", "acme|k1", "acme|c1")]
    other = NodeInsert("Message", "acme|m1", "acme", {})
    rows = RowBatch(
        (other,), (), (Edge("MADE_IN", "acme|x", "acme|m1", "acme", "acme"),), (NameLink("acme", "reembolso"),)
    )
    asyncio.run(MissingOnly(Engine(), lost).write(rows))
    asyncio.run(MissingOnly(Engine(), []).write(rows))
    assert written == [RowBatch((), (), (), rows.names)]


def test_passages_of_a_conversation_are_stored_one_after_the_other(fathom: Pipeline):
    running: list[int] = []

    class Slow(PassageList):
        async def upsert(self, tenant: str, collection: str, passages: Any) -> None:
            running.append(1)
            assert sum(running) == 1
            await asyncio.sleep(0)
            running.clear()
            await super().upsert(tenant, collection, passages)

    Fresh(fathom).fill(Selection(tenant="acme", conversation="c1"), index=Slow())


def test_what_is_found_only_once_was_on_its_way():
    both, before, after = (Ref("acme", "nodes", "Message", name) for name in ("both", "before", "after"))
    first = Findings(frozenset(), frozenset({both, before}), frozenset({before}))
    later = Findings(frozenset({both}), frozenset({both, after}), frozenset({after}))
    assert first.again(later) == Findings(frozenset({both}), frozenset({both}), frozenset())
