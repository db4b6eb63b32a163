"""The best sequence of labels: weights of tokens and of steps together, no span gone on with that was not begun."""

from itertools import pairwise, product

from agents.legal.sequence_models import OUTSIDE, SequenceTable

LABELS = (OUTSIDE, "B-L", "I-L", "B-J", "I-J")
STEPS = (
    (0.5, 0.25, 9.0, -0.25, 9.0),
    (-1.0, -0.5, 1.0, 0.0, 9.0),
    (0.0, 0.125, 0.75, 0.25, 9.0),
    (0.25, 0.5, 9.0, -1.0, 0.5),
    (-0.5, 0.0, 9.0, 0.75, 1.0),
)
WEIGHTS = {"law": (0, 2, 1, 0, 0), "case": (0, 0, 0, 2, 1), "word": (1, 0, 0.5, 0, 0.5)}
TABLE = SequenceTable(LABELS, STEPS, WEIGHTS)


def allowed(before: str, label: str) -> bool:
    return not label.startswith("I") or before[1:] == label[1:]


def total(tokens: list[str], labels: tuple[str, ...]) -> float:
    places = [LABELS.index(label) for label in labels]
    steps = sum(STEPS[one][other] for one, other in pairwise(places))
    return steps + sum(WEIGHTS.get(token, (0,) * 5)[place] for token, place in zip(tokens, places, strict=True))


def test_it_is_the_best_of_all_sequences() -> None:
    for tokens in product(("law", "case", "word", "other"), repeat=4):
        every = (
            labels
            for labels in product(LABELS, repeat=4)
            if all(allowed(one, other) for one, other in pairwise((OUTSIDE, *labels)))
        )
        best = max(total(list(tokens), labels) for labels in every)
        found = TABLE.best([[token] for token in tokens])
        assert total(list(tokens), found) == best
        assert all(allowed(one, other) for one, other in pairwise((OUTSIDE, *found)))


def test_a_text_without_tokens_has_no_labels() -> None:
    assert TABLE.best([]) == ()
