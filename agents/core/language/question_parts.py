"""The single questions of a message; both languages, regardless of the text's own."""

import re
from dataclasses import dataclass
from functools import cache

from agents.core.language import text
from agents.core.language.interrogatives import ASKED_CHARS, is_question
from agents.core.language.lexicons import framed
from agents.core.language.quotes import own_words
from agents.core.language.sentences import composed, flatten, sentences

MAX_PARTS = 4
# A longer beginning of a sentence that asks nothing only leads to the question behind it.
MAX_UNASKED_WORDS = 8
# A longer sentence that does not begin as a question may end in one.
MAX_PLAIN_WORDS = 16
_BOUNDARY = (
    # A verb alone is enough behind a conjunction, but not behind a comma: what follows may be a condition.
    r"(?:,\s*|(?<!\s)\s+)<<~joining>>\s+(?=(?:<<prepositions>> )?<<~conjoined>>\b|<<~predicated>>\b)|"
    r"[,;:]\s*(?=(?:<<prepositions>> )?<<~conjoined>>\b)"
)


@dataclass(frozen=True, slots=True)
class AskedPart:
    """A question within a message, and the words around it that may complete it.

    `alone`: it is a sentence of its own, so that its meaning is not that of its surroundings.
    """

    text: str
    context: str
    alone: bool


@cache
def _boundary() -> re.Pattern[str]:
    return framed("questions", _BOUNDARY)


@cache
def _last_question() -> re.Pattern[str]:
    return framed("questions", r"[,;\u2013-]\s{1,3}(?:\w{1,12}\s){0,3}(?=<<~conjoined>>\b)")


def question_parts(said: str, lang: str) -> tuple[str, ...]:
    """The questions of a message in order, at most `MAX_PARTS`, each as written; empty where it asks only one.

    A part is a slice of the message with a content word of its own: what it leaves out, the message completes. Only the
    first `ASKED_CHARS` characters are read. Source: Break (Wolfson et al. 2020), list steps.
    """
    parts = [
        part
        for sentence in sentences(composed(said[:ASKED_CHARS]), lang)
        if is_question(sentence)
        for part in _of_sentence(sentence)
        if text.content_set(part, lang)
    ]
    return tuple(parts[:MAX_PARTS]) if len(parts) > 1 else ()


def asked_parts(said: str, lang: str) -> tuple[AskedPart, ...]:
    """The questions of a message that says or asks more, at most `MAX_PARTS`, each with its surroundings.

    Empty for a message that is nothing but its question. Texts that are quoted or handed over ask nothing.
    """
    own = own_words(composed(text.clip(said)))
    found: list[AskedPart] = []
    before = ""
    for sentence in sentences(own, lang):
        if is_question(sentence):
            cut = _of_sentence(_asked_at_its_end(sentence))
            asking = [*(part for part in cut[:-1] if not _leads(part, sentence)), cut[-1]]
            parts = [part for part in asking if text.content_set(part, lang)]
            alone = len(parts) == 1
            found += [AskedPart(part, before if alone else sentence, alone) for part in parts]
        before = sentence
    if len(found) == 1 and text.content_set(own, lang) <= text.content_set(found[0].text, lang):
        return ()
    return tuple(found[:MAX_PARTS])


def _asked_at_its_end(sentence: str) -> str:
    """The question that ends a long sentence, behind its last comma; any other sentence as it is."""
    if len(sentence.split()) <= MAX_PLAIN_WORDS or is_question(sentence.rstrip("? ")):
        return sentence
    ends = list(_last_question().finditer(flatten(sentence)))
    return sentence[ends[-1].end() :] if ends else sentence


def _leads(part: str, sentence: str) -> bool:
    """Whether a part of a sentence asks nothing, and only leads to the question behind it."""
    return not is_question(part) and (len(part.split()) > MAX_UNASKED_WORDS or f"{part}:" in sentence)


def _of_sentence(sentence: str) -> list[str]:
    """The questions of one sentence, cut where the next begins."""
    flat = flatten(sentence)
    cuts = [0]
    starts = [0]
    for found in _boundary().finditer(flat):
        cuts.append(found.start())
        starts.append(found.end())
    ends = [*cuts[1:], len(sentence)]
    return [sentence[start:end].strip() for start, end in zip(starts, ends, strict=True)]
