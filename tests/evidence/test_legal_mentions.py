"""Mentions of law in sentences of our own: found, wholly found, and not found where there is none."""

import re
from pathlib import Path

from agents.legal.mentions import KINDS, mentions
from tests.checkout import ROOT

SENTENCES = ROOT / "bench" / "legal_mentions" / "sentences.txt"
Span = tuple[str, int, int]


def read(path: Path) -> list[tuple[str, set[Span]]]:
    """Each sentence without its brackets, and the spans they enclosed."""
    return [_plain(line) for line in path.read_text("utf-8").splitlines() if not line.startswith("#")]


def _plain(line: str) -> tuple[str, set[Span]]:
    text, spans, end = "", set(), 0
    for mark in re.finditer(r"\[([LJ]) ([^\]]+)\]", line):
        text += line[end : mark.start()]
        spans.add((KINDS[mark[1]], len(text), len(text) + len(mark[2])))
        text, end = text + mark[2], mark.end()
    return text + line[end:], spans


def called(text: str) -> set[Span]:
    return {(each.kind, each.start, each.end) for each in mentions(text)}


def meets(span: Span, others: set[Span]) -> bool:
    return any(span[0] == kind and span[1] < end and start < span[2] for kind, start, end in others)


def test_mentions_are_found_and_most_of_them_wholly() -> None:
    rows = [(wanted, called(text)) for text, wanted in read(SENTENCES) if wanted]
    many = sum(len(wanted) for wanted, _ in rows)
    assert many >= 30
    met = sum(meets(span, found) for wanted, found in rows for span in wanted)
    exact = sum(len(wanted & found) for wanted, found in rows)
    false = sum(not meets(span, wanted) for wanted, found in rows for span in found)
    assert met / many >= 0.93
    assert exact / many >= 0.86
    assert false == 0


def test_what_only_looks_like_a_mention_is_none() -> None:
    rows = [text for text, wanted in read(SENTENCES) if not wanted]
    assert len(rows) >= 50
    assert len([text for text in rows if called(text)]) == 0
