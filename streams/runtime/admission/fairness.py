"""Fairness between tenants at the first stage: who has how much there, and what waits in memory for its turn.

A log has one order. Where more comes than can be handled, the records of a tenant that sends much lie before those of
the others; only what has been read can be put in another order. So the first stage reads on, within bounds, and of
what it has read tenants take turns.
"""

from collections import Counter, deque
from collections.abc import Callable, Collection, Hashable
from itertools import chain
from time import monotonic
from typing import Generic, NamedTuple, Protocol, TypeVar

from streams.kafka.records import Record

# In memory, beside a record's own bytes: the objects that hold it, in this process and in the client.
OBJECTS_BYTES = 1_500
# What was handled ahead of a record that waits is handled again after a kill; the assembler then knows the packs of
# three minutes.
MAX_AGE_S = 30.0
# The share of the bytes that must be free before reading resumes: one eighth.
RESUME_DIVISOR = 8


# The tenant of questions of our own: it is nobody's, and takes nothing from what others may.
CANARY = "_canary"


class TenantCounts:
    """How many records of each tenant the first stage has: those in progress, and those that wait for it."""

    def __init__(self) -> None:
        self._of: Counter[Hashable] = Counter()
        self._total = 0

    def came(self, tenant: Hashable) -> None:
        """Count one more."""
        if tenant == CANARY:
            return
        self._of[tenant] += 1
        self._total += 1

    def went(self, tenant: Hashable) -> None:
        """Count one less."""
        if tenant == CANARY:
            return
        self._total -= 1
        if self._of[tenant] == 1:
            del self._of[tenant]
        else:
            self._of[tenant] -= 1

    def has_little(self, tenant: Hashable) -> bool:
        """Whether a tenant has no more than half of what tenants have on average: others are what is too much."""
        return 0 < 2 * self._of.get(tenant, 0) * len(self._of) <= self._total


class _Holding(Protocol):
    """What waits: something with a record."""

    @property
    def record(self) -> Record: ...


H = TypeVar("H", bound=_Holding)


class _Waiting(NamedTuple, Generic[H]):
    tenant: Hashable
    held: H
    size: int
    since: float


class Backlog(Generic[H]):
    """Records that are read and not begun; of one tenant they go in their order, and tenants take turns."""

    def __init__(self, max_bytes: int, clock: Callable[[], float] = monotonic) -> None:
        self._max_bytes = max_bytes
        self._clock = clock
        self._queues: dict[Hashable, deque[_Waiting[H]]] = {}
        self._bytes = 0

    def __len__(self) -> int:
        return sum(map(len, self._queues.values()))

    def __bool__(self) -> bool:
        return bool(self._queues)

    def holds(self, tenant: Hashable) -> bool:
        """Whether records of a tenant wait."""
        return tenant in self._queues

    def put(self, tenant: Hashable, held: H) -> None:
        """Add a record behind those of its tenant."""
        waiting = _Waiting(tenant, held, _size(held.record), self._clock())
        self._bytes += waiting.size
        self._queues.setdefault(tenant, deque()).append(waiting)

    def take(self) -> H:
        """The first record of the tenant that has waited longest for a turn."""
        tenant, queue = next(iter(self._queues.items()))
        del self._queues[tenant]
        waiting = queue.popleft()
        if queue:
            self._queues[tenant] = queue  # behind the others
        self._bytes -= waiting.size
        return waiting.held

    def drop(self, partitions: Collection[int]) -> list[tuple[Hashable, H]]:
        """Discard the records of some partitions, and say which they were."""
        everything, dropped = [*chain.from_iterable(self._queues.values())], []
        self._queues, self._bytes = {}, 0
        for waiting in everything:
            if waiting.held.record.partition in partitions:
                dropped.append((waiting.tenant, waiting.held))
            else:
                self._bytes += waiting.size
                self._queues.setdefault(waiting.tenant, deque()).append(waiting)
        return dropped

    def has_room(self, *, resuming: bool = False) -> bool:
        """Whether one more record may wait, or several: by the bytes of those that do, and the age of the oldest."""
        if self._bytes >= self._max_bytes - (self._max_bytes // RESUME_DIVISOR if resuming else 0):
            return False
        latest = self._clock() - MAX_AGE_S
        return all(queue[0].since > latest for queue in self._queues.values())


def _size(record: Record) -> int:
    headers = sum(len(name) + len(value or b"") for name, value in record.headers)
    return len(record.value or b"") + len(record.key or b"") + headers + OBJECTS_BYTES
