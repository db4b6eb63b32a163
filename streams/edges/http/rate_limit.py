"""Limits by time: calls of each caller, and tokens that nobody has, by the address that they come from."""

import logging
import math
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field

from streams.edges.http.problems import Problem
from streams.edges.http.tokens import Grant
from streams.telemetry import metrics

LOG = logging.getLogger("fathom.http")
# More than a program with a token of yesterday asks; a guess a second finds no token of 16 characters.
PER_MINUTE = 60
LOG_S = 60.0
MAX_ADDRESSES, MAX_KNOWN = 10_000, 1_000


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


@dataclass(slots=True)
class _Address:
    allowance: RateLimit
    # Whose tokens came from here before.
    known: set[Grant] = field(default_factory=set)
    refused_until: float = -math.inf
    logged_at: float = -math.inf
    unlogged: int = 0


class Guesses:
    """Addresses that call: each may send `PER_MINUTE` unknown tokens, in a burst or spread."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._addresses: OrderedDict[str, _Address] = OrderedDict()

    def check(self, address: str, grant: Grant | None) -> None:
        """Take a call with a token, of this grant or unknown; raises `Problem` (429) after too many unknown ones.

        Then also for a right one that is new from this address: a guess that is right would be told from the others.
        """
        found, now = self._of(address), self._clock()
        if grant is None:
            self._log(address, found, now)
            if wait := found.allowance.take(None):
                found.refused_until = now + wait
        if now < found.refused_until and grant not in found.known:
            seconds = math.ceil(found.refused_until - now)
            said = f"too many unknown tokens came from this address: try again in {seconds} s"
            raise Problem(429, said, retry_after=str(seconds))
        if grant is not None and len(found.known) < MAX_KNOWN:
            found.known.add(grant)

    def _of(self, address: str) -> _Address:
        found = self._addresses.pop(address, None) or _Address(RateLimit(PER_MINUTE, self._clock))
        self._addresses[address] = found
        if len(self._addresses) > MAX_ADDRESSES:
            self._addresses.popitem(last=False)
        return found

    def _log(self, address: str, found: _Address, now: float) -> None:
        found.unlogged += 1
        if now - found.logged_at >= LOG_S:
            metrics.log(LOG, logging.WARNING, "http.unknown_token", address=address, calls=found.unlogged)
            found.logged_at, found.unlogged = now, 0
