"""The reads of the graph for what was decided and contested, behind the agents' port."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from agents.ports.graph import Asker, ClaimContested, DecisionMade, DecisionTrace
from agents.ports.memories import UnansweredMessage
from streams.stores.graph import items, queries
from streams.stores.graph.rows import Found
from streams.stores.tenant import natural_id, node_id

# The messages of an import, and of who wants to be remembered only: no decision has their conversation.
UNANSWERED: Final = """
    MATCH (m:Message)
    WHERE m.tenant_id = $tenant AND m.pack = false AND m.role = 'user'
      AND m.created_at >= $since AND m.created_at <= $as_of
      AND ($client_id = '' OR m.client_id = $client_id) AND ($user_id = '' OR m.user_id = $user_id)
    RETURN m.id AS id, m.message_id AS message_id, m.conversation_id AS conversation_id, m.client_id AS client_id,
           m.user_id AS user_id, m.created_at AS created_at, m.content AS content
    ORDER BY m.created_at DESC, m.id
    LIMIT $limit"""


class DecisionReads:
    """Decisions, their questions and corrections, over the read of a store."""

    async def decisions(
        self, tenant: str, *, whose: Asker, since: datetime, as_of: datetime, limit: int
    ) -> tuple[DecisionMade, ...]:
        """The decisions on packs, newest first."""
        found = await self._read(queries.DECISIONS_MADE, tenant, _within(whose, since, as_of, limit))
        return tuple(map(items.to_decision, found))

    async def unanswered(
        self, tenant: str, *, whose: Asker, since: datetime, as_of: datetime, limit: int
    ) -> tuple[UnansweredMessage, ...]:
        """The messages of users that no pack was made for, newest first."""
        found = await self._read(UNANSWERED, tenant, _within(whose, since, as_of, limit))
        return tuple(
            UnansweredMessage(
                row["message_id"], row["conversation_id"], row["client_id"], row["user_id"], row["created_at"],
                row["content"],
            )
            for row in found
        )  # fmt: skip

    async def corrections(
        self, tenant: str, *, whose: Asker, since: datetime, as_of: datetime, limit: int
    ) -> tuple[datetime, ...]:
        """The times at which something was contested, newest first."""
        found = await self._read(queries.CORRECTIONS_MADE, tenant, _within(whose, since, as_of, limit))
        return tuple(row["created_at"] for row in found)

    async def questions(self, tenant: str, decision_ids: Sequence[str], as_of: datetime) -> Mapping[str, str]:
        """The texts of the messages of decisions, by the ids of these."""
        asked = {"ids": [node_id(tenant, each) for each in decision_ids], "as_of": _utc(as_of)}
        return {natural_id(row["id"]): row["content"] for row in await self._read(queries.QUESTIONS, tenant, asked)}

    async def decisions_on(self, tenant: str, message_id: str, as_of: datetime) -> tuple[DecisionTrace, ...]:
        """The decisions on the messages of this id, one trace for each conversation that has one, newest first."""
        asked = {"message_id": message_id, "as_of": _utc(as_of)}
        return items.to_traces(await self._read(queries.DECISION_ON, tenant, asked))

    async def contested(self, tenant: str, claim_ids: Sequence[str], as_of: datetime) -> tuple[ClaimContested, ...]:
        """The corrections of claims, oldest first."""
        asked = {"ids": [node_id(tenant, each) for each in claim_ids], "as_of": _utc(as_of)}
        return tuple(map(items.to_contested, await self._read(queries.CONTESTED, tenant, asked)))

    @abstractmethod
    async def _read(self, query: str, tenant: str, asked: Mapping[str, Any]) -> Sequence[Found]:
        """The rows of a query for a tenant."""


def _utc(at: datetime) -> datetime:
    return at.astimezone(UTC)


def _within(whose: Asker, since: datetime, as_of: datetime, limit: int) -> dict[str, object]:
    of = {"client_id": whose.client_id or "", "user_id": whose.user_id or ""}
    return {**of, "since": _utc(since), "as_of": _utc(as_of), "limit": limit}
