"""What a rule of decomposition makes of a question: the sub-questions, and how their answers compose."""

from dataclasses import dataclass

from agents.core.language import text
from schemas.cognition import EntityType, QuestionKind


@dataclass(frozen=True, slots=True)
class Part:
    """A sub-question; `uses` are the places of earlier parts whose answers it names by `#1`, `#2`.

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


def tidied(question: str) -> str:
    """A sub-question with single blanks, a capital and a question mark."""
    bare = " ".join(question.split()).strip(" ,;:.?!")
    return f"{bare[:1].upper()}{bare[1:]}?" if bare else ""
