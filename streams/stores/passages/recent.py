"""What the last searches of a collection have read, until a write changes it: texts by point, the rarity of terms.

Only the process that owns an index may keep this: it hears of every write.
"""

from collections.abc import Iterable, Mapping

from agents.core.caching.lru import ByteCache
from agents.ports.passages import Passage
from streams.stores.passages.lexical import PassageTerms

TENANTS, TERMS = 16, 512
# What a passage takes besides its texts, and each of their characters in the text and in its terms.
PASSAGE_BYTES, CHAR_BYTES = 2_000, 12


class RecentReads:
    """The texts found last, and the rarities of the terms asked about since the last write."""

    def __init__(self) -> None:
        self._texts: ByteCache[int, tuple[Passage, PassageTerms]] = ByteCache("index_texts")
        self._rarities: dict[tuple[str, ...], dict[str, float | None]] = {}

    def written(self, points: Iterable[int]) -> None:
        """Forget these points, and every rarity: the engine's estimates depend on all texts, whosever."""
        for point in points:
            self._texts.pop(point)
        self._rarities.clear()

    def texts(self, points: Iterable[int]) -> dict[int, tuple[Passage, PassageTerms]]:
        """The texts of those points that are known."""
        return {point: text for point in points if (text := self._texts.get(point)) is not None}

    def keep(self, texts: Mapping[int, tuple[Passage, PassageTerms]]) -> None:
        """Remember the texts of a search, in place of those not found for the longest time."""
        for point, text in texts.items():
            passage, _ = text
            self._texts.put(point, text, PASSAGE_BYTES + CHAR_BYTES * (len(passage.text) + len(passage.context)))

    def rarities(self, tenants: tuple[str, ...]) -> dict[str, float | None]:
        """The known rarities of terms in what these tenants have, to be added to; None for what no text has."""
        if len(self._rarities) > TENANTS:
            self._rarities.clear()
        known = self._rarities.setdefault(tenants, {})
        if len(known) > TERMS:
            known.clear()
        return known
