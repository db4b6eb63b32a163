"""What the last searches of a collection have read, until a write changes it: texts by point, the rarity of terms.

Only the process that owns an index may keep this: it hears of every write.
"""

from collections import OrderedDict
from collections.abc import Iterable, Mapping

from agents.core.retrieval.relevance import Rarity, inverse_document_frequency
from agents.ports.passages import Passage
from streams.stores.passages.lexical import PassageTerms

# About five megabytes of chunks.
TEXTS = 512
TERMS = 8_192


class RecentReads:
    """The texts found last and the rarities of the terms asked about since the last write."""

    def __init__(self) -> None:
        self._texts: OrderedDict[int, tuple[Passage, PassageTerms]] = OrderedDict()
        self._rarities: dict[tuple[tuple[str, ...], str], float | None] = {}

    def written(self, points: Iterable[int]) -> None:
        """Forget these points, and every rarity: each depends on how many texts there are, whosever."""
        for point in points:
            self._texts.pop(point, None)
        self._rarities.clear()

    def texts(self, points: Iterable[int]) -> dict[int, tuple[Passage, PassageTerms]]:
        """The texts of those points that are known."""
        return {point: self._texts[point] for point in points if point in self._texts}

    def keep(self, texts: Mapping[int, tuple[Passage, PassageTerms]]) -> None:
        """Remember the texts of a search, in place of those not found for the longest time."""
        for point, text in texts.items():
            self._texts[point] = text
            self._texts.move_to_end(point)
        while len(self._texts) > TEXTS:
            self._texts.popitem(last=False)

    def unknown(self, tenants: tuple[str, ...], terms: Iterable[str]) -> list[str]:
        """The terms whose rarity in the texts of these tenants is to be asked for."""
        if len(self._rarities) > TERMS:
            self._rarities.clear()
        return [term for term in terms if (tenants, term) not in self._rarities]

    def learn(self, tenants: tuple[str, ...], term: str, rarity: float | None) -> None:
        """Remember the rarity of a term; None for one that no text has."""
        self._rarities[tenants, term] = rarity

    def rarity(self, tenants: tuple[str, ...], terms: Iterable[str], texts: int) -> Rarity:
        """The rarity of each of these terms that occurs in at least one of `texts` texts."""
        known = {term: found for term in terms if (found := self._rarities[tenants, term]) is not None}
        return Rarity(known, inverse_document_frequency(0, texts))
