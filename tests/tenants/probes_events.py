"""Short tests of isolation in what passes through the pipeline: events, keys, ids, what the assembler remembers."""

import inspect
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import unquote

import orjson
import pytest

from agents.core.documents import knowledge
from agents.core.packs import emitted_items, join_table
from agents.core.packs.pack_ledger import Lacking
from agents.core.quarantine.sources import NOTHING, Quarantines
from agents.errors import Rejected
from agents.legal.references import legal_references
from agents.stages import assembler
from schemas import codec
from schemas.base import PUBLIC_TENANT, entity_key
from schemas.depth import AppliedOptions
from schemas.envelope import Outgoing
from schemas.learning import QuarantineChanged, QuarantinedMessage
from schemas.memory import DocumentSubmitted
from schemas.packs import ContextPack, PartReport
from schemas.policy import ClaimsPolicy, ContextPolicy
from schemas.retrieval import MemoryClass, PartFound
from schemas.topics import CONTEXT_PACKS, CONVERSATION_TURNS, MEMORY_KNOWLEDGE, MESSAGES_IN, SEARCHES_IN, SEARCHES_OUT
from streams.stores import tenant as tenants
from streams.stores.graph import event_rows
from streams.stores.graph.knowledge_rows import knowledge_rows
from streams.stores.graph.learning_rows import consultation_rows, correction_rows
from streams.stores.graph.rows import Edge, NameLink, NodeInsert
from streams.stores.tokens import EstimatedTokens
from streams.testing.pipeline import Pipeline
from streams.topology import LAYOUTS
from tests.checkout import ROOT
from tests.tenants import memories
from tests.tenants.canaries import canaries, foreign
from tests.tenants.memories import received
from tests.tenants.probes import ACME, GAMA, NONE, THREE, alike, plain
from tests.tenants.talks import HANDBOOK, SAYINGS, hand_in, shown, talk

EXAMPLES = ROOT / "schemas" / "examples" / "context-packs.out"
MISSING = PartReport(memory_class=MemoryClass.EPISODIC, status="missing", items=0)
DERIVED = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f-]{21}")


def pipeline() -> None:
    """Every event of a tenant is its own, under its key, with ids of its own; all tenants are served alike."""
    with Pipeline(partitions=1) as fathom:
        for tenant in THREE:
            hand_in(fathom, tenant)
        for tenant in THREE:
            talk(fathom, tenant, SAYINGS[:4])
        fathom.crash("depth")
        for tenant in THREE:
            talk(fathom, tenant, SAYINGS[4:], 4)
        events = shown(fathom)
    assert events.keys() == {tenant.name for tenant in THREE}, events.keys()
    for tenant in THREE:
        assert not (wrong := foreign(tenant, *(text for _, _, text in events[tenant.name]))), wrong
        keys = [key for topic, key, _ in events[tenant.name] if topic != "documents.in"]
        assert all(unquote(key.partition("|")[0]) == tenant.name for key in keys), "a key of somebody else's"
        packs = [text for topic, _, text in events[tenant.name] if topic == "context-packs.out"]
        assert len(packs) == 5
        assert tenant.canary in packs[-1]
    alike({name: _ordered(name, found) for name, found in events.items()}, "what comes out")
    ids = [set(DERIVED.findall(repr(events[tenant.name]))) for tenant in THREE]
    assert all(len(each) > 20 for each in ids)
    assert not ids[0] & ids[1] | ids[1] & ids[2] | ids[0] & ids[2], "an id that two tenants have"


class Noting:
    """A store that notes for whom it is asked."""

    def __init__(self, store: Any, asked: set[str]) -> None:
        self._store = store
        self._asked = asked

    def __getattr__(self, name: str) -> Any:
        call = getattr(self._store, name)
        if not inspect.iscoroutinefunction(call):
            return call

        def noted(first: Any, *rest: Any, **named: Any) -> Any:
            rows = first if isinstance(first, list | tuple) else []
            # Texts to make vectors of are nobody's.
            self._asked.update(row.envelope.tenant for row in rows if not isinstance(row, str))
            if not rows:
                self._asked.add(first if isinstance(first, str) else first.tenant)
            return call(first, *rest, **named)

        return noted


# One for each way of asking a store: two depths that are close, going on where nothing is summed up yet, steps, a past
# conversation, a claim of another one, a point in time.
ASKING = (
    ("user", "Liste o prazo do reembolso {mark}"),
    ("user", "E o prazo disso?"),
    ("user", "Qual a diferença entre reembolso {mark} e prazo {mark}?"),
    ("user", "Como pedir o reembolso {mark}, passo a passo?"),
    ("user", "Não, o prazo do reembolso {mark} mudou para dia 20"),
    ("user", "Agora outro assunto: vamos falar das férias {mark} da equipe"),
    ("user", "O que combinamos antes sobre o reembolso {mark}?"),
    ("user", "Quando é o prazo do reembolso {mark}?"),
    ("user", "Quais documentos existem?"),
    ("user", "O que eu disse hoje?"),
)


def asked() -> None:
    """Nobody is asked for a tenant who never came."""
    came: set[str] = set()
    with Pipeline(partitions=1) as fathom:
        for tenant in (ACME, GAMA):
            hand_in(fathom, tenant)
            talk(fathom, tenant)
    # The second time the stores are watched, and the conversations are others.
    shared = ContextPolicy(claims=ClaimsPolicy(share="tenant", roles=("gerente",)))
    watched = Pipeline(partitions=1, policy=shared)
    watched.graph, watched.index = Noting(fathom.graph, came), Noting(fathom.index, came)  # type: ignore[assignment]
    watched.weights = Noting(fathom.weights, came)  # type: ignore[assignment]
    watched.working_sets = Noting(fathom.working_sets, came)  # type: ignore[assignment]
    watched.clock.advance(100)
    with watched:
        for tenant in (ACME, GAMA):
            talk(watched, tenant, ASKING, 20, conversation="c2")
    assert came == {ACME.name, GAMA.name}, came


def rows() -> None:
    """Every row of every event is its tenant's, under an id that says so, or everybody's profile of queries."""
    written: list[tuple[Any, Any]] = [
        (event_rows.turn_rows, memories.turn("x")),
        (event_rows.decision_rows, memories.decision("x")),
        (event_rows.claim_rows, memories.claim(1, "x", "k0", over=True)),
        (correction_rows, memories.correction("x")),
        (correction_rows, memories.correction("x", "consulta")),
        (consultation_rows, memories.consultation("x")),
        (event_rows.summary_rows, memories.summary("x")),
        (knowledge_rows, memories.knowledge("x")),
    ]
    for make, event in written:
        for row in make([received(event, GAMA.name)]):
            if isinstance(row, Edge):
                ends = [(row.start, row.tenant_id), (row.end, row.end_tenant)]
                public = row.type == "USED_PROFILE"
            else:
                ends = [] if isinstance(row, NameLink) else [(row.id, row.tenant_id)]
                public = isinstance(row, NodeInsert) and row.label == "QueryProfile"
            assert row.tenant_id == GAMA.name or public, row
            for place, (id_, tenant) in enumerate(ends):
                of = PUBLIC_TENANT if public and place == len(ends) - 1 else GAMA.name
                assert (id_.partition("|")[0], tenant) == (of, of), row


def documents_apart() -> None:
    """One text, handed in by two tenants, gives nothing one id."""
    value = {"document_id": "d1", "title": "Manual", "text": HANDBOOK.format(mark="da empresa"), "kind": "markdown"}
    profile = {"document_id": "p1", "title": "P", "kind": "profile", "profile": {"user_id": "ana"}}
    for each in (value, profile):
        submitted = DocumentSubmitted.model_validate(each)
        found = [
            knowledge.knowledge_of(
                submitted, tenant=tenant.name, lang="pt", recorded_at=memories.NOON, referred=legal_references
            )
            for tenant in THREE
        ]
        ids = [set(DERIVED.findall(repr(batches))) for batches in found]
        assert ids[0]
        assert not ids[0] & ids[2]
        assert not ids[0] & ids[1]


def ingested() -> None:
    """Who hands a document in gives it its ids."""
    with Pipeline(partitions=1) as fathom:
        for tenant in (ACME, GAMA):
            fathom.document("d1", "Manual", HANDBOOK.format(mark="da empresa"), tenant=tenant.name)
        events = shown(fathom)
    ids = [set(DERIVED.findall(repr([e for e in events[t.name] if e[0] == "memory.knowledge"]))) for t in (ACME, GAMA)]
    envelopes = {received.envelope.id for received in fathom.events(MEMORY_KNOWLEDGE)}
    assert not (ids[0] & ids[1]) - envelopes


def _ordered(name: str, events: list[tuple[str, str, str]]) -> list[Any]:
    """The events without the order of lists and maps by id: of equal scores the smaller id is first, and ids differ."""

    def canonical(part: Any) -> Any:
        if isinstance(part, dict):
            # How long a part waited for others of its plan is the machine's.
            own = ((key, each) for key, each in part.items() if key != "earlier_ms")
            return sorted(((plain(key, name), canonical(each)) for key, each in own), key=repr)
        if isinstance(part, list):
            return sorted((canonical(each) for each in part), key=repr)
        return plain(str(part), name)

    return [(topic, plain(key, name), canonical(orjson.loads(text))) for topic, key, text in events]


def pure() -> None:
    """Functions of a tenant: exactly its own, and refused for what is none."""
    assert tenants.readable("acme") == ("acme", "_public")
    assert tenants.readable("_public") == ("_public",)
    assert (tenants.writable("acme"), tenants.checked("acme")) == ("acme", "acme")
    assert tenants.writable("_public", admin=True) == "_public"
    assert tenants.node_id("acme", "x") == "acme|x"
    assert entity_key("a|b", "c|d") == "a%7Cb|c%7Cd"
    own = memories.conversation("ac|me")
    assert tenants.key(own, "a:b") == "fathom:{ac%7Cme|web|c1}:a%3Ab"
    assert type(own).from_key(own.key()) == own
    for none in NONE:
        for ask in (tenants.checked, tenants.readable, tenants.writable):
            _refused(ask, none)
        _refused(tenants.node_id, none, "x")
        _refused(tenants.point_id, none, "x")
        _refused(tenants.key, type(own).model_construct(tenant=none, client_id="web", conversation_id="c1"))
    _refused(tenants.writable, "_public")
    assert tenants.tenant_key("ac|me", "a:b") == "fathom:{ac%7Cme}:a%3Ab"
    for none in (*NONE, "_public"):
        _refused(tenants.tenant_key, none)
    _refused(tenants.key, memories.conversation("_public"))
    assert len({str(tenants.point_id(tenant.name, "x")) for tenant in THREE}) == 3


def _refused(ask: Callable[..., Any], *given: Any) -> None:
    with pytest.raises(Rejected):
        ask(*given)


def quarantines() -> None:
    """A source is hidden from the tenant that quarantined it until it lifts that; everybody's from everybody."""
    known = Quarantines()
    assert [known.hidden(tenant.name) for tenant in THREE] == [NOTHING] * 3

    def changed(tenant: str, state: Any, *messages: str) -> None:
        found = tuple(QuarantinedMessage(message_id=each, seq=0, **memories.WHERE) for each in messages)
        named: Any = {"source_kind": "document", "source_id": "d1", "asked_by": "ana", "issued_at": memories.NOON}
        known.apply(received(QuarantineChanged(**named, state=state, messages=found), tenant))

    for tenant in THREE:
        changed(tenant.name, "quarantined", f"m-{tenant.name}")
        changed(tenant.name, "quarantined", f"m-{tenant.name}", f"n-{tenant.name}")
    for _asked in range(2):
        for tenant in THREE:
            own = (f"m-{tenant.name}", f"n-{tenant.name}")
            assert [[each.message_id for each in one.messages] for one in known.of(tenant.name)] == [[*own]]
            assert known.hidden(tenant.name).messages == {*own}
    changed("acme", "lifted")
    assert (known.of("acme"), known.hidden("acme")) == ((), NOTHING)
    assert [len(known.of(tenant.name)) for tenant in THREE] == [0, 1, 1]
    changed(PUBLIC_TENANT, "quarantined", "m-all")
    assert [len(known.hidden(tenant.name).messages) for tenant in THREE] == [1, 3, 3]


def door() -> None:
    """An envelope's tenant is the one that was stated, or the client; what everybody reads is nobody's to write."""
    said_turn = received(memories.turn("x"), "gama")
    assert said_turn.conversation("web", "c1").tenant == "gama"
    out = Outgoing(CONVERSATION_TURNS, "k", said_turn.event, said_turn.envelope)
    assert out.envelope("depth").tenant == "gama"
    assert dict(codec.to_headers(said_turn.envelope))["tenant"] == b"gama"
    for headers, tenant in (([("tenant", b"gama")], "gama"), ([("ce_tenant", b"gama")], "gama"), ([], "web")):
        assert _decoded(headers).envelope.tenant == tenant
    for headers in ([("tenant", b"_public")], [("tenant", b"")], [("tenant", b"a\nb")]):
        with pytest.raises(codec.Undecodable, match="bad_envelope"):
            _decoded(headers)


def overload() -> None:
    """Whether an overload is a tenant's own is asked by its name."""
    with Pipeline(replace={"full_for": lambda tenant: 3.0 if tenant == "gama" else 0.0}) as fathom:
        found = {tenant: fathom.ask("por quê o prazo é de três meses?", tenant=tenant) for tenant in ("gama", "acme")}
    assert {tenant: pack.degraded for tenant, pack in found.items()} == {"gama": True, "acme": False}


def held_in_parts() -> None:
    """In the split layout too, what the assembler remembers of a pack is of one tenant."""
    with Pipeline(partitions=1, stages=LAYOUTS["split"]) as fathom:
        for tenant in (ACME, GAMA):
            hand_in(fathom, tenant)
            text = SAYINGS[0][1].format(mark=tenant.canary)
            first = fathom.ask(text, tenant=tenant.name)
            assert fathom.ask(text, tenant=tenant.name, have=[first.pack_id]).already_in_context, tenant.name


def _decoded(headers: list[tuple[str, bytes]]) -> Any:
    value = b'{"role":"user","content":"x","conversation_id":"c1","client_id":"web","message_id":"m1"}'
    return codec.decode(MESSAGES_IN, None, value, headers, partition=0, offset=0, timestamp=0)


def joins() -> None:
    """What the assembler remembers of a pack before, and writes of a late part, is of one tenant."""
    [example] = EXAMPLES.glob("d2-degraded*.json")
    pack = ContextPack.model_validate(orjson.loads(example.read_bytes())["value"])
    about = {emitted_items._subject(tenant.name, pack) for tenant in THREE}
    assert len(about) == 3
    [part] = (EXAMPLES.parent / "packs.partial").glob("part-episodic-d3*.json")
    found = PartFound.model_validate(orjson.loads(part.read_bytes())["value"])
    lacking = Lacking(frozenset({found.memory_class}), pack.assembled_at)
    assert join_table._late(received(found, "gama"), lacking).key.partition("|")[0] == "gama"
    again = assembler.Assembler(EstimatedTokens(), revise=True)
    items = pack.model_copy(update={"parts": ()})
    later = pack.model_copy(
        update={"pack_id": "p2", "parts": (MISSING,), "options": AppliedOptions(have=(pack.pack_id,))}
    )
    take = again.assigned(0)
    take(received(items, "gama"))
    take(received(later, "gama"))
    [incomplete] = again._tables[0]._incomplete.values()
    assert incomplete.previous
    assert set(incomplete.previous.values()) == {pack.pack_id}


def searched() -> None:
    """A search finds what its tenant has, and answers under its tenant's key."""
    with Pipeline(partitions=1) as fathom:
        for tenant in THREE:
            hand_in(fathom, tenant)
            talk(fathom, tenant, SAYINGS[:1])
        for tenant in THREE:
            value = {"request_id": "r1", "client_id": "web", "query": "Qual é o prazo do reembolso?"}
            key = entity_key(tenant.name, "r1").encode()
            fathom.publish(SEARCHES_IN, value, {"tenant": tenant.name, "user_id": "web"}, key)
            found = fathom.events(SEARCHES_OUT)[-1]
            assert found.key == key.decode(), "an answer under somebody else's key"
            assert canaries(found.event) == {tenant.canary}, f"{tenant.name} finds what is not its own"


def listed() -> None:
    """In a list of what somebody said, what was replaced is marked by the tenant's own turns."""
    with Pipeline(partitions=1) as fathom:
        for tenant in (ACME, GAMA):
            for number, text in enumerate(("I live in Porto.", "I moved to Lisbon.")):
                fathom.clock.advance(60)
                fathom.say(text, tenant=tenant.name, message_id=f"m{number}", conversation="c1")
            fathom.clock.advance(60)
            fathom.say("What do you know about me?", tenant=tenant.name, message_id="m9", conversation="c2")
        for received in fathom.events(CONTEXT_PACKS):
            if received.event.message_id == "m9":
                assert "I live in Porto. (replaced later)" in received.event.text, received.event.text
