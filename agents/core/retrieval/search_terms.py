"""Search terms of texts and questions: stems of content words; names and codes unstemmed."""

import re
from dataclasses import dataclass, replace

from agents.core.caching.texts import text_cache
from agents.core.language import text

LANGUAGES = ("pt", "en")
# The maximum number of terms of a message; an exam question has about sixty.
MAX_TERMS = 48
# A word that the conversation adds to a message counts half as much as one of the message's own, and all of them
# together as much as the message at most.
CONTEXT_WEIGHT = 0.5

_CAPITALISED = re.compile(r"(?<![.!?:\n])[ (\"'][^\W\d_]*[A-ZÀ-Ý][\w-]*")


@dataclass(frozen=True, slots=True)
class QuestionTerm:
    """One word of a question: its spelling, its stems by language, its weight (1, or up to `CONTEXT_WEIGHT`).

    `name`: capitalised within a sentence, as people, products and places are.
    """

    word: str
    keys: tuple[str, ...]
    weight: float = 1.0
    name: bool = False


def document_terms(passage: str, lang: str) -> tuple[str, ...]:
    """The terms of a passage in its own language, in order, with repetitions."""
    return text.content_words(passage, lang if lang in LANGUAGES else "en")


# A question is looked at for every item found for it.
@text_cache(512)
def question_terms(question: str, lang: str, context: str = "") -> tuple[QuestionTerm, ...]:
    """The distinct terms of a question, then those of its context only; with stems of both languages.

    A passage has the stems of its own language; a question in the other language still finds names and codes.
    """
    names = _names(question)
    own = _distinct(question, lang, 1.0, names)
    known = {key for term in own for key in term.keys}
    added = [term for term in _distinct(context, lang, CONTEXT_WEIGHT, frozenset()) if known.isdisjoint(term.keys)]
    # A long answer before a short question must not outweigh it.
    share = min(1.0, len(own) / (CONTEXT_WEIGHT * max(len(added), 1))) if own else 1.0
    added = [replace(term, weight=term.weight * share) for term in added]
    return tuple([*own, *added][:MAX_TERMS])


def _distinct(said: str, lang: str, weight: float, names: frozenset[str]) -> list[QuestionTerm]:
    terms: dict[tuple[str, ...], QuestionTerm] = {}
    for word in text.surface_terms(text.clip(said), lang):
        keys = tuple(dict.fromkeys(text.stem(word, each) for each in LANGUAGES))
        terms.setdefault(keys, QuestionTerm(word, keys, weight, text.fold(word) in names))
    return list(terms.values())


def _names(question: str) -> frozenset[str]:
    found = (match.group()[1:] for match in _CAPITALISED.finditer(text.clip(question)))
    return frozenset(text.fold(word) for name in found for word in text.words(name))
