"""Each mechanism of deep answers is needed: without it they are worse."""

import pytest

from agents.cognition.core import reasoner
from tests.evidence.test_deep_answers import DeepMemory, Measure, Rows, right, silent, telling


@pytest.mark.parametrize(
    ("mechanism", "without", "name", "measure"),
    [
        ("supplies_amount", lambda *_: False, "everyday", telling),
        ("WHOLE", 2.0, "by_others", telling),
        ("FAR", 0.0, "everyday", telling),
        ("AFTER", 0, "by_others", right),
        ("ALIKE", 2.0, "everyday", right),
        ("UNLIKE", 0.0, "everyday", silent),
    ],
)
def test_answers_are_worse_without(
    memories: dict[str, DeepMemory], answers: dict[str, Rows], monkeypatch: pytest.MonkeyPatch, mechanism: str,
    without: object, name: str, measure: Measure,
) -> None:  # fmt: skip
    monkeypatch.setattr(reasoner, mechanism, without)
    assert measure(memories[name].ask()) < measure(answers[name])
