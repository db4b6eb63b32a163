"""The contract of the memory graph, on the twin, on the embedded graph and on a Neo4j server."""

import asyncio
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
import pytest

from agents.core.claims.subjects import own_subject
from agents.core.language.dates import Span
from agents.core.language.text import content_words
from agents.errors import Rejected
from agents.stages.eraser import Eraser
from schemas.base import Source, message_key
from schemas.chat import Role, Turn
from schemas.depth import DepthLevel
from schemas.envelope import Envelope, Received
from schemas.learning import ConsultationRecorded, GraphRef, SubQuestion
from schemas.memory import (
    AuditDecision,
    ChunkEntry,
    ClaimAsserted,
    ConceptEntry,
    Conflict,
    CorrectionIssued,
    DefinitionEntry,
    ErasureIssued,
    EventMention,
    KnowledgeRecorded,
    ObjectiveEntry,
    PackDecision,
    ProcessEntry,
    Profile,
    ProfileEntry,
    StepEntry,
    SummaryMade,
)
from schemas.retrieval import MemoryClass, ProfileSource, QueryProfile
from streams.stores.graph import queries
from streams.stores.graph.embedded.engine import EmbeddedGraph
from streams.stores.graph.neo4j_engine import Neo4jServer, open_graph
from streams.stores.graph.rows import NodeUpsert, batch
from streams.stores.graph.store import GraphStore
from streams.stores.ownership import DirectoryInUse
from streams.stores.passages.memory import MemoryPassageIndex
from streams.stores.passages.vectors import HashingEmbedder
from streams.stores.sessions.votes import MemorySignalWeights
from streams.stores.tenant import node_id
from tests.builders.examples import few
from tests.servers.cypher_graph import CypherGraph
from tests.servers.neo4j import READ_S

NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
LATER = NOON + timedelta(days=30)
HOSTILE = ["ACME", "acme|c1", "acme%7C", "acm", "acme*", "аcme", "acme' OR 1=1 //", 'acme"}) DETACH DELETE n //']


def at(minutes: float) -> datetime:
    return NOON + timedelta(minutes=minutes)


@dataclass
class Kit:
    store: GraphStore
    runner: asyncio.Runner

    def run(self, work):
        return self.runner.run(work)

    def write(self, *received: Received[Any]) -> None:
        for row in received:
            self.run(writer_of(self.store, row)([row]))

    def dump(self) -> tuple[list[Any], list[Any]]:
        return self.run(contents(self.store))

    def nodes(self, label: str) -> list[dict[str, Any]]:
        return [props for found, _, props in self.dump()[0] if found == label]

    def links(self, type_: str) -> list[tuple[str, str, dict[str, Any]]]:
        return [(start, end, props) for found, start, end, props in self.dump()[1] if found == type_]


async def contents(store: GraphStore) -> tuple[list[Any], list[Any]]:
    nodes = await store.engine.read(queries.ALL_NODES, {})
    links = await store.engine.read(queries.ALL_LINKS, {})
    return (
        sorted(((row["label"], row["id"], dict(row["props"])) for row in nodes), key=lambda row: row[:2]),
        sorted(
            ((row["type"], row["start"], row["finish"], dict(row["props"])) for row in links), key=lambda row: row[:3]
        ),
    )


def writer_of(store: GraphStore, row: Received[Any]) -> Callable[[Sequence[Received[Any]]], Any]:
    match row.event:
        case Turn():
            return store.write_turns
        case PackDecision() | AuditDecision():
            return store.write_decisions
        case ClaimAsserted():
            return store.write_claims
        case CorrectionIssued():
            return store.write_corrections
        case SummaryMade():
            return store.write_summaries
        case ConsultationRecorded():
            return store.write_consultations
        case _:
            return store.write_knowledge


@contextmanager
def opened(request: pytest.FixtureRequest, *, admin: bool) -> Iterator[Kit]:
    with asyncio.Runner() as runner:
        store: GraphStore
        if request.param == "neo4j":
            found = request.getfixturevalue("neo4j_server")
            server = Neo4jServer(found.url, found.user, found.password)
            runner.run(wiped(server))
            store = open_graph(server, admin=admin, timeout=READ_S)
        elif request.param == "embedded":
            store = EmbeddedGraph(request.getfixturevalue("tmp_path"), admin=admin)
        else:
            store = CypherGraph(admin=admin)
        yield Kit(store, runner)
        if not isinstance(store, CypherGraph):
            runner.run(store.close())


@pytest.fixture(params=["cypher", "embedded", "neo4j"])
def kit(request) -> Iterator[Kit]:
    with opened(request, admin=True) as kit:
        yield kit


@pytest.fixture(params=["cypher", "embedded", "neo4j"])
def kit_of_nobody(request) -> Iterator[Kit]:
    """A graph that is not an administrator's."""
    with opened(request, admin=False) as kit:
        yield kit


async def wiped(server: Neo4jServer) -> None:
    """All that belongs to a tenant, deleted; the records of the schema stay."""
    async with server.driver() as driver, driver.session() as session:
        left = 1
        while left:
            found = await session.run(
                "MATCH (n) WHERE n.tenant_id IS NOT NULL WITH n LIMIT 5000 DETACH DELETE n RETURN count(*) AS n"
            )
            left = (await found.single(strict=True))["n"]


def received(event: Any, tenant: str = "acme", offset: int = 0) -> Received[Any]:
    envelope = Envelope(
        id=f"e{offset}", type="t", source="urn:test", time=NOON, tenant=tenant, correlation_id="c", causation_id=None
    )
    return Received(event, envelope, "k", "topic", 0, offset, 0)


def turn(number: int, tenant: str = "acme", conversation: str = "c1", **fields: Any) -> Received[Turn]:
    event = Turn(
        message_id=f"m{number}",
        role=Role.USER if number % 2 == 0 else Role.ASSISTANT,
        content=f"mensagem {number}",
        conversation_id=conversation,
        client_id="web",
        user_id="ana",
        created_at=at(number),
        seq=number,
        frame_id="f1",
        lang="pt",
        source=Source(topic="messages.in", partition=0, offset=number),
        **fields,
    )
    return received(event, tenant)


def node_of(number: int, tenant: str = "acme", conversation: str = "c1") -> str:
    """The node of a turn's message."""
    return node_id(tenant, message_key("web", conversation, f"m{number}"))


def decision(
    number: int, profile: str | None = "org_context", tenant: str = "acme", used: QueryProfile | None = None
) -> Received[PackDecision]:
    event = PackDecision(
        id=f"d{number}",
        conversation_id="c1",
        client_id="web",
        message_id=f"m{number}",
        pack_id=f"p{number}",
        plan_id=f"pl{number}",
        detected_signals=("anaphora", "follow_up"),
        depth_level=DepthLevel.D1,
        query_profile_used=profile,
        sources_retrieved=("working_set", "episodic"),
        tokens_used=812,
        latency_ms=37,
        created_at=at(number),
        confidence=0.9,
        classifier="heuristic",
        strategy="continue_thread",
        degraded=False,
        profile=used,
    )
    return received(event, tenant)


def claim(number: int, tenant: str = "acme", **fields: Any) -> Received[ClaimAsserted]:
    base: dict[str, Any] = {
        "claim_id": f"k{number}",
        "author": "system" if number % 2 else "user",
        "text": f"O prazo é dia {number}",
        "subject": "prazo",
        "attribute": "data",
        "value": f"dia {number}",
        "functional": True,
        "lang": "pt",
        "message_id": f"m{number}",
        "conversation_id": "c1",
        "client_id": "web",
        "user_id": "ana",
        "frame_id": "f1",
        "seq": number,
        "confidence": 0.9,
        "status": "asserted",
        "asserted_at": at(number),
        "source": Source(topic="messages.in", partition=0, offset=number),
    }
    return received(ClaimAsserted(**{**base, **fields}), tenant)


def against(*claim_ids: str) -> tuple[Conflict, ...]:
    return tuple(Conflict(claim_id=each, kind="correction", score=0.95) for each in claim_ids)


def correction(target: str, number: int = 1, kind: str = "claim", tenant: str = "acme") -> Received[CorrectionIssued]:
    event = CorrectionIssued(
        correction_id=f"x{number}",
        kind=kind,
        target_id=target,
        text="o prazo mudou",
        user_id="ana",
        correction_kind="factual",
        penalised_paths=("chunk-1", "Chunk/ch1", "_public:Dispositivo/law-7") if kind == "consulta" else (),
        weight=0.5 if kind == "consulta" else None,
        issued_at=at(20),
    )
    return received(event, tenant)


def consultation(number: int = 1, tenant: str = "acme", **fields: Any) -> Received[ConsultationRecorded]:
    """A tree of three: a root, and two below it."""
    uses = (
        GraphRef(label="Dispositivo", id="law-7", public=True),
        GraphRef(label="Processo", id="case-1"),
        GraphRef(label="Jurisprudencia", id="ruling-1"),
        GraphRef(label="Chunk", id="ch1"),
    )
    base: dict[str, Any] = {
        "consultation_id": f"consulta-{number}",
        "user_question": "Qual o prazo, e quem paga?",
        "final_answer": "30 dias; o empregador.",
        "sub_questions": (
            SubQuestion(node_id="n1", text="Quais verbas?", answer="Duas.", confidence=0.9, verified=True),
            SubQuestion(
                **{"node_id": "n2", "text": "Qual o prazo?", "answer": "30 dias", "citations": ("[lei:law-7]",)},
                parent_id="n1",
                uses=uses,
                confidence=0.8,
            ),
            SubQuestion(node_id="n3", parent_id="n1", text="Quem paga?", answer="O empregador", confidence=0.4),
        ),
        "verification_status": "approved",
        "access_level": "internal",
        "lang": "pt",
        "consulted_at": at(10 + number),
    }
    return received(ConsultationRecorded(**{**base, **fields}), tenant)


def summary(to_seq: int, tenant: str = "acme", **fields: Any) -> Received[SummaryMade]:
    base: dict[str, Any] = {
        "summary_id": "s1",
        "conversation_id": "c1",
        "client_id": "web",
        "user_id": "ana",
        "frame_id": "f1",
        "text": f"resumo até {to_seq}",
        "topic": "prazo",
        "terms": ("prazo", "projeto"),
        "lang": "pt",
        "from_message": "m0",
        "to_message": f"m{to_seq}",
        "from_seq": 0,
        "to_seq": to_seq,
        "relevant_events": (
            EventMention(id=f"ev{to_seq}", label="reunião", at=at(999), kind="date", message_id=f"m{to_seq}"),
        ),
        "made_at": at(to_seq),
    }
    return received(SummaryMade(**{**base, **fields}), tenant)


def knowledge(*entries: Any, tenant: str = "acme", recorded_at: datetime = NOON, document="doc1") -> Received[Any]:
    event = KnowledgeRecorded(
        document_id=document,
        title="Manual de viagens",
        content_hash="h1",
        batch=0,
        entries=entries,
        recorded_at=recorded_at,
    )
    return received(event, tenant)


def common(id_: str, access: str = "public") -> dict[str, Any]:
    return {"id": id_, "document_id": "doc1", "access_level": access, "recency": NOON, "lang": "pt"}


def concept(id_: str = "co1", name: str = "Reembolso", access: str = "public") -> ConceptEntry:
    return ConceptEntry(**common(id_, access), name=name, definition="devolução de um gasto")


def definition(id_: str = "kn1", title: str = "reembolso", access: str = "public") -> DefinitionEntry:
    return DefinitionEntry(**common(id_, access), title=title, text="Reembolso é a devolução de um gasto.")


def process(id_: str = "pr1", access: str = "public", terms=("solicitar", "reembolso", "viagem")) -> ProcessEntry:
    steps = tuple(StepEntry(id=f"{id_}-{n}", order=n, text=f"passo {n}") for n in (2, 1, 3))
    return ProcessEntry(**common(id_, access), name="Solicitar reembolso", how_to_terms=terms, steps=steps)


def profile(role: str = "analyst", objectives: Sequence[ObjectiveEntry] = ()) -> ProfileEntry:
    person = Profile(
        user_id="ana", user_role=role, department="vendas", access_level="internal", objectives=tuple(objectives)
    )
    return ProfileEntry(**common("pf1"), profile=person)


def stems(text: str) -> tuple[str, ...]:
    return content_words(text, "pt")


HISTORY = [
    *(turn(number) for number in range(6)),
    turn(7, conversation="c2"),
    decision(0, None),
    decision(2),
    decision(4, "document_evidence"),
    received(
        AuditDecision(
            id="a1", kind="tool", actor="tool-gate", subject_id="m2", detail={"b": [1], "a": None}, created_at=at(3)
        )
    ),
    claim(1),
    claim(2, contradicts=against("k1")),
    claim(4, contradicts=against("k2"), supersedes=("k2",), status="confirmed"),
    claim(5, contradicts=against("k99")),
    correction("k4"),
    correction("k98", 2),
    correction("consulta-1", 3, kind="consulta"),
    consultation(),
    consultation(2, reused=("consulta-1", "consulta-gone")),
    summary(3),
    summary(5),
    summary(1),
    knowledge(
        ChunkEntry(**common("ch1"), title="Viagens", text="Guarde os recibos.", position=0),
        concept(),
        definition(),
        process(),
        profile("analyst", [ObjectiveEntry(id="o1", title="vender mais")]),
    ),
    knowledge(profile("auditor", [ObjectiveEntry(id="o2", title="auditar")]), recorded_at=at(60)),
    knowledge(concept(access="internal"), recorded_at=at(30)),
    knowledge(concept("co-law", "Férias"), tenant="_public"),
]


@pytest.fixture(scope="module")
def once_in_order():
    with asyncio.Runner() as runner:
        kit = Kit(EmbeddedGraph(admin=True), runner)
        kit.write(*HISTORY)
        return kit.dump()


def test_every_graph_holds_exactly_what_the_twin_holds(kit, once_in_order):
    kit.write(*HISTORY)
    nodes, links = kit.dump()
    assert nodes == once_in_order[0]
    assert links == once_in_order[1]


@pytest.mark.covers("AC-29", "CF-67", "CF-69")
@pytest.mark.parametrize("seed", range(few(6, 2)))
def test_repeated_and_shuffled_writes_end_in_the_same_graph(kit, once_in_order, seed):
    chance = random.Random(seed)
    rows = [row for row in HISTORY for _ in range(chance.randint(1, 3))]
    chance.shuffle(rows)
    if seed % 2:
        kit.write(*rows)
    else:
        for start in range(0, len(rows), 7):
            in_batches(kit, rows[start : start + 7])
    assert kit.dump() == once_in_order


def in_batches(kit: Kit, rows: Sequence[Received[Any]]) -> None:
    by_writer: dict[Any, list[Received[Any]]] = {}
    for row in rows:
        by_writer.setdefault(writer_of(kit.store, row), []).append(row)
    for write, group in by_writer.items():
        kit.run(write(group))


@pytest.mark.covers("S0-79", "S0-80", "S0-81", "AC-25")
def test_a_decision_has_its_ten_fields_its_message_and_its_profile(kit):
    kit.write(decision(2), decision(4, None))
    with_profile, without = kit.nodes("CDCDecision")
    assert with_profile == {
        "id": "acme|d2",
        "tenant_id": "acme",
        "client_id": "web",
        "conversation_id": "c1",
        "message_id": "m2",
        "pack_id": "p2",
        "detected_signals": ["anaphora", "follow_up"],
        "depth_level": "D1",
        "query_profile_used": "org_context",
        "sources_retrieved": ["working_set", "episodic"],
        "tokens_used": 812,
        "latency_ms": 37,
        "created_at": at(2),
        "classifier": "heuristic",
        "confidence": 0.9,
        "degraded": False,
    }
    assert "query_profile_used" not in without
    assert [link[:2] for link in kit.links("FOR_MESSAGE")] == [("acme|d2", node_of(2)), ("acme|d4", node_of(4))]
    assert [link[:2] for link in kit.links("USED_PROFILE")] == [("acme|d2", "_public|org_context")]
    assert kit.nodes("QueryProfile") == [{"id": "_public|org_context", "tenant_id": "_public", "name": "org_context"}]


def profile_of(version: int, limit: int) -> QueryProfile:
    source = ProfileSource(memory_class=MemoryClass.SEMANTIC, selector="look_up", limit=limit, share=0.5)
    return QueryProfile(name="org_context", version=version, sources=(source,))


@pytest.mark.covers("S0-76", "REQ-CDC-017")
def test_each_version_of_a_profile_is_a_node_with_its_params_that_its_decisions_point_to(kit):
    first, second = profile_of(1, 6), profile_of(2, 3)
    kit.write(*(decision(n, used=used) for n, used in ((2, first), (4, second), (6, first), (8, None))))
    nodes = {node["id"]: node for node in kit.nodes("QueryProfile")}
    known = {
        id_: (node["name"], node.get("version"), orjson.loads(node.get("params", "null")))
        for id_, node in nodes.items()
    }
    used = {start: known[end] for start, end, _ in kit.links("USED_PROFILE")}
    params = [[{"memory_class": "semantic", "selector": "look_up", "limit": limit, "share": 0.5}] for limit in (6, 3)]
    assert used == {
        "acme|d2": ("org_context", 1, params[0]),
        "acme|d4": ("org_context", 2, params[1]),
        "acme|d6": ("org_context", 1, params[0]),
        "acme|d8": ("org_context", None, None),
    }
    assert len(nodes) == 3
    decisions = {node["id"]: node.get("query_profile_version") for node in kit.nodes("CDCDecision")}
    assert decisions == {"acme|d2": 1, "acme|d4": 2, "acme|d6": 1, "acme|d8": None}


@pytest.mark.covers("CF-69")
def test_a_stub_is_filled_later_and_never_empties_a_message(kit):
    kit.write(decision(2))
    assert kit.nodes("Message") == [{"id": node_of(2), "tenant_id": "acme"}]
    kit.write(turn(2))
    [full] = kit.nodes("Message")
    kit.write(decision(2), claim(2))
    assert kit.nodes("Message") == [full]
    assert full["content"] == "mensagem 2"
    assert (full["topic"], full["partition"], full["offset"]) == ("messages.in", 0, 2)


@pytest.mark.covers("AC-11", "S0-84", "CF-74")
def test_the_contradicted_claim_is_contested_and_kept(kit):
    kit.write(claim(1), claim(2, contradicts=against("k1")))
    older, newer = kit.nodes("Claim")
    assert (older["status"], older["value"], newer["status"]) == ("contested", "dia 1", "asserted")
    assert kit.links("CONTRADICTS") == [
        (
            "acme|k2",
            "acme|k1",
            {"score": 0.95, "status": "pending_reconciliation", "detected_at": at(2), "kind": "correction"},
        )
    ]


@pytest.mark.covers("S0-67", "S0-75")
def test_both_sides_of_a_contradiction_come_back_with_the_newer_one_current(kit):
    kit.write(claim(1), claim(2, contradicts=against("k1")))
    found = claims(kit)
    assert [(each.claim_id, each.status) for each in found.claims] == [("k2", "asserted"), ("k1", "contested")]
    [conflict] = found.contradictions
    assert (conflict.claim_id, conflict.contradicts, conflict.current) == ("k2", "k1", "k2")
    assert conflict.status == "pending_reconciliation"
    assert "dia 1" in conflict.explanation
    assert "dia 2" in conflict.explanation


@pytest.mark.covers("AC-12")
def test_a_superseded_claim_resolves_its_contradiction(kit):
    kit.write(claim(1), claim(2, contradicts=against("k1")), claim(3, supersedes=("k1",)))
    found = claims(kit)
    assert [(each.claim_id, each.status) for each in found.claims][-1] == ("k1", "superseded")
    assert [each.status for each in found.contradictions] == ["resolved"]
    assert [link[:2] for link in kit.links("SUPERSEDES")] == [("acme|k3", "acme|k1")]
    assert {each["id"]: each["status"] for each in kit.nodes("Claim")}["acme|k1"] == "superseded"


@pytest.mark.covers("S0-75")
def test_a_corrected_claim_is_contested(kit):
    kit.write(correction("k1"), claim(1))
    assert [each["status"] for each in kit.nodes("Claim")] == ["contested"]
    assert [link[:2] for link in kit.links("CORRECTS")] == [("acme|x1", "acme|k1")]


def claims(kit: Kit, as_of: datetime = LATER, tenant: str = "acme", conversation="c1", client="web", limit=20):
    return kit.run(kit.store.claims(tenant, client_id=client, conversation_id=conversation, as_of=as_of, limit=limit))


def test_a_claim_is_shown_as_it_stood_at_the_time(kit):
    kit.write(claim(1), claim(2, contradicts=against("k1")), claim(4, supersedes=("k1",)), correction("k2"))
    seen = [{each.claim_id: each.status for each in claims(kit, at(minute)).claims} for minute in (0, 1, 3, 5, 21)]
    assert seen == [
        {},
        {"k1": "asserted"},
        {"k1": "contested", "k2": "asserted"},
        {"k1": "superseded", "k2": "asserted", "k4": "asserted"},
        {"k1": "superseded", "k2": "contested", "k4": "asserted"},
    ]
    assert claims(kit, at(1)).contradictions == ()


def test_a_contradiction_of_a_claim_that_is_not_stored_yet_names_it(kit):
    kit.write(claim(5, contradicts=against("k1")))
    found = claims(kit)
    assert [each.claim_id for each in found.claims] == ["k5"]
    assert [(each.contradicts, each.current) for each in found.contradictions] == [("k1", "k5")]


def test_claims_and_conflicts_of_another_conversation_or_client_are_not_found(kit):
    kit.write(
        claim(1),
        claim(2, conversation_id="c2"),
        claim(3, client_id="app"),
        claim(4, conversation_id="c2", contradicts=against("k2")),
        claim(5, client_id="app", contradicts=against("k3")),
    )
    found = claims(kit)
    assert [each.claim_id for each in found.claims] == ["k1"]
    assert found.contradictions == ()


def test_claims_are_limited_to_the_newest(kit):
    kit.write(*(claim(number) for number in range(6)))
    assert [each.claim_id for each in claims(kit, limit=2).claims] == ["k5", "k4"]


def test_claims_about_a_subject_are_found_in_any_conversation_whatever_the_spelling(kit):
    kit.write(
        claim(1, subject="Orçamento"),
        claim(2, subject="orcamento", conversation_id="c2"),
        claim(3),
        claim(4, subject="orçamento", tenant="beta"),
    )
    found = kit.run(kit.store.claims_about("acme", reader="ana", subjects=["orçamento"], as_of=at(1), limit=9))
    assert [each.claim_id for each in found.claims] == ["k1"]
    found = kit.run(kit.store.claims_about("acme", reader="ana", subjects=["orçamento", "x"], as_of=LATER, limit=9))
    assert [each.claim_id for each in found.claims] == ["k2", "k1"]


def test_what_users_say_of_themselves_is_found_under_each_of_them_and_nowhere_else(kit):
    kit.write(
        claim(1, subject="usuário", user_id="ana"),
        claim(2, subject="user's email", user_id="ana"),
        claim(3, subject="usuário", user_id="rui"),
    )

    def about(*subjects: str, reader: str = "ana") -> list[str]:
        found = kit.run(kit.store.claims_about("acme", reader=reader, subjects=subjects, as_of=LATER, limit=9))
        return [each.claim_id for each in found.claims]

    assert about(own_subject("ana")) == ["k2", "k1"]
    assert about(own_subject("rui"), reader="rui") == ["k3"]
    assert about(own_subject("rui")) == []
    assert about("usuário", "user's email", "ana") == []


def test_a_claim_is_read_by_its_user_by_those_who_were_there_and_an_applications_by_all(kit):
    kit.write(
        claim(1, user_id="ana"),
        claim(2, user_id="ana", audience=("rui",)),
        claim(3, user_id="web", client_id="web", tenant_wide=True),
        # Who names a client after oneself states it for nobody else.
        claim(4, user_id="eve", client_id="eve"),
    )

    def read(reader: str, limit: int = 9) -> list[str]:
        asked = {"reader": reader, "subjects": ["prazo"], "as_of": LATER}
        about = kit.run(kit.store.claims_about("acme", **asked, limit=limit)).claims
        named = kit.run(
            kit.store.named("acme", **asked, terms=["x"], access_level="public", limit=1, max_claims=limit)
        ).claims.claims
        assert [each.claim_id for each in named] == [each.claim_id for each in about]
        return [each.claim_id for each in about]

    assert read("ana") == ["k3", "k2", "k1"]
    assert read("rui") == ["k3", "k2"]
    assert read("eve") == ["k4", "k3"]
    assert read("somebody") == ["k3"]
    # What others said takes no place among those that are read.
    assert read("ana", limit=2) == ["k3", "k2"]


@pytest.mark.covers("S0-74", "AC-23")
def test_every_item_says_where_it_comes_from_and_why(kit):
    kit.write(*HISTORY)
    store = kit.store
    persona = kit.run(store.persona("acme", "ana", LATER))
    found = claims(kit)
    playbooks = kit.run(store.playbooks("acme", terms=stems("reembolso"), access_level="public", as_of=LATER, limit=5))
    items = [
        persona.person,
        *persona.objectives,
        *kit.run(store.summaries("acme", user_id="ana", conversation_id="c1", as_of=LATER, limit=5)),
        *found.claims,
        *found.contradictions,
        *(each.process for each in playbooks),
        *(step for each in playbooks for step in each.steps),
        *kit.run(
            store.named(
                "acme", reader="ana", terms=stems("reembolso férias"), access_level="internal", as_of=LATER, limit=9
            )
        ).concepts,
    ]
    node_ids = {node_id for _, node_id, _ in kit.dump()[0]}
    assert {each.type for each in items} == {
        "persona",
        "objective",
        "conversation_summary",
        "claim",
        "contradiction",
        "process",
        "step",
        "concept",
        "knowledge",
    }
    assert {(each.provenance.topic, each.provenance.offset) for each in found.claims} == {
        ("messages.in", number) for number in (1, 2, 4, 5)
    }
    assert {each.score for each in found.contradictions} == {0.95}
    for each in items:
        assert each.reason
        assert each.provenance.store == "graph"
        assert each.provenance.id in node_ids
        assert each.recorded_at.utcoffset() == timedelta(0)


@pytest.mark.covers("S0-57")
def test_the_newest_profile_wins_with_its_own_objectives_only(kit):
    first = [ObjectiveEntry(id="o1", title="vender mais"), ObjectiveEntry(id="o2", title="viajar menos")]
    second = [ObjectiveEntry(id="o2", title="viajar pouco"), ObjectiveEntry(id="o3", title="x", status="done")]
    kit.write(knowledge(profile("auditor", second), recorded_at=at(60)), knowledge(profile("analyst", first)))
    persona = kit.run(kit.store.persona("acme", "ana", LATER))
    assert (persona.person.user_role, persona.person.persona_access) == ("auditor", "internal")
    assert [(each.id, each.title) for each in persona.objectives] == [("o2", "viajar pouco")]


@pytest.mark.covers("CF-67")
@pytest.mark.parametrize(
    "entry",
    [
        ChunkEntry(**common("ch1"), title="Viagens", text="Guarde os recibos.", position=0),
        concept(),
        definition(),
        process(),
        profile("analyst", [ObjectiveEntry(id="o1", title="vender mais")]),
    ],
    ids=lambda entry: entry.kind,
)
def test_of_two_recordings_the_later_stays_with_the_time_of_the_first(kit, entry):
    secret = entry.model_copy(update={"access_level": "confidential", "recency": at(50)})
    later = knowledge(secret, recorded_at=at(50))
    kit.write(later, knowledge(entry, recorded_at=at(10)), later)
    for label, _, props in kit.dump()[0]:
        if label in ("AuditEvent", "Term"):  # who the user was before stays, too; a word is of no time
            continue
        assert (props["created_at"], props["recorded_at"]) == (at(10), at(50)), label
        assert props.get("recency", at(50)) == at(50)
        assert props.get("access", 3) == 3 or label == "UserProfile"


def test_a_point_in_time_that_is_named_again_keeps_the_time_of_the_first(kit):
    named = summary(5).event.relevant_events
    later = summary(9, relevant_events=named)
    kit.write(later, summary(5), later)
    [point] = kit.nodes("TimePoint")
    assert (point["created_at"], point["recorded_at"]) == (at(5), at(9))


def test_a_profile_that_was_recorded_later_is_not_seen(kit):
    kit.write(knowledge(profile(), recorded_at=at(10)))
    assert kit.run(kit.store.persona("acme", "ana", at(9))) is None
    assert kit.run(kit.store.persona("acme", "ana", at(10))) is not None
    assert kit.run(kit.store.persona("acme", "rui", at(10))) is None


def test_people_who_number_their_objectives_alike_keep_their_own(kit):
    theirs = ProfileEntry(
        **common("pf2"), profile=Profile(user_id="rui", objectives=(ObjectiveEntry(id="o1", title="outra"),))
    )
    kit.write(knowledge(profile("analyst", [ObjectiveEntry(id="o1", title="vender")]), theirs))
    titles = [kit.run(kit.store.persona("acme", user, LATER)).objectives[0].title for user in ("ana", "rui")]
    assert titles == ["vender", "outra"]


@pytest.mark.covers("S0-53")
def test_the_summary_that_reaches_furthest_stays(kit):
    kit.write(summary(5), summary(3))
    found = kit.run(kit.store.summaries("acme", user_id="ana", conversation_id="c1", as_of=LATER, limit=5))
    assert [(each.text, each.to_seq, each.origin) for each in found] == [("resumo até 5", 5, "current")]
    assert sorted(each["id"] for each in kit.nodes("TimePoint")) == ["acme|ev3", "acme|ev5"]


def test_summaries_come_newest_first_from_all_conversations_of_the_user_only(kit):
    kit.write(
        summary(1, summary_id="s1", conversation_id="c1"),
        summary(3, summary_id="s3", conversation_id="c3"),
        summary(2, summary_id="s2", conversation_id="c2"),
        summary(9, summary_id="s9", conversation_id="c1", user_id="rui"),
        summary(4, summary_id="s4", conversation_id="c4", tenant="beta"),
    )

    def found(conversation: str | None, as_of: datetime = LATER, limit: int = 9) -> list[str]:
        read = kit.store.summaries("acme", user_id="ana", conversation_id=conversation, as_of=as_of, limit=limit)
        return [each.id for each in kit.run(read)]

    assert found(None) == ["s3", "s2", "s1"]
    assert found(None, limit=2) == ["s3", "s2"]
    assert found(None, at(2)) == ["s2", "s1"]
    assert found("c1") == ["s1"]


def spoken(number: int, when: datetime, **fields: Any) -> Received[SummaryMade]:
    """A summary of a conversation of its own, which speaks of one point in time."""
    event = EventMention(id=f"ev{number}", label=f"reunião {number}", at=when, kind="day", message_id=f"m{number}")
    ids = {"summary_id": f"s{number}", "conversation_id": f"c{number}"}
    return summary(number, **{**ids, "relevant_events": (event,), **fields})


def test_points_in_time_come_of_the_user_and_of_the_time_asked_about_last_said_first(kit):
    day = timedelta(days=1)
    kit.write(
        spoken(1, NOON),
        spoken(3, NOON + 2 * day),
        spoken(2, NOON + day),
        spoken(4, NOON + day, user_id="rui"),
        spoken(5, NOON + day, tenant="beta"),
    )

    def found(days: tuple[int, int] | None, as_of: datetime = LATER, limit: int = 9, user: str = "ana") -> list[str]:
        between = Span(NOON + days[0] * day, NOON + days[1] * day) if days else None
        read = kit.store.events("acme", user_id=user, between=between, as_of=as_of, limit=limit)
        return [each.id for each in kit.run(read)]

    assert found(None) == ["ev3", "ev2", "ev1"]
    assert found(None, limit=2) == ["ev3", "ev2"]
    assert found(None, as_of=at(2)) == ["ev2", "ev1"]
    assert found((0, 2)) == ["ev2", "ev1"]
    assert found((1, 2), user="rui") == ["ev4"]
    assert found((3, 9)) == []
    [event] = kit.run(kit.store.events("acme", user_id="ana", between=Span(NOON, NOON + day), as_of=LATER, limit=9))
    assert (event.label, event.at, event.kind, event.message_id) == ("reunião 1", NOON, "day", "m1")
    assert (event.recorded_at, event.provenance.id) == (at(1), "acme|ev1")


def test_a_point_in_time_is_of_when_it_was_first_said_however_often_it_is_told_again(kit):
    event = EventMention(id="ev", label="reunião", at=NOON, kind="day", message_id="m1")
    kit.write(summary(5, relevant_events=(event,)), summary(3, relevant_events=(event,)))
    asked = {"user_id": "ana", "between": None, "limit": 9}
    assert [each.recorded_at for each in kit.run(kit.store.events("acme", as_of=at(4), **asked))] == [at(3)]
    assert kit.run(kit.store.events("acme", as_of=at(2), **asked)) == ()


@pytest.mark.covers("S0-56")
def test_the_playbook_that_meets_the_question_best_comes_first_with_its_steps_in_order(kit):
    kit.write(
        knowledge(
            process("pr1", terms=("solicitar", "reembolso", "viagem")),
            process("pr2", terms=("reembolso",)),
            process("pr3", terms=("demitir", "alguém")),
        )
    )
    terms = stems("Como solicitar reembolso de viagem?")
    found = kit.run(kit.store.playbooks("acme", terms=terms, access_level="public", as_of=LATER, limit=5))
    assert [(each.process.id, each.process.score) for each in found] == [("pr1", 1.0), ("pr2", 1.0)]
    assert [step.text for step in found[0].steps] == ["passo 1", "passo 2", "passo 3"]
    assert {step.process_id for step in found[0].steps} == {"pr1"}


def test_what_a_question_names_is_read_together_each_with_its_own_order_and_limit(kit):
    kit.write(
        knowledge(concept("one", "prazo"), concept("half", "prazo final"), definition("kn1", "prazo")),
        *(claim(n, subject="prazo", value=f"dia {n}") for n in (1, 2, 3)),
        claim(4, subject="orçamento"),
        correction("k2"),
    )
    asked = {"terms": stems("prazo"), "access_level": "public", "as_of": LATER, "limit": 2}
    found = kit.run(kit.store.named("acme", reader="ana", **asked, subjects=["prazo"], max_claims=3))
    assert [each.id for each in found.concepts] == ["one", "kn1"]
    assert [(each.claim_id, each.value, each.recorded_at) for each in found.claims.claims] == [
        (each.claim_id, each.value, each.recorded_at)
        for each in kit.run(
            kit.store.claims_about("acme", reader="ana", subjects=["prazo"], as_of=LATER, limit=3)
        ).claims
    ]
    assert [each.claim_id for each in found.claims.claims] == ["k3", "k2", "k1"]
    assert kit.run(kit.store.named("acme", reader="ana", **asked)).claims.claims == ()
    elsewhere = kit.run(kit.store.named("beta", reader="ana", **asked, subjects=["prazo"], max_claims=3))
    assert (elsewhere.concepts, elsewhere.claims.claims) == ((), ())


def test_knowledge_of_another_memory_class_is_no_definition(kit):
    kit.write(knowledge(definition("kn1"), definition("kn2")))
    of_talks = NodeUpsert("Knowledge", "acme|kn2", "acme", at(60), {"memory_class": "episodic"}, at(0))
    kit.run(kit.store.engine.write(batch([of_talks])))
    asked = {"terms": stems("reembolso"), "access_level": "public", "as_of": LATER, "limit": 9}
    assert [each.id for each in kit.run(kit.store.named("acme", reader="ana", **asked)).concepts] == ["kn1"]


@pytest.mark.covers("CF-70", "AC-24")
def test_what_is_above_the_askers_rights_is_not_found(kit):
    kit.write(
        knowledge(
            concept("co1"),
            concept("co2", access="restricted"),
            definition("kn1", access="internal"),
            process("pr1"),
            process("pr2", access="confidential"),
        )
    )

    def seen(level: str) -> list[str]:
        asked = {"terms": stems("reembolso"), "access_level": level, "as_of": LATER, "limit": 9}
        items = kit.run(kit.store.named("acme", reader="ana", **asked)).concepts
        playbooks = kit.run(kit.store.playbooks("acme", **asked))
        return sorted([*(each.id for each in items), *(each.process.id for each in playbooks)])

    assert seen("public") == ["co1", "pr1"]
    assert seen("internal") == ["co1", "kn1", "pr1"]
    assert seen("confidential") == ["co1", "co2", "kn1", "pr1", "pr2"]


def test_knowledge_that_was_recorded_later_is_not_seen(kit):
    kit.write(knowledge(concept(), definition(), process(), recorded_at=at(10)))
    for minute, count in ((9, 0), (10, 3)):
        asked = {"terms": stems("reembolso"), "access_level": "public", "as_of": at(minute), "limit": 9}
        assert (
            len(kit.run(kit.store.named("acme", reader="ana", **asked)).concepts)
            + len(kit.run(kit.store.playbooks("acme", **asked)))
            == count
        )


def test_a_concept_is_named_by_at_least_half_of_its_words(kit):
    kit.write(knowledge(concept("one", "prazo"), concept("half", "prazo final"), concept("less", "prazo final legal")))
    asked = {"terms": stems("qual o prazo?"), "access_level": "public", "as_of": LATER}
    assert [each.id for each in kit.run(kit.store.named("acme", reader="ana", **asked, limit=9)).concepts] == [
        "one",
        "half",
    ]
    assert [each.id for each in kit.run(kit.store.named("acme", reader="ana", **asked, limit=1)).concepts] == ["one"]


@pytest.mark.parametrize("concept_first", [True, False])
def test_knowledge_is_about_the_concept_of_its_name_whichever_comes_first(kit, concept_first):
    parts = [knowledge(concept("co1", "Férias")), knowledge(definition("kn1", "ferias"))]
    kit.write(*(parts if concept_first else reversed(parts)))
    kit.write(knowledge(concept("co2", "Férias"), tenant="beta"))
    assert [link[:2] for link in kit.links("ABOUT")] == [("acme|kn1", "acme|co1")]


@pytest.mark.covers("AC-36", "S2-87")
def test_what_everybody_may_read_is_found_by_every_tenant(kit):
    kit.write(
        knowledge(concept("law", "Férias"), process("how", terms=("férias",)), tenant="_public"),
        knowledge(concept("own", "Férias"), tenant="beta"),
    )
    asked = {"terms": stems("férias"), "access_level": "public", "as_of": LATER, "limit": 9}
    assert [each.id for each in kit.run(kit.store.named("acme", reader="ana", **asked)).concepts] == ["law"]
    [playbook] = kit.run(kit.store.playbooks("acme", **asked))
    assert [playbook.process.id, len(playbook.steps)] == ["how", 3]
    assert [each.id for each in kit.run(kit.store.named("_public", reader="ana", **asked)).concepts] == ["law"]


def test_only_an_administrator_writes_what_everybody_reads(kit_of_nobody):
    both = [knowledge(concept(), tenant="acme"), knowledge(concept(), tenant="_public")]
    with pytest.raises(Rejected, match="public_tenant_read_only"):
        kit_of_nobody.run(kit_of_nobody.store.write_knowledge(both))
    assert kit_of_nobody.dump() == ([], [])


def test_nobody_talks_as_the_public_tenant(kit):
    for row in (turn(1), decision(1), claim(1), correction("k1"), summary(1)):
        public = row._replace(envelope=row.envelope._replace(tenant="_public"))
        with pytest.raises(Rejected, match="public_tenant_read_only"):
            kit.write(public)
    assert kit.dump() == ([], [])


@pytest.mark.covers("AC-36", "S2-87")
@pytest.mark.parametrize("other", HOSTILE)
def test_another_tenant_with_the_same_ids_sees_nothing_and_changes_nothing(kit, other):
    in_batches(kit, HISTORY)
    before = [row for row in kit.dump()[0] if row[2]["tenant_id"] == "acme"]
    assert seen_by(kit, other) == 0
    assert seen_by(kit, "acme") > 0
    of_acme = [row for row in HISTORY if row.envelope.tenant == "acme"]
    in_batches(kit, [row._replace(envelope=row.envelope._replace(tenant=other)) for row in of_acme])
    assert [row for row in kit.dump()[0] if row[2]["tenant_id"] == "acme"] == before
    assert seen_by(kit, other) == seen_by(kit, "acme")
    tenants = {node_id: props["tenant_id"] for _, node_id, props in kit.dump()[0]}
    for _, start, end, _ in kit.dump()[1]:
        assert tenants[end] in (tenants[start], "_public")


def seen_by(kit: Kit, tenant: str) -> int:
    store = kit.store
    asked = {"terms": stems("solicitar reembolso"), "access_level": "confidential", "as_of": LATER, "limit": 50}
    persona = kit.run(store.persona(tenant, "ana", LATER))
    found = claims(kit, tenant=tenant)
    about = kit.run(store.claims_about(tenant, reader="ana", subjects=["prazo"], as_of=LATER, limit=50))
    return sum(
        (
            0 if persona is None else 1 + len(persona.objectives),
            len(kit.run(store.summaries(tenant, user_id="ana", conversation_id=None, as_of=LATER, limit=50))),
            len(kit.run(store.summaries(tenant, user_id="ana", conversation_id="c1", as_of=LATER, limit=50))),
            len(found.claims) + len(found.contradictions),
            len(about.claims) + len(about.contradictions),
            sum(1 + len(each.steps) for each in kit.run(store.playbooks(tenant, **asked))),
            len(kit.run(store.named(tenant, reader="ana", **asked)).concepts),
        )
    )


@pytest.mark.parametrize("tenant", ["", " ", "a\nb", " acme", "x" * 300])
def test_a_read_without_a_tenant_is_refused(kit, tenant):
    asked = {"terms": ["x"], "access_level": "public", "as_of": LATER, "limit": 1}
    for read in (
        lambda: kit.store.persona(tenant, "ana", LATER),
        lambda: kit.store.summaries(tenant, user_id="ana", conversation_id=None, as_of=LATER, limit=1),
        lambda: kit.store.claims(tenant, client_id="web", conversation_id="c1", as_of=LATER, limit=1),
        lambda: kit.store.claims_about(tenant, reader="ana", subjects=["x"], as_of=LATER, limit=1),
        lambda: kit.store.playbooks(tenant, **asked),
        lambda: kit.store.named(tenant, reader="ana", **asked),
    ):
        with pytest.raises(Rejected, match="tenant_invalid"):
            kit.run(read())


def test_an_id_that_looks_like_a_query_is_only_an_id(kit):
    nasty = "m'}) DETACH DELETE n //`$x"
    kit.write(turn(1), turn(2, answers=nasty), claim(3, message_id=nasty, text="'; MATCH (n) DETACH DELETE n"))
    assert len(kit.nodes("Message")) == 3
    assert claims(kit).claims[0].message_id == nasty


def test_redelivered_batch_of_nothing_is_nothing(kit):
    kit.run(kit.store.write_turns([]))
    assert kit.dump() == ([], [])


def test_an_empty_graph_is_read_without_a_complaint(kit):
    assert seen_by(kit, "acme") == 0
    kit.write(turn(1))
    assert seen_by(kit, "acme") == 0


def test_any_text_comes_back_as_it_was(kit):
    texts = ["\x00 zero", "😀 e\u0301 \u202e", "\\ ' \" ` $x {y}", "linha\r\noutra\u2028", "x" * 100_000]
    kit.write(*(claim(number, text=text, value=text) for number, text in enumerate(texts)))
    found = claims(kit).claims[::-1]
    assert [each.text for each in found] == texts
    assert [each.value for each in found] == texts


def test_a_list_of_nothing_is_a_list_of_nothing(kit):
    kit.write(summary(3, terms=(), relevant_events=()))
    assert [each["terms"] for each in kit.nodes("ConversationSummary")] == [[]]


def test_a_detail_of_any_shape_is_kept_as_text(kit):
    detail = {"mixed": [1, "a", None, {"deep": [[]]}], "b": {"c": 0.5}}
    kit.write(
        received(
            AuditDecision(id="a1", kind="tool", actor="gate", subject_id="m2", detail=detail, created_at=at(3)), "acme"
        )
    )
    [event] = kit.nodes("AuditEvent")
    assert orjson.loads(event["detail"]) == detail


@pytest.mark.parametrize("zone", ["-03:00", "+05:45", "+00:00"])
def test_the_same_instant_is_the_same_in_every_zone(kit, zone):
    there = datetime.strptime(zone, "%z").tzinfo
    moment = at(10) + timedelta(microseconds=123_456)
    kit.write(
        knowledge(concept(), profile(), process(), recorded_at=moment.astimezone(there)),
        claim(1, asserted_at=moment.astimezone(there)),
        summary(5, made_at=moment.astimezone(there)),
    )
    assert kit.nodes("Claim")[0]["created_at"].isoformat() == "2026-03-02T12:10:00.123456+00:00"
    for as_of, count in ((moment.astimezone(there), 1), (moment - timedelta(microseconds=1), 0)):
        asked = {"terms": stems("reembolso"), "access_level": "public", "as_of": as_of, "limit": 9}
        assert len(kit.run(kit.store.named("acme", reader="ana", **asked)).concepts) == count
        assert len(kit.run(kit.store.playbooks("acme", **asked))) == count
        assert len(claims(kit, as_of).claims) == count
        assert (kit.run(kit.store.persona("acme", "ana", as_of)) is not None) == bool(count)
        own = kit.run(kit.store.summaries("acme", user_id="ana", conversation_id=None, as_of=as_of, limit=9))
        assert len(own) == count


def test_the_longest_ids_and_names_are_kept(kit):
    tenant, long = "\U0001f600" * 256, "\U0001f600" * 256
    name = "\U00020000" * 400  # a claim is cut out of no more
    rows = [
        turn(1, tenant, long),
        claim(1, tenant, claim_id=long, subject=name, attribute=name, conversation_id=long),
        knowledge(concept(long, name), definition(long, name), tenant=tenant),
    ]
    kit.write(*rows, *rows)
    assert {label: len(kit.nodes(label)) for label in ("Message", "Claim", "Concept", "Knowledge")} == {
        "Message": 1,
        "Claim": 1,
        "Concept": 1,
        "Knowledge": 1,
    }
    about = kit.run(kit.store.claims_about(tenant, reader="ana", subjects=[name], as_of=LATER, limit=9))
    assert [each.claim_id for each in about.claims] == [long]
    assert len(kit.links("ABOUT")) == 1


def test_the_embedded_graph_is_the_same_after_it_is_opened_again(tmp_path, once_in_order):
    with asyncio.Runner() as runner:
        store = EmbeddedGraph(tmp_path, admin=True)
        Kit(store, runner).write(*HISTORY)
        runner.run(store.close())
        again = EmbeddedGraph(tmp_path, admin=True)
        assert runner.run(contents(again)) == once_in_order
        runner.run(again.close())


def test_a_second_opener_is_told_who_owns_the_graph(tmp_path):
    store = EmbeddedGraph(tmp_path)
    with pytest.raises(DirectoryInUse, match="in use by pid"):
        EmbeddedGraph(tmp_path)
    asyncio.run(store.close())


def test_no_file_of_the_embedded_graph_has_a_byte_of_an_erased_conversation(tmp_path):
    async def files() -> bytes:
        return b"".join(each.read_bytes() for each in sorted(tmp_path.glob("graph.*")))

    async def story() -> None:
        store = EmbeddedGraph(tmp_path)
        await store.write_turns([turn(number) for number in range(40)])
        await store.write_turns([turn(99, conversation="c2")])
        assert b"mensagem 3" in await files()
        issued = ErasureIssued(
            erasure_id="e1", conversation_id="c1", client_id="web", asked_by="ana", up_to_seq=99, issued_at=LATER,
            source=turn(1).event.source,
        )  # fmt: skip
        index = MemoryPassageIndex(HashingEmbedder())
        await Eraser(store, index, MemorySignalWeights()).handle(received(issued))
        left = await files()
        assert b"mensagem 3" not in left
        assert b"mensagem 99" in left
        await store.close()

    asyncio.run(story())
