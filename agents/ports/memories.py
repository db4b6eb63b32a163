"""The ports of what the edges read of the graph: a user's memories, documents, and decisions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from agents.ports.graph import Asker, ClaimContested, ClaimsFound, DecisionReader
from schemas.memory import ClaimAsserted


class MemoryReader(Protocol):
    """Reads of what is remembered of a user."""

    async def claims_of(
        self, tenant: str, *, user_id: str, as_of: datetime, after: str = "", limit: int
    ) -> ClaimsFound:
        """Claims made in a user's conversations by `as_of`, newest first, with the statuses that they have now.

        A page goes on behind the claim `after`, which is of the time `as_of`.
        """

    async def claims_about(
        self, tenant: str, *, reader: str, subjects: Sequence[str], as_of: datetime, limit: int, shared: bool = False
    ) -> ClaimsFound:
        """Claims about these subjects that a user may read, newest first."""

    async def claim(self, tenant: str, claim_id: str, as_of: datetime) -> ClaimAsserted | None:
        """The claim as asserted; None until its event is stored."""

    async def contested(self, tenant: str, claim_ids: Sequence[str], as_of: datetime) -> tuple[ClaimContested, ...]:
        """The corrections of claims, oldest first."""


@dataclass(frozen=True, slots=True)
class DocumentFound:
    """A document as it was recorded last."""

    document_id: str
    title: str
    uri: str | None
    recorded_at: datetime


class DocumentLister(Protocol):
    """Reads of the documents of a tenant."""

    async def documents(self, tenant: str, *, as_of: datetime, limit: int) -> tuple[DocumentFound, ...]:
        """The documents recorded by `as_of` and not deleted, the newest first."""

    async def passages_of(self, tenant: str, document_ids: Sequence[str], as_of: datetime) -> Mapping[str, int]:
        """How many passages each of these documents has in its version of `as_of`; none: it is not there."""


@dataclass(frozen=True, slots=True)
class UnansweredMessage:
    """A message of a user that no pack was made for, as those of an import."""

    message_id: str
    conversation_id: str
    client_id: str
    user_id: str
    at: datetime
    text: str


class TalkReader(DecisionReader, Protocol):
    """Reads of what users said, whether a pack was made for it or not."""

    async def unanswered(
        self, tenant: str, *, whose: Asker, since: datetime, as_of: datetime, limit: int
    ) -> tuple[UnansweredMessage, ...]:
        """The messages of users that no pack was made for, newest first."""


class RememberedReader(TalkReader, MemoryReader, DocumentLister, Protocol):
    """What the edges read of the graph."""
