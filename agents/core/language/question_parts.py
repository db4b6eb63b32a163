"""The single questions of a message that asks several; both languages, regardless of the text's own."""

import re
from functools import cache

from agents.core.language import text
from agents.core.language.interrogatives import ASKED_CHARS, is_question
from agents.core.language.lexicons import framed
from agents.core.language.sentences import composed, flatten, sentences

MAX_PARTS = 4
_BOUNDARY = (
    # A verb alone is enough behind a conjunction, but not behind a comma: what follows may be a condition.
    r"(?:,\s*|(?<!\s)\s+)<<~joining>>\s+(?=(?:<<prepositions>> )?<<~conjoined>>\b|<<~predicated>>\b)|"
    r"[,;:]\s*(?=(?:<<prepositions>> )?<<~conjoined>>\b)"
)


@cache
def _boundary() -> re.Pattern[str]:
    return framed("questions", _BOUNDARY)


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
