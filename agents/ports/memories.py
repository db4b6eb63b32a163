"""The ports of what the edges read of the graph: a user's memories, and decisions."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from agents.ports.graph import ClaimContested, ClaimsFound, DecisionReader
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


class RememberedReader(DecisionReader, MemoryReader, Protocol):
    """What the edges read of the graph."""
