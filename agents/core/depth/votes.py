"""Votes of users on depth: enough votes for more context raise the level of messages with the same signals.

Pure and bounded: votes only ever raise, never above D2, and never a greeting or a look-up, which stay D0; D3
and D4 come from words alone. Votes count as of the message's time, so that a replay weighs what was known then.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from agents.core.depth.levels import TIE_COST, DepthDecision
from schemas.depth import DepthLevel, Signal
from schemas.learning import DepthVote, Votes
from schemas.memory import AuditDecision, PackDecision

D0, D1, D2, D3, D4 = DepthLevel
LADDER = (D0, D1, D2, D3)
FEEDBACK = "feedback"
MIN_VOTES = 3  # votes for more than against
WINDOW = 20  # the newest of a pattern that count


def pattern_of(signals: Iterable[str]) -> str:
    """The vote pattern of a message: the names of its signals, without that of feedback."""
    return "+".join(sorted(set(signals) - {FEEDBACK}))


def is_vote(event: DepthVote | PackDecision | AuditDecision) -> bool:
    """Whether an event is a vote or the audit of one."""
    return isinstance(event, DepthVote) or event.kind == "weights"


def vote_of(event: DepthVote | PackDecision | AuditDecision) -> DepthVote | None:
    """The vote of an event; raises `ValueError` for the audit of a vote that holds none.

    Votes were once recorded as decisions only. The audit of a vote still holds the same vote, and equal votes are
    stored once: it does not matter which of the two is read, in which order, or how often.
    """
    if isinstance(event, DepthVote):
        return event
    return DepthVote.model_validate(event.detail) if event.kind == "weights" else None


def may_rise(decision: DepthDecision) -> bool:
    """Whether votes may raise the level: for a follow-up, and for a D0 without any signal."""
    return decision.level is D1 or (decision.level is D0 and decision.intent == "doubt")


def raised(decision: DepthDecision, votes: Votes, as_of: datetime) -> DepthDecision:
    """The decision at the level that enough votes expected for its pattern; unchanged without them."""
    if not may_rise(decision):
        return decision
    counted = _counted(votes.get(pattern_of(sign.name for sign in decision.signals), ()), as_of)
    for level in (D2, D1):
        up = sum(_rank(vote) >= LADDER.index(level) for vote in counted)
        if _above(level, decision.level) and up - (len(counted) - up) >= MIN_VOTES:
            return _at(decision, level, up, len(counted))
    return decision


def _counted(votes: Sequence[DepthVote], as_of: datetime) -> list[DepthVote]:
    """The newest votes as of a time, one per voter and message; without D4, which says nothing of more or less."""
    known = sorted((vote for vote in votes if vote.at <= as_of), key=lambda vote: (vote.at, vote.id))
    last = {vote.id: vote for vote in known}
    return [vote for vote in known if last[vote.id] is vote and vote.expected not in (None, D4)][-WINDOW:]


def _rank(vote: DepthVote) -> int:
    return LADDER.index(vote.expected) if vote.expected in LADDER else 0


def _above(level: DepthLevel, other: DepthLevel) -> bool:
    return LADDER.index(level) > LADDER.index(other)


def _at(decision: DepthDecision, level: DepthLevel, up: int, count: int) -> DepthDecision:
    sign = Signal(
        name=FEEDBACK, evidence=f"{up} of {count} votes on messages like this", level=level, weight=round(up / count, 2)
    )
    return replace(
        decision,
        level=level,
        confidence=round(max(0.0, decision.confidence - TIE_COST), 3),
        signals=(*decision.signals, sign),
        candidates=(level, *(one for one in decision.candidates if one is not level)),
        raised_from=decision.level,
    )
