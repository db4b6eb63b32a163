"""The order of what was found: no copy twice, the lazy choice that of the plain rule, caps that hold."""

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from agents.core import ranking
from agents.core.text import content_set
from streams.stores.fusion import fuse


@dataclass(frozen=True)
class Found:
    """Something found: its text and its score."""

    text: str
    score: float


def diversified(found: list[Found], limit: int = 10) -> list[str]:
    chosen = ranking.diversify(
        found, score=lambda each: each.score, words=lambda each: content_set(each.text, "pt"), limit=limit
    )
    return [each.text for each in chosen]


LONG = (
    "O fornecedor garante o equipamento da fase, a diretoria aprova orçamento, contrato, prazo, multa, reajuste, "
    "pagamento, entrega, vistoria, seguro, obra, energia, transporte, projeto e relatório"
)


def test_a_near_copy_of_what_is_chosen_is_left_out() -> None:
    assert diversified([Found(LONG, 1.0), Found(f"{LONG}.", 0.9), Found("Férias", 0.1)]) == [LONG, "Férias"]
    assert diversified([Found(LONG, 1.0), Found(f"{LONG} mensal", 0.9)]) == [LONG]


def test_what_differs_in_a_number_is_no_copy() -> None:
    texts = [f"{LONG} da página {page}" for page in (8, 9)]
    assert sorted(diversified([Found(text, 1.0) for text in texts])) == texts


def test_what_is_like_the_chosen_comes_behind_what_is_about_as_good_and_new() -> None:
    like, new = "a diretoria aprova o orçamento do projeto", "as férias são de trinta dias"
    found = [Found("a diretoria aprova o orçamento da obra", 1.0), Found(like, 0.95), Found(new, 0.9)]
    assert diversified(found, 2) == [found[0].text, new]


WORDS = ("prazo", "obra", "diretoria", "contrato", "multa", "7", "15")
FOUND = st.lists(
    st.builds(
        Found,
        st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join),
        st.integers(1, 8).map(lambda n: n / 8),
    ),
    max_size=9,
)


def plainly(found: list[Found], limit: int) -> list[str]:
    """The rule without any saving: at each step the candidate of the highest marginal value."""
    left, chosen = list(range(len(found))), list[int]()
    while left and len(chosen) < limit:
        values = {}
        for index in list(left):
            mine = content_set(found[index].text, "pt")
            others = [content_set(found[other].text, "pt") for other in chosen]
            copies = [
                other
                for other in others
                if ranking.jaccard(mine, other) >= ranking.SAME_TEXT
                and not any(any(map(str.isdigit, word)) for word in mine ^ other)
            ]
            if copies:
                left.remove(index)
                continue
            likeness = max((ranking.jaccard(mine, other) for other in others), default=0.0)
            values[index] = found[index].score - ranking.DIVERSITY * found[index].score * likeness
        if values:
            best = max(values, key=lambda index: (values[index], -index))
            chosen.append(best)
            left.remove(best)
    return [found[index].text for index in chosen]


@given(FOUND, st.integers(0, 9))
def test_the_lazy_choice_is_that_of_the_plain_rule(found: list[Found], limit: int) -> None:
    assert diversified(found, limit) == plainly(found, limit)


def test_what_a_question_names_exactly_is_known_by_a_letter_and_a_digit() -> None:
    asked = "O que diz o rel_456 sobre o DMD.0001/26, a PETR4 e as 3 fases do projeto X?"
    assert ranking.identifiers(asked) == {"rel_456", "dmd.0001/26", "petr4"}
    assert ranking.identifiers("Qual o prazo do projeto X?") == frozenset()


def test_a_passage_weighs_more_by_what_it_has_of_what_is_named() -> None:
    wanted = ranking.identifiers("rel_456 e PETR4")
    texts = ("O rel_456 fala da PETR4.", "Só a petr4.", "O rel_4567 e outro.", "Nada disso.")
    assert [ranking.naming(wanted, each) for each in texts] == [2.0, 1.5, 1.0, 1.0]
    assert ranking.naming(frozenset(), "PETR4") == 1.0


def test_the_first_of_each_list_are_candidates_whatever_the_other_says() -> None:
    dense = [(f"d{n}", 1 - n / 100) for n in range(20)]
    lexical = [("rare", 9.0), *((f"d{n}", 5 - n / 100) for n in range(20))]
    assert "rare" in [key for key, *_ in fuse({"dense": dense, "bm25": lexical}, 5)]
    found = fuse({"dense": dense, "bm25": lexical}, 20)
    scores = [score for _, score, _ in found]
    assert len(found) == 20
    assert scores == sorted(scores, reverse=True)
    assert fuse({"dense": dense, "bm25": []}, 3) == fuse({"dense": dense[:3]}, 3)
