"""What a group leaves beside a committed offset, in its metadata, for the case that its process dies; pure.

A process that ends in order leaves nothing. One that dies leaves how many died one after the other without coming
further in this partition, and the record that was handled alone, if one was.
"""

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from streams.kafka.records import TopicPartition

WORDS = re.compile(r"deaths (\d{1,9})(?:, alone (\d{1,18}))?")


class CrashMark(NamedTuple):
    """The deaths, and the offset of the record that was alone in hand."""

    deaths: int = 0
    alone: int | None = None

    @classmethod
    def read(cls, metadata: str | None) -> "CrashMark":
        """The mark of a commit's metadata; another's words say nothing."""
        found = WORDS.fullmatch(metadata or "")
        if found is None:
            return NO_DEATHS
        deaths, alone = found.groups()
        return cls(int(deaths), None if alone is None else int(alone))

    def written(self) -> str:
        """The metadata; empty without deaths."""
        alone = "" if self.alone is None else f", alone {self.alone}"
        return f"deaths {self.deaths}{alone}" if self.deaths else ""

    def begun(self) -> "CrashMark":
        """What to leave while one more process goes on from the same offset."""
        return self._replace(deaths=self.deaths + 1)


NO_DEATHS = CrashMark()
# What a process leaves that has come further: should it die, it is the first.
HELD = CrashMark(1)


class PartitionMarks:
    """The marks of the partitions of one member, from its assignment to its end."""

    def __init__(self) -> None:
        # As they were found, with the end of the log then.
        self.found: Mapping[TopicPartition, tuple[CrashMark, int]] = {}
        self._next: dict[TopicPartition, CrashMark] = {}
        self._left: dict[TopicPartition, CrashMark] = {}
        # Where a commit has moved since.
        self.further: set[TopicPartition] = set()

    def begin(self, found: Mapping[TopicPartition, tuple[CrashMark, int]]) -> None:
        """Leave with the next commit that one more process goes on from the same offsets."""
        self.found = found
        self.further.clear()
        self._left = {tp: mark for tp, (mark, _) in found.items()}
        self._next = {tp: mark.begun() for tp, mark in self._left.items()}

    def go_on(self) -> None:
        """From the next commit on it has come further."""
        self._next = dict.fromkeys(self._left, HELD)

    def end(self) -> list[TopicPartition]:
        """Leave nothing where the process came further, else what was found; the partitions where that is news."""
        self._next = {tp: NO_DEATHS if tp in self.further else mark for tp, (mark, _) in self.found.items()}
        return [tp for tp, mark in self._left.items() if mark != self._next[tp]]

    def put(self, tp: TopicPartition, mark: CrashMark) -> None:
        """Leave this with the next commits."""
        self._next[tp] = mark

    def next(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, CrashMark]:
        """What to leave now."""
        return {tp: self._next.get(tp, NO_DEATHS) for tp in partitions}

    def stored(self, marks: Mapping[TopicPartition, CrashMark]) -> None:
        """Keep what the broker has now."""
        self._left.update(marks)
