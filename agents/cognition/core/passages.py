"""Passages as evidence: what each is cited by, its sentences with their places, the words of a question they cover."""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from agents.cognition.verification.sentence_spans import sentence_spans
from agents.core.language import text
from agents.core.language.interrogatives import is_question
from agents.core.retrieval.search_terms import QuestionTerm
from agents.legal.citations import citation
from agents.legal.references import legal_references
from schemas.base import derive
from schemas.cognition import EvidencePassage

DOCUMENT, CONVERSATION = "documento", "conversa"
PATH_JOINT = " › "
MAX_SENTENCES, MAX_SLUG = 40, 60
_NO_SLUG = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True)
class PassageSentence:
    """A sentence of a passage: `passage.text[start:end]`."""

    passage: EvidencePassage
    start: int
    end: int

    @property
    def text(self) -> str:
        return self.passage.text[self.start : self.end]


def cite(title: str, chunk_uid: str) -> str:
    """The `tipo:id` of a passage: the one article or ruling that its heading names, else its document and heading.

    An article whose act only a heading above names is completed by it (`CLT › Art. 468`).
    """
    *above, heading = title.split(PATH_JOINT)
    for said in (heading, *(f"{heading} da {each}" for each in reversed(above))):
        named = [each for each in legal_references(said) if each.article or each.kind != "dispositivo"]
        acts = {each.law for each in legal_references(said) if each.law}
        # Several are a heading about laws, not that of one.
        if len(named) == 1 and len(acts) <= 1 and "?" not in (found := citation(named[0])):
            return found[1:-1]
    slug = _NO_SLUG.sub("-", text.fold(heading)).strip("-")[:MAX_SLUG]
    return f"{DOCUMENT}:{slug or 'x'}-{derive(chunk_uid)[:8]}"


def cite_of_turn(said_at: datetime, message_id: str) -> str:
    """The `tipo:id` of a turn of a conversation: the day it was said, and which message."""
    return f"{CONVERSATION}:{said_at:%Y-%m-%d}-{derive(message_id)[:8]}"


def is_provision(cited: str) -> bool:
    """Whether a citation names a provision of law."""
    return not is_ruling(cited) and cited.partition(":")[0] not in (DOCUMENT, CONVERSATION)


def is_ruling(cited: str) -> bool:
    """Whether a citation names a case or a ruling."""
    return cited.partition(":")[0] in RULINGS


RULINGS = frozenset(
    {"processo", "sumula", "sumula-vinculante", "oj", "tema", "tese", "acordao", "enunciado", "informativo"}
)


def sentences_of(passage: EvidencePassage) -> Iterator[PassageSentence]:
    """The sentences of a passage in order, at most `MAX_SENTENCES`."""
    for start, end in sentence_spans(passage.text, passage.lang)[:MAX_SENTENCES]:
        yield PassageSentence(passage, start, end)


def states(sentence: PassageSentence) -> bool:
    """Whether a sentence can answer: what somebody asked in a conversation states nothing."""
    return sentence.passage.turn is None or not is_question(sentence.text)


def covered(asked: Collection[QuestionTerm], said: str, lang: str) -> frozenset[str]:
    """The words of a question that a text contains, as written in the question."""
    words = text.content_set(said, lang)
    return frozenset(term.word for term in asked if not words.isdisjoint(term.keys))


def weights(asked: Collection[QuestionTerm], among: Collection[str], lang: str) -> Mapping[str, float]:
    """The weight of each word of a question by its rarity among texts, each above 0; together 1."""
    found = [text.content_set(each, lang) for each in among]
    raw = {term.word: term.weight / (1 + sum(not words.isdisjoint(term.keys) for words in found)) for term in asked}
    total = sum(raw.values())
    return {word: weight / total for word, weight in raw.items()} if total else {}
