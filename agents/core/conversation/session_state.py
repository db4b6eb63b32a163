"""The state of a working set as a pure function of the log: one step per turn, live and on replay alike.

A working set is a view of `conversation.turns`; the bytes of a decision need `depth.classified` too.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from agents.core.conversation import references
from agents.core.conversation.memory import ConversationTurn, Session, Turns
from schemas.base import Conversation, Value
from schemas.chat import Role, Turn
from schemas.depth import DepthClassified, Reference

MAX_FRAMES = 32
# Of larger groups the later ones take part through their application alone.
MAX_PARTICIPANTS = 1_000
# A greeting neither asks for anything nor changes the topic.
COURTESY = "greeting"


class TurnOutcome(Value):
    """The decision on one message, stored with it so that a redelivery gives the same events, byte for byte."""

    turn: Turn
    classified: DepthClassified | None = None

    @property
    def is_whole(self) -> bool:
        """Whether the outcome is complete: for a user's message with a pack, with its depth."""
        return self.turn.role != Role.USER or self.turn.pack is False or self.classified is not None

    def kept(self) -> bytes:
        """The bytes to store in the working set; empty for an incomplete outcome."""
        return self.model_dump_json().encode() if self.is_whole else b""


@dataclass(frozen=True, slots=True)
class RecordedOutcome:
    """An outcome read from the log, with its conversation."""

    conversation: Conversation
    outcome: TurnOutcome


@dataclass(frozen=True, slots=True)
class RecordedErasure:
    """A conversation forgotten up to a position, read from the log."""

    conversation: Conversation
    up_to_seq: int


Recorded = RecordedOutcome | RecordedErasure


@dataclass(frozen=True, slots=True)
class RecordedConversation:
    """The outcomes of a conversation in order, from after the position up to which it is forgotten."""

    outcomes: Sequence[TurnOutcome]
    forgotten: int = -1


@dataclass(frozen=True, slots=True)
class WorkingSetState:
    """A conversation's session, its newest turns over all frames, and those of each frame; ordered by `seq`."""

    session: Session = field(default_factory=Session)
    turns: Turns = ()
    frames: Mapping[str, Turns] = field(default_factory=dict)


def remembered(turn: Turn) -> ConversationTurn:
    """The turn as the working set keeps it."""
    said = turn.references or ()
    ticker = references.last(said, references.TICKER)
    return ConversationTurn(
        turn.role.value,
        turn.content,
        turn.created_at,
        message_id=turn.message_id,
        seq=turn.seq,
        frame_id=turn.frame_id,
        lang=turn.lang,
        user_id=turn.user_id,
        source=turn.source,
        request_id=turn.request_id,
        intent=turn.intent,
        entity=turn.entity,
        answers=turn.answers,
        depth_level=turn.depth_level,
        last_reference=references.last(said),
        last_ticker=ticker.value if ticker else None,
        link=turn.link,
    )


def session_after(session: Session, outcome: TurnOutcome) -> Session:
    """The session after a message: a user's turn updates frame, anchor and subject, an answer only the position."""
    turn = outcome.turn
    frames = session.frames
    if turn.frame_id not in frames:
        frames = (*frames, turn.frame_id)[-MAX_FRAMES:]
    session = replace(
        session,
        frames=frames,
        lang=turn.lang,
        last_seq=max(session.last_seq, turn.seq),
        participants=with_participant(session.participants, turn),
    )
    same_frame = turn.frame_id == session.frame_id
    known = references.newest(_kept_references(session, turn) if same_frame else (), turn.references or ())
    if turn.role != Role.USER:
        if session.frame_id and not same_frame:
            return session  # a late answer: its references belong to an earlier frame
        return replace(session, frame_id=turn.frame_id, references=known)
    return replace(
        session,
        frame_id=turn.frame_id,
        anchor=outcome.classified.anchor if outcome.classified else session.anchor,
        last_intent=session.last_intent if same_frame and turn.intent == COURTESY else turn.intent,
        last_entity=turn.entity or (session.last_entity if same_frame else None),
        references=known,
    )


def with_participant(known: tuple[str, ...] | None, turn: Turn) -> tuple[str, ...] | None:
    """The participants of a conversation with the user whom a turn names; None where they are not known."""
    if known is None or turn.user_named is False or turn.user_id in known or len(known) >= MAX_PARTICIPANTS:
        return known
    return (*known, turn.user_id)


def _kept_references(session: Session, turn: Turn) -> tuple[Reference, ...]:
    """The session's references, without the previous subject once a user names another one."""
    if turn.role != Role.USER or turn.entity in (None, session.last_entity):
        return session.references
    return tuple(each for each in session.references if each.value != session.last_entity)


def apply_log(
    known: WorkingSetState, outcomes: Iterable[TurnOutcome], *, keep: int, keep_all: int
) -> WorkingSetState | None:
    """The state with the missing turns of these outcomes added; None when none is missing.

    `known.frames` holds at least the frames of the outcomes. Turns newer than the session update it.
    """
    there = {turn.message_id for turn in known.turns}
    lacking: dict[str, TurnOutcome] = {}
    for outcome in sorted(outcomes, key=_seq):
        if outcome.turn.message_id not in there:
            lacking.setdefault(outcome.turn.message_id, outcome)
    session, frames = known.session, {name: list(turns) for name, turns in known.frames.items()}
    for outcome in lacking.values():
        if outcome.turn.seq > session.last_seq:
            session = session_after(session, outcome)
        frames.setdefault(outcome.turn.frame_id, []).append(remembered(outcome.turn))
    turns = _newest([*known.turns, *(remembered(outcome.turn) for outcome in lacking.values())], keep_all)
    if turns == known.turns:
        return None  # the missing turns are older than the ones kept
    return WorkingSetState(session, turns, {name: _newest(each, keep) for name, each in frames.items()})


def _newest(turns: Sequence[ConversationTurn], keep: int) -> Turns:
    return tuple(sorted(turns, key=lambda turn: turn.seq)[-keep:])


def by_conversation(recorded: Iterable[Recorded]) -> dict[Conversation, RecordedConversation]:
    """The outcomes of each conversation in a partition's log, each message once, in order, without forgotten ones.

    A last message of a user without its depth in the log was not finished: it is left out, since it is delivered and
    decided again. (One older than every depth in the log is complete: depths have a shorter retention.)
    """
    outcomes: dict[Conversation, dict[str, TurnOutcome]] = {}
    forgotten: dict[Conversation, int] = {}
    for one in recorded:
        if isinstance(one, RecordedErasure):
            forgotten[one.conversation] = max(one.up_to_seq, forgotten.get(one.conversation, -1))
            continue
        said = outcomes.setdefault(one.conversation, {})
        before = said.get(one.outcome.turn.message_id)
        if before is None or not before.is_whole:
            said[one.outcome.turn.message_id] = one.outcome
    ordered = {conversation: sorted(found.values(), key=_seq) for conversation, found in outcomes.items()}
    depths = [done.turn.seq for each in ordered.values() for done in each if done.classified is not None]
    first_depth = min(depths, default=0)
    for each in ordered.values():
        if not each[-1].is_whole and each[-1].turn.seq >= first_depth:
            each.pop()
    found = {}
    for conversation in {**ordered, **forgotten}:
        until = forgotten.get(conversation, -1)
        left = [done for done in ordered.get(conversation, ()) if done.turn.seq > until]
        if left or until >= 0:
            found[conversation] = RecordedConversation(left, until)
    return found


def _seq(outcome: TurnOutcome) -> int:
    return outcome.turn.seq
