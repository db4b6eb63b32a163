"""The passage index: texts to be found again, by words and by meaning.

Every method takes the tenant; adapters raise `Unavailable` when the index does not answer; an id that exists is written
again without effect.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from schemas.items import (
    AccessLevel,
)


@dataclass(frozen=True, slots=True)
class Passage:
    """A text to be found again. `context` is searched with it (neighbours), `fields` come back with a hit.

    `lead` is what stands right before it, without which it says little: its vector is that of both. `fields` values are
    str, int, float or bool; `title` is searched as the text is. `user_id` None means everybody of the tenant. From
    `retired_at` on it is found no more.
    """

    id: str
    kind: str
    text: str
    lang: str
    recorded_at: datetime
    context: str = ""
    lead: str = ""
    access_level: AccessLevel = "public"
    user_id: str | None = None
    conversation_id: str | None = None
    retired_at: datetime | None = None
    fields: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PassageQuery:
    """What to look for, as of a time, with the asker's rights: only passages at or below `access_level`.

    `context` are words of the conversation that the text leans on; they count half. `user_id` limits to passages of
    that user or of everybody; `kinds` to those kinds; `since` leaves out what was recorded before.
    """

    text: str
    lang: str
    limit: int
    as_of: datetime
    access_level: AccessLevel = "public"
    kinds: tuple[str, ...] = ()
    user_id: str | None = None
    since: datetime | None = None
    context: str = ""

    @property
    def spoken(self) -> str:
        """What the vector of the question is of."""
        return f"{self.context}\n{self.text}" if self.context else self.text


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage found; `score` orders those of one search, `scores` are its features (`core.retrieval.relevance`)."""

    passage: Passage
    score: float
    scores: Mapping[str, float]


class PassageIndex(Protocol):
    """Hybrid search over one collection per kind of memory: `semantic`, `episodic`."""

    async def upsert(self, tenant: str, collection: str, passages: Sequence[Passage]) -> None:
        """Store passages by id; visible to the next search."""

    async def search(self, tenant: str, collection: str, query: PassageQuery) -> tuple[Hit, ...]:
        """The passages of this tenant nearest to the question by words and by meaning, best first."""

    async def vectors(self, texts: Sequence[str]) -> list[list[float]]:
        """The unit vector of each text, by the model that those of the passages are made with; nothing is stored."""


@dataclass(frozen=True, slots=True)
class Page:
    """Some ids of a listing, and where its next page begins; None at the end."""

    ids: tuple[str, ...]
    following: str | None


class PassageInventory(Protocol):
    """What of a tenant is in the index, to be held against the log."""

    async def listed(self, tenant: str, collection: str, *, after: str | None = None, limit: int = 1000) -> Page:
        """Ids of the tenant's own passages, each once; `after` is what the page before named as following."""

    async def remove(self, tenant: str, collection: str, ids: Sequence[str]) -> None:
        """Take passages of the tenant out; those that are not there do no harm."""
