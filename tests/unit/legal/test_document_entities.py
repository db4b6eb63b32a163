"""What a document refers to, with law registered: one name for every spelling, under the themes of its place."""

from typing import Any

import pytest

from agents.core.documents.knowledge import knowledge_of
from agents.legal.references import legal_references
from schemas.memory import ChunkEntry, KnowledgeRecorded, LegalEntry
from tests.builders.examples import few
from tests.unit.core.documents.test_knowledge import NOON, document
from tests.unit.core.documents.test_themes import LAWSUIT


def recorded(text: str, lang: str = "pt", **fields: Any) -> tuple[KnowledgeRecorded, ...]:
    return knowledge_of(document(text, **fields), tenant="acme", lang=lang, recorded_at=NOON, referred=legal_references)


def legal(text: str) -> dict[str, LegalEntry]:
    found = [entry for batch in recorded(text) for entry in batch.entries]
    return {entry.reference: entry for entry in found if isinstance(entry, LegalEntry)}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("o processo 0001234-56.2024.8.26.0100 corre", ["0001234-56.2024.8.26.0100"]),
        ("art. 5º, inciso X, da Constituição Federal", ["Constituição Federal, art. 5º"]),
        ("o art. 5º da CF/88", ["Constituição Federal, art. 5º"]),
        ("Lei nº 8.112, de 11 de dezembro de 1990, art. 10", ["Lei nº 8.112/1990, art. 10"]),
        ("a Lei 8112/90", ["Lei nº 8.112/1990"]),
        ("o artigo 186 do Código Civil", ["Código Civil, art. 186"]),
        ("art. 7º-A da Lei Complementar nº 101/2000", ["Lei Complementar nº 101/2000, art. 7-A"]),
        ("no REsp 1234567/SP", ["REsp 1.234.567/SP"]),
        ("a Súmula Vinculante 13 e a Súmula 331 do TST", ["Súmula Vinculante 13", "Súmula 331 do TST"]),
        ("o RE 574.706 e a ADI 4.277", ["RE 574.706", "ADI 4.277"]),
        ("o art. 3 do contrato, que a lei permite", []),
        ("ligue 0800-123456, processo 12345", []),
    ],
)
def test_legal_references_have_one_name_whatever_their_spelling(text, expected):
    assert [each.name for each in legal_references(text)] == expected


@pytest.mark.covers("S2-77", "S2-79", "S2-80")
def test_a_legal_document_names_its_cases_rulings_and_provisions_under_their_themes():
    found = legal(LAWSUIT)
    assert {entry.reference_kind for entry in found.values()} == {"processo", "jurisprudencia", "dispositivo"}
    case, ruling = found["0001234-56.2024.8.26.0100"], found["REsp 1.234.567/SP"]
    assert [(theme.name, theme.relevance) for theme in case.themes] == [("Petição inicial", 1.0)]
    assert (ruling.court, ruling.themes[0].name) == ("STJ", "Do direito")
    law = found["Lei nº 8.078/1990, art. 6º"]
    assert (law.law, law.article) == ("Lei nº 8.078/1990", "6º")
    assert law.text.startswith("Conforme a Lei nº 8.078")


def test_a_reference_under_two_themes_belongs_to_each_by_its_share_of_the_mentions():
    text = "# A\n\n## Prazo\n\nA CLT diz. A CLT repete. A CLT insiste.\n\n## Multa\n\nA CLT diz."
    [entry] = legal(text).values()
    assert [(theme.name, theme.relevance) for theme in entry.themes] == [("Prazo", 0.75), ("Multa", 0.25)]


def test_a_passage_carries_what_it_names():
    [chunk] = [entry for batch in recorded("Fale com a Ana Souza sobre a Lei 8.112/90.") for entry in batch.entries
               if isinstance(entry, ChunkEntry)]  # fmt: skip
    assert {(each.name, each.kind) for each in chunk.entities} == {
        ("Lei nº 8.112/1990", "dispositivo"),
        ("Ana Souza", "nome"),
    }


@pytest.mark.parametrize(
    "text",
    ["art. 5º e " * few(4_000, 500), "Lei nº 1 art. 1 " * few(4_000, 500), "Aa " * few(20_000, 2000),
     "```x\n" * few(20_000, 2000), "# A\n\nb\n\n" * few(8_000, 800), "RE 574.706 " * few(5_000, 500),
     "TÍTULO\n\n" * few(9_000, 900)],
)  # fmt: skip
def test_hostile_documents_have_a_bounded_number_of_themes_names_and_references(text):
    batches = recorded(text)
    found = [entry for batch in batches for entry in batch.entries]
    assert len(batches[0].themes) <= 60
    assert sum(isinstance(entry, LegalEntry) for entry in found) <= 200
    assert max(len(entry.entities) for entry in found if isinstance(entry, ChunkEntry)) <= 20
