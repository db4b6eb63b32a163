"""Search by the words of a message, as an assistant without Fathom would do it."""

import math
import re
from collections import Counter
from collections.abc import Sequence

WORD = re.compile(r"\w+")
SATURATION, LENGTH = 1.2, 0.75


def words(text: str) -> list[str]:
    """The words of a text, case folded."""
    return [word.casefold() for word in WORD.findall(text)]


def spelled(text: str) -> str:
    """The words separated by single blanks, so that a phrase search is a substring search."""
    return f" {' '.join(words(text))} "


class Bm25:
    """Texts ranked by BM25 without stemming."""

    def __init__(self, units: Sequence[str]) -> None:
        self._units = units
        self._counts = [Counter(words(unit)) for unit in units]
        self._frequency = Counter(word for counts in self._counts for word in counts)
        self._mean = sum(counts.total() for counts in self._counts) / max(1, len(self._counts))

    def ranked(self, text: str) -> list[str]:
        """The units that share a word with a text, best first."""
        wanted = set(words(text))
        scores = [self._score(wanted, counts) for counts in self._counts]
        order = sorted(range(len(scores)), key=lambda at: -scores[at])
        return [self._units[at] for at in order if scores[at] > 0]

    def _score(self, wanted: set[str], counts: Counter[str]) -> float:
        total = 0.0
        norm = SATURATION * (1 - LENGTH + LENGTH * counts.total() / self._mean) if self._mean else 0.0
        for word in wanted:
            if count := counts.get(word, 0):
                known = self._frequency[word]
                rarity = math.log(1 + (len(self._counts) - known + 0.5) / (known + 0.5))
                total += rarity * count * (SATURATION + 1) / (count + norm)
        return total
