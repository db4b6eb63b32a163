"""Where the reading of partitions begins, and what their last owners noted with their offsets."""

from typing import NamedTuple

# The metadata of an offset whose owner gave it back in order: nothing was in progress.
RELEASED = "released"


class Beginning(NamedTuple):
    """Where the reading of a partition begins, the end of its log then, and the metadata of the committed offset.

    `note` is None where nothing had been committed.
    """

    offset: int
    end: int
    note: str | None

    @property
    def unfinished(self) -> str | None:
        """The note, where the last owner did not give the partition back and left records of it."""
        return None if self.note == RELEASED or self.offset >= self.end else self.note
