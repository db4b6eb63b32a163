"""Values of a JSON file one after the other, with no more of it in memory than the largest."""

import io
import json
import tracemalloc

import pytest

from streams.imports import values
from streams.imports.values import BrokenExport, JsonValues


def read(data: bytes) -> tuple[list[object], str]:
    """What was read before it broke, and why it broke."""
    found: list[object] = []
    try:
        found.extend(JsonValues(io.BytesIO(data)))
    except BrokenExport as broken:
        return found, str(broken)
    return found, ""


@pytest.mark.parametrize("chunk", [1, 2, 3, 7, 1 << 20])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('[{"a": "é"}, {"b": [1, -2.5e3, true, null, "\\u00e9\\n"]}]', 2),
        ('\ufeff {"a": 1}\n\n{"b": "x"}\r\n', 2),
        ("[]", 0),
        ("", 0),
        ('{"a": {"b": "}]"}}', 1),
    ],
)
def test_a_list_is_its_elements_and_else_each_value_is_one(monkeypatch, chunk: int, text: str, expected: int) -> None:
    monkeypatch.setattr(values, "CHUNK", chunk)
    found, broken = read(text.encode())
    assert (len(found), broken) == (expected, "")
    if text.startswith("["):
        assert found == json.loads(text)


@pytest.mark.parametrize(
    ("data", "before", "why"),
    [
        (b'[{"a": 1},\n {"b": oops}]', 1, "line 2: expecting value"),
        (b'[{"a": 1},\n{"b": 2}', 2, "line 2: the list has no end"),
        (b'[{"a": 1} {"b": 2}]', 1, "line 1: there is no comma"),
        (b'[{"a": 1}] x', 1, "line 1: there is more after the list"),
        (b'{"a": 1}\n{"b": "not end', 1, "line 2: unterminated string"),
        (b'{"a": 1}\n\xff\xfe', 1, "line 2: it is no UTF-8"),
        (b"[" * 100_000, 0, "nested too deeply"),
    ],
)
def test_a_broken_file_gives_what_is_before_the_break_and_says_the_line(data: bytes, before: int, why: str) -> None:
    found, broken = read(data)
    assert len(found) == before
    assert why in broken


def test_a_long_file_is_never_held_as_a_whole(monkeypatch) -> None:
    monkeypatch.setattr(values, "CHUNK", 10_000)
    data = json.dumps([{"text": "x" * 1_000}] * 5_000).encode()
    tracemalloc.start()
    count = sum(1 for _ in JsonValues(io.BytesIO(data)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 5_000
    assert peak < 1_000_000


def test_a_number_of_thousands_of_digits_is_one() -> None:
    [value], broken = read(b'[{"a": ' + b"9" * 10_000 + b"}]")
    assert (value, broken) == ({"a": float("inf")}, "")


def test_a_value_larger_than_any_chat_is_refused(monkeypatch) -> None:
    monkeypatch.setattr(values, "CHUNK", 100)
    monkeypatch.setattr(values, "MAX_VALUE_CHARS", 1_000)
    assert "has more than 1,000 characters" in read(b'[{"a": "' + b"x" * 9_000 + b'"}]')[1]
