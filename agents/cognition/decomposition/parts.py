"""What a rule of decomposition makes of a question: the sub-questions, and how their answers compose."""

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass

from agents.core.language import text
from schemas.cognition import EntityType, QuestionKind

# The place of an answer in a part, until its node has an id: a noncharacter, since a user's own `#1` is no reference.
ANSWER = "\ufdd0"


@dataclass(frozen=True, slots=True)
class Part:
    """A sub-question; `uses` are the places of earlier parts, whose answers take the places of `ANSWER` in order.

    `expects` is the type of the answer where another part uses it.
    """

    question: str
    uses: tuple[int, ...] = ()
    expects: EntityType = "any"


@dataclass(frozen=True, slots=True)
class Split:
    """The parts of a question, at least two, in order."""

    kind: QuestionKind
    parts: tuple[Part, ...]


def split_of(kind: QuestionKind, questions: list[str], lang: str) -> Split | None:
    """A split into questions; none unless two or more differ and have a content word each (R9)."""
    tidy = [Part(each) for each in map(tidied, questions) if kind == "comparison" or text.content_set(each, lang)]
    kept = {text.content_set(each.question, lang) or each.question: each for each in reversed(tidy)}
    parts = tuple(reversed(kept.values()))
    return Split(kind, parts) if len(parts) > 1 else None


def replaced(question: str, node_ids: Collection[str], answer: Callable[[str], str]) -> str:
    """A question with an answer for each reference `#1.2` to one of these nodes; `#1.20` and `#1.2.1` are others."""
    names = "|".join(map(re.escape, node_ids))
    return re.sub(rf"#({names})(?!\w|\.\w)", lambda found: answer(found[1]), question) if names else question


def tidied(question: str) -> str:
    """A sub-question with single blanks, a capital and a question mark."""
    bare = " ".join(question.split()).strip(" ,;:.?!")
    return f"{bare[:1].upper()}{bare[1:]}?" if bare else ""
