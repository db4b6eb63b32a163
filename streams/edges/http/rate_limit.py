"""A rate limit: one token bucket per caller."""

import time
from collections.abc import Callable, Hashable


class RateLimit:
    """`per_minute` calls, in a burst or spread. Callers come from known tokens, so the buckets are few."""

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = float(per_minute)
        self._per_second = per_minute / 60
        self._clock = clock
        self._left: dict[Hashable, tuple[float, float]] = {}

    def take(self, caller: Hashable) -> float:
        """Seconds until the next call is allowed; 0 takes the call now."""
        now = self._clock()
        left, at = self._left.get(caller, (self._most, now))
        left = min(left + (now - at) * self._per_second, self._most)
        allowed = left >= 1
        self._left[caller] = (left - 1 if allowed else left, now)
        return 0.0 if allowed else (1 - left) / self._per_second
