"""A store that a replay leaves alone: what would be written there goes nowhere."""

from collections.abc import Sequence

from agents.errors import Unavailable
from agents.ports.passages import Hit, Passage, PassageQuery


class NullPassageIndex:
    """An index that is not to be filled."""

    async def upsert(self, _tenant: str, _collection: str, _passages: Sequence[Passage]) -> None:
        """Forget them."""

    async def search(self, _tenant: str, _collection: str, _query: PassageQuery) -> tuple[Hit, ...]:
        """Nothing is ever found."""
        return ()

    async def vectors(self, _texts: Sequence[str]) -> list[list[float]]:
        """Raises `Unavailable`: nothing here has a vector."""
        raise Unavailable("index", "there is none here")
