"""HTML in Markdown is read as its reader sees it."""

import pytest

from agents.core.documents.markup import without_markup


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("# Q&amp;A\n\nTea&nbsp;&#8212; na&iuml;ve &lt;3", "# Q&A\n\nTea\u00a0— naïve <3"),
        ("Press <kbd>F5</kbd><br>twice.", "Press F5\ntwice."),
        ("<p align='left'>Hello <b>there</b></p>", "Hello there"),
        ("[map](https://example.test/?x=1&amp;y=2&copy=3)", "[map](https://example.test/?x=1&y=2&copy=3)"),
        ("`a &amp;&amp; b`", "`a &amp;&amp; b`"),
        ("```html\n<b>&lt;</b>\n```\n&lt;", "```html\n<b>&lt;</b>\n```\n<"),
        ("1 < 2 and List<String> stay", "1 < 2 and List<String> stay"),
    ],
)
def test_entities_are_characters_and_tags_are_gone_but_in_code(written: str, read: str) -> None:
    assert without_markup(written) == read


def test_a_table_is_read_as_rows() -> None:
    written = (
        "<table><caption>Tides</caption><tr><th>Day</th><th>High</th></tr><tr><td rowspan='2'>1</td><td>3:10</td></tr>"
        "<tr><td>15:30</td></tr></table>"
    )
    assert without_markup(written).strip() == "Tides\n\n| Day | High |\n|---|---|\n| 1 | 3:10 |\n| 1 | 15:30 |"


@pytest.mark.parametrize(
    "hostile", ["<table>" * 20_000, "&" * 100_000, "<tr><td " * 20_000, "<!" * 50_000, "`" * 50_000]
)
def test_any_text_is_read_in_bounded_time(hostile: str) -> None:
    assert isinstance(without_markup(hostile), str)
