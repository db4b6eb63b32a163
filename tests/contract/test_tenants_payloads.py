"""Thousands of values that try to be part of a query change the text of none, and come back as what they are."""

import asyncio
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from agents.core.conversation.erasure import Erasure
from agents.core.conversation.memory import Session, turn_of
from agents.core.conversation.session_state import TurnOutcome
from agents.core.language.dates import Span
from agents.ports.erasable import ConversationNodes
from agents.ports.graph import Asker
from agents.ports.passages import Passage, PassageQuery
from schemas.base import Conversation, derive
from schemas.memory import ObjectiveEntry, Profile, ProfileEntry
from streams.stores.graph import cypher
from streams.stores.graph.embedded.engine import EmbeddedGraph
from streams.stores.graph.store import GraphStore
from streams.stores.passages.qdrant_edge import QdrantEdgeIndex
from streams.stores.passages.qdrant_server import QdrantServerIndex
from streams.stores.passages.vectors import HashingEmbedder
from streams.stores.sessions.redis_calls import digest_of
from streams.stores.sessions.redis_scripts import APPEND, EPOCHS, FORGET, FRAME, LOAD, OPEN, RANGE, RESTORE, WHOLE
from streams.stores.sessions.redis_working_sets import RedisWorkingSets
from streams.stores.sessions.votes import ADD, FETCH, REMOVE, RedisSignalWeights
from tests.builders.examples import few
from tests.tenants import memories
from tests.tenants.memories import NOON, received
from tests.tenants.mutants import query_texts
from tests.tenants.payloads import payloads
from tests.tenants.recording import Called, Recording, Server

ALL = payloads()[::2]
HARMLESS = "harmless"
SOME = 60
# Each asks some seventy queries.
SAMPLE = ALL[:: few(1, 8)]
ANSWERS = {
    digest_of(OPEN): [None, None, b"[]"],
    digest_of(WHOLE): [None, None, b"[]", b"[]"],
    digest_of(FRAME): None,
    digest_of(REMOVE): 0,
    digest_of(LOAD): [None, b"[]", b"[]"],
    **{digest_of(script): b"[]" for script in (RANGE, APPEND, RESTORE, FORGET)},
    **{digest_of(script): [b"1", []] for script in (ADD, FETCH)},
}
# A conversation's has three parts in its braces, a tenant's one.
KEY = re.compile(r"fathom:\{[\w.~%-]+(\|[\w.~%-]+\|[\w.~%-]+)?\}(:[\w.~%-]+)+", re.ASCII)
TABLES = (
    *(cypher.FACTS, cypher.LATEST, cypher.LINKS, cypher.RETIRE),
    *(cypher.LISTED, cypher.REMOVED),
)
TEXTS = {
    *query_texts().values(),
    *(text for table in TABLES for text in table.values()),
    cypher.ABOUT,
}


def loose(event: Any, **fields: Any) -> Any:
    """An event with fields that its own checks would refuse: those are not the only ones between it and a query."""
    return event.model_copy(update=fields)


async def through_the_graph(store: Any, text: str, tenant: str = "acme") -> list[Any]:
    """A value in every field of every write, and asked for in every argument of every read; what the reads gave."""
    key = text if _is_id(text) else "k"
    ids = {"message_id": key, "conversation_id": key, "client_id": key, "user_id": key, "frame_id": key}
    await store.write_turns([received(loose(memories.turn(text), **ids, lang=text), tenant)])
    await store.write_summaries([received(loose(memories.summary(text), summary_id=key, **ids), tenant)])
    decision = loose(
        memories.decision(text), **ids, id=derive("decision", key, 1), query_profile_used=text, classifier=text
    )
    await store.write_decisions([received(decision, tenant)])
    # Everybody's, so that any reader asks all that follows from a found claim.
    known: dict[str, Any] = {"audience": (key,), "tenant_wide": True}
    claim = loose(memories.claim(1, text), **ids, **known, claim_id=key, subject=text, attribute=text, lang=text)
    await store.write_claims([received(claim, tenant)])
    await store.write_corrections([received(loose(memories.correction(text), correction_id=key, **ids), tenant)])
    asked = memories.consultation(HARMLESS)
    part, _ = asked.sub_questions
    uses = tuple(loose(each, id=text) for each in part.uses)
    part = loose(part, node_id=key, text=text, answer=text, uses=uses)
    consultation = loose(asked, consultation_id=key, user_question=text, final_answer=text, sub_questions=(part,))
    await store.write_consultations([received(consultation, tenant)])
    await _write_knowledge(store, text, key, tenant)
    when: dict[str, Any] = {"as_of": NOON, "limit": 5}
    gone = Conversation.model_construct(tenant=tenant, client_id=key, conversation_id=f"{key}-gone")
    nodes = await store.note_erasure(gone, Erasure(0, NOON))
    await store.note_counts(gone, Erasure(0, NOON), {"turns": 0})
    await store.erased(tenant, [gone])
    await store.profile_nodes(tenant, key)
    await store.erase(tenant, ConversationNodes({"Message": (text,), **(nodes.ids if nodes else {})}))
    return [
        await store.persona(tenant, key, NOON),
        await store.summaries(tenant, user_id=key, conversation_id=key, **when),
        await store.claims(tenant, client_id=key, conversation_id=key, **when),
        await store.claims_about(tenant, reader=text, subjects=[text], **when),
        await store.playbooks(tenant, terms=[text, "prazo"], access_level="public", **when),
        await store.named(
            tenant, reader="ana", terms=[text, "prazo"], subjects=[text], max_claims=5, access_level="public", **when
        ),
        await store.claim(tenant, key, NOON),
        await store.decision(tenant, key, NOON),
        await store.consultation(tenant, key, NOON),
        await store.retired(tenant, document_id=key, as_of=NOON),
        await store.listed(tenant, "Claim", after=text, limit=1),
        # Nothing is there by a bare value: nodes are removed by the ids that `listed` gives.
        await store.remove(tenant, "Claim", [text, key]),
        await store.events(tenant, user_id=key, between=None, **when),
        await store.events(tenant, user_id=key, between=Span(NOON, NOON), **when),
        *await _of_cognition(store, text, key, tenant),
        *await _of_decisions(store, text, key, tenant),
        await store.claims_of(tenant, user_id=key, after=key, **when),
    ]


async def _of_cognition(store: Any, text: str, key: str, tenant: str) -> list[Any]:
    limited: dict[str, Any] = {"access_level": "public", "as_of": NOON, "limit": 5}
    return [
        await store.themes(tenant, terms=[text, "prazo"], **limited),
        await store.near_themes(tenant, ids=[text, key], **limited),
        await store.passages_about(tenant, themes=[text, key], **limited),
        await store.passages_naming(tenant, names=[(text, text), ("nome", key)], **limited),
        await store.passages_connected(tenant, chunk_uids=[text, key], **limited),
        await store.consultations(tenant, signature=text, as_of=NOON, limit=5),
        await store.penalties(tenant, chunk_uids=[text, key], as_of=NOON),
    ]


async def _of_decisions(store: Any, text: str, key: str, tenant: str) -> list[Any]:
    asked: dict[str, Any] = {"whose": Asker(key, key), "since": NOON, "as_of": NOON, "limit": 5}
    return [
        await store.decisions(tenant, **asked),
        await store.corrections(tenant, **asked),
        await store.unanswered(tenant, **asked),
        await store.questions(tenant, [key], NOON),
        await store.decisions_on(tenant, key, NOON),
        await store.contested(tenant, [key], NOON),
        await store.documents(tenant, as_of=NOON, limit=5),
        await store.passages_of(tenant, [text, key], NOON),
    ]


async def _write_knowledge(store: Any, text: str, key: str, tenant: str) -> None:
    profile = Profile.model_construct(
        user_id=key, user_role=text, department=text, access_level="public",
        objectives=(ObjectiveEntry.model_construct(id=key, title=text, status="active"),),
    )  # fmt: skip
    entry = ProfileEntry.model_construct(
        id=key, document_id=key, access_level="public", recency=NOON, lang="pt", kind="profile", profile=profile
    )
    known = memories.knowledge(text, person=False)
    entries = (*(loose(each, id=f"{key}{n}", document_id=key) for n, each in enumerate(known.entries)), entry)
    await store.write_knowledge([received(loose(known, document_id=key, entries=entries), tenant)])


def _is_id(text: str) -> bool:
    return bool(text) and text == text.strip() and text.isprintable()


@pytest.mark.covers("B20", "AC-36")
def test_there_are_thousands_of_payloads() -> None:
    assert len(ALL) >= 2_000


@pytest.mark.covers("B20", "AC-36")
def test_no_value_changes_the_text_of_a_query() -> None:
    async def texts(value: str) -> list[str]:
        engine = Recording()
        called = Called(GraphStore(engine))
        await through_the_graph(called, value)
        assert called.left_out == set()
        return engine.texts

    async def story() -> None:
        right = await texts(HARMLESS)
        assert set(right) <= TEXTS
        assert len(right) > 60
        assert [value for value in SAMPLE if await texts(value) != right] == []

    asyncio.run(story())


@pytest.mark.covers("B20", "AC-36")
def test_what_looks_like_a_query_comes_back_from_the_embedded_graph_as_it_is(tmp_path: Path) -> None:
    async def story() -> None:
        graph = EmbeddedGraph(tmp_path)
        for value in ALL[:: len(ALL) // SOME]:
            await comes_back(graph, value)
        await all_come_back(graph)
        await graph.close()

    asyncio.run(story())


async def all_come_back(store: GraphStore) -> None:
    """All values at once, as ids, texts and subjects."""
    ids = {value: value if _is_id(value) else f"k{number}" for number, value in enumerate(ALL)}
    spoken = [
        loose(
            memories.claim(1, value),
            claim_id=id_,
            subject=value,
            value=value,
            user_id=id_,
            audience=("ana", id_),
            conversation_id=id_,
        )
        for value, id_ in ids.items()
    ]
    await store.write_claims([received(event, "beta") for event in spoken])
    found = await store.claims_about("beta", reader="ana", subjects=ALL, as_of=NOON, limit=2 * len(ALL))
    assert {(each.claim_id, each.text, each.subject, each.value) for each in found.claims} == {
        (id_, value, value, value) for value, id_ in ids.items()
    }
    assert (await store.claims_about("acme", reader="ana", subjects=["nothing"], as_of=NOON, limit=9)).claims == ()


async def comes_back(store: GraphStore, value: str) -> None:
    """What was written under a value is found by it, and is the value."""
    persona, _, claims, about, _, _, claim, *_ = await through_the_graph(store, value)
    key = value if _is_id(value) else "k"
    assert (persona.person.user_id, persona.person.user_role) == (key, value)
    assert value in [each.title for each in persona.objectives]
    assert {each.claim_id for each in claims.claims} == {key}
    assert (key, value) in {(each.claim_id, each.text) for each in about.claims}
    assert (claim.claim_id, claim.text, claim.subject) == (key, value, value)


@pytest.mark.covers("B20", "CF-61")
def test_no_value_leaves_its_place_in_a_key_or_changes_a_script() -> None:
    asked: list[tuple[str, tuple[Any, ...]]] = []

    class Client:
        async def evalsha(self, digest: str, count: int, *arguments: Any) -> Any:
            asked.append((digest, arguments[:count]))
            return ANSWERS[digest]

    async def story() -> None:
        sets, weights = Called(RedisWorkingSets(Client())), Called(RedisSignalWeights(Client()))  # type: ignore[arg-type]
        for value in ALL:
            # Past its own check: the keys are the last to look.
            of = Conversation.model_construct(tenant="acme", client_id=value, conversation_id=value)
            turn = turn_of("user", value, NOON, {"message_id": value, "seq": 0})
            said = memories.turn(value).model_copy(update={"message_id": value, "frame_id": value})
            await sets.open(of, value, 5)
            await sets.load(of, value)
            await sets.append(of, value, turn, Session(frame_id=value), value.encode(), 5)
            await sets.turns(of, value, up_to_seq=1, limit=5)
            await sets.session_turns(of, up_to_seq=1, limit=5)
            await sets.frame_of(of, value)
            await sets.restore(of, 0, value, [TurnOutcome(turn=said)], 5)
            await sets.forget(of, 7)
            if _is_id(value):
                await weights.votes(value[:256])
                await weights.add(value[:256], memories.vote(value))
                await weights.remove(value[:256], value)
        await weights.compact()
        assert (sets.left_out, weights.left_out) == (set(), set())

    asyncio.run(story())
    assert {digest for digest, _ in asked} == ANSWERS.keys()
    keys = {key for _, keys in asked for key in keys} - {EPOCHS}
    assert [key for key in keys if not KEY.fullmatch(key)] == []
    # Six keys of a conversation and two of a tenant: no two values share one.
    assert len(keys) == 6 * len(ALL) + 2 * sum(map(_is_id, ALL))


@pytest.mark.covers("B20", "AC-36")
def test_no_value_changes_the_shape_of_what_an_index_is_asked() -> None:
    async def story() -> None:
        server = Server()
        index = QdrantServerIndex("http://127.0.0.1:1", HashingEmbedder())
        await index.close()
        index._client, index._prepared = server, True  # type: ignore[assignment]
        called = Called(index)
        right = await asked_of(called, server, HARMLESS)
        names = ["filter", "filter", "filter", "page", "erased", "looked_up", "stored", "page"]
        assert [list(each) for each in right] == [[name] for name in names]
        assert right[0]["filter"]["must"][0] == {"key": "tenant_id", "match": {"any": ["acme"]}}
        assert right[3]["page"] == {"must": [{"key": "tenant_id", "match": {"value": "acme"}}]}
        assert [value for value in ALL if await asked_of(called, server, value) != right] == []
        assert called.left_out == set()
        both = {"must": [{"key": "tenant_id", "match": {"any": ["acme", "_public"]}}]}
        assert server.counted
        assert [asked for asked in server.counted if asked != both] == []

    asyncio.run(story())


async def asked_of(index: Any, server: Server, value: str) -> list[Any]:
    """What an index asks its server for a value, with something else in the value's places."""
    query = PassageQuery(value, value, 5, NOON, kinds=(value,), user_id=value)
    await index.search("acme", "semantic", query)
    await index.listed("acme", "semantic", after=value, limit=5)
    await index.remove("acme", "semantic", [value])
    await index.upsert("acme", "semantic", [passage(value)])
    await index.of_conversation("acme", "semantic", value)
    asked, server.asked = server.asked, []
    # A value without a word that is searched for has no list of words.
    searches = [each for each in asked if "filter" in each]
    if len(searches) == 2:
        asked.insert(2, {"filter": {**searches[1]["filter"], "must": _of_both(searches)}})
    return [_without(each, value) for each in asked]


def _of_both(searches: Sequence[Any]) -> list[Any]:
    [first, *rest] = searches[1]["filter"]["must"]
    return [{**first, "match": {"any": ["acme", "_public"]}}, *rest]


def _without(part: Any, value: str) -> Any:
    if isinstance(part, dict):
        return {name: each if name == "key" else _without(each, value) for name, each in part.items()}
    if isinstance(part, list | tuple):
        return [_without(each, value) for each in part]
    return "<value>" if part == value else part


def passage(value: str) -> Passage:
    """A passage that says and is named nothing but a value."""
    return Passage(id=value, kind=value, text=value, lang=value, recorded_at=NOON, user_id=value, conversation_id=value)


@pytest.mark.covers("B20", "AC-36")
def test_a_passage_that_looks_like_a_filter_comes_back_from_the_embedded_index_as_it_is(tmp_path: Path) -> None:
    async def story() -> None:
        index = QdrantEdgeIndex(tmp_path, HashingEmbedder())
        some = ALL[:: len(ALL) // SOME]
        for value in some:
            await index.upsert("acme", "semantic", [passage(value)])
        for value in some:
            query = PassageQuery(value, value, 5, NOON, kinds=(value,), user_id=value)
            [hit] = await index.search("acme", "semantic", query)
            assert (hit.passage.id, hit.passage.text, hit.passage.user_id) == (value, value, value)
        await index.close()

    asyncio.run(story())
