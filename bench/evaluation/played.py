"""Replay of recorded dialogues, turn by turn, through the real depth stage with its histories, frames and anchors."""

from collections.abc import Sequence

from schemas.chat import Role
from schemas.depth import DepthClassified, DepthLevel
from schemas.topics import CONVERSATION_TURNS, DEPTH_CLASSIFIED
from streams.testing.pipeline import Pipeline
from streams.topology import stages_of

BETWEEN_S = 30.0

Spoken = tuple[str, str]


def played(turns: Sequence[Spoken]) -> list[DepthClassified | None]:
    """The decision on each turn (role, text) of one dialogue; None for turns that are not classified."""
    return [decided for decided, _ in played_turns(turns)]


def played_turns(turns: Sequence[Spoken]) -> list[tuple[DepthClassified | None, float]]:
    """The decision on each turn and, whoever said it, the probability that it opens a segment."""
    with Pipeline(stages=stages_of(["depth"]), partitions=1) as fathom:
        names = []
        for role, text in turns:
            fathom.clock.advance(BETWEEN_S)
            blank = role == Role.USER.value and not text.strip()  # the stage rejects it
            names.append("" if blank else fathom.say(text, role=Role(role).value))
        decided = {event.event.message_id: event.event for event in fathom.events(DEPTH_CLASSIFIED)}
        segments = {each.event.message_id: each.event.segment or 0.0 for each in fathom.events(CONVERSATION_TURNS)}
        segments |= {name: each.segment or 0.0 for name, each in decided.items()}
        return [(decided.get(name), segments.get(name, 0.0)) for name in names]


def strongest(decided: DepthClassified | None, level: DepthLevel, names: Sequence[str] = ()) -> float:
    """The weight of the strongest signal for a level, optionally among these names; 0 without one."""
    signs = decided.signals if decided else ()
    return max(
        (sign.weight for sign in signs if sign.level is level and (not names or sign.name in names)), default=0.0
    )
