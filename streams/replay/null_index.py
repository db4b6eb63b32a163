"""A null object for a store that a replay does not write to."""

from collections.abc import Sequence

from agents.errors import Unavailable
from agents.ports.passages import Hit, Passage, PassageQuery


class NullPassageIndex:
    """A passage index that ignores writes."""

    async def upsert(self, _tenant: str, _collection: str, _passages: Sequence[Passage]) -> None:
        """Do nothing."""

    async def search(self, _tenant: str, _collection: str, _query: PassageQuery) -> tuple[Hit, ...]:
        """No hits."""
        return ()

    async def of_conversation(self, _tenant: str, _collection: str, _conversation_id: str) -> tuple[Passage, ...]:
        """No passages."""
        return ()

    async def remove(self, _tenant: str, _collection: str, _ids: Sequence[str]) -> None:
        """Do nothing."""

    async def vectors(self, _texts: Sequence[str]) -> list[list[float]]:
        """Raises `Unavailable`: there are no vectors."""
        raise Unavailable("index", "there is none here")
