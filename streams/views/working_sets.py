"""Working sets that follow the log: what the store lost is made again from `conversation.turns` before anybody goes on.

state   the store (a view); while it is away, a view of its own beside it, made from the log too: decisions go on with
        their history, and what was decided on a message that comes again is known
"""

import asyncio
import logging
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing, suppress
from datetime import timedelta
from typing import Any, TypeVar

from agents.core.conversation.memory import ConversationTurn, Opened, Session, Turns
from agents.core.conversation.session_state import RecordedOutcome, TurnOutcome
from agents.errors import Unavailable, ViewIncomplete
from agents.ports.sessions import WorkingSets
from schemas.base import Conversation
from schemas.policy import ContextPolicy
from streams.telemetry import metrics
from streams.views.restorable import Restorable, TurnLog
from streams.views.restorer import Restorer, again_and_again
from streams.views.restoring import Restored, restore

T = TypeVar("T")
Missed = tuple[Conversation, Callable[[WorkingSets], Awaitable[Any]]]

LOGGER = logging.getLogger("fathom.view")
# More messages than a stage has in hand: they may be decided and not yet in the log.
MAX_BUFFERED = 2_048
# What was in hand when a worker ended: a call has a second for its answer, and a stage so many at a time.
TAIL = timedelta(seconds=5)
AT_HAND = 128
# A store that is started again is back within this time: whoever only reads waits so long for it, once per outage.
PATIENCE_S = 1.0
RETRY_S = 0.02


class RecoverableWorkingSets:
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
        self._restorer = Restorer(self._lacking, self._restore_now)
        # Partitions of which the store lacks what was filed while it was away: that, or None if only the log knows.
        self._behind: dict[int, list[Missed] | None] = {}
        self._beside: dict[int, asyncio.Task[Restorable]] = {}
        self._recent: deque[tuple[int, Conversation, bytes]] = deque(maxlen=MAX_BUFFERED)
        self._away_since: float | None = None

    # --- whose partitions

    async def hold(self, partitions: Iterable[int]) -> None:
        """Take partitions over, before their first record: what the store lacks of them is restored, if it answers."""
        self._restorer.held = frozenset(partitions)
        with suppress(Unavailable):
            whole = self._restorer.held - await self._sets.missing(self._restorer.held)
            self._behind |= dict.fromkeys(await self._cut_short(whole))
            await self._restorer.restored(self._restorer.held)

    def release(self) -> None:
        """Give all partitions up."""
        self._restorer.held = frozenset()
        self._behind.clear()
        self._beside.clear()

    async def keep_whole(self) -> None:
        """Look now and then whether the store was emptied, so that readers need not wait for the next message."""
        await again_and_again(self._look)

    async def _look(self) -> None:
        if self._behind or await self._sets.missing(self._restorer.held):
            await self._restorer.restored(self._restorer.held | self._behind.keys())

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
        await self._always(
            conversation,
            lambda sets: sets.append(conversation, frame_id, turn, session, outcome, keep),
            files=True,
        )

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

    async def _always(
        self, conversation: Conversation, call: Callable[[WorkingSets], Awaitable[T]], *, files: bool = False
    ) -> T:
        """The store's answer; while it is away, that of the view beside it, and what `files` a turn is kept for it."""
        partition = self._place(conversation)
        try:
            return await self._whole(partition, lambda: call(self._sets), mine=True)
        except Unavailable as unavailable:
            if partition not in self._behind:
                metrics.log(LOGGER, logging.WARNING, "view.beside", partition=partition, why=str(unavailable))
            missed = self._behind.setdefault(partition, [])
            if files and missed is not None:
                missed.append((conversation, call))
                if len(missed) > MAX_BUFFERED:
                    self._behind[partition] = None
            return await call(await self._view_beside(partition))

    async def _patiently(self, conversation: Conversation, call: Callable[[], Awaitable[T]]) -> T:
        """The store's answer; what is away a moment only is waited for."""
        partition, time = self._place(conversation), asyncio.get_running_loop().time
        while True:
            try:
                found = await self._whole(partition, call, mine=partition in self._restorer.held)
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
            await self._restorer.restored({partition})
        try:
            return await call()
        except ViewIncomplete:
            if not mine:
                raise
        await self._restorer.restored({partition})
        return await call()

    async def _lacking(self, partitions: frozenset[int]) -> frozenset[int]:
        return await self._sets.missing(partitions) | (self._behind.keys() & partitions)

    async def _restore_now(self, partitions: frozenset[int]) -> None:
        whole = partitions - await self._sets.missing(partitions)
        only_missed = {partition for partition in whole if self._behind.get(partition) is not None}
        for partition in only_missed:
            await self._catch_up(partition)
        if lost := partitions - only_missed:
            began = asyncio.get_running_loop().time()
            log = self._log if self._enabled else NoLog()
            restored = await restore(self._sets, log, lost, keep=self._keep, span=self._span, more=self._in_hand)
            for partition in lost:
                self._caught_up(partition)
            self._report(restored, asyncio.get_running_loop().time() - began)

    async def _catch_up(self, partition: int) -> None:
        """File what a whole store missed, as it would have been; raises `ViewIncomplete` when it is whole no more."""
        began, missed = asyncio.get_running_loop().time(), self._behind.get(partition)
        told: list[Conversation] = []
        while missed and self._behind.get(partition) is missed:
            conversation, call = missed[0]
            await call(self._sets)  # one that it has already changes nothing
            told.append(conversation)
            missed.pop(0)
        if self._behind.get(partition) is missed:
            self._caught_up(partition)
        restored = Restored(frozenset({partition}), len(set(told)), len(told))
        self._report(restored, asyncio.get_running_loop().time() - began)

    def _caught_up(self, partition: int) -> None:
        self._behind.pop(partition, None)
        self._beside.pop(partition, None)

    async def _view_beside(self, partition: int) -> Restorable:
        if (making := self._beside.get(partition)) is None or (making.done() and making.exception() is not None):
            making = self._beside[partition] = asyncio.create_task(self._make_beside(partition))
        return await asyncio.shield(making)

    async def _make_beside(self, partition: int) -> Restorable:
        sets = self._new_beside()
        await restore(sets, self._log, {partition}, keep=self._keep, span=self._span, more=self._in_hand)
        return sets

    def _in_hand(self, partition: int) -> Iterator[RecordedOutcome]:
        """What was decided here and is perhaps not in the log yet."""
        for held, conversation, outcome in list(self._recent):
            if held == partition:
                yield RecordedOutcome(conversation, TurnOutcome.model_validate_json(outcome))

    async def _cut_short(self, partitions: frozenset[int]) -> set[int]:
        """Those of whose last turns the store lacks one: their last owner ended while the store was away.

        Not of the very last alone: what was filed beside one that was missed may come after it in the log.
        """
        short: set[int] = set()
        if not partitions or not self._enabled:
            return short
        async with aclosing(self._log.read(partitions, TAIL)) as tails:
            async for portion in tails:
                for partition, recorded in portion.items():
                    if not all(await asyncio.gather(*map(self._is_filed, recorded[-AT_HAND:]))):
                        short.add(partition)
        return short

    async def _is_filed(self, last: RecordedOutcome) -> bool:
        return await self._sets.frame_of(last.conversation, last.outcome.turn.message_id) is not None


class NoLog:
    """For a policy that remembers nothing: what holds nothing is whole."""

    async def read(
        self, partitions: Iterable[int], _span: timedelta | None
    ) -> AsyncGenerator[Mapping[int, Sequence[RecordedOutcome]], None]:
        """Nothing of each."""
        yield dict.fromkeys(partitions, ())
