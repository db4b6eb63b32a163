"""Where the sentences of a passage stand in it."""

from functools import lru_cache

from agents.core.language.sentences import sentences


@lru_cache(maxsize=512)
def sentence_spans(passage: str, lang: str) -> tuple[tuple[int, int], ...]:
    """The character offsets of each sentence, in order; `passage[start:end]` is the sentence."""
    found: list[tuple[int, int]] = []
    at = 0
    for sentence in sentences(passage, lang):
        start = passage.find(sentence, at)
        if start >= 0:
            at = start + len(sentence)
            found.append((start, at))
    return tuple(found)
