"""Detection of questions, with or without a question mark; both languages, regardless of the text's own."""

import re
from functools import cache

from agents.core.language import text
from agents.core.language.lexicons import framed
from agents.core.language.sentences import composed, flatten, sentences

ASKED_CHARS = 2_000
# The share of common words above which two messages are the same.
SAME = 0.8
_ASKS = (
    r"\W*(?:<<before>>\W+){0,3}(?:<<prepositions>> )?(?:<<asks>>\b|"
    # Words after which the sentence may be a statement.
    r"por ?que\b(?!.*,)|o que\b(?! <<relative>>\b)|quem\b(?!.* <<identified>> )|"
    r"(?!<<tasks>>)<<auxiliaries>> <<subjects>>\b)"
)
# `Can you remember that my locker is 12?` and `the rent is 700 now, ok?` tell something.
_KEEPS = r"\W*(?:<<before>>\W+){0,3}<<keeping>>(?:[^:?]{0,25}:| (?:de |ai |for me )?(?:that|que)\b)[ ,]*"
_ACKNOWLEDGED = r"[,.;] ?<<acknowledged>>\W*$"


_CLAUSE_ENDS = re.compile(r"[,;:]| (?=(?:and|but|so|then|e|mas|entao) )")


@cache
def _asking() -> re.Pattern[str]:
    return framed("questions", _ASKS)


@cache
def _telling() -> tuple[re.Pattern[str], re.Pattern[str]]:
    return framed("questions", _KEEPS), framed("questions", _ACKNOWLEDGED)


@cache
def _forgetting() -> re.Pattern[str]:
    return framed("questions", r"\W*<<forgetting>>(?!\w)")


def told(sentence: str) -> str:
    """The statement in a question that only asks to remember or to acknowledge it; empty for any other sentence."""
    said = composed(sentence).rstrip(" )\"'\u201d")
    if not said.endswith("?"):
        return ""
    keeps, acknowledged = _telling()
    if found := keeps.match(flatten(said)):
        return f"{said[found.end() : -1].rstrip()}."
    tail = acknowledged.search(flatten(said))
    before = f"{said[: tail.start()].rstrip()}." if tail else ""
    return "" if is_question(before) else before


def is_question(said: str) -> bool:
    """Whether a sentence is a question."""
    if told(said) or _forgetting().match(flatten(composed(said))):
        return False
    return said.rstrip(" )\"'”").endswith("?") or _asking().match(flatten(composed(said))) is not None


@cache
def _requesting() -> re.Pattern[str]:
    return framed("questions", r"\W*(?:<<before>>\W+){0,3}(?:<<asks>>|<<requesting>>)\b")


def wants_an_answer(said: str, lang: str) -> bool:
    """Whether a sentence of a message, or a clause of it, asks a question or requests something."""
    parts = sentences(text.clip(said), lang)
    clauses = (clause for part in parts for clause in _CLAUSE_ENDS.split(flatten(composed(part))))
    return any(map(is_question, parts)) or any(_requesting().match(clause) for clause in clauses)


@cache
def _listing() -> tuple[re.Pattern[str], re.Pattern[str]]:
    start = r"\W*(?:<<before>>\W+){0,3}"
    return framed("questions", rf"{start}<<lists_documents>>"), framed("questions", rf"{start}<<lists_own>>\b")


def asks_for_documents(said: str) -> bool:
    """Whether a message asks which documents there are, and not for something in them."""
    return _listing()[0].match(flatten(composed(said[:ASKED_CHARS])).rstrip(" ?.!")) is not None


def asks_for_own_list(said: str) -> bool:
    """Whether a message asks for several things that its user said: what is on a list, what one has read or paid."""
    return _listing()[1].match(flatten(composed(said[:ASKED_CHARS])).rstrip(" ?.!")) is not None


def only_asks(said: str, lang: str) -> bool:
    """Whether a text consists of questions only."""
    return all(map(is_question, sentences(said[:ASKED_CHARS], lang)))


def is_asked_again(said: str, now: str) -> bool:
    """Whether an earlier message repeats the current one in almost the same words.

    A statement in the words of a question is its answer: `I am in room 5` to `I am in room 5?`.
    """
    if said.rstrip().endswith("?") < now.rstrip().endswith("?"):
        return False
    # Very different lengths differ without a comparison of words.
    if not len(now) < 2 * len(said) < 4 * len(now):
        return False
    return text.jaccard(*(frozenset(text.words(text.clip(each))) for each in (said, now))) >= SAME
