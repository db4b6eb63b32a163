"""Tool sessions, restored from verdicts, confirmations, results and erasures."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from agents.core.caching.lru import ByteCache
from agents.core.tools import session as tool_session
from schemas.base import Conversation
from schemas.envelope import Received
from schemas.tool_policy import ToolPolicy
from schemas.tool_session import ToolSession
from streams.views.recoverable import Fold, RecoverableView, every, place_in
from streams.views.restorable import Place, RestorableToolSessions, ViewLog

ToolFold = Fold[RestorableToolSessions, Received[Any]]


def _none(_: int) -> Mapping[Conversation, ToolSession]:
    return {}


def tool_fold(
    policy: ToolPolicy,
    *,
    only: Callable[[Conversation], bool] = every,
    recent: Callable[[int], Mapping[Conversation, ToolSession]] = _none,
) -> ToolFold:
    """The fold of the chosen sessions; `recent` are those of a partition that were saved, and perhaps not sent yet."""

    async def fold(
        sessions: RestorableToolSessions, partition: int, token: str, found: Sequence[Received[Any]]
    ) -> Mapping[str, int]:
        said = await asyncio.to_thread(_by_conversation, found)
        saved, changed = recent(partition), 0
        for whose in filter(only, dict.fromkeys((*said, *saved))):
            made = _folding(said.get(whose, ()), saved.get(whose), policy)
            changed += await sessions.restore(whose, partition, token, made)
        return {"sessions": changed}

    return fold


def _by_conversation(found: Iterable[Received[Any]]) -> Mapping[Conversation, Sequence[Received[Any]]]:
    said: dict[Conversation, list[Received[Any]]] = defaultdict(list)
    for each in found:
        said[each.conversation(each.event.client_id, each.event.conversation_id)].append(each)
    return said


def _folding(
    said: Sequence[Received[Any]], saved: ToolSession | None, policy: ToolPolicy
) -> Callable[[ToolSession], ToolSession]:
    def made(known: ToolSession) -> ToolSession:
        # What this process saved last is newer than a store that was emptied, or came back without it.
        begun = known if saved is None or known.verdicts or known.values else saved
        return tool_session.folded(begun, said, policy)

    return made


class RecoverableToolSessions(RecoverableView[RestorableToolSessions, Received[Any]]):
    """The tool gate's sessions; the gate refuses calls while they are unavailable."""

    event = "tools.restored"

    def __init__(
        self,
        sessions: RestorableToolSessions,
        log: ViewLog[Received[Any]],
        policy: ToolPolicy,
        *,
        partitions: int,
        place: Place | None = None,
    ) -> None:
        self._place = place or place_in(partitions)
        sessions.follow(partitions, self._place)
        # Of more verdicts than the stage has in hand: they may be given and not yet in the log.
        self._saved: ByteCache[Conversation, ToolSession] = ByteCache("saved_tool_sessions")
        super().__init__(sessions, log, tool_fold(policy, recent=self._recent), tool_session.span(policy))

    def on_revoked(self) -> None:
        """Give all partitions up: their next owner writes what is not known here."""
        super().on_revoked()
        self._saved.clear()

    async def load(self, conversation: Conversation) -> tuple[ToolSession, str]:
        """The session, and its version for `save`; raises `Unavailable`."""
        return await self._complete(self._place(conversation), lambda: self._store.load(conversation))

    async def save(self, conversation: Conversation, session: ToolSession, version: str) -> bool:
        """Replace the session of that version; False when it has changed, or was lost, meanwhile."""
        if not await self._store.save(conversation, session, version):
            return False
        self._saved.put(conversation, session)
        return True

    def _recent(self, partition: int) -> Mapping[Conversation, ToolSession]:
        return {whose: session for whose, session in self._saved.items() if self._place(whose) == partition}
