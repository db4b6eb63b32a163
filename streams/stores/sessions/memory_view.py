"""The completeness of in-memory views of the log, by partition."""

from collections.abc import Collection
from uuid import uuid4

from agents.errors import ViewIncomplete


class MemoryView:
    """The in-memory counterpart of `RedisView`."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._whole: set[int] = set()
        self._making: dict[int, str] = {}

    def clear(self) -> None:
        """Discard everything, like a server that is emptied."""
        self._whole.clear()
        self._making.clear()

    async def incomplete_partitions(self, partitions: Collection[int]) -> frozenset[int]:
        """The partitions that were not restored since this process started, or since `clear`."""
        return frozenset(partitions) - self._whole

    async def start_restore(self, partition: int) -> str:
        """A token for a restoration; the partition is incomplete from now on, and earlier tokens become invalid."""
        self._whole.discard(partition)
        self._making[partition] = token = uuid4().hex
        return token

    async def complete_restore(self, partition: int, token: str) -> None:
        """Mark the partition complete; raises `ViewIncomplete` for an invalid token."""
        self._unless_behind(partition, token)
        del self._making[partition]
        self._whole.add(partition)

    def _unless_behind(self, partition: int, token: str) -> None:
        if self._making.get(partition) != token:
            raise ViewIncomplete(self._what, partition)
