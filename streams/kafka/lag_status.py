"""How a consumer group keeps up, as a status with its reason, by rules over some seconds of offsets.

| status | a partition                                                    |
|--------|----------------------------------------------------------------|
| OK     | is read to its end, or gets nearer to it                       |
| WARN   | gets further from its end, although its group moves            |
| STOP   | has records to read, and the group has no member               |
| STALL  | has records to read and a member, and its offset does not move |
| REWIND | has a committed offset that went back                          |

The statuses are those of LinkedIn's Burrow. A group with a partition in one of the last three is ERROR.
"""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

# For how long an offset must not have moved, in seconds, until it stalls.
STALL_AFTER_S = 20.0


class LagStatus(StrEnum):
    """The status of a partition or a group; `ERROR` is one of groups alone."""

    OK = "OK"
    WARN = "WARN"
    ERROR = "ERROR"
    STOP = "STOP"
    STALL = "STALL"
    REWIND = "REWIND"


FAILED = frozenset({LagStatus.STOP, LagStatus.STALL, LagStatus.REWIND})
# As a metric: the worse, the higher.
NUMBERS: Mapping[LagStatus, int] = {status: number for number, status in enumerate(LagStatus)}


@dataclass(frozen=True, slots=True)
class LagSample:
    """The offsets of a partition at a time (s): the next one to read and the end of the log."""

    at: float
    position: int
    end: int

    @property
    def lag(self) -> int:
        return max(self.end - self.position, 0)


@dataclass(frozen=True, slots=True)
class LagJudged:
    """The status of a partition or a group, with its lag in records and the reason."""

    status: LagStatus
    lag: int
    why: str


def judged(samples: Sequence[LagSample], *, members: bool = True) -> LagJudged:
    """The status of a partition by its samples, oldest first; at least one."""
    last, lag = samples[-1], samples[-1].lag
    for before, after in pairwise(samples):
        if after.position < before.position:
            back = f"{before.position} to {after.position}"
            return LagJudged(LagStatus.REWIND, lag, f"an offset that went back from {back}")
    if any(sample.lag == 0 for sample in samples):
        return LagJudged(LagStatus.OK, lag, "read to its end" if lag == 0 else f"{lag:,} to read, a moment ago none")
    if not members:
        return LagJudged(LagStatus.STOP, lag, f"{lag:,} to read, and no member reads them")
    standing = last.at - next(sample.at for sample in samples if sample.position == last.position)
    if standing >= STALL_AFTER_S:
        return LagJudged(LagStatus.STALL, lag, f"{lag:,} to read, and for {standing:.0f} s none of them was")
    if len(samples) > 1 and lag > samples[0].lag:
        return LagJudged(LagStatus.WARN, lag, f"{lag:,} to read, {lag - samples[0].lag:,} more than before")
    fewer = ", and they get fewer" if lag < samples[0].lag else ""
    return LagJudged(LagStatus.OK, lag, f"{lag:,} to read{fewer}")


def worst(partitions: Mapping[str, LagJudged]) -> LagJudged:
    """The status of a group, by its partitions; its lag is the sum of theirs, its reason that of the worst."""
    if not partitions:
        return LagJudged(LagStatus.OK, 0, "it has no partition here")
    name, found = max(partitions.items(), key=lambda each: (NUMBERS[each[1].status], each[1].lag))
    lag = sum(each.lag for each in partitions.values())
    if found.status in FAILED:
        return LagJudged(LagStatus.ERROR, lag, f"{found.status}: {name} has {found.why}")
    return LagJudged(found.status, lag, f"{name} has {found.why}" if lag else "read to its end")


def stands(partitions: Mapping[str, LagJudged]) -> bool:
    """Whether a group has records to read and moves in none of the partitions that have them."""
    waiting = [each for each in partitions.values() if each.lag]
    return bool(waiting) and all(each.status in FAILED for each in waiting)


class LagWindow:
    """The samples of the last seconds, by partition."""

    def __init__(self, seconds: float = STALL_AFTER_S * 1.5) -> None:
        self._seconds = seconds
        self._samples: dict[str, deque[LagSample]] = {}

    def add(self, found: Iterable[tuple[str, LagSample]]) -> None:
        """Add a sample of each partition that is there now; those of others are forgotten."""
        latest = dict(found)
        self._samples = {name: self._samples.get(name, deque()) for name in latest}
        for name, sample in latest.items():
            samples = self._samples[name]
            samples.append(sample)
            while len(samples) > 2 and samples[1].at <= sample.at - self._seconds:
                samples.popleft()

    def judged(self, *, members: bool = True) -> dict[str, LagJudged]:
        """The status of each partition."""
        return {name: judged([*samples], members=members) for name, samples in self._samples.items()}
