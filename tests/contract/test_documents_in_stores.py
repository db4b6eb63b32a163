"""A document in the graph and in the index: on the twins, the embedded engines, and Neo4j with Qdrant."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import uuid4

import pytest

from agents.core.documents.knowledge import knowledge_of, of_deleted
from agents.errors import Unavailable
from agents.legal.references import legal_references
from agents.ports.passages import PassageIndex, PassageQuery
from agents.stages.writers import SEMANTIC, KnowledgeWriter
from schemas.memory import DocumentDeleted, DocumentSubmitted, KnowledgeRecorded, Profile
from streams.stores.passages.memory import MemoryPassageIndex
from streams.stores.passages.qdrant_edge import QdrantEdgeIndex
from streams.stores.passages.qdrant_server import QdrantServerIndex
from streams.stores.passages.vectors import HashingEmbedder
from streams.stores.tenant import natural_id
from tests.contract import test_stores_graph as graphs
from tests.contract.test_stores_graph import LATER, NOON, at, received

LAWSUIT = """# Ação de consumo

Petição de Ana Souza contra o Banco Azul Ltda, processo 0001234-56.2024.8.26.0100.

## Mora

**Mora**: atraso no pagamento da fatura. Vale o art. 6º da Lei nº 8.078/1990.

## Multa

**Multa**: valor devido em caso de mora do cliente. Veja o REsp 1.234.567/SP.
"""


@dataclass
class Kit:
    """Both stores of one tenant of this test's own, and the writer between them."""

    graph: graphs.Kit
    index: PassageIndex
    tenant: str

    def ingest(self, text: str, when: datetime = NOON, **fields: Any) -> None:
        known = {"document_id": "d1", "title": "Ação de consumo", "text": text}
        submitted = DocumentSubmitted(**{**known, **fields})
        writer = KnowledgeWriter(self.graph.store, self.index)
        found = knowledge_of(submitted, tenant=self.tenant, lang="pt", recorded_at=when, referred=legal_references)
        for batch in found:
            self.graph.run(_delivered(writer, received(batch, self.tenant)))

    def delete(self, when: datetime, document_id: str = "d1") -> None:
        writer = KnowledgeWriter(self.graph.store, self.index)
        gone = of_deleted(DocumentDeleted(document_id=document_id), when)
        self.graph.run(_delivered(writer, received(gone, self.tenant)))

    def own(self, label: str) -> dict[str, dict[str, Any]]:
        """The tenant's nodes of a label by the id they have in it."""
        return {natural_id(node["id"]): node for node in self.graph.nodes(label) if node["tenant_id"] == self.tenant}

    def joined(self, type_: str, start: str, end: str, of: str, to: str) -> set[tuple[Any, Any]]:
        """The ends of the tenant's links of a type, by a property of each."""
        starts, ends = self.own(start), self.own(end)
        links = ((natural_id(a), natural_id(b)) for a, b, _ in self.graph.links(type_))
        return {(starts[a][of], ends[b][to]) for a, b in links if a in starts and b in ends}

    def found(self, text: str, when: datetime = LATER, **asked: Any) -> dict[str, str]:
        """Ids and texts that a search finds."""
        query = PassageQuery(text, "pt", 50, when, **{"access_level": "confidential", **asked})
        hits = self.graph.run(self.index.search(self.tenant, SEMANTIC, query))
        return {hit.passage.id: hit.passage.text for hit in hits}


async def _delivered(writer: KnowledgeWriter, record: Any) -> None:
    """Handled as the runner does it: while a store does not answer in time, the same record comes again."""
    for patience in range(30, -1, -1):
        try:
            await writer.handle(record)
            return
        except Unavailable:
            if not patience:
                raise
            await asyncio.sleep(1)


@pytest.fixture(params=["cypher", "embedded", "neo4j"], ids=["twins", "embedded", "neo4j+qdrant"])
def kit(request: pytest.FixtureRequest) -> Iterator[Kit]:
    with graphs.opened(request, admin=True) as graph:
        index: Any
        if request.param == "cypher":
            index = MemoryPassageIndex(HashingEmbedder())
        elif request.param == "embedded":
            index = QdrantEdgeIndex(request.getfixturevalue("tmp_path") / "index", HashingEmbedder())
        else:
            server = request.getfixturevalue("qdrant_server")
            index = graph.run(_served(server))
        yield Kit(graph, index, f"acme-{uuid4().hex[:8]}")
        if not isinstance(index, MemoryPassageIndex):
            graph.run(index.close())


async def _served(server: Any) -> QdrantServerIndex:
    index = QdrantServerIndex(server.url, HashingEmbedder(), api_key=server.api_key)
    await index.open()
    return index


@pytest.mark.covers("AC-83", "S2-73", "S2-78", "S2-86", "S2-87", "S2-72")
def test_a_document_is_themes_and_passages_with_one_uid_in_both_stores_and_its_repeat_adds_nothing(kit):
    kit.ingest(LAWSUIT)
    themes = {(theme["nome"], theme["nivel"]) for theme in kit.own("Tema").values()}
    assert themes == {("Ação de consumo", "macro"), ("Mora", "sub"), ("Multa", "sub")}
    assert all(theme["descricao"] for theme in kit.own("Tema").values())
    under = kit.joined("SUBTEMA_DE", "Tema", "Tema", "nome", "nome")
    assert under == {("Mora", "Ação de consumo"), ("Multa", "Ação de consumo")}
    assert kit.joined("ABOUT_THEME", "Document", "Tema", "title", "nome") >= {("Ação de consumo", "Multa")}
    chunks = kit.own("Chunk")
    assert {chunk["chunk_uid"] for chunk in chunks.values()} == set(chunks)
    assert set(chunks) <= set(kit.found("mora multa banco fatura"))
    assert kit.joined("PART_OF", "Chunk", "Document", "document_id", "title") == {("d1", "Ação de consumo")}
    before = kit.graph.dump(), kit.found("mora multa banco fatura")
    kit.ingest(LAWSUIT)
    assert (kit.graph.dump(), kit.found("mora multa banco fatura")) == before


@pytest.mark.covers("S2-77", "S2-79", "S2-80", "S2-72")
def test_cases_rulings_provisions_and_names_are_joined_to_what_they_are_about(kit):
    kit.ingest(LAWSUIT)
    assert kit.joined("TRATA_DE", "Processo", "Tema", "referencia", "nome") == {
        ("0001234-56.2024.8.26.0100", "Ação de consumo")
    }
    assert all(0 < props["relevancia"] <= 1 for _, _, props in kit.graph.links("TRATA_DE"))
    assert {case["tipo"] for case in kit.own("Processo").values()} == {"judicial"}
    assert kit.joined("SOBRE_TEMA", "Jurisprudencia", "Tema", "numero", "nome") == {("REsp 1.234.567/SP", "Multa")}
    assert kit.joined("RELACIONADO_A", "Dispositivo", "Tema", "lei", "nome") == {("Lei nº 8.078/1990", "Mora")}
    assert {"Ana Souza", "Banco Azul Ltda"} <= {
        name for _, name in kit.joined("MENTIONS", "Chunk", "Entity", "lang", "name")
    }
    assert kit.joined("RELATED_TO", "Concept", "Concept", "name", "name") == {("Multa", "Mora")}


@pytest.mark.covers("S0-78", "S0-85", "S2-87")
def test_all_that_a_document_adds_has_its_tenant_and_knowledge_its_class_and_age(kit):
    kit.ingest(LAWSUIT)
    for knowledge in kit.own("Knowledge").values():
        assert knowledge["memory_class"] == "semantic"
        assert (knowledge["recency"], knowledge["lang"], knowledge["access_level"]) == (NOON, "pt", "public")
    assert {natural_id(a) for a, _, _ in kit.graph.links("ABOUT")} >= set(kit.own("Knowledge"))
    labels = (
        "Document",
        "Chunk",
        "Knowledge",
        "Concept",
        "Tema",
        "Entity",
        "Processo",
        "Jurisprudencia",
        "Dispositivo",
        "Term",
    )
    assert all(kit.own(label) for label in labels)
    known = {label for label, *_ in kit.graph.dump()[0]}
    assert known == set(labels)
    assert all(node["tenant_id"] == kit.tenant for label in labels for node in kit.graph.nodes(label))


def test_a_theme_of_a_hidden_document_tells_nothing_but_its_name(kit):
    kit.ingest(LAWSUIT, access_level="restricted")
    assert all(theme["descricao"] == theme["nome"] for theme in kit.own("Tema").values())
    assert {law["texto"] for law in kit.own("Dispositivo").values()} == {"Lei nº 8.078/1990, art. 6º"}
    assert {props["access"] for _, _, props in kit.graph.links("ABOUT_THEME")} == {2}


def test_two_documents_share_a_theme_however_they_spell_it(kit):
    kit.ingest("# Férias\n\n## Saldo\n\nTrinta dias.", document_id="d1")
    kit.ingest("# FERIAS\n\n## Saldo\n\nDez dias.", document_id="d2", when=at(1))
    assert len(kit.own("Tema")) == 2
    documents = {natural_id(a) for a, _, _ in kit.graph.links("ABOUT_THEME")}
    assert documents == {"d1", "d2"}


MANUAL = """# Manual

## Prazo

O reembolso da viagem sai em dez dias.

## Como pedir reembolso

1. Abra o portal.
2. Envie o recibo.

## Termos

**Diária**: valor pago por dia de viagem.
"""


def test_what_a_new_version_no_longer_contains_is_offered_only_as_of_before_it(kit):
    kit.ingest(MANUAL)
    first = set(kit.found("reembolso viagem dias diária"))
    changed = MANUAL.replace("dez dias", "cinco dias").replace("**Diária**: valor pago por dia de viagem.", "Nenhum.")
    kit.ingest(changed.replace("1. Abra o portal.\n2. Envie o recibo.", "Fale com o RH."), when=at(60))
    now, before = kit.found("reembolso viagem dias diária"), kit.found("reembolso viagem dias diária", when=at(30))
    assert any("cinco dias" in text for text in now.values())
    assert not any("dez dias" in text or "valor pago por dia" in text for text in now.values())
    assert any("dez dias" in text for text in before.values())
    assert not any("cinco dias" in text for text in before.values())
    assert first >= set(before)
    terms, rights = ("diar", "reembols"), {"access_level": "public", "limit": 10}
    for when, expected in ((LATER, []), (at(30), ["Diária", "Diária"])):
        found = kit.graph.run(
            kit.graph.store.named(kit.tenant, reader="ana", terms=terms, as_of=when, **rights)
        ).concepts
        assert [getattr(each, "name", None) or each.title for each in found] == expected
        books = kit.graph.run(kit.graph.store.playbooks(kit.tenant, terms=terms, as_of=when, **rights))
        assert bool(books) is bool(expected)


def test_what_comes_back_in_a_third_version_is_offered_again_and_repeats_change_nothing(kit):
    without = MANUAL.replace("**Diária**: valor pago por dia de viagem.", "Nenhum.")
    versions = ((MANUAL, NOON), (without, at(60)), (MANUAL, at(120)))
    for text, when in versions:
        kit.ingest(text, when)
    asked = {"terms": ("diar",), "access_level": "public", "limit": 10}
    offered = {
        minutes: len(
            kit.graph.run(kit.graph.store.named(kit.tenant, reader="ana", as_of=at(minutes), **asked)).concepts
        )
        for minutes in (30, 90, 150)
    }
    assert offered == {30: 2, 90: 0, 150: 2}
    assert any("valor pago por dia" in text for text in kit.found("diária valor").values())
    before = kit.graph.dump(), kit.found("reembolso viagem dias diária")
    for text, when in versions:
        kit.ingest(text, when)
    assert (kit.graph.dump(), kit.found("reembolso viagem dias diária")) == before


def test_an_old_version_that_comes_late_is_retired_at_once(kit):
    kit.ingest(MANUAL.replace("dez dias", "cinco dias"), when=at(60))
    kit.ingest(MANUAL, when=NOON)
    old = [chunk for chunk in kit.own("Chunk").values() if "dez dias" in chunk["text"]]
    assert [chunk["retired_at"] for chunk in old] == [at(60)]
    assert not any("dez dias" in text for text in kit.found("reembolso viagem dias").values())


def test_another_document_and_another_tenant_keep_what_they_have(kit):
    kit.ingest(MANUAL)
    kit.ingest("# Outro\n\nNada disso.", when=at(60), document_id="d2")
    other = Kit(kit.graph, kit.index, f"{kit.tenant}-x")
    other.ingest("# Outro\n\nNada disso.", when=at(60))
    assert all("retired_at" not in chunk for chunk in kit.own("Chunk").values())


def test_of_a_deleted_document_nothing_is_offered_until_it_is_sent_again(kit):
    kit.ingest(LAWSUIT)
    kit.ingest("# Frete\n\nO frete da fatura sai em dez dias.", document_id="d2", title="Frete")
    before = kit.found("mora da fatura")
    kit.delete(at(3_600))
    kit.delete(at(3_600))
    left = kit.found("mora da fatura", at(7_200))
    assert any("atraso no pagamento" in text for text in before.values())
    assert list(left.values()) == ["O frete da fatura sai em dez dias."]
    assert kit.found("mora da fatura", at(1_800)) == before
    asked = {"terms": ("mor",), "access_level": "confidential", "limit": 10}
    read = kit.graph.store
    assert kit.graph.run(read.named(kit.tenant, reader="ana", as_of=at(1_800), **asked)).concepts
    assert kit.graph.run(read.named(kit.tenant, reader="ana", as_of=at(7_200), **asked)).concepts == ()
    kit.ingest(LAWSUIT, at(10_800))
    assert kit.found("mora da fatura", at(14_400)).keys() == before.keys()
    assert kit.graph.run(read.named(kit.tenant, reader="ana", as_of=at(14_400), **asked)).concepts


def test_a_deletion_that_comes_before_its_document_leaves_nothing_of_it_either(kit):
    kit.delete(at(3_600))
    kit.ingest(LAWSUIT)
    assert kit.found("mora da fatura", at(7_200)) == {}


def test_another_tenants_document_of_the_same_id_stays(kit):
    kit.ingest(LAWSUIT)
    mine, kit.tenant = kit.tenant, f"other-{uuid4().hex[:8]}"
    kit.delete(at(3_600))
    kit.tenant = mine
    assert kit.found("mora da fatura", at(7_200))


def test_documents_are_listed_newest_first_with_their_passages_until_they_are_deleted(kit):
    read = kit.graph.store
    assert kit.graph.run(read.documents(kit.tenant, as_of=LATER, limit=9)) == ()
    kit.ingest(LAWSUIT, uri="https://example.org/acao")
    kit.ingest("# Frete\n\nO frete sai em dez dias.", at(60), document_id="d2", title="Frete")
    kit.graph.write(received(_profile(), kit.tenant))
    other = Kit(kit.graph, kit.index, f"{kit.tenant}-x")
    other.ingest(LAWSUIT, document_id="d9")
    listed = kit.graph.run(read.documents(kit.tenant, as_of=LATER, limit=9))
    assert [(each.document_id, each.title, each.uri, each.recorded_at) for each in listed] == [
        ("d2", "Frete", None, at(60)),
        ("d1", "Ação de consumo", "https://example.org/acao", NOON),
    ]
    assert [each.document_id for each in kit.graph.run(read.documents(kit.tenant, as_of=LATER, limit=1))] == ["d2"]
    assert [each.document_id for each in kit.graph.run(read.documents(kit.tenant, as_of=at(30), limit=9))] == ["d1"]
    before = kit.graph.run(read.passages_of(kit.tenant, ["d1", "d2", "d9"], at(90)))
    assert before == {"d1": len(kit.own("Chunk")) - 1, "d2": 1}
    kit.ingest("# Ação de consumo\n\nSó isto.", at(120))
    assert kit.graph.run(read.passages_of(kit.tenant, ["d1"], LATER)) == {"d1": 1}
    assert kit.graph.run(read.passages_of(kit.tenant, ["d1"], at(90))) == {"d1": before["d1"]}
    kit.delete(at(3_600))
    assert [each.document_id for each in kit.graph.run(read.documents(kit.tenant, as_of=LATER, limit=9))] == ["d2"]
    assert kit.graph.run(read.passages_of(kit.tenant, ["d1"], LATER)) == {}


def _profile() -> KnowledgeRecorded:
    person = DocumentSubmitted(document_id="profile-rui", kind="profile", title="rui", profile=Profile(user_id="rui"))
    [made] = knowledge_of(person, tenant="t", lang="pt", recorded_at=NOON)
    return made
