"""The port of excerpts: what an explanation needs of a log."""

from collections.abc import AsyncGenerator, Collection, Sequence
from datetime import timedelta
from typing import Protocol

from schemas.base import Source
from schemas.codec import Written


class LoggedRecord(Written, Protocol):
    """A record as its log has it."""

    @property
    def topic(self) -> str: ...


class LogExcerpts(Protocol):
    """Reads of a few records of the log; a key leads to the one partition of it."""

    def after(self, topic: str, keys: Collection[str], since: int, most: int) -> AsyncGenerator[Sequence[LoggedRecord]]:
        """Records written since a time (ms), oldest first, at most so many of each partition; without keys of all."""

    def newest(self, topic: str, keys: Collection[str]) -> AsyncGenerator[Sequence[LoggedRecord]]:
        """Batches of records, the newest first; without keys of all partitions."""

    async def at(self, place: Source) -> LoggedRecord | None:
        """The record there, None where it is no more."""

    async def kept_from(self, topic: str, keys: Collection[str]) -> int | None:
        """The time (ms) of the first record that is kept; None without any."""

    async def retention(self, topic: str) -> timedelta | None:
        """How long the topic keeps its records, as the broker says."""
