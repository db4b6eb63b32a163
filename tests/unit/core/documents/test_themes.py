"""Themes and names of a document, found without a model."""

from typing import Any

import pytest

from agents.core.documents.entities import entities
from agents.core.documents.knowledge import knowledge_of
from schemas.memory import ConceptEntry, KnowledgeRecorded, Theme
from tests.unit.core.documents.test_knowledge import HANDBOOK, NOON, document

LAWSUIT = """PETIÇÃO INICIAL

Processo nº 0001234-56.2024.8.26.0100, do Tribunal de Justiça de São Paulo.

DOS FATOS

A autora, Dra. Ana Souza, contratou o Banco Azul Ltda. O art. 5º, inciso X, da CF a protege.

DO DIREITO

Conforme a Lei nº 8.078, de 11 de setembro de 1990, art. 6º, e o art. 186 do Código Civil. O art. 6º da Lei 8.078/90 é
claro. Veja o REsp 1.234.567/SP e a Súmula 297 do STJ.
"""


def recorded(text: str, lang: str = "pt", **fields: Any) -> tuple[KnowledgeRecorded, ...]:
    return knowledge_of(document(text, **fields), tenant="acme", lang=lang, recorded_at=NOON)


def themes(text: str, lang: str = "pt", **fields: Any) -> list[Theme]:
    return [theme for batch in recorded(text, lang, **fields) for theme in batch.themes]


@pytest.mark.covers("AC-83", "S2-73", "S2-78", "S2-86")
def test_headings_are_themes_and_those_below_them_are_their_sub_themes():
    found = themes("# Férias\n\n## 1.1 Saldo\n\nTrinta dias. E só.\n\n## Abono\n\nUm terço.\n\n# Viagens\n\n"
                   "## Diárias\n\nPagas no mês.")  # fmt: skip
    assert [(theme.name, theme.level, theme.parent) for theme in found] == [
        ("Férias", "macro", None),
        ("Saldo", "sub", "Férias"),
        ("Abono", "sub", "Férias"),
        ("Viagens", "macro", None),
        ("Diárias", "sub", "Viagens"),
    ]
    assert found[1].description == "Trinta dias."
    assert sum(theme.relevance for theme in found if theme.level == "macro") == pytest.approx(1, abs=0.01)


def test_a_title_alone_on_top_is_the_theme_of_the_whole_document():
    found = themes(HANDBOOK)
    assert [(theme.name, theme.level) for theme in found] == [
        ("Manual de férias", "macro"),
        ("Como pedir férias", "sub"),
        ("Saldo", "sub"),
    ]
    assert found[0].relevance == 1


def test_lines_of_capitals_are_headings():
    found = themes(LAWSUIT, title="Petição de Ana")
    assert [(theme.name, theme.level) for theme in found] == [
        ("Petição de Ana", "macro"),
        ("Petição inicial", "sub"),
        ("Dos fatos", "sub"),
        ("Do direito", "sub"),
    ]


@pytest.mark.parametrize(
    ("text", "lang", "expected"),
    [
        ("O reembolso sai em dez dias. O reembolso de viagem pede recibo.\n\nO hotel é pago antes.", "pt", "reembolso"),
        ("The invoice is paid late. An invoice without a number is returned.\n\nHotels differ.", "en", "invoice"),
    ],
)
def test_a_document_without_sections_has_its_key_terms_as_sub_themes(text, lang, expected):
    macro, *subs = themes(text, lang, title="Avisos")
    assert (macro.name, macro.level) == ("Avisos", "macro")
    assert subs[0].name == expected
    assert all(theme.parent == "Avisos" for theme in subs)
    assert expected in subs[0].description


def test_themes_are_said_once_whatever_the_number_of_batches():
    text = "\n\n".join(f"# Seção {number} do manual\n\nTexto da seção." for number in range(100))
    batches = recorded(text)
    assert len(batches) > 1
    assert batches[0].themes
    assert all(not batch.themes for batch in batches[1:])
    assert len(batches[0].themes) <= 60


def test_names_are_told_by_their_capitals_and_first_words_are_not():
    found = entities(
        "Ontem a Dra. Ana Souza falou com o Ministério da Saúde. Depois ligou para Bruno e a **PJ** no RH."
    )
    assert [(each.name, each.kind) for each in found] == [
        ("Ana Souza", "pessoa"),
        ("Ministério da Saúde", "organizacao"),
        ("Bruno", "nome"),
        ("PJ", "sigla"),
        ("RH", "sigla"),
    ]


def test_a_concept_is_related_to_those_its_definition_names():
    text = "**Mora**: atraso no pagamento da fatura.\n**Multa**: valor devido em caso de mora do cliente."
    concepts = {
        entry.name: entry for batch in recorded(text) for entry in batch.entries if isinstance(entry, ConceptEntry)
    }
    assert concepts["Multa"].related == (concepts["Mora"].id,)
    assert concepts["Mora"].related == ()
