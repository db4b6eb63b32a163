"""Reads of what a record names: it is in the log, and may not be stored yet."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from agents.concurrency import RetryUntil
from agents.errors import Unavailable
from agents.ports.models import Clock
from agents.ports.progress import WriterProgress
from schemas.topics import Topic

T = TypeVar("T")
WRITERS = "writers"


@dataclass(frozen=True, slots=True)
class References:
    """Topics have no common order: what is named is read again for a while, then for as long as writers are behind.

    Without `progress`, for the while alone.
    """

    clock: Clock
    retry: RetryUntil
    progress: WriterProgress | None = None

    async def find(self, read: Callable[[], Awaitable[T | None]], topic: Topic, by: datetime) -> T | None:
        """What a record logged at `by` names and one of the topic told of; None where none did.

        Raises `Unavailable` while that cannot be said.
        """
        # A client's clock may be ahead, and the writers are never done with what comes now.
        by = min(by, self.clock.now())
        if (found := await self.retry.find(read)) is not None or self.progress is None:
            return found
        if (why := await self.progress.behind(topic, by)) is not None:
            raise Unavailable(WRITERS, why)
        return await read()  # it may have been stored since
