"""Lines of libraries that are said again and again are said now and then, with how often."""

import io
import json
import logging
from collections.abc import Iterator

import pytest

from agents.core.caching.budget import share_of
from streams.telemetry import metrics
from streams.telemetry.repeat_filter import QUIET_S, RepeatFilter


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def said(filter_: RepeatFilter, text: str, name: str = "aiokafka") -> dict[str, object] | None:
    """The line's fields, or None for one that is left out."""
    record = logging.LogRecord(name, logging.ERROR, "x.py", 1, "%s", (text,), None)
    return getattr(record, "fields", {}) if filter_.filter(record) else None


def test_a_line_of_a_library_is_said_once_and_after_a_while_again_with_how_often() -> None:
    clock = Clock()
    filter_ = RepeatFilter("fathom", clock)
    assert said(filter_, "away") == {}
    assert [said(filter_, "away") for _ in range(3)] == [None] * 3
    assert said(filter_, "another") == {}
    assert said(filter_, "away", "neo4j") == {}
    clock.now = QUIET_S
    assert said(filter_, "away") == {"repeated": 3}
    clock.now = 2 * QUIET_S
    assert said(filter_, "away") == {}


def test_our_own_lines_are_all_said() -> None:
    filter_ = RepeatFilter("fathom", Clock())
    assert [said(filter_, "stage.waits", "fathom.stage") for _ in range(3)] == [{}] * 3


def test_no_traceback_is_left_out() -> None:
    filter_ = RepeatFilter("fathom", Clock())
    for cause in (ValueError("one"), KeyError("another")):
        record = logging.LogRecord(
            "asyncio", logging.ERROR, "x.py", 1, "never retrieved", (), (type(cause), cause, None)
        )
        assert filter_.filter(record)


def test_what_is_known_of_lines_is_bounded_and_what_goes_on_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(share_of("log_lines"), "allowed", 20_000)
    clock = Clock()
    filter_ = RepeatFilter("fathom", clock)
    said(filter_, "goes on")
    for number in range(100):
        said(filter_, f"line {number}")
        assert said(filter_, "goes on") is None
    assert said(filter_, "line 0") == {}
    assert len(filter_._said) < 50


@pytest.fixture
def lines() -> Iterator[io.StringIO]:
    root, fathom = logging.getLogger(), logging.getLogger("fathom")
    before = root.handlers[:], root.level, fathom.level
    stream = io.StringIO()
    metrics.set_up_logging("warning", "json", stream)
    yield stream
    root.handlers[:] = before[0]
    root.setLevel(before[1])
    fathom.setLevel(before[2])


def test_the_log_of_a_worker_is_filtered(lines: io.StringIO) -> None:
    for _ in range(50):
        logging.getLogger("some.library").error("no connection to %s", "node 1")
        logging.getLogger("fathom.stage").warning("stage.waits")
    found = [line.get("message", line["event"]) for line in map(json.loads, lines.getvalue().splitlines())]
    assert (found.count("no connection to node 1"), found.count("stage.waits")) == (1, 50)
