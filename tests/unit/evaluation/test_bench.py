"""What the benchmarks make of figures: charts, ratios, tables."""

import pytest

from bench import measure
from bench.charts import growth, short
from bench.measure import _table
from bench.memory import charts, ratios

ROWS = [
    {"class": "passages", "store": store, "own": 1_000, "others": others, "p50_ms": 1.0, "p95_ms": p95}
    for store, values in (("embedded", (4.0, 4.2, 5.0)), ("server", (6.0, 6.0, 6.3)))
    for others, p95 in zip((1_000, 10_000, 1_000_000), values, strict=True)
]


def test_a_chart_has_a_line_per_store_over_the_sizes():
    lines = growth("passages: p95 over others items", [1_000, 1_000_000], {"embedded": [4.0, 5.0], "server": [6, 6.5]})
    assert lines == [
        "passages: p95 over others items: 1. embedded, 2. server",
        "",
        "```mermaid",
        "xychart-beta",
        '    title "passages: p95 over others items"',
        '    x-axis ["1k", "1M"]',
        '    y-axis "ms" 0 --> 8',
        "    line [4, 5]",
        "    line [6, 6.5]",
        "```",
        "",
    ]
    assert [short(size) for size in (999, 1_000, 1_500, 20_000, 3_000_000)] == ["999", "1k", "1500", "20k", "3M"]


def test_growth_is_the_p95_beside_the_most_by_that_beside_the_fewest():
    assert ratios(ROWS) == {
        "passages_embedded_p95_beside_others": 1.25,
        "passages_server_p95_beside_others": 1.05,
    }
    assert ratios(ROWS[:1]) == {}


def test_what_was_asked_at_three_sizes_is_drawn_where_every_size_was_asked():
    drawn = charts([*ROWS[:3], ROWS[3]])
    assert "    line [4, 4.2, 5]" in drawn
    assert [line for line in drawn if "server" in line] == []
    assert charts(ROWS[:2]) == []


def test_lists_of_figures_are_tables_and_charts_come_last():
    lines = _table({"rows": [{"a": 1}, {"b": 2}], "growth": [{"c": 3}], "n": 4, "charts": ["drawn"]})
    table = ["| a | b |", "|---|---|", "| 1 |  |", "|  | 2 |", "", "| c |", "|---|", "| 3 |", ""]
    assert lines == [*table, "- n: **4**", "", "drawn"]


def test_columns_keep_their_order_when_another_part_is_measured(tmp_path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(measure, "RESULTS", tmp_path / "benchmarks.json")
    monkeypatch.setattr(measure, "PAGE", tmp_path / "benchmarks.md")
    measure.finish("pipeline", "make it", {"rows": [{"level": "D0", "behind": 1}], "two": 2, "one": 1})
    shown = measure.PAGE.read_text().partition("## pipeline")[2]
    assert "| level | behind |" in shown
    measure.finish("ask", "make another", {"b": 2, "a": 1})
    page = measure.PAGE.read_text()
    assert page.partition("## pipeline")[2] == shown
    assert page.index("## ask") < page.index("## pipeline")
