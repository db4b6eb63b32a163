"""Working sets that follow the log: what the store lost is made again from `conversation.turns` before anybody goes on.

state   the store (a view); while it is away, a view of its own beside it, made from the log too: decisions go on with
        their history, and what was decided on a message that comes again is known
"""

import asyncio
import logging
import random
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import suppress
from datetime import timedelta
from typing import TypeVar

from agents.core.conversation import ConversationTurn, Opened, Session, Turns
from agents.core.remembering import Outcome, Recorded
from agents.errors import Behind, Unavailable
from agents.ports import Restorable, TurnLog, WorkingSets
from schemas.base import Conversation
from schemas.policy import ContextPolicy
from streams import telemetry
from streams.stores.restoring import Restored, restore

T = TypeVar("T")

LOGGER = logging.getLogger("fathom.view")
# More messages than a stage has in hand: they may be decided and not yet in the log.
IN_HAND = 2_048
LOOK_EVERY_S = 0.5
# A store that is started again is back within this time: whoever only reads waits so long for it, once per outage.
PATIENCE_S = 1.0
RETRY_S = 0.02
# Another worker that restores the same partition takes the token; one of the two lets go for so long.
YIELD_S = 0.3
TRIES = 8


class FollowingWorkingSets:
    """`open` and `append` are the depth stage's, which always get an answer; readers wait, then hear `Unavailable`.

    `place` gives a conversation's partition, `beside` an empty store in memory, `report` hears of restorations and how
    many seconds each took.
    """

    def __init__(
        self,
        sets: Restorable,
        log: TurnLog,
        policy: ContextPolicy,
        *,
        partitions: int,
        place: Callable[[Conversation], int],
        beside: Callable[[], Restorable],
        report: Callable[[Restored, float], None],
        patience: float = PATIENCE_S,
    ) -> None:
        sets.follow(partitions, place)
        self._sets = sets
        self._log = log
        self._enabled = policy.enabled
        self._keep = max(policy.max_turns, policy.session_turns)
        self._span = timedelta(seconds=policy.ttl_seconds)
        self._place = place
        self._new_beside = beside
        self._report = report
        self._patience = patience
        self._held: frozenset[int] = frozenset()
        self._behind: set[int] = set()  # of these the store lacks turns that were decided while it was away
        self._beside: dict[int, asyncio.Task[Restorable]] = {}
        self._recent: deque[tuple[int, Conversation, bytes]] = deque(maxlen=IN_HAND)
        self._restoring: asyncio.Task[None] | None = None
        self._wanted: set[int] = set()
        self._away_since: float | None = None

    # --- whose partitions

    async def hold(self, partitions: Iterable[int]) -> None:
        """Take partitions over, before their first record: what the store lacks of them is restored, if it answers."""
        self._held = frozenset(partitions)
        with suppress(Unavailable):
            self._behind |= await self._cut_short(self._held - await self._sets.missing(self._held))
            await self._restored(self._held)

    def release(self) -> None:
        """Give all partitions up."""
        self._held = frozenset()
        self._behind.clear()
        self._beside.clear()

    async def keep_whole(self) -> None:
        """Look now and then whether the store was emptied, so that readers need not wait for the next message."""
        while True:
            await asyncio.sleep(LOOK_EVERY_S)
            with suppress(Unavailable):
                if self._behind or await self._sets.missing(self._held):
                    await self._restored(self._held | self._behind)

    # --- the depth stage's

    async def open(self, conversation: Conversation, message_id: str, limit: int) -> Opened:
        """The session, its current frame's last `limit` turns, and the outcome if this message was seen before."""
        return await self._always(conversation, lambda sets: sets.open(conversation, message_id, limit))

    async def frame_of(self, conversation: Conversation, message_id: str) -> str | None:
        """The frame an earlier message was filed in, while it is still known."""
        return await self._always(conversation, lambda sets: sets.frame_of(conversation, message_id))

    async def append(
        self,
        conversation: Conversation,
        frame_id: str,
        turn: ConversationTurn,
        session: Session,
        outcome: bytes,
        keep: int,
    ) -> None:
        """File a turn with the new session and the outcome, in one step; a known message id changes nothing."""
        if outcome:
            self._recent.append((self._place(conversation), conversation, outcome))
        await self._always(conversation, lambda sets: sets.append(conversation, frame_id, turn, session, outcome, keep))

    # --- readers'

    async def turns(self, conversation: Conversation, frame_id: str, *, up_to_seq: int, limit: int) -> Turns:
        """The last `limit` turns of a frame with `seq <= up_to_seq`, oldest first."""
        return await self._patiently(
            conversation, lambda: self._sets.turns(conversation, frame_id, up_to_seq=up_to_seq, limit=limit)
        )

    async def session_turns(self, conversation: Conversation, *, up_to_seq: int, limit: int) -> Turns:
        """The last `limit` turns of all frames with `seq <= up_to_seq`, ordered by seq."""
        return await self._patiently(
            conversation, lambda: self._sets.session_turns(conversation, up_to_seq=up_to_seq, limit=limit)
        )

    # --- how

    async def _always(self, conversation: Conversation, call: Callable[[WorkingSets], Awaitable[T]]) -> T:
        """The store's answer; while it is away, that of the view beside it."""
        partition = self._place(conversation)
        try:
            return await self._whole(partition, lambda: call(self._sets), mine=True)
        except Unavailable as unavailable:
            if partition not in self._behind:
                telemetry.log(LOGGER, logging.WARNING, "view.beside", partition=partition, why=str(unavailable))
            self._behind.add(partition)
            return await call(await self._view_beside(partition))

    async def _patiently(self, conversation: Conversation, call: Callable[[], Awaitable[T]]) -> T:
        """The store's answer; what is away a moment only is waited for."""
        partition, time = self._place(conversation), asyncio.get_running_loop().time
        while True:
            try:
                found = await self._whole(partition, call, mine=partition in self._held)
            except Unavailable:
                self._away_since = self._away_since or time()
                if time() - self._away_since >= self._patience:
                    raise
                await asyncio.sleep(RETRY_S)
            else:
                self._away_since = None
                return found

    async def _whole(self, partition: int, call: Callable[[], Awaitable[T]], *, mine: bool) -> T:
        """The store's answer when it holds the partition whole; it is restored by whoever decides on its messages."""
        if partition in self._behind:
            await self._restored({partition})
        try:
            return await call()
        except Behind:
            if not mine:
                raise
        await self._restored({partition})
        return await call()

    async def _restored(self, partitions: Iterable[int]) -> None:
        """Wait until these are whole; one restoration at a time, and of all that need it."""
        self._wanted |= set(partitions)
        while self._wanted.intersection(partitions) or self._restoring is not None:
            if self._restoring is None:
                self._restoring = asyncio.create_task(self._restore())
                self._restoring.add_done_callback(self._restoring_ended)
            # A reader that runs out of time must not end what others wait for.
            await asyncio.shield(self._restoring)

    def _restoring_ended(self, task: "asyncio.Task[None]") -> None:
        self._restoring = None
        if not task.cancelled():
            task.exception()  # whoever waits hears of it; perhaps nobody does any more

    async def _restore(self) -> None:
        wanted = frozenset(self._wanted | self._held)
        self._wanted.clear()
        for left in reversed(range(TRIES)):
            lacking = await self._sets.missing(wanted) | (self._behind & wanted)
            if not lacking:
                return
            try:
                await self._restore_now(lacking)
                return
            except Behind:
                if not left:
                    raise
                await asyncio.sleep(YIELD_S * random.random())

    async def _restore_now(self, partitions: frozenset[int]) -> None:
        began = asyncio.get_running_loop().time()
        log = self._log if self._enabled else NoLog()
        restored = await restore(self._sets, log, partitions, keep=self._keep, span=self._span, more=self._in_hand)
        self._behind -= partitions
        for partition in partitions:
            self._beside.pop(partition, None)
        self._report(restored, asyncio.get_running_loop().time() - began)

    async def _view_beside(self, partition: int) -> Restorable:
        if (making := self._beside.get(partition)) is None or (making.done() and making.exception() is not None):
            making = self._beside[partition] = asyncio.create_task(self._make_beside(partition))
        return await asyncio.shield(making)

    async def _make_beside(self, partition: int) -> Restorable:
        sets = self._new_beside()
        await restore(sets, self._log, {partition}, keep=self._keep, span=self._span, more=self._in_hand)
        return sets

    def _in_hand(self, partition: int) -> Iterator[Recorded]:
        """What was decided here and is perhaps not in the log yet."""
        for held, conversation, outcome in list(self._recent):
            if held == partition:
                yield Recorded(conversation, Outcome.model_validate_json(outcome))

    async def _cut_short(self, partitions: frozenset[int]) -> set[int]:
        """Those whose last turn the store lacks: their last owner ended while the store was away."""
        tails = await self._log.read(partitions, timedelta()) if partitions and self._enabled else {}
        short = set()
        for partition, recorded in tails.items():
            for last in recorded[-1:]:
                if await self._sets.frame_of(last.conversation, last.outcome.turn.message_id) is None:
                    short.add(partition)
        return short


class NoLog:
    """For a policy that remembers nothing: what holds nothing is whole."""

    async def read(self, _partitions: Iterable[int], _span: timedelta | None) -> dict[int, list[Recorded]]:
        """Nothing."""
        return {}
