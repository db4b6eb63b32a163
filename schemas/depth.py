"""Depth of answers and its evidence: levels D0-D4, the signals found, the decision."""

from enum import StrEnum
from typing import ClassVar, Literal

from pydantic import AwareDatetime, Field

from schemas.base import Absent, Event, Id, Source, Value
from schemas.references import Parameter


class DepthLevel(StrEnum):
    """The depth of an answer. By context kept: D0 < D1 < D2 < D3; D4 is outside that order, it drops context."""

    D0 = "D0"
    D1 = "D1"
    D2 = "D2"
    D3 = "D3"
    D4 = "D4"


SignalName = Literal[
    "greeting",
    "direct_question",
    "anaphora",
    "follow_up",
    "explanation",
    "how_to",
    "disagreement",
    "topic_shift",
    "comparison",
    "temporal",
    "list_summary",
    "command",
    "doubt",
    "feedback",
]


class Signal(Value):
    """One linguistic signal: the words that show it, the level it supports, its weight (0-1)."""

    name: SignalName
    evidence: str
    level: DepthLevel
    weight: float = Field(ge=0, le=1)


class Anchor(Value):
    """The topic of a frame: its opening topic and the content words of it."""

    topic: str
    terms: tuple[str, ...]


class DepthClassified(Event):
    """The depth of one user message, with every signal and its evidence.

    `parameters` are its subjects, its own named last. `needs_nothing`: memory has nothing to add to the answer.
    `context`: the parts of the conversation that the message depends on, searched with it. `segment` is the probability
    that a new segment begins (0-1), `resets` whether earlier turns are to be ignored, too; both are absent in older
    records.
    """

    TYPE: ClassVar[str] = "depth.message-classified.v1"
    message_id: Id
    conversation_id: Id
    client_id: Id
    user_id: Id
    query: str
    depth_level: DepthLevel
    confidence: float = Field(ge=0, le=1)
    signals: tuple[Signal, ...]
    candidates: tuple[DepthLevel, ...]
    classifier: Literal["heuristic", "llm", "heuristic_timeout"]
    raised_from: Absent[DepthLevel] = None
    how_to: bool = False
    lang: str
    seq: int = Field(ge=0)
    source: Source
    frame_id: Id
    frame_opened: bool = False
    anchor: Anchor
    as_of: AwareDatetime
    accepted_at: AwareDatetime
    latency_ms: float = Field(ge=0)
    parameters: Absent[tuple[Parameter, ...]] = None
    needs_nothing: Absent[bool] = None
    context: Absent[str] = None
    request_id: Absent[str] = None
    tier: Absent[Literal["minimal", "standard", "deep"]] = None
    resets: Absent[bool] = None
    segment: Absent[float] = None
