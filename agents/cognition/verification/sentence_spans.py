"""Where the sentences of a passage stand in it."""

from agents.core.caching.texts import text_cache
from agents.core.language.sentences import sentences


@text_cache(512)
def sentence_spans(passage: str, lang: str) -> tuple[tuple[int, int], ...]:
    """The character offsets of each sentence, in order; `passage[start:end]` is the sentence.

    What has no letter (the number of a step, say) is part of the sentence behind it.
    """
    found: list[tuple[int, int]] = []
    at, begun = 0, -1
    for sentence in sentences(passage, lang):
        start = passage.find(sentence, at)
        if start < 0:
            continue
        at = start + len(sentence)
        if begun >= 0 and "\n" not in passage[begun:start]:
            start = begun
        begun = -1
        if any(map(str.isalpha, sentence)):
            found.append((start, at))
        else:
            begun = start
    return tuple(found)
