"""What tells that a passage answers: terms, features, the floor, and no text twice."""

import json
import math
from datetime import UTC, datetime, timedelta

import pytest

from agents.core.retrieval import evidence, relevance
from agents.core.retrieval.relevance import AskedTerms, Rarity, inverse_document_frequency
from agents.core.retrieval.search_terms import CONTEXT_WEIGHT, document_terms, question_terms
from agents.ports.passages import Hit, Passage
from tests.checkout import ROOT

AT = datetime(2026, 3, 2, tzinfo=UTC)


def terms(question: str, context: str = "", lang: str = "en") -> dict[str, float]:
    return {term.word: term.weight for term in question_terms(question, lang, context)}


def test_a_question_is_searched_by_its_content_words_and_by_what_it_leans_on_at_half_weight() -> None:
    assert terms("How long is the warranty of the S4?", "The Kestrel warranty?") == {
        "long": 1.0,
        "warranty": 1.0,
        "s4": 1.0,
        "kestrel": CONTEXT_WEIGHT,
    }


def test_all_that_a_question_leans_on_weighs_as_much_as_the_question_at_most() -> None:
    answer = "The end of the contract is 31 March, renewed for another year unless one side objects in writing"
    found = terms("How much does a kilogram of coffee cost?", answer)
    own = {word: weight for word, weight in found.items() if weight == 1.0}
    assert own.keys() == {"kilogram", "coffee", "cost"}
    assert len(found) > 3 * len(own)
    assert sum(found.values()) - sum(own.values()) == pytest.approx(sum(own.values()))
    # A question without words of its own is all that went before.
    assert set(terms("And that?", "The Kestrel warranty").values()) == {CONTEXT_WEIGHT}


def test_a_term_is_known_by_the_stems_of_both_languages() -> None:
    [term] = question_terms("reembolsos", "pt")
    assert set(document_terms("o reembolso", "pt")) <= set(term.keys)
    [name] = question_terms("Heidelberg?", "pt")
    assert set(document_terms("in Heidelberg", "en")) <= set(name.keys)


def test_a_code_is_one_term_whatever_is_in_it() -> None:
    assert document_terms("veja DMD.0001/26 e rel_456", "pt")[-2:] == ("dmd.0001/26", "rel_456")


def test_only_a_capital_within_a_sentence_makes_a_name() -> None:
    found = {term.word: term.name for term in question_terms("Cats, where does Ana Lopes live?", "en")}
    assert (found["ana"], found["lopes"], found["cats"]) == (True, True, False)


RARITY = Rarity({"warranti": 3.0, "warranty": 3.0, "s4": 2.0, "price": 0.5, "pric": 0.5}, unseen=6.0)


def made(question: str, own: str, around: str = "", *, heading: str = "", dense: float = 0.4) -> dict[str, float]:
    return AskedTerms(question_terms(question, "en"), RARITY).features(
        own=frozenset(document_terms(own, "en")),
        around=frozenset(document_terms(around, "en")),
        heading=frozenset(document_terms(heading, "en")),
        bm25=2.0,
        dense=dense,
    )


def test_what_is_covered_counts_by_its_rarity_and_unknown_words_weigh_most() -> None:
    found = made("price warranty mileage", "the warranty", "its price")
    assert found["own"] == pytest.approx(3.0 / 9.5)
    assert found["cover"] == pytest.approx(3.5 / 9.5)


def test_what_the_heading_has_is_told_beside_what_the_text_has() -> None:
    under, elsewhere = (made("price of the S4", "the S4 price", heading=each) for each in ("Sweep S4", "Returns"))
    assert under["heading"] == pytest.approx(math.log1p(2.0 / 6.0))
    assert elsewhere["heading"] == 0.0
    assert under["cover"] == elsewhere["cover"]


def test_a_name_that_no_text_has_is_told() -> None:
    assert made("What does the warranty of Zanzibar cover?", "the warranty")["unknown"] == 1.0
    assert made("What does the warranty of S4 cover?", "the warranty")["unknown"] == 0.0


def test_a_question_without_terms_has_features_all_the_same() -> None:
    assert made("?", "the warranty")["cover"] == 0.0


def test_a_word_is_the_rarer_the_fewer_texts_have_it() -> None:
    rarities = [inverse_document_frequency(holding, 100) for holding in (0, 1, 50, 100)]
    assert rarities == sorted(rarities, reverse=True)
    assert rarities[-1] > 0


def hit(number: int, odds: float, text: str, *, at: datetime = AT) -> Hit:
    """A candidate that comes to these log odds, in a memory of a hundred texts."""
    table = relevance.tables()["documents"]
    dense = (odds - table.bias) / (table.best["dense"] + table.mean["dense"])
    scores = dict.fromkeys(table.best, 0.0) | {"dense": dense, "size": math.log(100)}
    passage = Passage(id=f"p{number}", kind="chunk", text=text, lang="en", recorded_at=at)
    return Hit(passage, odds / 10, scores)


LONG = (
    "The supplier guarantees the equipment of the phase, the board approves budget, contract, deadline, penalty, "
    "adjustment, payment, delivery, survey, insurance, works, energy, transport, project and report"
)


def shown(*hits: Hit, limit: int = 9, as_of: datetime = AT) -> list[str]:
    kept, _ = evidence.worth_showing(hits, "documents", as_of, limit)
    return [each.hit.passage.text for each in kept]


def test_below_the_floor_nothing_is_shown_and_the_best_is_named() -> None:
    low = -9.0
    kept, below = evidence.worth_showing([hit(1, low, "a"), hit(2, low - 1, "b")], "documents", AT, 9)
    assert kept == []
    assert [each.hit.passage.id for each in below] == ["p1", "p2"]
    assert below[0].probability > below[1].probability


def test_a_near_copy_of_what_is_shown_is_left_out_but_not_what_differs_in_a_number() -> None:
    assert shown(hit(1, 5.0, LONG), hit(2, 4.9, f"{LONG}."), hit(3, 4.8, "Holidays")) == [LONG, "Holidays"]
    pages = [f"{LONG} of page {page}" for page in (8, 9)]
    assert shown(*(hit(n, 5.0, text) for n, text in enumerate(pages))) == pages


def test_of_near_copies_the_newest_stands_for_all_and_the_others_are_named() -> None:
    old, new = hit(1, 5.0, LONG), hit(2, 4.0, f"{LONG}.", at=AT + timedelta(days=9))
    kept, left_out = evidence.worth_showing([old, new], "documents", AT, 9)
    assert [each.hit.passage.id for each in kept] == ["p2"]
    assert [each.probability for each in kept] == [each.probability for each in left_out]
    assert [(each.hit.passage.id, each.left_out) for each in left_out] == [("p1", "duplicate")]


def test_of_two_that_are_as_likely_the_newer_comes_first() -> None:
    old, new = hit(1, 3.0, "the old one"), hit(2, 3.0, "a newer value", at=AT + timedelta(days=90))
    assert shown(old, new, as_of=AT + timedelta(days=91)) == ["a newer value", "the old one"]


def test_no_more_is_shown_than_is_wanted() -> None:
    hits = [hit(n, 5.0 - n, f"text {n}") for n in range(5)]
    assert shown(*hits, limit=2) == ["text 0", "text 1"]
    _, left_out = evidence.worth_showing(hits, "documents", AT, 2)
    assert [(each.hit.passage.id, each.left_out) for each in left_out] == [(f"p{n}", "limit") for n in (2, 3, 4)]


def test_a_copy_is_called_one_also_where_no_more_is_wanted() -> None:
    hits = [hit(1, 5.0, LONG), hit(2, 4.0, f"{LONG}.", at=AT - timedelta(days=9)), hit(3, 3.0, "something else")]
    kept, left_out = evidence.worth_showing(hits, "documents", AT, 1)
    assert [each.hit.passage.id for each in kept] == ["p1"]
    assert {each.hit.passage.id: each.left_out for each in left_out} == {"p2": "duplicate", "p3": "limit"}


def test_each_question_of_a_message_has_a_threshold_of_its_own_and_adds_its_best_hits() -> None:
    whole = [hit(1, -9.0, "on neither"), hit(2, -9.5, "on the second")]
    first = [hit(3, 5.0, "on the first"), *(hit(n, 4.0 - n / 10, f"also {n}") for n in range(4, 9))]
    second = [hit(2, 4.9, "on the second")]
    kept, below = evidence.worth_showing(whole, "documents", AT, 9, [first, second, [hit(9, -9.0, "on nothing")]])
    texts = [each.hit.passage.text for each in kept]
    assert set(texts[:2]) == {"on the first", "on the second"}
    assert len(texts) == evidence.PART_HITS + 1
    assert [each.hit.passage.text for each in below] == ["on neither"]


def test_a_hit_of_several_questions_is_shown_once_with_its_best_probability() -> None:
    alone, _ = evidence.worth_showing([hit(1, 6.0, "one")], "documents", AT, 9)
    kept, _ = evidence.worth_showing([hit(1, 3.0, "one")], "documents", AT, 9, [[hit(1, 6.0, "one")]])
    assert [each.probability for each in kept] == [each.probability for each in alone]


def test_the_probability_falls_with_the_distance_from_the_best() -> None:
    kept, _ = evidence.worth_showing([hit(1, 5.0, "one"), hit(2, 4.0, "two"), hit(3, 0.0, "three")], "documents", AT, 9)
    found = [each.probability for each in kept]
    assert found == sorted(found, reverse=True)
    assert 0 < found[2] < found[0] < 1


def test_the_reason_names_the_words_that_are_covered() -> None:
    covered = evidence.covers(
        "How long is the warranty of the Barista 300?", "en", "Barista 300: warranty 2 years", "en"
    )
    assert evidence.reason(covered) == "covers 'warranty', 'barista', '300'"
    assert evidence.reason(()) == "near in meaning"


def test_what_is_named_must_be_named_as_a_whole_and_answer_half_of_the_question() -> None:
    asked = document_terms("what is a circuit breaker", "en")
    assert evidence.names(asked, "Circuit breaker", "en")
    assert not evidence.names(asked, "Circuit breaker panel", "en")
    assert evidence.answers_half(asked, "Circuit breaker: stops a current", "en")
    assert not evidence.answers_half(document_terms("when was the old bridge of Mostar built", "en"), "bridge", "en")


def test_the_weights_say_what_they_were_fitted_to_and_nothing_restricted_is_among_it() -> None:
    root = ROOT
    says = json.loads((root / "agents/core/weights/relevance.json").read_text())
    assert (root / says["provenance"]["script"]).is_file()
    fitted = says["provenance"]["fitted to"].casefold()
    assert not any(name in fitted for name in ("locomo", "sgd", "canard", "repair"))
    assert says.keys() == {"provenance", "documents", "turns"}


@pytest.mark.parametrize("kind", ["documents", "turns"])
def test_more_of_the_question_in_a_text_never_speaks_against_it(kind: relevance.Kind) -> None:
    table = relevance.tables()[kind]
    # Of the best alone, as of all of them: what the others have in common may speak against it.
    assert min(table.best[name] for name in ("cover", "own", "dense", "reach")) > 0
    whole = {name: weight + table.mean.get(name, 0.0) for name, weight in table.best.items()}
    assert min(whole["cover"] + whole["own"], whole["dense"], whole["reach"]) > 0
    assert whole["unknown"] < 0
    assert table.growth > 0
    assert table.place > 0


def test_of_many_texts_the_best_must_be_better() -> None:
    table = relevance.tables()["documents"]
    few, many = ([hit(1, 1.0, "a text")], [hit(1, 1.0, "a text")])
    many[0].scores["size"] += 5  # type: ignore[index]
    assert relevance.answered(few, table) - relevance.answered(many, table) == pytest.approx(5 * table.growth)
