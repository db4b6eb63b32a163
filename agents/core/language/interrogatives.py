"""Whether a sentence asks, with or without a question mark; both languages, whichever the text is in."""

import re
from functools import cache

from agents.core.language import text
from agents.core.language.lexicons import framed
from agents.core.language.sentences import composed, flatten, sentences

ASKED_CHARS = 2_000
# Words in common, by which one message is the other again.
SAME = 0.8
_ASKS = (
    r"\W*(?:<<before>>\W+){0,3}(?:<<prepositions>> )?(?:<<asks>>\b|"
    # What comes after these may make a statement of them.
    r"por ?que\b(?!.*,)|o que\b(?! <<relative>>\b)|quem\b(?!.* <<identified>> )|"
    r"(?!<<tasks>>)<<auxiliaries>> <<subjects>>\b)"
)


@cache
def _asking() -> re.Pattern[str]:
    return framed("questions", _ASKS)


def is_question(said: str) -> bool:
    """Whether a sentence asks."""
    return said.rstrip(" )\"'”").endswith("?") or _asking().match(flatten(composed(said))) is not None


def only_asks(said: str, lang: str) -> bool:
    """Whether a text says nothing besides what it asks."""
    return all(map(is_question, sentences(said[:ASKED_CHARS], lang)))


def is_asked_again(said: str, now: str) -> bool:
    """Whether a message is the one of now over again, in almost the same words.

    A statement in the words of a question is its answer: `I am in room 5` to `I am in room 5?`.
    """
    if said.rstrip().endswith("?") < now.rstrip().endswith("?"):
        return False
    # A long one need not be read to be another.
    if not len(now) < 2 * len(said) < 4 * len(now):
        return False
    return text.jaccard(frozenset(text.words(said)), frozenset(text.words(now))) >= SAME
