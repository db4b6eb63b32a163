"""What the graph reads without a quarantined source, on twin, embedded graph and Neo4j: the same, and all back."""

from typing import Any

import pytest

from agents.core.language.text import content_words
from agents.core.quarantine.sources import Quarantines
from agents.ports.cognition import ThemeFound
from schemas.memory import ConceptEntry, DefinitionEntry, ProcessEntry, Profile, ProfileEntry, StepEntry
from streams.quarantine.graph import hiding_graph
from tests.contract.test_stores_graph import (  # noqa: F401  (a fixture is used by its name)
    LATER,
    NOON,
    Kit,
    against,
    claim,
    kit,
    knowledge,
    received,
    summary,
)
from tests.contract.test_stores_graph_cognition import ANA, chunk, document
from tests.unit.core.quarantine.test_sources import changed

PLACE: dict[str, Any] = {"document_id": "doc1", "access_level": "public", "recency": NOON, "lang": "pt"}
STEP = StepEntry(id="st1", order=1, text="Abrir o portal")
NAMED = (
    ConceptEntry(id="co1", name="prazo de entrega", definition="dez dias", **PLACE),
    DefinitionEntry(id="de1", title="prazo de entrega", text="dez dias", **PLACE),
    ProcessEntry(id="pr1", name="Pedir prazo", how_to_terms=("pedir", "prazo"), steps=(STEP,), **PLACE),
    ProfileEntry(id="pf1", profile=Profile(user_id="ana", user_role="diretora"), **PLACE),
)
TERMS = content_words("prazo de entrega pedir", "pt")


def reading(kit: Kit, *sources: Any) -> tuple[Any, Quarantines]:  # noqa: F811
    found = Quarantines()
    for each in sources:
        found.apply(each)
    return hiding_graph(kit.store, found), found


@pytest.mark.covers("B23")
def test_a_hidden_document_gives_no_concept_process_or_persona(kit: Kit):  # noqa: F811
    kit.write(knowledge(*NAMED))
    graph, found = reading(kit)
    asked = {"terms": TERMS, "access_level": "public", "as_of": LATER, "limit": 5}

    def read() -> list[Any]:
        persona = kit.run(graph.persona("acme", "ana", LATER))
        return [
            kit.run(graph.named("acme", reader="ana", **asked)).concepts,
            kit.run(graph.playbooks("acme", **asked)),
            persona,
        ]

    before = read()
    assert [len(before[0]), len(before[1]), before[2].person.user_role] == [2, 1, "diretora"]
    found.apply(changed("document", "doc1"))
    assert read() == [(), (), None]
    found.apply(changed("document", "doc1", state="lifted"))
    assert read() == before


@pytest.mark.covers("B23")
def test_a_claim_stands_as_if_the_hidden_conversation_had_contested_nothing(kit: Kit):  # noqa: F811
    kit.write(
        claim(0),
        claim(2, conversation_id="c2", user_id="eve", audience=("ana",), contradicts=against("k0"), supersedes=("k0",)),
    )
    graph, found = reading(kit)

    def read() -> tuple[Any, Any]:
        claims = kit.run(graph.claims_about("acme", reader="ana", subjects=["prazo"], as_of=LATER, limit=5))
        return [(each.claim_id, each.status) for each in claims.claims], len(claims.contradictions)

    before = read()
    assert before == ([("k2", "asserted"), ("k0", "superseded")], 1)
    for source in (changed("conversation", "c2", client_id="web"), changed("user", "eve"), changed("claim", "k2")):
        found.apply(source)
        assert read() == ([("k0", "asserted")], 0), source.event
        found.apply(received(source.event.model_copy(update={"state": "lifted"})))
    assert read() == before


@pytest.mark.covers("B23")
def test_other_rows_take_the_places_of_hidden_ones(kit: Kit):  # noqa: F811
    kit.write(*(claim(number, conversation_id="c2") for number in range(2, 9)), claim(0))
    graph, _ = reading(kit, changed("conversation", "c2", client_id="web"))
    claims = kit.run(graph.claims_about("acme", reader="ana", subjects=["prazo"], as_of=LATER, limit=1))
    assert [each.claim_id for each in claims.claims] == ["k0"]


@pytest.mark.covers("B23")
def test_a_hidden_conversation_or_message_gives_no_summary_and_no_event(kit: Kit):  # noqa: F811
    kit.write(summary(4))
    message = {"message_id": "m4", "client_id": "web", "conversation_id": "c1", "seq": 4}
    other = {**message, "message_id": "m9", "seq": 9}
    for source, count in (
        (changed("conversation", "c1", client_id="web"), 0),
        (changed("conversation", "c1", client_id="phone"), 1),
        (changed("document", "d", messages=(message,)), 0),
        (changed("document", "d", messages=(other,)), 1),
        (changed("user", "ana"), 0),
    ):
        graph, _ = reading(kit, source)
        asked = {"user_id": "ana", "as_of": LATER, "limit": 5}
        assert len(kit.run(graph.summaries("acme", conversation_id=None, **asked))) == count, source.event
        assert len(kit.run(graph.summaries("acme", conversation_id="c1", **asked))) == count, source.event
        assert len(kit.run(graph.events("acme", between=None, **asked))) == count, source.event


@pytest.mark.covers("B23")
def test_a_theme_is_found_by_the_documents_that_are_not_hidden(kit: Kit):  # noqa: F811
    kit.write(
        document(chunk("c1", "CLT › Férias", ANA)), document(chunk("c2", "Lei", ANA, number="doc2"), number="doc2")
    )
    asked = {"access_level": "public", "as_of": LATER, "limit": 5}
    terms = content_words("jornada de trabalho", "pt")
    for sources, themes, passages in (
        ((), 1, {"c1", "c2"}),
        ((changed("document", "doc1"),), 1, {"c2"}),
        ((changed("feed", "doc"),), 0, set()),
    ):
        graph, _ = reading(kit, *sources)
        found: tuple[ThemeFound, ...] = kit.run(graph.themes("acme", terms=terms, **asked))
        assert len(found) == themes
        named = kit.run(graph.passages_naming("acme", names=[("nome", "Ana Souza")], **asked))
        assert {each.chunk_uid for each in named} == passages
