"""Marks of sources in an assistant's answer: `[1]` counts the sources of the pack of that answer, and of no other."""

import re

# After a word or the end of a sentence, not in code: `values = [1]` and `rows[2]` are no citations.
_CITATION = re.compile(
    r"(?:(?<=[\w.,;!?)»”\"%])[ \t]+|(?<=[.,;!?)»”\"]))(?:\[\d{1,2}(?:[,;] ?\d{1,2})*\])+(?=[\s.,;:!?)]|$)"
)


def without_citations(text: str) -> str:
    """An assistant's words without the numbers of their sources; as they are where they hold code."""
    return text if "`" in text else _CITATION.sub("", text)
