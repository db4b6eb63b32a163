"""One byte budget for all caches of the process, divided into named shares. Pure: no clock, no I/O."""

import sys
from collections import deque
from collections.abc import Mapping
from threading import RLock
from typing import Protocol
from weakref import WeakSet

from schemas.base import Value

# In MiB of the default budget; of another one, shares keep these proportions.
SHARES: Mapping[str, int] = {
    # As many of the largest messages as the depth stage has in hand would be 32: they come in a burst, or not at all.
    "decided_turns": 20,
    "texts": 20,
    "vectors": 10,
    # A tenant may have ten thousand votes, of a kilobyte each.
    "votes": 11,
    "working_sets": 9,
    "replies": 8,
    "tool_sessions": 6,
    "index_texts": 4,
    "log_lines": 1,
    "saved_tool_sessions": 3,
    "emitted_packs": 4,
    "given_contexts": 3,
    "chat_turns": 3,
    "record_keys": 2,
    "person_keys": 1,
    "sent_records": 2,
    "idempotency_keys": 1,
    "access_levels": 1,
    "refused_calls": 1,
    "refused_messages": 1,
    "failed_runs": 1,
}
DEFAULT_MB = 112
# What an entry takes besides its key and value: its place in the dictionary, its size and its stamp.
ENTRY_BYTES = 250
# What objects take of memory for each byte of their JSON.
OBJECTS_PER_JSON = 4
# By the exact class, as this runs for every text that is read.
_PLAIN = frozenset({str, bytes, int, float, bool, type(None)})
_COLLECTIONS = frozenset({tuple, frozenset, list, set, deque})


class CacheMember(Protocol):
    """A cache of a share."""

    @property
    def size_bytes(self) -> int:
        """The bytes of its entries, about."""


class CacheShare:
    """The caches of one name, which may hold `allowed` bytes together."""

    def __init__(self, allowed: int) -> None:
        self.allowed = allowed
        self._members: WeakSet[CacheMember] = WeakSet()
        # Front and workers of one process have event loops in threads of their own.
        self.lock = RLock()

    @property
    def used(self) -> int:
        """The bytes that they hold, about."""
        return sum(member.size_bytes for member in self.members())

    def members(self) -> list[CacheMember]:
        """The caches that somebody still has."""
        return list(self._members)

    def join(self, member: CacheMember) -> None:
        """Count a cache among those of the share, while somebody has it."""
        self._members.add(member)


_SHARES = {name: CacheShare(parts << 20) for name, parts in SHARES.items()}


def share_of(name: str) -> CacheShare:
    """The share of that name."""
    return _SHARES[name]


def set_budget(megabytes: int) -> None:
    """Let the caches of this process hold so many MiB together, from their next entries on."""
    for name, parts in SHARES.items():
        _SHARES[name].allowed = (megabytes << 20) * parts // DEFAULT_MB


def bytes_of(value: object) -> int:
    """An estimate of the memory of a value, with what it contains."""
    kind = type(value)
    if kind in _PLAIN:
        return sys.getsizeof(value)
    if kind in _COLLECTIONS or isinstance(value, tuple):
        return sys.getsizeof(value) + sum(map(bytes_of, value))  # type: ignore[call-overload]
    if isinstance(value, Mapping):
        return sys.getsizeof(value) + bytes_of([*value.keys(), *value.values()])
    if isinstance(value, Value):
        return sys.getsizeof(value) + bytes_of(vars(value))
    # Compared by identity, it is somebody's own, and shared: a vocabulary among the arguments of a function.
    is_shared = kind is type or kind.__hash__ is object.__hash__
    fields = () if is_shared else getattr(value, "__dataclass_fields__", ())
    return sys.getsizeof(value) + sum([bytes_of(getattr(value, name)) for name in fields])
