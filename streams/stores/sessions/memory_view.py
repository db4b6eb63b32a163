"""Views of the log in this process's memory know which of its partitions they hold whole."""

from collections.abc import Collection
from uuid import uuid4

from agents.errors import ViewIncomplete


class MemoryView:
    """What `RedisView` is on a server."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._whole: set[int] = set()
        self._making: dict[int, str] = {}

    def clear(self) -> None:
        """Lose everything, as a server does that is emptied."""
        self._whole.clear()
        self._making.clear()

    async def incomplete_partitions(self, partitions: Collection[int]) -> frozenset[int]:
        """Those that were not restored since this process began, or since `clear`."""
        return frozenset(partitions) - self._whole

    async def start_restore(self, partition: int) -> str:
        """A token to restore with; the partition is not whole from now on, and an earlier token is worth nothing."""
        self._whole.discard(partition)
        self._making[partition] = token = uuid4().hex
        return token

    async def complete_restore(self, partition: int, token: str) -> None:
        """The partition is whole; raises `ViewIncomplete` when the token is worth nothing any more."""
        self._unless_behind(partition, token)
        del self._making[partition]
        self._whole.add(partition)

    def _unless_behind(self, partition: int, token: str) -> None:
        if self._making.get(partition) != token:
            raise ViewIncomplete(self._what, partition)
