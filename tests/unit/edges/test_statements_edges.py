"""Both ends of the processor as outsiders meet them: plain records in, complete packs out (CD-09, CD-10)."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import schemas
from deploy.docs.examples import Example, load
from schemas.items import ItemBase
from schemas.retrieval import MemoryClass
from schemas.topics import CONTEXT_PACKS, CONVERSATION_TURNS, MESSAGES_IN, RETRIEVAL_PLANS
from streams.kafka.records import Record
from streams.stores.graph import queries
from streams.stores.graph.embedded.engine import EmbeddedEngine
from streams.stores.graph.store import GraphStore
from streams.stores.passages.memory import MemoryPassageIndex
from streams.stores.passages.vectors import HashingEmbedder
from streams.testing.pipeline import Pipeline

PRODUCED = [one for one in load(topics=[MESSAGES_IN]) if "forgotten" not in one.value]
ASKED = [one for one in PRODUCED if one.value.get("role", "user") == "user"]
TOLD = [one for one in PRODUCED if one not in ASKED]


@pytest.fixture
def fathom() -> Iterator[Pipeline]:
    with Pipeline() as pipeline:
        yield pipeline


def produce(fathom: Pipeline, example: Example) -> Record:
    """What a producer does: bytes, text headers and a key, none of them made by our code."""
    value = json.dumps(example.value).encode()
    return fathom.publish(MESSAGES_IN, value, example.headers, example.key.encode())


def dead(fathom: Pipeline) -> list[Record]:
    return [record for tp, log in fathom.log.records.items() if tp.topic.startswith("dead-letters") for record in log]


@pytest.mark.covers("CD-09", "CD-04")
@pytest.mark.parametrize("example", ASKED, ids=lambda one: one.name)
def test_a_producers_plain_record_with_a_question_gives_one_pack(fathom: Pipeline, example: Example) -> None:
    sent = produce(fathom, example)
    [record] = fathom.log.of(CONTEXT_PACKS.name)
    pack = json.loads(record.value or b"")
    asked = example.value.get("question") or example.value["content"]
    assert (pack["query"], pack["conversation_id"]) == (asked, example.value["conversation_id"])
    assert (pack["client_id"], record.key) == (example.value["client_id"], sent.key)
    assert dead(fathom) == []


@pytest.mark.covers("CD-09", "CD-04")
@pytest.mark.parametrize("example", TOLD, ids=lambda one: one.name)
def test_a_producers_other_turns_are_remembered_and_ask_for_nothing(fathom: Pipeline, example: Example) -> None:
    produce(fathom, example)
    [turn] = [received.event for received in fathom.events(CONVERSATION_TURNS)]
    assert (turn.role, turn.content) == (example.value["role"], example.value["content"])
    assert fathom.log.of(CONTEXT_PACKS.name) == []
    assert dead(fathom) == []


@pytest.mark.covers("CD-10")
def test_a_consumer_reads_each_pack_by_the_published_schema_and_knows_whose_it_is(fathom: Pipeline) -> None:
    for example in PRODUCED:
        produce(fathom, example)
    schema = Path(schemas.__file__).with_name("json") / "context.pack-assembled.v1.schema.json"
    published = Draft202012Validator(json.loads(schema.read_text()))
    records = fathom.log.of(CONTEXT_PACKS.name)
    assert len(records) == len(ASKED)
    tenants = {one.key: one.headers.get("tenant", one.value["client_id"]) for one in PRODUCED}
    for record in records:
        published.validate(json.loads(record.value or b""))
        headers = {name: text.decode() for name, text in record.headers}
        assert headers["ce_type"] == "context.pack-assembled.v1"
        assert headers["tenant"] == tenants[(record.key or b"").decode()]


@pytest.mark.covers("CD-10")
def test_a_consumer_finds_the_packs_of_a_conversation_in_the_order_of_its_questions(fathom: Pipeline) -> None:
    asked = [fathom.say(text) for text in ("Bom dia!", "Qual o prazo do contrato?", "e o orçamento?", "por quê?")]
    fathom.say("Qual o email do João Silva?", conversation="c2")
    records = [r for r in fathom.log.of(CONTEXT_PACKS.name) if b"c1" in (r.key or b"")]
    assert len({record.partition for record in records}) == 1
    assert [json.loads(record.value or b"")["message_id"] for record in records] == asked


def remember(fathom: Pipeline) -> None:
    """Something in every class of memory that a how-to question asks."""
    text = (
        "# Como solicitar reembolso de viagem\n\n1. Guarde os recibos da viagem.\n2. Preencha o formulário de "
        "reembolso.\n3. Envie ao financeiro em até 30 dias.\n"
    )
    fathom.document("reembolso", "Reembolso de viagem", text)
    policy = "# Política de viagem\n\nO reembolso de viagem cobre hospedagem e transporte com recibo.\n"
    fathom.document("politica", "Política de viagem", policy)
    profile = {"user_id": "web", "user_role": "analista", "department": "RH", "access_level": "internal"}
    fathom.document("profile-web", "Perfil", tipo="profile", profile=profile)
    asked = fathom.say("Fala do reembolso", conversation="c0")
    fathom.say("O reembolso de viagem é pago em maio.", role="assistant", answers=asked, conversation="c0")
    # An answer alone asks nothing: what the question finds was in no pack before.
    fathom.say("Posso falar do reembolso de viagem.", role="assistant")


def items(of: Any) -> list[ItemBase]:
    if isinstance(of, ItemBase):
        return [of]
    if isinstance(of, tuple):
        return [found for one in of for found in items(one)]
    fields = type(of).model_fields if hasattr(type(of), "model_fields") else ()
    return [found for name in fields for found in items(getattr(of, name))]


@pytest.mark.covers("S0-76")
def test_what_a_pack_holds_was_read_from_the_memories_of_its_plan(fathom: Pipeline) -> None:
    remember(fathom)
    pack = fathom.ask("Como solicitar reembolso de viagem?")
    plan = fathom.one(RETRIEVAL_PLANS, pack_id=pack.pack_id)
    parts = [part for part in fathom.parts() if part.pack_id == pack.pack_id]
    read = {(part.memory_class, item.id) for part in parts for item in part.items}
    sections = {
        MemoryClass.WORKING_SET: pack.working_set.recent_messages,
        MemoryClass.EPISODIC: pack.episodic,
        MemoryClass.SEMANTIC: pack.semantic,
        MemoryClass.PROCEDURAL: pack.procedural,
    }
    for memory, section in sections.items():
        kept = items(section)
        assert kept, memory
        assert {(memory, item.id) for item in kept} <= read
    assert pack.persona_context.user_role == "analista"
    assert {part.memory_class for part in parts} == {source.memory_class for source in plan.sources}


def test_a_pack_names_a_query_profile_that_the_graph_knows_and_says_all_a_reader_needs(fathom: Pipeline) -> None:
    remember(fathom)
    pack = fathom.ask("Como solicitar reembolso de viagem?")
    assert pack.query_profile_used == "document_evidence"
    assert pack.query_profile_used in {node["name"] for node in fathom.nodes("QueryProfile")}
    alone = json.loads(fathom.log.of(CONTEXT_PACKS.name)[-1].value or b"")
    assert alone["query"] == "Como solicitar reembolso de viagem?"
    assert alone["llm_instructions"]
    said = json.dumps(alone, ensure_ascii=False)
    assert "Guarde os recibos da viagem" in said
    assert "Posso falar do reembolso de viagem." in said


class CountedIndex(MemoryPassageIndex):
    """Counts its searches."""

    searches = 0

    async def search(self, *args: Any, **fields: Any) -> Any:
        self.searches += 1
        return await super().search(*args, **fields)


class CountedEngine(EmbeddedEngine):
    """Notes every query but those for who asks, and what writers ask."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    async def read(self, query: str, parameters: Any) -> Any:
        if query not in (queries.PERSONA, queries.ERASURES):
            self.asked.append(query)
        return await super().read(query, parameters)


@pytest.mark.covers("AC-01", "S0-60", "S0-02")
def test_a_look_up_searches_neither_graph_nor_index_where_the_operator_says_never() -> None:
    """The levels and searches of the scenario; its latency, p95 of 200 warm messages, is measured by `make bench`."""
    index, engine = CountedIndex(HashingEmbedder()), CountedEngine()
    graph = GraphStore(engine)
    parts = {"index": index, "graph": graph, "writer": graph}
    with Pipeline(replace=parts, look_up="never") as fathom:
        fathom.ask("Qual o email do João Silva?")
        assert (index.searches, engine.asked) == (0, [])
        fathom.ask("Qual a diferença entre projeto X e projeto Y?", conversation="c2")
        assert index.searches > 0
        assert engine.asked
