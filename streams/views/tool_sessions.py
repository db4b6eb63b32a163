"""Tool sessions that follow the log: what the store lost is made again from verdicts, confirmations and results."""

import asyncio
import logging
from collections import defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Any

from agents.core.tools import session as tool_session
from agents.errors import Unavailable, ViewIncomplete
from schemas.base import Conversation
from schemas.envelope import Received
from schemas.tool_policy import ToolPolicy
from schemas.tool_session import ToolSession
from streams.telemetry import metrics
from streams.views.restorable import RestorableToolSessions, ToolLog
from streams.views.restorer import Restorer, again_and_again

LOGGER = logging.getLogger("fathom.view")
# More verdicts than the stage has in hand: they may be given and not yet in the log.
MAX_BUFFERED = 2_048


def nothing_in_hand(_: int) -> Mapping[Conversation, ToolSession]:
    """For sessions of which nobody writes while they are restored."""
    return {}


async def restore(
    sessions: RestorableToolSessions,
    log: ToolLog,
    policy: ToolPolicy,
    partitions: Collection[int],
    *,
    span: timedelta | None,
    only: Callable[[Conversation], bool] | None = None,
    in_hand: Callable[[int], Mapping[Conversation, ToolSession]] = nothing_in_hand,
) -> int:
    """Fold the last `span` of the partitions' log (None: all) into their sessions; how many changed.

    What is there stays as it is. `only` chooses conversations, and then a partition that was not whole stays so;
    `in_hand` are sessions that were saved and perhaps not sent on yet. Raises `ViewIncomplete`, `Unavailable`.
    """
    incomplete = frozenset() if only is None else await sessions.missing(partitions)
    # First of all: from now on nobody saves what the log, as it is read next, does not have.
    tokens = {partition: await sessions.begin(partition) for partition in sorted(partitions)}
    found = await log.read(partitions, span)
    changed = 0
    for partition, token in tokens.items():
        said = await asyncio.to_thread(_by_conversation, found.get(partition, ()))
        mine = in_hand(partition)
        for whose in dict.fromkeys((*said, *mine)):
            if only is None or only(whose):
                made = _folding(said.get(whose, ()), mine.get(whose), policy)
                changed += await sessions.restore(whose, partition, token, made)
        if partition not in incomplete:
            await sessions.finish(partition, token)
    return changed


def _by_conversation(found: Iterable[Received[Any]]) -> Mapping[Conversation, Sequence[Received[Any]]]:
    said: dict[Conversation, list[Received[Any]]] = defaultdict(list)
    for each in found:
        said[each.conversation(each.event.client_id, each.event.session_id)].append(each)
    return said


def _folding(
    said: Sequence[Received[Any]], mine: ToolSession | None, policy: ToolPolicy
) -> Callable[[ToolSession], ToolSession]:
    def made(known: ToolSession) -> ToolSession:
        # What this process saved last is newer than a store that was emptied, or came back without it.
        begun = known if mine is None or known.verdicts or known.values else mine
        return tool_session.folded(begun, said, policy)

    return made


class RecoverableToolSessions:
    """The tool gate's sessions: one whose partition lacks what the log has is restored before it is read."""

    def __init__(
        self,
        sessions: RestorableToolSessions,
        log: ToolLog,
        policy: ToolPolicy,
        *,
        partitions: int,
        place: Callable[[Conversation], int],
    ) -> None:
        sessions.follow(partitions, place)
        self._sessions = sessions
        self._log = log
        self._policy = policy
        self._place = place
        self._restorer = Restorer(sessions.missing, self._restore)
        self._recent: deque[tuple[int, Conversation, ToolSession]] = deque(maxlen=MAX_BUFFERED)

    async def hold(self, partitions: Iterable[int]) -> None:
        """Take partitions over, before their first record; what cannot be restored now is when it is asked for."""
        self._restorer.held = frozenset(partitions)
        with suppress(Unavailable):
            await self._look()

    def release(self) -> None:
        """Give all partitions up: who has them next writes what is not known here."""
        self._restorer.held = frozenset()
        self._recent.clear()

    async def keep_whole(self) -> None:
        """Look now and then whether the store was emptied, so that no call has to wait for it."""
        await again_and_again(self._look)

    async def load(self, conversation: Conversation) -> tuple[ToolSession, str]:
        """The session, and its version for `save`; raises `Unavailable`."""
        try:
            return await self._sessions.load(conversation)
        except ViewIncomplete:
            await self._restorer.restored({self._place(conversation)})
        return await self._sessions.load(conversation)

    async def save(self, conversation: Conversation, session: ToolSession, version: str) -> bool:
        """Replace the session of that version; False when it has changed, or was lost, meanwhile."""
        if not await self._sessions.save(conversation, session, version):
            return False
        self._recent.append((self._place(conversation), conversation, session))
        return True

    async def _look(self) -> None:
        if self._restorer.held and (lacking := await self._sessions.missing(self._restorer.held)):
            await self._restorer.restored(lacking)

    async def _restore(self, partitions: frozenset[int]) -> None:
        began, span = asyncio.get_running_loop().time(), tool_session.span(self._policy)
        changed = await restore(self._sessions, self._log, self._policy, partitions, span=span, in_hand=self._in_hand)
        seconds = round(asyncio.get_running_loop().time() - began, 3)
        numbers = sorted(partitions)
        metrics.log(LOGGER, logging.INFO, "tools.restored", partitions=numbers, sessions=changed, seconds=seconds)

    def _in_hand(self, partition: int) -> Mapping[Conversation, ToolSession]:
        return {whose: session for held, whose, session in self._recent if held == partition}
