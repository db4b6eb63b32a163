"""The port of the passage index: hybrid search over texts, lexical and semantic.

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
    """A text to be searched; `context` (its neighbours) is searched with it, `fields` are returned with a hit.

    `lead` is the text right before it, which a short text needs: the vector covers both. `fields` values are str, int,
    float or bool; `title` is searched as the text is. `user_id` None means everybody of the tenant. From `retired_at`
    on the passage is not found. `key` is what it is stored under, where its id is not the only one in the tenant.
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
    key: str | None = None

    @property
    def stored_as(self) -> str:
        """The id that it is stored, listed and removed by."""
        return self.key or self.id


@dataclass(frozen=True, slots=True)
class PassageQuery:
    """A search as of a time, with the user's rights: only passages at or below `access_level`.

    `context` are words of the conversation that complete the text; they count half. `user_id` limits the search to
    passages of that user or of everybody, `kinds` to those kinds, `among` to those ids; `since` excludes what was
    recorded before it, `until` what was recorded after it; `document_id` and `conversation_id` limit it to what is of
    these. `alone`: the text is whole, and its meaning is looked for without its context. `words_only`:
    only what has words of the text is found, however near in meaning something else is, and no word is corrected.
    """

    text: str
    lang: str
    limit: int
    as_of: datetime
    access_level: AccessLevel = "public"
    kinds: tuple[str, ...] = ()
    user_id: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    document_id: str | None = None
    conversation_id: str | None = None
    context: str = ""
    among: tuple[str, ...] = ()
    alone: bool = False
    words_only: bool = False

    @property
    def newest(self) -> datetime:
        """The time after which nothing that is found was recorded."""
        return self.as_of if self.until is None else min(self.as_of, self.until)

    @property
    def origin(self) -> Mapping[str, str]:
        """The document and the conversation that it is limited to, by the names under which passages are stored."""
        stated = {"fields.document_id": self.document_id, "conversation_id": self.conversation_id}
        return {name: value for name, value in stated.items() if value is not None}

    @property
    def spoken(self) -> str:
        """The text to embed: the context and the question."""
        return f"{self.context}\n{self.text}" if self.context and not self.alone else self.text


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage found; `score` orders the hits of one search, `scores` are features (`core.retrieval.relevance`)."""

    passage: Passage
    score: float
    scores: Mapping[str, float]


class PassageIndex(Protocol):
    """Hybrid search over one collection per kind of memory: `semantic`, `episodic`."""

    async def upsert(self, tenant: str, collection: str, passages: Sequence[Passage]) -> None:
        """Store passages, each as `stored_as`; visible to the next search."""

    async def search(self, tenant: str, collection: str, query: PassageQuery) -> tuple[Hit, ...]:
        """The tenant's passages nearest to the question, lexically and semantically, best first."""

    async def of_conversation(self, tenant: str, collection: str, conversation_id: str) -> tuple[Passage, ...]:
        """The tenant's passages of the conversations of this id, of whichever client."""

    async def remove(self, tenant: str, collection: str, ids: Sequence[str]) -> None:
        """Delete passages of the tenant; unknown ids are ignored."""

    async def vectors(self, texts: Sequence[str]) -> list[list[float]]:
        """The unit vector of each text, by the index's embedding model; nothing is stored."""


@dataclass(frozen=True, slots=True)
class Page:
    """One page of ids, and the cursor of the next page; None at the end."""

    ids: tuple[str, ...]
    following: str | None


class PassageInventory(Protocol):
    """The listing of a tenant's passages, for reconciliation with the log."""

    async def listed(self, tenant: str, collection: str, *, after: str | None = None, limit: int = 1000) -> Page:
        """Ids of the tenant's own passages, each once; `after` is the cursor of the previous page."""

    async def remove(self, tenant: str, collection: str, ids: Sequence[str]) -> None:
        """Delete passages of the tenant; unknown ids are ignored."""
