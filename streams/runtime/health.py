"""The health of a process: whether its loop moves, its groups read, and its stores answer."""

import time
from collections.abc import Callable
from typing import NotRequired, TypedDict

LOOP_STALL_S = 10.0


class GroupState(TypedDict):
    """Whether a consumer group reads, and how many partitions it has."""

    healthy: bool
    partitions: int


class ProcessState(TypedDict):
    """Consumer groups by name, and further states of the process; a store and the disk are `ok` or have their error."""

    groups: dict[str, GroupState]
    stores: NotRequired[dict[str, str]]
    disk: NotRequired[str]
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
        lag = self.loop_lag()
        known = self._describe()
        stalled = [name for name, group in known["groups"].items() if self.started and not group["healthy"]]
        ok = lag < LOOP_STALL_S and not stalled
        return 200 if ok else 503, {"live": ok, "loop_lag_s": round(lag, 3), "stalled_groups": stalled}

    def ready(self) -> tuple[int, dict[str, object]]:
        status, _ = self.live()
        known = self._describe()
        ok = status == 200 and self.started and not self.stopping and known.get("disk", "ok") == "ok"
        return 200 if ok else 503, {"ready": ok, **known}

    def startup(self) -> tuple[int, dict[str, object]]:
        return 200 if self.started else 503, {"started": self.started}
