"""The working sets of the partitions that this process owns, held in memory as the store has them.

Whoever owns a partition is the only writer of its conversations, so that it needs to read each of them once. A copy
changes only with a write that the store has acknowledged; after any other one it is dropped. Readers are served from a
copy that has the very message they read up to, or one after it: turns are filed in order, so that it lacks none before.
A process that has lost a partition without knowing yet has no such copy.
"""

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

from agents.core.caching.budget import bytes_of
from agents.core.caching.lru import ByteCache
from agents.core.conversation.memory import ConversationTurn, Opened, Session, Turns
from agents.core.conversation.session_state import MAX_FRAMES, TurnOutcome, WorkingSetState
from schemas.base import Conversation
from streams.stores.sessions.redis_working_sets import KNOWN_MESSAGES, SESSION_TURNS
from streams.stores.sessions.turn_codec import newest
from streams.views.restorable import Place, RestorableWorkingSets

# What a turn takes besides its text.
TURN_OVERHEAD = 2_000
# Long before the store itself drops a conversation that nobody writes to.
HELD_S = 3_600.0


@dataclass(slots=True)
class _Copy:
    state: WorkingSetState
    used: float


class HeldWorkingSets:
    """Working sets of a `store` with copies of the conversations that were opened in owned partitions.

    Copies unused for an hour are dropped.
    """

    def __init__(
        self,
        store: RestorableWorkingSets,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._place: Place = lambda _: 0
        self._owned: frozenset[int] = frozenset()
        self._copies: ByteCache[Conversation, _Copy] = ByteCache("working_sets")
        self._loading: dict[Conversation, object] = {}
        self._clock = clock

    def follow(self, partitions: int, place: Place) -> None:
        """From now on every call raises `ViewIncomplete` where the conversation's partition is incomplete."""
        self._place = place
        self._store.follow(partitions, place)

    def own(self, partitions: Collection[int]) -> None:
        """Hold conversations of these partitions from now on; what was held before is dropped, whosever it is."""
        self._owned = frozenset(partitions)
        self.drop_all()

    def drop_all(self) -> None:
        """Read everything from the store again."""
        self._copies.clear()
        self._loading.clear()

    async def open(self, conversation: Conversation, message_id: str, limit: int) -> Opened:
        """The session, its current frame's last `limit` turns, and the outcome if this message was seen before."""
        if self._place(conversation) not in self._owned:
            return await self._store.open(conversation, message_id, limit)
        state, outcome = self._held(conversation), None
        if state is None or state.session.frame_id not in {"", *state.frames}:
            state, outcome = await self._load(conversation, message_id)
        elif _is_filed(state, message_id):
            return await self._store.open(conversation, message_id, limit)
        turns = state.frames.get(state.session.frame_id, ())
        return Opened(state.session, turns[-limit:] if limit > 0 else (), outcome)

    async def load(self, conversation: Conversation, message_id: str) -> tuple[WorkingSetState, bytes | None]:
        """What the store holds of a conversation, and the outcome if this message was seen before."""
        return await self._store.load(conversation, message_id)

    async def frame_of(self, conversation: Conversation, message_id: str) -> str | None:
        """The frame of an earlier message, while it is still stored."""
        state = self._held(conversation)
        if state is not None and not _is_filed(state, message_id):
            return None
        for frame_id, turns in () if state is None else state.frames.items():
            if any(turn.message_id == message_id for turn in turns):
                return frame_id
        return await self._store.frame_of(conversation, message_id)

    async def append(
        self,
        conversation: Conversation,
        frame_id: str,
        turn: ConversationTurn,
        session: Session,
        outcome: bytes,
        keep: int,
    ) -> bytes | None:
        """Store a turn with the new session and the outcome, atomically; of a known message id its first outcome."""
        before = self._held(conversation)
        self._loading.pop(conversation, None)
        try:
            known = await self._store.append(conversation, frame_id, turn, session, outcome, keep)
        except BaseException:
            self._drop(conversation)  # filed or not, nobody knows
            raise
        if known is None and before is not None and self._held(conversation) is before:
            self._loading.pop(conversation, None)
            self._hold(conversation, _with(before, frame_id, turn, session, keep))
        else:
            self._drop(conversation)
        return known

    async def forget(self, conversation: Conversation, up_to_seq: int) -> None:
        """Erase all turns and outcomes, atomically; one forgotten up to there before keeps what was said since."""
        self._drop(conversation)
        try:
            await self._store.forget(conversation, up_to_seq)
        finally:
            self._drop(conversation)

    async def turns(self, conversation: Conversation, frame_id: str, *, up_to_seq: int, limit: int) -> Turns:
        """The last `limit` turns of a frame with `seq <= up_to_seq`, oldest first."""
        state = self._held(conversation)
        if state is None or state.session.last_seq < up_to_seq or frame_id not in state.frames:
            return await self._store.turns(conversation, frame_id, up_to_seq=up_to_seq, limit=limit)
        return newest(state.frames[frame_id], up_to_seq=up_to_seq, limit=limit)

    async def session_turns(self, conversation: Conversation, *, up_to_seq: int, limit: int) -> Turns:
        """The last `limit` turns of all frames with `seq <= up_to_seq`, ordered by seq."""
        state = self._held(conversation)
        if state is None or state.session.last_seq < up_to_seq:
            return await self._store.session_turns(conversation, up_to_seq=up_to_seq, limit=limit)
        return newest(state.turns, up_to_seq=up_to_seq, limit=limit)

    async def incomplete_partitions(self, partitions: Collection[int]) -> frozenset[int]:
        """Those of the store."""
        return await self._store.incomplete_partitions(partitions)

    async def start_restore(self, partition: int) -> str:
        """A token to restore the store with; it holds something else afterwards."""
        self.drop_all()
        return await self._store.start_restore(partition)

    async def complete_restore(self, partition: int, token: str) -> None:
        """The partition is complete; raises `ViewIncomplete` for a void token."""
        await self._store.complete_restore(partition, token)

    async def restore(
        self,
        conversation: Conversation,
        partition: int,
        token: str,
        outcomes: Sequence[TurnOutcome],
        keep: int,
        forgotten: int = -1,
    ) -> int:
        """Add the turns that a conversation lacks, and its session; how many it lacked."""
        try:
            return await self._store.restore(conversation, partition, token, outcomes, keep, forgotten)
        finally:
            self._drop(conversation)

    async def _load(self, conversation: Conversation, message_id: str) -> tuple[WorkingSetState, bytes | None]:
        """What the store holds, which is held from now on if nothing was written meanwhile."""
        own = self._loading[conversation] = object()
        try:
            found = await self._store.load(conversation, message_id)
        except BaseException:
            self._drop(conversation)
            raise
        if self._loading.get(conversation) is own:
            del self._loading[conversation]
            self._hold(conversation, found[0])
        return found

    def _held(self, conversation: Conversation) -> WorkingSetState | None:
        copy = self._copies.get(conversation)
        if copy is None:
            return None
        now = self._clock()
        if now - copy.used > HELD_S:
            self._drop(conversation)
            return None
        copy.used = now
        return copy.state

    def _hold(self, conversation: Conversation, state: WorkingSetState) -> None:
        self._drop(conversation)
        now = self._clock()
        self._copies.put(conversation, _Copy(state, now), _size(state))
        while (oldest := self._copies.oldest()) is not None and now - oldest[1].used > HELD_S:
            self._drop(oldest[0])

    def _drop(self, conversation: Conversation) -> None:
        self._loading.pop(conversation, None)
        self._copies.pop(conversation)


def _is_filed(state: WorkingSetState, message_id: str) -> bool:
    """Whether the store knows a message."""
    return any(turn.message_id == message_id for turn in state.turns[-KNOWN_MESSAGES:])


def _with(
    state: WorkingSetState, frame_id: str, turn: ConversationTurn, session: Session, keep: int
) -> WorkingSetState:
    """The state after a turn, as the store has it now."""
    frames = dict(state.frames)
    known = state.session.frames
    # A frame that is neither held nor new has turns in the store only.
    if frame_id in frames or (frame_id not in known and len(known) < MAX_FRAMES):
        frames[frame_id] = (*frames.get(frame_id, ()), turn)[-max(keep, 1) :]
    return replace(
        state,
        session=session,
        turns=(*state.turns, turn)[-max(keep, SESSION_TURNS) :],
        frames=frames,
    )


def _size(state: WorkingSetState) -> int:
    return TURN_OVERHEAD + sum(bytes_of(turn.content) + TURN_OVERHEAD for turn in state.turns)
