"""Working sets, restored from `conversation.turns` and `depth.classified`.

The depth stage goes on while the store does not answer, since every message gets a pack: it then reads and writes a
fallback in memory, restored from the log as the store is. Once the store answers, it gets what was decided meanwhile
before it is used again.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass
from datetime import timedelta
from math import inf
from typing import TypeVar

from agents.core.caching.lru import ByteCache
from agents.core.conversation.memory import ConversationTurn, Opened, Session, Turns
from agents.core.conversation.session_state import (
    Recorded,
    RecordedErasure,
    RecordedOutcome,
    TurnOutcome,
    by_conversation,
    remembered,
    session_after,
)
from agents.errors import Unavailable
from agents.ports.sessions import WorkingSets
from schemas.base import Conversation
from schemas.policy import ContextPolicy
from streams.stores.sessions.memory import MemoryWorkingSets
from streams.telemetry import metrics
from streams.views.recoverable import LOGGER, Fold, RecoverableView, every, place_in, restore
from streams.views.restorable import Place, RestorableWorkingSets, ViewLog
from streams.views.working_set_cache import HeldWorkingSets

T = TypeVar("T")
TurnFold = Fold[RestorableWorkingSets, Recorded]

CONCURRENCY = 16
# More messages than a stage has in hand: they may be decided and not yet in the log.
MAX_BUFFERED = 2_048
# What was in hand when a worker ended: a call has a second for its answer, and a stage so many at a time.
TAIL = timedelta(seconds=5)
MAX_IN_HAND = 128
# A store that is started again is back within this time: whoever only reads waits so long for it, once per outage.
PATIENCE_S = 1.0
RETRY_S = 0.02


def kept_turns(policy: ContextPolicy) -> int:
    """How many turns of a frame are kept."""
    return max(policy.max_turns, policy.session_turns)


def _none(_: int) -> Iterable[Recorded]:
    return ()


def turn_fold(
    keep: int,
    *,
    only: Callable[[Conversation], bool] = every,
    recent: Callable[[int], Iterable[Recorded]] = _none,
) -> TurnFold:
    """The fold of the chosen conversations; `recent` are a partition's outcomes that may not be in the log yet."""

    async def fold(
        sets: RestorableWorkingSets, partition: int, token: str, found: Sequence[Recorded]
    ) -> Mapping[str, int]:
        # In a thread, for a partition may be long, and the loop has heartbeats to answer.
        said = await asyncio.to_thread(by_conversation, [*found, *recent(partition)])
        chosen, turns = list(filter(only, said)), 0
        for start in range(0, len(chosen), CONCURRENCY):
            some = chosen[start : start + CONCURRENCY]
            turns += sum(
                await asyncio.gather(
                    *(
                        sets.restore(each, partition, token, said[each].outcomes, keep, said[each].forgotten)
                        for each in some
                    )
                )
            )
        return {"conversations": len(chosen), "turns": turns}

    return fold


class HandLog:
    """A log of what is in hand of each partition, for views that lack no more than that."""

    def __init__(self, of: Callable[[int], Iterable[Recorded]] = _none) -> None:
        self._of = of

    async def read(
        self, partitions: Iterable[int], _span: timedelta | None
    ) -> AsyncGenerator[Mapping[int, Sequence[Recorded]], None]:
        """All of each partition."""
        yield {partition: list(self._of(partition)) for partition in partitions}


@dataclass(frozen=True, slots=True, eq=False)
class Outage:
    """A time in which the store missed outcomes: those from number `since` on; of -inf only the log knows."""

    since: float


class RecoverableWorkingSets(RecoverableView[RestorableWorkingSets, Recorded]):
    """The depth stage's `open`, `frame_of`, `append` and `forget` are always answered; readers hear `Unavailable`."""

    def __init__(
        self,
        sets: RestorableWorkingSets,
        log: ViewLog[Recorded],
        policy: ContextPolicy,
        *,
        partitions: int,
        place: Place | None = None,
        patience: float = PATIENCE_S,
    ) -> None:
        self._place = place or place_in(partitions)
        self._held = HeldWorkingSets(sets)
        self._held.follow(partitions, self._place)
        self._patience = patience
        self._away_since: float | None = None
        # By their numbers.
        self._recent: ByteCache[int, tuple[Conversation, bytes | int]] = ByteCache(
            "decided_turns", max_entries=MAX_BUFFERED
        )
        self._decided = 0
        self._behind: dict[int, Outage] = {}
        self._fallbacks: dict[int, asyncio.Task[RestorableWorkingSets]] = {}
        self._keep = kept_turns(policy)
        fold = turn_fold(self._keep, recent=self._in_hand)
        # Of a policy that remembers nothing, a view that holds nothing is complete.
        super().__init__(self._held, log if policy.enabled else HandLog(), fold, timedelta(seconds=policy.ttl_seconds))

    async def on_assigned(self, partitions: Iterable[int]) -> None:
        """Take partitions over, before their first record; what cannot be restored now is at its first use."""
        self._held.own(())
        self._assigned = short = frozenset(partitions)
        with suppress(Unavailable):
            complete = self._assigned - await self._store.incomplete_partitions(self._assigned)
            short = await self._cut_short(complete)
        # Where store or log did not answer, nobody here knows what the owner before had decided meanwhile.
        self._behind |= {partition: Outage(-inf) for partition in short}
        with suppress(Unavailable):
            await self.restore_incomplete()
        self._held.own(self._assigned)

    def on_revoked(self) -> None:
        """Give all partitions up."""
        super().on_revoked()
        self._held.own(())
        self._behind.clear()
        self._fallbacks.clear()

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
    ) -> bytes | None:
        """File a turn with the new session and the outcome, in one step; of a known message id its first outcome."""
        number = self._numbered(conversation, outcome) if outcome else -inf
        return await self._always(
            conversation, lambda sets: sets.append(conversation, frame_id, turn, session, outcome, keep), number
        )

    async def forget(self, conversation: Conversation, up_to_seq: int) -> None:
        """Erase all turns and outcomes, in one step; one forgotten up to there before keeps what was said since."""
        number = self._numbered(conversation, up_to_seq)
        await self._always(conversation, lambda sets: sets.forget(conversation, up_to_seq), number)

    def _numbered(self, conversation: Conversation, done: bytes | int) -> float:
        """The number of an outcome, or of an erasure, in hand."""
        number, self._decided = self._decided, self._decided + 1
        self._recent.put(number, (conversation, done))
        return number

    async def turns(self, conversation: Conversation, frame_id: str, *, up_to_seq: int, limit: int) -> Turns:
        """The last `limit` turns of a frame with `seq <= up_to_seq`, oldest first."""
        return await self._patiently(
            conversation, lambda: self._store.turns(conversation, frame_id, up_to_seq=up_to_seq, limit=limit)
        )

    async def session_turns(self, conversation: Conversation, *, up_to_seq: int, limit: int) -> Turns:
        """The last `limit` turns of all frames with `seq <= up_to_seq`, ordered by seq."""
        return await self._patiently(
            conversation, lambda: self._store.session_turns(conversation, up_to_seq=up_to_seq, limit=limit)
        )

    async def _always(
        self, conversation: Conversation, call: Callable[[WorkingSets], Awaitable[T]], number: float = inf
    ) -> T:
        """The store's answer; while it does not answer the fallback's, and it misses outcomes from `number` on."""
        partition = self._place(conversation)
        try:
            return await self._complete(partition, lambda: call(self._store))
        except Unavailable as unavailable:
            # A new one also where there is one: a restoration under way does not have this outcome.
            self._held.drop_all()
            before = self._behind.get(partition, Outage(self._decided))
            self._behind[partition] = Outage(min(number, before.since))
            return await call(await self._fallback(partition, str(unavailable)))

    async def _patiently(self, conversation: Conversation, call: Callable[[], Awaitable[T]]) -> T:
        """The store's answer; a store that is away a moment only is waited for."""
        partition, time = self._place(conversation), asyncio.get_running_loop().time
        while True:
            try:
                # Elsewhere the owner of the partition restores it.
                found = await (self._complete(partition, call) if partition in self._assigned else call())
            except Unavailable:
                self._away_since = self._away_since or time()
                if time() - self._away_since >= self._patience:
                    raise
                await asyncio.sleep(RETRY_S)
            else:
                self._away_since = None
                return found

    async def _complete(self, partition: int, call: Callable[[], Awaitable[T]]) -> T:
        if partition in self._behind:
            await self._restored({partition})
        return await super()._complete(partition, call)

    def _missed(self, partitions: frozenset[int]) -> frozenset[int]:
        return partitions & self._behind.keys()

    async def _restore(self, partitions: frozenset[int], lost: frozenset[int]) -> None:
        """Restore from the log; a store that has only missed what is in hand is brought just that."""
        outages = {partition: self._behind[partition] for partition in partitions & self._behind.keys()}
        in_hand = {each for each, outage in outages.items() if self._has_all(outage.since)}
        in_hand -= lost
        for partition in sorted(in_hand):
            await self._catch_up(partition, outages[partition].since)
            self._caught_up(partition, outages[partition])
        if others := partitions - in_hand:
            await self._restore_from(others, self._log, self._fold)
            for partition in others & outages.keys():
                self._caught_up(partition, outages[partition])

    async def _catch_up(self, partition: int, since: float) -> None:
        """File what a complete store missed, as it would have been filed; raises `ViewIncomplete` if it lost all.

        Without a token, which would make the partition incomplete: of a store that goes again in the middle the next
        catch-up files the rest, and nobody reads the whole log for it.
        """
        began = asyncio.get_running_loop().time()
        counts = {"conversations": 0, "turns": 0}
        for missed in self._in_hand(partition, since):
            if partition not in self._behind:
                return  # revoked: its next owner goes on from here, and would be overwritten
            if isinstance(missed, RecordedErasure):
                await self._store.forget(missed.conversation, missed.up_to_seq)
                continue
            turn = missed.outcome.turn
            opened = await self._store.open(missed.conversation, turn.message_id, 0)
            if not opened.outcome:
                session, kept = session_after(opened.session, missed.outcome), missed.outcome.kept()
                await self._store.append(
                    missed.conversation, turn.frame_id, remembered(turn), session, kept, self._keep
                )
                counts["turns"] += 1
        self._report(frozenset({partition}), counts, asyncio.get_running_loop().time() - began)

    def _caught_up(self, partition: int, outage: Outage) -> None:
        if self._behind.get(partition) is outage:
            del self._behind[partition]
            self._fallbacks.pop(partition, None)

    async def _fallback(self, partition: int, why: str) -> RestorableWorkingSets:
        making = self._fallbacks.get(partition)
        if making is None or (making.done() and making.exception() is not None):
            metrics.log(LOGGER, logging.WARNING, "view.beside", partition=partition, why=why)
            making = self._fallbacks[partition] = asyncio.create_task(self._new_fallback(partition))
        return await asyncio.shield(making)

    async def _new_fallback(self, partition: int) -> RestorableWorkingSets:
        sets = MemoryWorkingSets()
        await restore(sets, self._log, self._fold, {partition}, span=self._span)
        return sets

    def _has_all(self, since: float) -> bool:
        """Whether all that was decided from a number on is in hand."""
        return since >= 0 and all(number in self._recent for number in range(int(since), self._decided))

    def _in_hand(self, partition: int, since: float = -inf) -> Iterator[Recorded]:
        """What was decided here, from that number on, and is perhaps not in the log yet."""
        for number, (conversation, done) in self._recent.items():
            if number >= since and self._place(conversation) == partition:
                if isinstance(done, int):
                    yield RecordedErasure(conversation, done)
                else:
                    yield RecordedOutcome(conversation, TurnOutcome.model_validate_json(done))

    async def _cut_short(self, partitions: frozenset[int]) -> frozenset[int]:
        """Those of whose last turns the store lacks one: their last owner ended while the store was away.

        Not of the very last alone: what was filed beside one that was missed may come after it in the log.
        """
        short: set[int] = set()
        if not partitions:
            return partitions
        async with aclosing(self._log.read(partitions, TAIL)) as tails:
            async for portion in tails:
                for partition, recorded in portion.items():
                    if not all(await asyncio.gather(*map(self._is_filed, recorded[-MAX_IN_HAND:]))):
                        short.add(partition)
        return frozenset(short)

    async def _is_filed(self, last: Recorded) -> bool:
        if isinstance(last, RecordedErasure):
            return (await self._store.open(last.conversation, "", 0)).session.forgotten >= last.up_to_seq
        return await self._store.frame_of(last.conversation, last.outcome.turn.message_id) is not None

    def _report(self, partitions: frozenset[int], counts: Mapping[str, int], seconds: float) -> None:
        metrics.RESTORED.inc(len(partitions))
        metrics.RESTORED_TURNS.inc(counts["turns"])
        metrics.RESTORE_SECONDS.observe(seconds)
        super()._report(partitions, counts, seconds)
