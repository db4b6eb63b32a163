"""What the last searches of a collection have read, until a write changes it: texts by point, the rarity of terms.

Only the process that owns an index may keep this: it hears of every write.
"""

from collections import OrderedDict
from collections.abc import Iterable, Mapping

from agents.ports.passages import Passage
from streams.stores.passages.lexical import PassageTerms

# About five megabytes of chunks.
TEXTS = 512
# Rarities are numbers of one tenant: a tenth of that.
TENANTS, TERMS = 16, 512


class RecentReads:
    """The texts found last, and the rarities of the terms asked about since the last write."""

    def __init__(self) -> None:
        self._texts: OrderedDict[int, tuple[Passage, PassageTerms]] = OrderedDict()
        self._rarities: dict[tuple[str, ...], dict[str, float | None]] = {}

    def written(self, points: Iterable[int]) -> None:
        """Forget these points, and every rarity: the engine's estimates depend on all texts, whosever."""
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

    def rarities(self, tenants: tuple[str, ...]) -> dict[str, float | None]:
        """The known rarities of terms in what these tenants have, to be added to; None for what no text has."""
        if len(self._rarities) > TENANTS:
            self._rarities.clear()
        known = self._rarities.setdefault(tenants, {})
        if len(known) > TERMS:
            known.clear()
        return known
