"""The health of a process: whether its loop moves, its groups read, and its stores answer."""

import time
from collections.abc import Callable
from typing import NotRequired, TypedDict

LOOP_STALL_S = 10.0


class GroupState(TypedDict):
    """Whether a consumer group reads, how many partitions it has, and for how many seconds its reading loop stands.

    `status`, `lag` (records to read) and `why` say how it keeps up; `stuck` where packs wait for it in vain.
    """

    healthy: bool
    partitions: int
    stalled_s: NotRequired[float]
    status: NotRequired[str]
    lag: NotRequired[int]
    why: NotRequired[str]
    stuck: NotRequired[bool]


class ProcessState(TypedDict):
    """Consumer groups by name, and further states of the process; a store and the disk are `ok` or have their error.

    `away` is what is wrong with those that have not answered for some time. `damaged` are files that were set aside,
    without which everything works.
    """

    groups: dict[str, GroupState]
    stores: NotRequired[dict[str, str]]
    away: NotRequired[list[str]]
    disk: NotRequired[str]
    damaged: NotRequired[list[str]]
    broker: NotRequired[bool]
    waiting: NotRequired[int]


class Health:
    """The health of this process; written by the event loop, read by the server thread."""

    def __init__(self, describe: Callable[[], ProcessState]) -> None:
        self._describe = describe
        self._beat = time.monotonic()
        self.started = False
        self.stopping = False

    def beat(self) -> None:
        """Record that the loop runs; called about every second."""
        self._beat = time.monotonic()

    def loop_lag(self) -> float:
        """Seconds since the last beat of the loop."""
        return time.monotonic() - self._beat

    def live(self) -> tuple[int, dict[str, object]]:
        """Whether the loop moves; where it does not, only a restart helps."""
        lag = self.loop_lag()
        ok = lag < LOOP_STALL_S
        return 200 if ok else 503, {"live": ok, "loop_lag_s": round(lag, 3)}

    def ready(self) -> tuple[int, dict[str, object]]:
        """Whether everything works that packs, memory and answers need; `why` has a sentence for each that does not."""
        known = self._describe()
        why = self._why_not(known)
        told = {name: state for name, state in known.items() if name != "away"}
        return 503 if why else 200, {"ready": not why, "why": why, **told}

    def _why_not(self, known: ProcessState) -> list[str]:
        why = [] if self.started else ["the process is starting"]
        if self.stopping:
            why.append("the process is ending")
        if (lag := self.loop_lag()) >= LOOP_STALL_S:
            why.append(f"the event loop has not moved for {lag:.0f} s")
        if self.started:
            why += [f"group {name} does not read" for name, group in known["groups"].items() if not group["healthy"]]
            why += [f"group {name}: {group['why']}" for name, group in known["groups"].items() if group.get("stuck")]
        if (disk := known.get("disk", "ok")) != "ok":
            why.append(disk)
        return why + known.get("away", [])

    def startup(self) -> tuple[int, dict[str, object]]:
        return 200 if self.started else 503, {"started": self.started}
