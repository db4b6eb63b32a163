"""Restoration of working sets and tool sessions from the log, by partition, as in a worker."""

import asyncio
from collections import Counter
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from agents.core.conversation.session_state import Recorded
from agents.errors import ViewIncomplete
from schemas.base import Conversation, Event
from schemas.envelope import Received
from schemas.policy import ContextPolicy
from schemas.tool_policy import ToolPolicy
from streams.replay.selection import Selection
from streams.replay.views import Advance
from streams.views.recoverable import Fold, place_in, restore
from streams.views.restorable import RestorableToolSessions, RestorableView, RestorableWorkingSets, ViewLog
from streams.views.tool_sessions import tool_fold
from streams.views.working_sets import kept_turns, turn_fold

S = TypeVar("S", bound=RestorableView)
R = TypeVar("R")
# A worker that restores the same partition wins; then it is complete, and checking is enough.
TRIES, RETRY_S = 5, 0.5


class Restoration:
    """Restores the selected records of each partition of a log."""

    def __init__(self, partitions: int, selection: Selection, advance: Advance) -> None:
        self._partitions = partitions
        self._selection = selection
        self._advance = advance

    async def working_sets(
        self, sets: RestorableWorkingSets, log: ViewLog[Recorded], policy: ContextPolicy
    ) -> Counter[str]:
        """Add missing turns to working sets; returns the counts of `turns` and `conversations`, none if disabled."""
        if not policy.enabled:
            return Counter()
        sets.follow(self._partitions, place_in(self._partitions))
        return await self._all("working sets", sets, log, turn_fold(kept_turns(policy), only=self._is_selected))

    async def tool_sessions(
        self, sessions: RestorableToolSessions, log: ViewLog[Received[Event]], policy: ToolPolicy
    ) -> int:
        """Fold the log into the tool sessions; returns the number of changed ones."""
        sessions.follow(self._partitions, place_in(self._partitions))
        return (await self._all("tool sessions", sessions, log, tool_fold(policy, only=self._is_selected)))["sessions"]

    def _is_selected(self, conversation: Conversation) -> bool:
        return (self._selection.tenant in (None, conversation.tenant)) and (
            self._selection.conversation in (None, conversation.conversation_id)
        )

    async def _all(self, what: str, store: S, log: ViewLog[R], fold: Fold[S, R]) -> Counter[str]:
        counts: Counter[str] = Counter()
        for number in range(self._partitions):
            counts.update(await self._one(number, store, log, fold))
            self._advance(0, f"{what}, partition {number}")
        return counts

    async def _one(self, number: int, store: S, log: ViewLog[R], fold: Fold[S, R]) -> Counter[str]:
        since, partial = self._selection.since, not self._selection.whole
        span = None if since is None else datetime.now(UTC) - datetime.fromtimestamp(since / 1000, UTC)
        span = span and max(span, timedelta(0))
        for _ in range(TRIES - 1):
            with suppress(ViewIncomplete):
                return await restore(store, log, fold, {number}, span=span, partial=partial)
            await asyncio.sleep(RETRY_S)
        return await restore(store, log, fold, {number}, span=span, partial=partial)
