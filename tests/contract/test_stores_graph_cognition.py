"""What complex questions need of the graph, on twin, embedded graph and Neo4j."""

from datetime import timedelta
from typing import Any

import pytest

from agents.core.language.text import content_words
from agents.ports.cognition import PassageLink, ThemeFound
from schemas.learning import GraphRef, SubQuestion
from schemas.memory import ChunkEntry, EntityMention, KnowledgeRecorded, LegalEntry, Theme, ThemeShare
from streams.stores.graph import cognition_reads
from streams.stores.graph.knowledge_rows import theme_id
from tests.contract.test_stores_graph import (  # noqa: F401  (a fixture is used by its name)
    LATER,
    NOON,
    Kit,
    at,
    consultation,
    correction,
    kit,
    received,
)

MACRO, SUB = theme_id("macro", "Jornada de trabalho"), theme_id("sub", "Horas extras")
CLT = EntityMention(name="CLT, art. 59", kind="dispositivo")
ANA = EntityMention(name="Ana Souza", kind="nome")


def document(*entries: Any, access: str = "public", tenant: str = "acme", number: str = "doc1", **fields: Any) -> Any:
    about = (
        Theme(name="Jornada de trabalho", level="macro", description="x", relevance=1.0),
        Theme(name="Horas extras", level="sub", description="x", parent="Jornada de trabalho", relevance=0.5),
    )
    made: dict[str, Any] = {"title": "CLT", "content_hash": "h", "batch": 0, "batches": 1, "themes": about}
    event = KnowledgeRecorded(
        **{**made, "document_id": number, "entries": entries, "access_level": access, "recorded_at": NOON, **fields}
    )
    return received(event, tenant)


def chunk(uid: str, title: str, *mentions: EntityMention, access: str = "public", number: str = "doc1") -> ChunkEntry:
    place: dict[str, Any] = {"document_id": number, "access_level": access, "recency": NOON, "lang": "pt"}
    return ChunkEntry(id=uid, title=title, text=f"texto {uid}", position=int(uid[1:]), entities=mentions, **place)


def law() -> LegalEntry:
    place: dict[str, Any] = {"document_id": "doc1", "recency": NOON, "lang": "pt"}
    shares = (ThemeShare(name="Horas extras", level="sub", relevance=1.0),)
    named = {"reference": "CLT, art. 59", "law": "CLT", "article": "59", "text": "x", "themes": shares}
    return LegalEntry(id="law", reference_kind="dispositivo", **named, **place)


SECTIONS = (
    chunk("c1", "CLT › Jornada de trabalho › HORAS EXTRAS"),
    chunk("c2", "CLT › Férias", CLT, ANA),
    chunk("c3", "CLT › Aviso", ANA),
    chunk("c4", "CLT › Multas", CLT, access="confidential"),
)


def asked(as_of: Any = LATER, access: str = "public", limit: int = 9) -> dict[str, Any]:
    return {"as_of": as_of, "access_level": access, "limit": limit}


@pytest.mark.covers("S2-38", "S2-73", "S2-78")
def test_themes_are_found_by_the_words_of_a_question_and_from_there_one_step_on(kit: Kit) -> None:  # noqa: F811
    kit.write(document(*SECTIONS))

    def named(question: str, tenant: str = "acme", **how: Any) -> Any:
        return kit.run(kit.store.themes(tenant, terms=content_words(question, "pt"), **asked(**how)))

    assert named("horas extras e salário") == (ThemeFound(SUB, "Horas extras", "sub", 2, 2),)
    assert [each.name for each in named("Horas extras da jornada")] == ["Horas extras", "Jornada de trabalho"]
    assert named("férias") == ()
    assert named("horas extras", as_of=NOON - timedelta(minutes=1)) == ()
    assert named("horas extras", tenant="beta") == ()
    near = kit.run(kit.store.near_themes("acme", ids=[SUB], **asked()))
    assert near == (ThemeFound(MACRO, "Jornada de trabalho", "macro", near=SUB),)
    assert kit.run(kit.store.near_themes("acme", ids=[MACRO], **asked()))[0].id == SUB
    assert kit.run(kit.store.near_themes("beta", ids=[SUB], **asked())) == ()


def test_a_theme_of_documents_above_the_askers_access_is_not_found(kit: Kit) -> None:  # noqa: F811
    kit.write(document(*SECTIONS, access="confidential"))
    assert kit.run(kit.store.themes("acme", terms=content_words("horas extras", "pt"), **asked())) == ()
    assert kit.run(kit.store.near_themes("acme", ids=[SUB], **asked())) == ()
    assert kit.run(kit.store.themes("acme", terms=content_words("horas extras", "pt"), **asked(access="confidential")))


@pytest.mark.covers("S2-77", "S2-79", "S2-80")
def test_a_theme_leads_to_its_sections_and_to_what_mentions_its_law(kit: Kit) -> None:  # noqa: F811
    kit.write(document(*SECTIONS, law()))

    def about(*themes: str, tenant: str = "acme", **how: Any) -> Any:
        return kit.run(kit.store.passages_about(tenant, themes=themes, **asked(**how)))

    assert about(SUB) == (PassageLink("c1", SUB), PassageLink("c2", SUB, "dispositivo"))
    assert about(MACRO) == (PassageLink("c1", MACRO),)
    assert [each.chunk_uid for each in about(SUB, access="confidential")] == ["c1", "c2", "c4"]
    assert about(SUB, as_of=NOON - timedelta(minutes=1)) == ()
    assert about(SUB, tenant="beta") == ()
    later = document(*SECTIONS[1:], law(), recorded_at=at(5))
    kit.write(later)
    assert [each.chunk_uid for each in about(SUB, as_of=at(6))] == ["c2"]
    assert [each.chunk_uid for each in about(SUB, as_of=at(1))] == ["c1", "c2"]


@pytest.mark.covers("S2-41", "S2-42")
def test_passages_are_found_by_what_they_mention_and_by_what_they_share(kit: Kit) -> None:  # noqa: F811
    kit.write(document(*SECTIONS), document(chunk("c1", "x", CLT), tenant="beta"))

    def naming(*names: tuple[str, str], tenant: str = "acme", **how: Any) -> Any:
        return kit.run(kit.store.passages_naming(tenant, names=names, **asked(**how)))

    assert naming(("dispositivo", "CLT, art. 59")) == (PassageLink("c2", "CLT, art. 59", "dispositivo"),)
    assert [each.chunk_uid for each in naming(("nome", "ANA SOUZA"), ("nome", "ninguém"))] == ["c2", "c3"]
    assert naming(("pessoa", "Ana Souza")) == ()
    assert naming() == ()
    assert [each.chunk_uid for each in naming(("dispositivo", "clt, art. 59"), access="confidential")] == ["c2", "c4"]
    assert len(naming(("nome", "Ana Souza"), limit=1)) == 1
    connected = kit.run(kit.store.passages_connected("acme", chunk_uids=["c2"], **asked()))
    assert connected == (PassageLink("c3", "Ana Souza"),)
    assert kit.run(kit.store.passages_connected("acme", chunk_uids=["c2", "c3"], **asked())) == ()
    assert kit.run(kit.store.passages_connected("gama", chunk_uids=["c2"], **asked())) == ()


def test_what_very_many_passages_mention_leads_to_none_of_them(kit: Kit) -> None:  # noqa: F811
    many = [chunk(f"c{n}", "x", ANA) for n in range(cognition_reads.MENTIONS)]
    kit.write(document(*many))
    of_ana = [("nome", "Ana Souza")]
    assert len(kit.run(kit.store.passages_naming("acme", names=of_ana, **asked(limit=99)))) == len(many)
    kit.write(document(chunk("c999", "x", ANA, number="doc2"), number="doc2"))
    assert kit.run(kit.store.passages_naming("acme", names=of_ana, **asked(limit=99))) == ()
    assert kit.run(kit.store.passages_connected("acme", chunk_uids=["c1"], **asked())) == ()


def past(number: int = 1, tenant: str = "acme", **fields: Any) -> Any:
    sub = SubQuestion(
        **{"node_id": "n1", "text": "Qual o prazo?", "answer": "30 dias", "signature": "of n1", "verified": True},
        uses=(GraphRef(label="Chunk", id="c1"),),
        evidence=("c1", "c2"),
        confidence=0.75,
    )
    made: dict[str, Any] = {"signature": "sig", "scope": "tenant", "sub_questions": (sub,), **fields}
    return consultation(number, tenant, **made)


@pytest.mark.covers("S2-93", "S2-96")
def test_consultations_are_found_by_the_signature_of_their_question_newest_first(kit: Kit) -> None:  # noqa: F811
    kit.write(past(), past(2, case_id="case-7"), past(3, signature="other"), past(1, tenant="beta"), consultation(4))

    def found(tenant: str = "acme", signature: str = "sig", as_of: Any = LATER) -> Any:
        return kit.run(kit.store.consultations(tenant, signature=signature, as_of=as_of, limit=5))

    second, first = found()
    assert (second.id, first.id) == ("consulta-2", "consulta-1")
    assert (first.scope, first.case_id, first.status, first.corrected) == ("tenant", None, "approved", False)
    assert second.case_id == "case-7"
    assert first.access_level == "internal"
    [answer] = first.answers
    assert (answer.question, answer.answer, answer.signature) == ("Qual o prazo?", "30 dias", "of n1")
    assert (answer.chunks, answer.evidence) == (("c1",), ("c1", "c2"))
    assert (answer.confidence, answer.verified) == (0.75, True)
    assert [each.id for each in found(as_of=at(11))] == ["consulta-1"]
    assert found(signature="none") == ()
    assert found("gama") == ()
    [of_beta] = found("beta")
    assert of_beta.id == "consulta-1"


@pytest.mark.covers("S2-95", "S2-133", "AC-78")
def test_a_correction_counts_against_the_consultation_and_the_passages_it_cites(kit: Kit) -> None:  # noqa: F811
    row = correction("consulta-1", kind="consulta")
    form = row.event.model_copy(update={"correction_id": "x2", "correction_kind": "formatacao", "penalised_paths": ()})
    kit.write(past(), received(form))

    def corrected(as_of: Any = LATER) -> list[bool]:
        found = kit.run(kit.store.consultations("acme", signature="sig", as_of=as_of, limit=5))
        return [each.corrected for each in found]

    def against(*uids: str, tenant: str = "acme", as_of: Any = LATER) -> Any:
        return kit.run(kit.store.penalties(tenant, chunk_uids=uids, as_of=as_of))

    assert corrected() == [False]
    assert against("ch1") == ()
    kit.write(row)
    assert corrected() == [True]
    assert corrected(as_of=at(19)) == [False]
    [penalty] = against("ch1", "c1")
    assert (penalty.chunk_uid, penalty.weight, penalty.correction_id) == ("ch1", 0.5, "x1")
    assert penalty.question == "Qual o prazo, e quem paga?"
    assert against("ch1", as_of=at(19)) == ()
    assert against("ch1", tenant="beta") == ()
    assert against() == ()
