"""A clock, a time and a key store in memory, for tests of keys."""

from collections.abc import Collection, Mapping
from datetime import UTC, datetime

from streams.stores.keys.key_store import DestroyedKey, WrappedKey

AT = datetime(2026, 3, 1, 12, tzinfo=UTC)


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class MemoryKeyStore:
    """`KeyStore` in memory, for tests of many persons."""

    def __init__(self) -> None:
        self.keys: dict[str, WrappedKey] = {}
        self.gone: dict[str, list[DestroyedKey]] = {}

    async def current(self, subjects: Collection[str]) -> Mapping[str, WrappedKey]:
        return {each: self.keys[each] for each in subjects if each in self.keys}

    async def add(self, subject: str, fresh: WrappedKey) -> WrappedKey:
        return self.keys.setdefault(subject, fresh)

    async def by_id(self, ids: Collection[str]) -> Mapping[str, WrappedKey | DestroyedKey]:
        known: dict[str, WrappedKey | DestroyedKey] = {each.id: each for each in self.keys.values()}
        known |= {each.id: each for gone in self.gone.values() for each in gone}
        return {own: known[own] for own in ids if own in known}

    async def destroy(self, subject: str, at: datetime) -> DestroyedKey | None:
        if subject not in self.keys:
            return None
        self.gone.setdefault(subject, []).append(DestroyedKey(self.keys.pop(subject).id, at))
        return self.gone[subject][-1]

    async def destroyed(self, subject: str) -> tuple[DestroyedKey, ...]:
        return tuple(self.gone.get(subject, ()))

    async def any(self) -> WrappedKey | None:
        return next(iter(self.keys.values()), None)

    async def ping(self) -> None:
        return

    async def close(self) -> None:
        return
