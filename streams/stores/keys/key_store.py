"""The port of key stores: one key per subject (a user of a tenant), wrapped, and a note of each that was destroyed.

A subject is named by its `entity_key`. All methods raise `Unavailable` where the store does not answer.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from typing import NamedTuple, Protocol


@dataclass(frozen=True, slots=True)
class WrappedKey:
    """A subject's key, encrypted under the master key."""

    id: str
    wrapped: bytes = field(repr=False)


class DestroyedKey(NamedTuple):
    """The note of a destroyed key."""

    id: str
    at: datetime


class KeyStore(Protocol):
    """Keys by subject and by id; a subject has one key at a time."""

    async def current(self, subjects: Collection[str]) -> Mapping[str, WrappedKey]:
        """The key of each subject that has one."""

    async def add(self, subject: str, fresh: WrappedKey) -> WrappedKey:
        """Give a subject its key; of several that do so at a time one wins, and its key is returned to all."""

    async def by_id(self, ids: Collection[str]) -> Mapping[str, WrappedKey | DestroyedKey]:
        """Each key that is there or was destroyed."""

    async def destroy(self, subject: str, at: datetime) -> DestroyedKey | None:
        """Destroy the subject's key and note it, in one step; None where the subject has none."""

    async def destroyed(self, subject: str) -> tuple[DestroyedKey, ...]:
        """The destroyed keys of a subject, oldest first."""

    async def any(self) -> WrappedKey | None:
        """One of the keys; None where there are none."""

    async def ping(self) -> None:
        """Raises `Unavailable` where the store does not answer."""

    async def close(self) -> None: ...


def note_of(subject: str) -> str:
    """The name under which a subject's destroyed keys are noted: the note outlives the subject's data."""
    return sha256(subject.encode()).hexdigest()
