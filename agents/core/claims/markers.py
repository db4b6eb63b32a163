"""Signs that something said is contested or replaced: `Não, …`, `na verdade`, `I disagree`, `moved to`."""

from functools import lru_cache

from agents.core.claims import grammar
from agents.core.claims.bare_values import bare_values
from agents.core.claims.extraction import assertions
from agents.core.claims.reports import is_reported
from agents.core.language.sentences import composed, lower

MAX_CHARS = 600
MAX_REPLY = 80


@lru_cache(maxsize=4_096)
def is_correction(text: str, lang: str) -> bool:
    """Whether a text contests or corrects something said: marked as sure, or a marker beside something asserted."""
    low = lower(composed(text[:MAX_CHARS]))
    low = grammar.WRONG_OTHERWISE.sub(" ", low)
    contests = grammar.CONTESTING.search(low)
    if contests and not _asked(low, contests.start()):
        return True
    if grammar.POLITE.match(low):
        return False
    if len(text) <= MAX_REPLY and is_reported(text) and bare_values(text, lang):
        # `the invite says Tuesday`: without a subject it can only be about what was just said.
        return True
    marked = grammar.NO.match(low) or grammar.WAIT.match(low) or grammar.CORRECTING.search(low)
    if not marked:
        return False
    return bool(bare_values(text, lang) or assertions(text[:MAX_CHARS], "user", lang))


def _asked(low: str, position: int) -> bool:
    """Whether the sentence around a place is a question, other than one with a tag (`está errado, não?`)."""
    ends = [end for mark in ".!?\n" if (end := low.find(mark, position)) >= 0]
    end = min(ends, default=len(low) - 1)
    return low[end : end + 1] == "?" and not low[:end].rstrip().endswith(("não", "né", "right", "no"))


@lru_cache(maxsize=4_096)
def announces_change(text: str) -> bool:
    """Whether a text says that something is no longer what it was: `mudou`, `agora`, `moved to`, `no longer`."""
    return grammar.CHANGING.search(lower(composed(text[:MAX_CHARS]))) is not None
