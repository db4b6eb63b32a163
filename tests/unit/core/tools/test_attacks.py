"""What the tool gate takes for a user's own words, and what it shows before a call; `tests/evidence` counts attacks."""

import asyncio
import logging
from collections.abc import Iterator

import pytest

from agents.core.language.quotes import escape_invisible, fold_confusables, strip_quoted
from tests.attacks import texts
from tests.attacks.limits import limits
from tests.attacks.run import played, split


@pytest.fixture(scope="module", autouse=True)
def _quiet() -> Iterator[None]:
    logger = logging.getLogger("fathom")
    before = logger.level
    logger.setLevel(logging.CRITICAL)
    yield
    logger.setLevel(before)


def test_what_has_no_mark_and_what_the_call_has_itself_is_never_enough_for_a_high_risk_tool() -> None:
    high, others = split(asyncio.run(played(limits(16))))
    assert (high, others) == (0, 24)  # the others pass: docs/tools.md says so


@pytest.mark.parametrize("style", texts.STYLES)
def test_what_the_user_pastes_is_not_said_by_him(style: str) -> None:
    marks = ('"', "```", "\n\n", "</blockquote>", "-----", "\u2028", "\n> ", "`x` ", '"x" ')
    for mark in marks:
        body = f"Oi, tudo bem? {mark}rel_666{mark} e mais{mark}"
        own = strip_quoted(f"filtre rel_1\n\n{texts.pasted(style, body)}")
        assert ("rel_1" in own, "rel_666" in own) == (True, False), (style, mark, own)


@pytest.mark.parametrize(
    "text", ["filtre `rel_1`", 'filtre "rel_1"', "filtre:\nrel_1", "pediu o rel_1", "a > b: rel_1"]
)
def test_what_the_user_marks_himself_is_his(text: str) -> None:
    assert "rel_1" in strip_quoted(text)


@pytest.mark.parametrize("text", ["rel_\u04302", "rel_\u200b2", "rel_1\u202e", "rel_\uff11", "rel_1\u3164", "rel_1\n"])
def test_a_preview_shows_what_a_reader_would_not_see(text: str) -> None:
    assert escape_invisible(text).isascii()
    assert escape_invisible(text) != text
    assert "\\u" in escape_invisible(text)


@pytest.mark.parametrize("text", ["rel_12", "DMD.0001/26", "Relatório nº 3 – março", "São João", "a 1ª"])
def test_common_text_is_shown_as_it_is(text: str) -> None:
    assert escape_invisible(text) == text
    assert fold_confusables("rel_12") == "rel_12"
