"""Passages that disagree are found, and unrelated ones are not."""

import re
from datetime import timedelta
from itertools import combinations

import pytest

from agents.cognition.verification.conflicts import conflicts
from schemas.cognition import EvidenceConflict, EvidencePassage
from tests.checkout import ROOT
from tests.unit.cognition.verification.test_checks import NOON, passage

LAWS = ROOT / "bench/legal_multihop/documents"


def between(one: str, other: str, lang: str = "pt", titles: tuple[str, str] = ("", "")) -> tuple[EvidenceConflict, ...]:
    a, b = passage(one, "doc:a", titles[0], lang, "a"), passage(other, "doc:b", titles[1], lang, "b")
    return conflicts("n1", (a, b), "")


@pytest.mark.covers("S2-90", "S2-156")
@pytest.mark.parametrize(
    ("one", "other", "lang", "kind"),
    [
        ("A cobrança da taxa de matrícula é permitida.", "É vedada a cobrança da taxa de matrícula.", "pt", "polarity"),
        ("O seguro cobre o furto do veículo.", "O seguro não cobre o furto do veículo.", "pt", "polarity"),
        ("A revista íntima exige acordo prévio.", "A revista íntima prescinde de acordo prévio.", "pt", "polarity"),
        ("The tenant may sublet the flat.", "The tenant may not sublet the flat.", "en", "polarity"),
        ("The waiver of warranty is valid.", "The waiver of warranty is void.", "en", "polarity"),
        ("O prazo da defesa prévia é de 10 dias.", "O prazo da defesa prévia é de 15 dias.", "pt", "number"),
        ("The deposit bears 4 per cent interest.", "The deposit bears 6 per cent interest.", "en", "number"),
        ("A obra terminou em 3 de maio de 2020.", "A obra terminou em 9 de maio de 2020.", "pt", "date"),
        ("Plano de saúde nega cirurgia bariátrica. Recurso provido.",
         "Plano de saúde nega cirurgia bariátrica. Recurso não provido.", "pt", "outcome"),
    ],
)  # fmt: skip
def test_opposite_passages_are_found_and_stay_open(one: str, other: str, lang: str, kind: str) -> None:
    [found] = between(one, other, lang)
    assert (found.type, found.resolution, found.a, found.b) == (kind, "open", "a", "b")
    assert found.motivo


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("O salário é irredutível, salvo acordo coletivo.", "O salário é irredutível."),
        ("A multa é devida, exceto em caso de força maior.", "A multa é devida em caso de atraso."),
        ("O aviso é de ao menos 10 dias.", "O aviso é de 20 dias."),
    ],
)
def test_a_word_of_exception_or_a_bound_alone_is_no_conflict(one: str, other: str) -> None:
    assert between(one, other) == ()


def test_the_higher_court_wins_and_labour_and_civil_courts_never_do() -> None:
    yes, no = "O dano moral é presumido na recusa.", "O dano moral não é presumido na recusa."
    stj, tj, tst = "Superior Tribunal de Justiça", "Tribunal de Justiça do Rio", "Tribunal Superior do Trabalho"
    assert [(c.type, c.resolution) for c in between(yes, no, titles=(tj, stj))] == [("rank", "b")]
    assert [(c.type, c.resolution) for c in between(yes, no, titles=(tst, stj))] == [("polarity", "open")]
    assert [c.resolution for c in between(yes, no, titles=(f"{stj} (2012)", f"{stj} (2019)"))] == ["b"]


def test_the_newer_version_of_a_provision_wins() -> None:
    old = passage("O prazo da defesa prévia é de 10 dias.", "lei:X-art1", uid="a")
    new = passage("O prazo da defesa prévia é de 15 dias.", "lei:X-art1", uid="b")
    [found] = conflicts("n", (old, new.model_copy(update={"recorded_at": NOON + timedelta(days=9)})), "")
    assert (found.type, found.resolution) == ("temporal", "b")
    assert new.text[slice(*found.spans[1])] == new.text


def sections(folder: str, lang: str) -> list[EvidencePassage]:
    found = [part for path in sorted((LAWS / folder).glob("*.md")) for part in path.read_text().split("\n## ")[1:]]
    read = [part.partition("\n") for part in found]
    return [passage(text.strip(), f"doc:{n}", title, lang, f"{folder}-{n}") for n, (title, _, text) in enumerate(read)]


def test_of_unrelated_pairs_at_most_one_in_a_hundred_is_a_conflict() -> None:
    laws = [each for each in sections("leis", "pt") if not re.match(r"Processo|Recurso|Apelação", each.title)]
    pairs = list(combinations(laws, 2))
    assert len(pairs) >= 200
    assert sum(bool(conflicts("n", pair, "")) for pair in pairs) / len(pairs) <= 0.01


def test_at_most_five_passages_are_compared() -> None:
    first = passage("A venda de fogos na praia é permitida.", "doc:x", uid="a")
    last = passage("É vedada a venda de fogos na praia.", "doc:y", uid="b")
    words = ("pontes", "navios", "livros", "sapatos")
    others = [passage(f"O catálogo de {word}.", "doc:z", uid=word) for word in words]
    assert len(conflicts("n", (first, *others[:3], last), "")) == 1
    assert conflicts("n", (first, *others, last), "") == ()
