"""The entity of a message: a quotation, an identifier, a named project or person."""

import re
from collections.abc import Iterator

from agents.core.depth.reading import Reading, word_class
from agents.core.language.phrases import NOWHERE, Sentence, evidence

_IDENTIFIER = re.compile(r"\b(?:[A-Za-z]{2,8}_\d[\w-]{0,20}|[A-Z]{2,6}[.-]\d{1,8}(?:/\d{2,4})?|[A-Z]{2,6}-?\d{3,10})\b")
_QUOTED = re.compile(r"[\"\u201c\u00ab]([^\"\u201d\u00bb\n]{1,80})[\"\u201d\u00bb]")
_JOINING = frozenset(("de", "da", "do", "dos", "das", "e", "of", "the"))


def identifiers(text: str) -> Iterator[str]:
    """Codes such as rel_456 or DMD.0001/26, in order."""
    return (found[0] for found in _IDENTIFIER.finditer(text))


def entity(reading: Reading) -> str | None:
    """The entity named, most specific first; None when the message leaves it to the context."""
    quoted = _QUOTED.search(reading.text)
    if quoted:
        return quoted[1].strip()
    for code in identifiers(reading.text):
        return code
    for sentence in reading.sentences:
        found = _of_a_kind(reading.text, sentence) or _proper_name(reading.text, sentence)
        if found:
            return found
    return None


def _of_a_kind(text: str, sentence: Sentence) -> str | None:
    words = sentence.words
    for at in range(1, len(words) - 2):
        if words[at] in word_class("KINDS") and _is_capital(text, sentence, at + 1):
            end = _name_end(text, sentence, at + 1)
            return evidence(text, sentence, at, end)
    return None


def _proper_name(text: str, sentence: Sentence) -> str | None:
    for at in range(1, len(sentence.words) - 1):
        if not _is_capital(text, sentence, at):
            continue
        end = _name_end(text, sentence, at)
        # The first word of a sentence is always capitalised: alone it names nothing.
        if at > 1 or (end > at + 1 and sentence.words[at] not in word_class("WH_WORDS")):
            return evidence(text, sentence, at, end)
    return None


def _name_end(text: str, sentence: Sentence, start: int) -> int:
    end = start + 1
    while _is_capital(text, sentence, end) or (
        sentence.words[end] in _JOINING and _is_capital(text, sentence, end + 1)
    ):
        end += 1
    return end


def _is_capital(text: str, sentence: Sentence, at: int) -> bool:
    if at >= len(sentence.spans) or sentence.spans[at] == NOWHERE:
        return False
    start, end = sentence.spans[at]
    written = text[start:end]
    return (written[0].isupper() and written.rstrip("'s") != "I") or (
        written.isdigit() and at > 1 and _is_capital(text, sentence, at - 1)
    )
