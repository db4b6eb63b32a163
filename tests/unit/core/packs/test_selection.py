"""Which evidence a pack selects: what is worth its tokens, once what says the same, together what belongs together."""

from datetime import timedelta
from typing import Any

import pytest

from agents.core.packs.selection import AskedWords, Candidate, Kind, select
from schemas.items import Item
from schemas.retrieval import MemoryClass
from tests.builders.events import AT, chunk, time_point

ASKED = AskedWords.of("When does the museum open?", "en")
TWO = AskedWords.of("When does the museum open? Who repairs the boiler?", "en")


def candidate(item: Item, probability: float, kind: Kind = "document", tokens: int = 60, **fields: Any) -> Candidate:
    sized = item.model_copy(update={"tokens": tokens, "covers": fields.pop("covers", ("museum",))})
    return Candidate(MemoryClass.SEMANTIC, sized, kind, probability, **{"unit": item.id, "twin": item.id, **fields})


def document(name: str, probability: float, **fields: Any) -> Candidate:
    return candidate(chunk(name, name), probability, **fields)


def turn(name: str, probability: float, stated: float = 8, **fields: Any) -> Candidate:
    item = time_point(name, f"user: {name}", scores={"stated": stated})
    return candidate(item, probability, "turn", **{"tokens": 25, **fields})


def kept(*candidates: Candidate, asked: AskedWords = ASKED, budget: int | None = None) -> set[str]:
    return {each.item.id for unit in select(asked, candidates, budget).kept for each in unit}


def left_out(*candidates: Candidate, budget: int | None = None) -> dict[str, str]:
    return {each.item.id: why for each, why in select(ASKED, candidates, budget).left_out}


def test_what_adds_less_than_its_tokens_is_left_out_with_the_reason() -> None:
    found = [document("sure", 0.6), document("unlikely", 0.002, tokens=200)]
    assert kept(*found) == {"sure"}
    assert left_out(*found) == {"unlikely": "little_worth"}


def test_a_short_turn_pays_where_a_long_passage_as_likely_does_not() -> None:
    assert kept(document("best", 0.3), document("long", 0.01, tokens=250)) == {"best"}
    assert kept(document("best", 0.3), document("short", 0.01, tokens=20)) == {"best", "short"}


def test_documents_and_turns_are_each_measured_by_their_own_kind() -> None:
    documents = [document(f"d{n}", 0.5) for n in range(3)]
    assert "turn" in kept(*documents, turn("turn", 0.03))


def test_an_acknowledgement_is_left_out_where_a_statement_as_likely_stays() -> None:
    before = [turn(f"t{n}", 0.2) for n in range(4)]
    assert "said" in kept(*before, turn("said", 0.05, stated=9))
    assert "noted" not in kept(*before, turn("noted", 0.05, stated=0))


def test_the_best_is_kept_even_where_it_is_larger_than_the_budget() -> None:
    assert kept(document("best", 0.4, tokens=500), document("next", 0.1), budget=50) == {"best"}


def test_what_has_no_room_is_left_out_for_the_budget() -> None:
    found = [document("best", 0.6), document("second", 0.4), document("third", 0.3)]
    assert left_out(*found, budget=130) == {"third": "budget"}


def test_of_what_says_the_same_the_newest_that_holds_stands_for_all_as_likely_as_any() -> None:
    old = candidate(chunk("old", "a", recorded_at=AT - timedelta(days=9)), 0.6, twin="a")
    new = candidate(chunk("new", "a", recorded_at=AT), 0.1, twin="a")
    over = candidate(time_point("over", "user: a", holds=False, recorded_at=AT + timedelta(days=1)), 0.1, twin="a")
    found = select(ASKED, [old, new, over])
    assert [(each.item.id, each.probability) for unit in found.kept for each in unit] == [("new", 0.6)]
    assert {each.item.id: why for each, why in found.left_out} == {"old": "duplicate", "over": "duplicate"}


def test_what_belongs_together_comes_and_goes_together() -> None:
    pair = [document("contested", 0.3, unit="u"), document("contest", 0.001, unit="u")]
    assert kept(*pair, document("other", 0.2)) == {"contested", "contest", "other"}
    assert kept(document("best", 0.9, tokens=100), *pair, budget=150) == {"best"}


def test_each_question_of_a_message_has_its_own_likeliest() -> None:
    first = [document(f"m{n}", 0.6 - n / 100, covers=("museum", "open"), tokens=90) for n in range(8)]
    second = document("boiler", 0.05, covers=("boiler",), tokens=90)
    assert "boiler" in kept(*first, second, asked=TWO)
    assert "boiler" not in kept(*first, second, asked=ASKED)


@pytest.mark.parametrize("order", [1, -1])
def test_the_order_of_candidates_changes_nothing(order: int) -> None:
    found = [document(f"d{n}", 0.3) for n in range(6)] + [turn(f"t{n}", 0.05) for n in range(6)]
    assert kept(*found[::order], budget=200) == kept(*found, budget=200)
