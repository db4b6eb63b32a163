"""The parts of a turn that are searched: a short one whole, a long one by its sentences, as a document is."""

import re
from itertools import pairwise

from agents.core.language.sentences import sentences

# A turn of more words is searched by parts of at most so many.
WHOLE_WORDS, PART_WORDS = 120, 100
# Encoded bytes have no word breaks: this number of characters counts as one word.
_WORD = re.compile(r"\S{1,60}")
_MARK = "#"


def parts_of(said: str, lang: str) -> list[str]:
    """The parts of a turn in order, each of whole sentences where they are not longer than a part."""
    words = [found.start() for found in _WORD.finditer(said)]
    if len(words) <= WHOLE_WORDS:
        return [said]
    opens = _sentence_starts(said, lang)
    starts, first, last = [0], 0, 0
    for number, at in enumerate(words):
        last = number if at in opens else last
        if number - first == PART_WORDS:
            first = last if last > first else number
            starts.append(words[first])
    return [said[start:end].strip() for start, end in pairwise([*starts, len(said)])]


def _sentence_starts(said: str, lang: str) -> frozenset[int]:
    starts, at = [0], 0
    for sentence in sentences(said, lang):
        starts.append(max(said.find(sentence, at), at))
        at = starts[-1] + len(sentence)
    return frozenset(starts)


def part_id(message_id: str, number: int) -> str:
    """The id of a turn's part: of the first, and of a turn that is whole, its message's."""
    return f"{message_id}{_MARK}{number}" if number else message_id


def message_of(passage_id: str) -> str:
    """The id of the message that a passage is a part of."""
    head, mark, number = passage_id.rpartition(_MARK)
    return head if mark and number.isdigit() else passage_id
