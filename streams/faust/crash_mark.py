"""What a group leaves beside a committed offset, in its metadata, for the case that its process dies; pure.

A process that ends in order leaves nothing. One that dies leaves how many died one after the other without coming
further in this partition, and the records that were handled alone, if any were; for one, how often it was. One that
lives on for some seconds with what stops a partition leaves nothing of it either: that kills nobody, and workers that
are killed again and again would otherwise count as many deaths at each record that waits.
"""

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from streams.kafka.records import TopicPartition

# What has not killed in so long after it was begun is neither waited for nor accused.
SURVIVED_S = 10.0
WORDS = re.compile(r"deaths (\d{1,9})(?:, alone (\d{1,18})(?:-(\d{1,18}))?, times (\d{1,9}))?")


class CrashMark(NamedTuple):
    """The deaths, the offsets of the records that were alone in hand, and in how many of the deaths just these were."""

    deaths: int = 0
    alone: range = range(0)
    times: int = 0

    @classmethod
    def read(cls, metadata: str | None) -> "CrashMark":
        """The mark of a commit's metadata; another's words say nothing."""
        found = WORDS.fullmatch(metadata or "")
        if found is None:
            return NO_DEATHS
        deaths, first, last, times = found.groups()
        if first is None:
            return cls(int(deaths))
        return cls(int(deaths), range(int(first), int(last or first) + 1), int(times))

    def written(self) -> str:
        """The metadata; empty without deaths."""
        if not self.alone:
            return f"deaths {self.deaths}" if self.deaths else ""
        last = f"-{self.alone[-1]}" if len(self.alone) > 1 else ""
        return f"deaths {self.deaths}, alone {self.alone[0]}{last}, times {self.times}"

    def begun(self) -> "CrashMark":
        """What to leave while one more process goes on from the same offset."""
        return self._replace(deaths=self.deaths + 1)

    def accusing(self, offsets: range, found: "CrashMark") -> "CrashMark":
        """What to leave while records are alone in hand, after what was found."""
        return self._replace(alone=offsets, times=1 + (found.times if offsets == found.alone else 0))

    def acquitting(self) -> "CrashMark":
        """What to leave while none is."""
        return self._replace(alone=range(0), times=0)


NO_DEATHS = CrashMark()
# What a process leaves that has come further: should it die, it is the first.
HELD = CrashMark(1)


class PartitionMarks:
    """The marks of the partitions of one member, from its assignment to its end."""

    def __init__(self) -> None:
        # As they were found, with the end of the log then; those of which nothing was delivered yet.
        self.found: Mapping[TopicPartition, tuple[CrashMark, int]] = {}
        self.untouched: set[TopicPartition] = set()
        self._begun_at = 0.0
        self._next: dict[TopicPartition, CrashMark] = {}
        self._left: dict[TopicPartition, CrashMark] = {}

    def begin(self, found: Mapping[TopicPartition, tuple[CrashMark, int]], now: float) -> None:
        """Take over partitions; with the first commit of each one more process goes on from the same offset."""
        self.found, self.untouched, self._begun_at = found, set(found), now
        self._left = {tp: mark for tp, (mark, _) in found.items()}
        self._next = {tp: mark.begun() for tp, mark in self._left.items()}

    def touched(self, partitions: Iterable[TopicPartition]) -> None:
        """Records of these are delivered from now on: the next commit says that the process came further."""
        for tp in partitions:
            self.untouched.discard(tp)
            self._next[tp] = HELD

    def spared(
        self, holding: Mapping[TopicPartition, tuple[int, float] | None], now: float
    ) -> dict[TopicPartition, CrashMark]:
        """What to leave where the process lives on with the record that holds a partition, or with none of it in hand.

        `holding` has its offset and the time of its delivery.
        """
        return {tp: NO_DEATHS for tp, held in holding.items() if self._is_spared(tp, held and held[1], now)}

    def _is_spared(self, tp: TopicPartition, delivered_at: float | None, now: float) -> bool:
        left = self._left.get(tp, NO_DEATHS)
        if left.alone:
            return False
        if delivered_at is None:
            # That a process is the first to die does no harm where it has nothing in hand.
            return left.deaths > HELD.deaths and now - self._begun_at > SURVIVED_S
        return left.deaths > 0 and now - delivered_at > SURVIVED_S

    def end(self) -> list[TopicPartition]:
        """Leave nothing of what was delivered and killed nobody; the partitions where that is news."""
        self._next = {tp: mark if tp in self.untouched else NO_DEATHS for tp, (mark, _) in self.found.items()}
        return [tp for tp, mark in self._left.items() if mark != self._next[tp]]

    def put(self, marks: Mapping[TopicPartition, CrashMark]) -> None:
        """Leave these with the next commits."""
        self._next.update(marks)

    def next(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, CrashMark]:
        """What to leave now."""
        return {tp: self._next.get(tp, NO_DEATHS) for tp in partitions}

    def stored(self, marks: Mapping[TopicPartition, CrashMark]) -> None:
        """Keep what the broker has now."""
        self._left.update(marks)
