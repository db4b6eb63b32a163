"""What contests what was said: another value, a source that says otherwise, a repair; and what contests nothing."""

import pytest

from agents.core.conversation.memory import Turns
from agents.core.depth.levels import classify
from schemas.depth import DepthLevel
from tests.builders.contests import CONTENT_WITH, CONTESTING

D3 = DepthLevel.D3


@pytest.mark.covers("S0-21", "S0-89")
@pytest.mark.parametrize(("text", "history", "lang"), CONTESTING)
def test_another_value_a_source_or_a_repair_contests(text: str, history: Turns, lang: str) -> None:
    assert classify(text, history, lang=lang).level == D3


@pytest.mark.covers("CF-07")
@pytest.mark.parametrize(("text", "history", "lang"), CONTENT_WITH)
def test_a_value_or_a_marker_alone_contests_nothing(text: str, history: Turns, lang: str) -> None:
    assert classify(text, history, lang=lang).level != D3
