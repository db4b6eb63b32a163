"""Depth of answers and its evidence: levels D0-D4, the signals found, the caller's options, the decision."""

from enum import StrEnum
from typing import ClassVar, Literal, Self

from pydantic import AwareDatetime, Field, ValidationError, model_validator

from schemas.base import Absent, Event, Id, Source, Value, sentence_of


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


LookUp = Literal["auto", "always", "never"]
OptionName = Literal["min_depth", "max_depth", "look_up", "max_tokens", "have", "template", "deep", "wait_ms"]
MAX_HELD = 16
LEAST_WAIT_MS = 50


class RequestOptions(Value):
    """The caller's options for one message; an absent one leaves the decision to Fathom.

    `look_up`: `always` searches memory whatever the words, `never` does not search it at all. `max_tokens` replaces the
    budget of the level. `have`: packs of the conversation whose text the caller still holds; their items are named, not
    given again. `template` is the name of a rendering of the pack. `deep`: beside the pack an answer by cognition.
    `wait_ms`: how long the caller waits for the pack, in place of the level's deadline.
    """

    min_depth: Absent[DepthLevel] = None
    max_depth: Absent[DepthLevel] = None
    look_up: Absent[LookUp] = None
    max_tokens: Absent[int] = Field(default=None, ge=1)
    have: Absent[tuple[Id, ...]] = Field(default=None, max_length=MAX_HELD)
    template: Absent[Id] = None
    deep: Absent[bool] = None
    wait_ms: Absent[int] = Field(default=None, ge=LEAST_WAIT_MS)

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.min_depth is not None and self.max_depth is not None and self.min_depth > self.max_depth:
            raise ValueError(
                f"min_depth {self.min_depth.value} is above max_depth {self.max_depth.value}; "
                "lower the one or raise the other"
            )
        return self

    def stated(self) -> dict[str, object]:
        """The options that have a value."""
        return {name: value for name in RequestOptions.model_fields if (value := getattr(self, name)) is not None}

    def over(self, other: "RequestOptions | None") -> "RequestOptions":
        """These options, completed from others; raises `ValueError` where the two contradict each other."""
        both = {**(other.stated() if other is not None else {}), **self.stated()}
        try:
            return RequestOptions.model_validate(both)
        except ValidationError as error:
            raise ValueError(sentence_of(error.errors(include_url=False)[0])) from None


class AppliedOptions(RequestOptions):
    """The options in force for a message; `clamped` names those that the policy limited.

    `reason` says which level the words gave, where an option gave another one.
    """

    clamped: tuple[OptionName, ...] = ()
    reason: Absent[str] = None


NO_OPTIONS = RequestOptions()


class Reference(Value):
    """Something named in a message, of a kind of the reference policy; `at` is the message's event time."""

    kind: str
    value: str
    message_id: Id
    at: AwareDatetime


class Parameter(Reference):
    """A subject of a message: named in it, or carried over from the earlier one that `message_id` names."""

    source: Literal["message", "history"]


class DepthClassified(Event):
    """The depth of one user message, with every signal and its evidence.

    `parameters` are its subjects, its own named last. `needs_nothing`: memory has nothing to add to the answer.
    `context`: the parts of the conversation that the message depends on, searched with it. `segment` is the probability
    that a new segment begins (0-1), `resets` whether earlier turns are to be ignored, too; both are absent in older
    records. `options` are those in force. `overload`: more messages came than could be handled. `states`: the message
    states something of its user's and asks nothing.
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
    options: Absent[AppliedOptions] = None
    overload: Absent[bool] = None
    states: Absent[bool] = None
