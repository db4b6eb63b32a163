"""In-memory twin of the working sets: no server, no file, the same promises."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from agents.core.conversation.memory import ConversationTurn, Opened, Session, Turns, begun_anew
from agents.core.conversation.session_state import TurnOutcome, WorkingSetState, apply_log
from agents.errors import ViewIncomplete
from schemas.base import Conversation
from streams.stores.sessions.memory_view import MemoryView
from streams.stores.sessions.redis_working_sets import KNOWN_MESSAGES, SESSION_TURNS
from streams.stores.sessions.turn_codec import (
    decode_session,
    decode_turns,
    encode_session,
    encode_turn,
    filed_id,
    newest,
)
from streams.stores.tenant import key as key_of


@dataclass(slots=True)
class _Conversation:
    session: bytes | None = None
    frame_id: str = ""
    turns: list[bytes] = field(default_factory=list)
    frames: dict[str, list[bytes]] = field(default_factory=lambda: defaultdict(list))
    seen: dict[str, tuple[str, bytes]] = field(default_factory=dict)


class MemoryWorkingSets(MemoryView):
    """Working sets of one process. Stored as bytes: a returned object is never the one stored."""

    def __init__(self) -> None:
        super().__init__("working_set")
        self._kept: dict[str, _Conversation] = defaultdict(_Conversation)
        self._place: Callable[[Conversation], int] | None = None

    def clear(self) -> None:
        """Discard everything, like a server that is emptied."""
        super().clear()
        self._kept.clear()

    def follow(self, partitions: int, place: Callable[[Conversation], int]) -> None:  # noqa: ARG002  (the port's)
        """From now on every call raises `ViewIncomplete` where the conversation's partition is incomplete."""
        self._place = place

    def _of(self, conversation: Conversation) -> _Conversation:
        if self._place is not None and (partition := self._place(conversation)) not in self._whole:
            raise ViewIncomplete("working_set", partition)
        return self._kept[key_of(conversation)]

    async def open(self, conversation: Conversation, message_id: str, limit: int) -> Opened:
        """The session, its current frame's last `limit` turns, and the outcome if this message was seen before."""
        kept = self._of(conversation)
        turns = kept.frames[kept.frame_id][-limit:] if limit > 0 else []
        _, outcome = kept.seen.get(message_id, ("", None))
        return Opened(
            session=Session() if kept.session is None else decode_session(kept.session),
            turns=_decoded(turns),
            outcome=outcome,
        )

    async def load(self, conversation: Conversation, message_id: str) -> tuple[WorkingSetState, bytes | None]:
        """All that is stored of the session and its current frame, and the outcome if this message was seen before."""
        kept = self._of(conversation)
        session = Session() if kept.session is None else decode_session(kept.session)
        frames = {session.frame_id: _decoded(kept.frames[kept.frame_id])} if session.frame_id else {}
        _, outcome = kept.seen.get(message_id, ("", None))
        return WorkingSetState(session, _decoded(kept.turns), frames), outcome

    async def frame_of(self, conversation: Conversation, message_id: str) -> str | None:
        """The frame of an earlier message, while it is still stored."""
        filed = self._of(conversation).seen.get(message_id)
        return None if filed is None else filed[0]

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
        kept = self._of(conversation)
        message_id = filed_id(turn)
        if message_id in kept.seen:
            return kept.seen[message_id][1]
        raw = encode_turn(turn)
        kept.turns = [*kept.turns, raw][-max(keep, SESSION_TURNS) :]
        kept.frames[frame_id] = [*kept.frames[frame_id], raw][-max(keep, 1) :]
        kept.session, kept.frame_id = encode_session(session), session.frame_id
        kept.seen[message_id] = (frame_id, outcome)
        if len(kept.seen) > KNOWN_MESSAGES:
            del kept.seen[next(iter(kept.seen))]
        return None

    async def turns(self, conversation: Conversation, frame_id: str, *, up_to_seq: int, limit: int) -> Turns:
        """The last `limit` turns of a frame with `seq <= up_to_seq`, oldest first."""
        return newest(_decoded(self._of(conversation).frames[frame_id]), up_to_seq=up_to_seq, limit=limit)

    async def session_turns(self, conversation: Conversation, *, up_to_seq: int, limit: int) -> Turns:
        """The last `limit` turns of all frames with `seq <= up_to_seq`, ordered by seq."""
        return newest(_decoded(self._of(conversation).turns), up_to_seq=up_to_seq, limit=limit)

    async def forget(self, conversation: Conversation, up_to_seq: int) -> None:
        """Erase all turns and outcomes, atomically; one forgotten up to there before keeps what was said since."""
        self._of(conversation)
        self._forget(conversation, up_to_seq)

    def _forget(self, conversation: Conversation, up_to_seq: int) -> None:
        kept = self._kept[key_of(conversation)]
        if kept.session is None or decode_session(kept.session).forgotten < up_to_seq:
            self._kept[key_of(conversation)] = _Conversation(encode_session(begun_anew(up_to_seq)))

    async def restore(
        self,
        conversation: Conversation,
        partition: int,
        token: str,
        outcomes: Sequence[TurnOutcome],
        keep: int,
        forgotten: int = -1,
    ) -> int:
        """Add the missing turns of a conversation, and its session; returns the number of added turns."""
        key = key_of(conversation)
        self._unless_behind(partition, token)
        if forgotten >= 0:
            self._forget(conversation, forgotten)
        kept = self._kept[key]
        known = WorkingSetState(
            Session() if kept.session is None else decode_session(kept.session),
            _decoded(kept.turns),
            {outcome.turn.frame_id: _decoded(kept.frames[outcome.turn.frame_id]) for outcome in outcomes},
        )
        made = apply_log(known, outcomes, keep=max(keep, 1), keep_all=max(keep, SESSION_TURNS))
        if made is None:
            return 0
        kept.session, kept.frame_id = encode_session(made.session), made.session.frame_id
        kept.turns = list(map(encode_turn, made.turns))
        kept.frames.update({frame_id: list(map(encode_turn, turns)) for frame_id, turns in made.frames.items()})
        there = {turn.message_id for turn in known.turns}
        lacking = {
            outcome.turn.message_id: (outcome.turn.frame_id, outcome.kept())
            for outcome in outcomes
            if outcome.turn.message_id not in there
        }
        newest_ids = [turn.message_id for turn in made.turns[-KNOWN_MESSAGES:]]
        kept.seen = {each: kept.seen.get(each) or lacking[each] for each in newest_ids}
        return sum(turn.message_id not in there for turn in made.turns)


def _decoded(turns: Sequence[bytes]) -> Turns:
    return decode_turns(b"[" + b",".join(turns) + b"]")
