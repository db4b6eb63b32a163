"""Sources of evidence: keys, lists of ranks, breakers, and what earlier answers say of a passage."""

from datetime import UTC, datetime, timedelta

import pytest

from agents.cognition.core import sources
from agents.cognition.core.breaker import FAILURES, PAUSE, SourceBreaker
from agents.cognition.core.sources import adjusted, by_keys, factors, fused, is_near_enough, retrieval_keys
from schemas.cognition import LeafEvidence

NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)


@pytest.mark.covers("S2-40", "S2-149", "S2-155")
@pytest.mark.parametrize(
    ("question", "kind", "name", "worth"),
    [
        ("O que diz o art. 59 da CLT?", "dispositivo", "Consolidação das Leis do Trabalho, art. 59", 1.0),
        ("Vale a Súmula 331 do TST?", "jurisprudencia", "Súmula 331 do TST", 1.0),
        ("O que a CLT permite?", "dispositivo", "Consolidação das Leis do Trabalho", 0.4),
        ("What does the contract with Harbour Lines say?", "nome", "Harbour Lines", 0.6),
    ],
)
def test_what_a_question_names_is_a_key_of_its_worth(question: str, kind: str, name: str, worth: float) -> None:
    assert (kind, name, worth) in [(key.kind, key.name, key.worth) for key in retrieval_keys(question)]


def test_a_passage_that_matches_the_better_key_comes_first() -> None:
    keys = retrieval_keys("O que diz a Súmula 331 do TST sobre a Aurora Linhas?")
    links = [("b", "jurisprudencia", "Súmula 331 do TST"), ("a", "nome", "Aurora Linhas"), ("c", "nome", "other")]
    assert by_keys(links, keys) == ("b", "a", "c")


def test_lists_are_fused_by_their_weights_and_ties_by_id() -> None:
    assert fused({"local": ["b", "a"], "theme": ["c"]}) == ("b", "a", "c")
    assert fused({"lexical": ["b"], "vector": ["a"]}) == ("a", "b")
    assert fused({"global": ["a"], "local": ["b"]}) == ("b", "a")
    assert fused({"theme": ["x", "y"], "global": ["y", "x", "y"]}) == ("y", "x")
    assert fused({}) == ()
    assert sources.WEIGHTS == {"lexical": 1.0, "vector": 1.0, "local": 1.2, "global": 0.8, "theme": 0.25}


@pytest.mark.covers("S2-44", "CF-81")
@pytest.mark.parametrize(
    ("bm25", "dense", "linked", "kept"),
    [(0.0, 0.7, False, True), (0.0, 0.69, False, False), (0.1, 0.0, False, True), (0.0, -0.1, True, True)],
)
def test_the_threshold_is_for_what_only_its_vector_speaks_for(
    bm25: float, dense: float, *, linked: bool, kept: bool
) -> None:
    assert is_near_enough({"bm25": bm25, "dense": dense}, 0.7, is_linked=linked) is kept


@pytest.mark.covers("AC-78", "CF-80", "S2-165")
def test_corrections_multiply_down_to_a_floor_and_outweigh_what_was_verified() -> None:
    assert factors([("a", 0.5)], ["b"]) == {"a": 0.5, "b": 1.15}
    assert factors([("a", 0.5), ("a", 0.5)], ["a"]) == {"a": 0.25}
    assert factors([("a", 0.5)] * 9, []) == {"a": 0.1}
    one = LeafEvidence(chunk_uid="b", score=0.95)
    assert adjusted(one, {"b": 1.15}).score == 1.0
    assert adjusted(one, {"b": 0.5}).score == pytest.approx(0.475)
    assert adjusted(one, {"a": 0.5}) == one


@pytest.mark.covers("S2-03")
def test_a_breaker_opens_after_failures_in_a_row_and_lets_one_call_try_after_each_pause() -> None:
    breaker = SourceBreaker()
    for _ in range(FAILURES - 1):
        breaker.note(NOON, answered=False)
    breaker.note(NOON, answered=True)
    for _ in range(FAILURES - 1):
        breaker.note(NOON, answered=False)
        assert breaker.admits(NOON)
    breaker.note(NOON, answered=False)
    assert not breaker.admits(NOON + PAUSE - timedelta(seconds=1))
    later = NOON + PAUSE
    assert breaker.admits(later)
    assert not breaker.admits(later)
    breaker.note(later, answered=False)
    assert not breaker.admits(later + PAUSE - timedelta(seconds=1))
    assert breaker.admits(later + PAUSE)
    breaker.note(later + PAUSE, answered=True)
    assert breaker.admits(later + PAUSE)
    assert breaker.admits(later + PAUSE)
