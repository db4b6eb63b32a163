"""How many calls a caller may make: a bucket per caller that fills evenly; pure but for the clock it is given."""

import time
from collections.abc import Callable, Hashable


class RateLimit:
    """`per_minute` calls, at once or spread; callers are known ones, so there are as many buckets as tokens."""

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = float(per_minute)
        self._per_second = per_minute / 60
        self._clock = clock
        self._left: dict[Hashable, tuple[float, float]] = {}

    def take(self, caller: Hashable) -> float:
        """0 where the call is allowed, else after how many seconds the next one is."""
        now = self._clock()
        left, at = self._left.get(caller, (self._most, now))
        left = min(left + (now - at) * self._per_second, self._most)
        allowed = left >= 1
        self._left[caller] = (left - 1 if allowed else left, now)
        return 0.0 if allowed else (1 - left) / self._per_second
