"""Requests for work on a project: design, implementation, review, debugging."""

import re
from functools import cache

from agents.core.language.lexicons import lexicon

KINDS = ("review", "debug", "architecture", "implement")


def asks_for(kind: str, text: str) -> bool:
    """Whether a folded text asks for work of a kind, anywhere in it."""
    return _pattern(kind).search(text) is not None


def is_work(text: str) -> bool:
    """Whether a folded text asks for work of any kind."""
    return any(asks_for(kind, text) for kind in KINDS)


@cache
def _pattern(kind: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{lexicon('work').pattern(kind)})\b")
