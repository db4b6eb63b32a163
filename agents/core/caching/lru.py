"""An LRU cache bounded by bytes: a caller chooses the size of a value, so that a number of entries bounds nothing."""

from collections import OrderedDict
from itertools import count
from typing import Generic, TypeVar

from agents.core.caching.budget import ENTRY_BYTES, CacheShare, bytes_of, share_of

K = TypeVar("K")
V = TypeVar("V")

_STAMPS = count()


class ByteCache(Generic[K, V]):
    """The most recently used entries within the bytes of a share, which all caches of that share have together.

    A value larger than the share is not kept.
    """

    def __init__(self, share: str | CacheShare, *, max_entries: int | None = None) -> None:
        """Of more than `max_entries` the least recently used goes, too."""
        self._share = share_of(share) if isinstance(share, str) else share
        self._max_entries = max_entries
        self._entries: OrderedDict[K, tuple[V, int, int]] = OrderedDict()
        self.size_bytes = 0
        self._share.join(self)

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, key: K) -> bool:
        return key in self._entries

    def get(self, key: K) -> V | None:
        """The value of a key, which is used by that."""
        with self._share.lock:
            found = self._entries.get(key)
            if found is None:
                return None
            self._entries[key] = (*found[:2], next(_STAMPS))
            self._entries.move_to_end(key)
            return found[0]

    def put(self, key: K, value: V, size: int | None = None) -> None:
        """Keep a value of so many bytes, in place of those used least recently; one that has changed is put again."""
        size = ENTRY_BYTES + bytes_of(key) + (bytes_of(value) if size is None else size)
        with self._share.lock:
            self.pop(key)
            if size > self._share.allowed:
                return
            self._entries[key] = value, size, next(_STAMPS)
            self.size_bytes += size
            if self._max_entries is not None and len(self._entries) > self._max_entries:
                self._drop_oldest()
            self._bound()

    def pop(self, key: K) -> V | None:
        """Drop a key; its value, if it was kept."""
        with self._share.lock:
            found = self._entries.pop(key, None)
            if found is None:
                return None
            self.size_bytes -= found[1]
            return found[0]

    def clear(self) -> None:
        """Drop everything."""
        with self._share.lock:
            self._entries.clear()
            self.size_bytes = 0

    def items(self) -> list[tuple[K, V]]:
        """What is kept, the least recently used first; nothing is used by that."""
        return [(key, found[0]) for key, found in list(self._entries.items())]

    def oldest(self) -> tuple[K, V] | None:
        """The entry used least recently, which it is not by that."""
        key = next(iter(self._entries), None)
        return None if key is None else (key, self._entries[key][0])

    def _bound(self) -> None:
        over = self._share.used - self._share.allowed
        while over > 0:
            filled = [each for each in self._share.members() if isinstance(each, ByteCache) and each._entries]
            over -= min(filled, key=ByteCache._oldest_stamp)._drop_oldest()

    def _oldest_stamp(self) -> int:
        return next(iter(self._entries.values()))[2]

    def _drop_oldest(self) -> int:
        _, (_, size, _) = self._entries.popitem(last=False)
        self.size_bytes -= size
        return size
