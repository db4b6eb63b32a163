"""Retrieval plans, and the answers of each class of memory.

The plan's terms open the join on `packs.partial`; the parts follow under the same key, in one order.
"""

from enum import StrEnum
from typing import Annotated, ClassVar, Literal

from pydantic import AwareDatetime, Field, field_validator, model_validator

from schemas.base import Absent, Event, Id, Source, StatedTime, Value
from schemas.depth import Anchor, AppliedOptions, DepthLevel, Parameter, Signal
from schemas.items import Item


class MemoryClass(StrEnum):
    WORKING_SET = "working_set"
    PERSONA = "persona"
    EPISODIC = "episodic"
    SEMANTIC = "semantic"
    PROCEDURAL = "procedural"
    CLAIMS = "claims"


PassageKind = Literal["chunk", "definition", "concept", "message", "summary", "event"]


class ProfileSource(Value):
    """A query profile's limits for one source; `share` is of the level's budget. Absent: all kinds, of any age."""

    memory_class: MemoryClass
    selector: str
    limit: Absent[int] = Field(default=None, ge=1)
    share: float = Field(ge=0, le=1)
    kinds: Absent[tuple[PassageKind, ...]] = None
    max_age_days: Absent[int] = Field(default=None, ge=1)


class QueryProfile(Value):
    """The request parameters of a level's sources: a name, a version and the parameters."""

    name: str
    version: int = Field(ge=1)
    sources: tuple[ProfileSource, ...]


class SourceRequest(Value):
    """One source of a plan: the class of memory, the selector of the level's plan, and the limits.

    `skip` is the reason for not asking it (the stage answers so); with `narrow` only direct results are wanted, none
    related to them. Only results of these `kinds`, and recorded since `since`, count.
    """

    memory_class: MemoryClass
    selector: str
    limit: int | None = Field(default=None, ge=0)
    max_tokens: int = Field(ge=0)
    added_by: Absent[str] = None
    skip: Absent[str] = None
    narrow: Absent[bool] = None
    kinds: Absent[tuple[PassageKind, ...]] = None
    since: Absent[AwareDatetime] = None


class PlanTerms(Event):
    """The fields shared by the plan and the opening of its join."""

    plan_id: Id
    pack_id: Id
    message_id: Id
    conversation_id: Id
    client_id: Id
    user_id: Id
    query: str
    lang: str
    seq: int = Field(ge=0)
    source: Source
    frame_id: Id
    as_of: AwareDatetime
    accepted_at: AwareDatetime
    depth_level: DepthLevel
    strategy: str
    query_profile: str | None
    query_profile_version: Absent[int] = None
    max_tokens: int = Field(ge=1)
    special_instructions: tuple[str, ...]
    deadline_at: AwareDatetime
    tier: Absent[Literal["minimal", "standard", "deep"]] = None
    request_id: Absent[str] = None
    options: Absent[AppliedOptions] = None


class RetrievalPlan(PlanTerms):
    """The requests for one message, complete and exclusive.

    `context` is searched with the query, with less weight.
    """

    TYPE: ClassVar[str] = "retrieval.plan-made.v1"
    sources: tuple[SourceRequest, ...]
    reset_frame: bool = False
    anchor: Absent[Anchor] = None
    parameters: Absent[tuple[Parameter, ...]] = None
    context: Absent[str] = None

    def wants(self, memory: MemoryClass) -> SourceRequest | None:
        """The request for this class of memory, if the plan has one."""
        return next((source for source in self.sources if source.memory_class == memory), None)


class JoinOpened(PlanTerms):
    """The plan's terms, on the partition where its parts arrive.

    `looks_up`: whether memory is searched for an answer to the message. It is absent in records from before 0.2, whose
    packs are made again by the rules of that time. `profile` is stored in the graph with the decision. `selection`: the
    version of the rules that select the pack's evidence; absent in records from before there was one. `states`: the
    message asks nothing, so that a pack without evidence lacks nothing.
    """

    TYPE: ClassVar[str] = "retrieval.join-opened.v1"
    kind: Literal["open"] = "open"
    wanted: tuple[MemoryClass, ...] = Field(min_length=1)
    confidence: float = Field(ge=0, le=1)
    classifier: Literal["heuristic", "llm", "heuristic_timeout"]
    signals: tuple[Signal, ...]
    profile: Absent[QueryProfile] = None
    looks_up: Absent[bool] = None
    selection: Absent[Literal[1]] = None
    states: Absent[bool] = None


class PartStatus(StrEnum):
    OK = "ok"
    EMPTY = "empty"
    TIMEOUT = "timeout"
    ERROR = "error"
    SKIPPED = "skipped"


class Dropped(Value):
    """An item that was found but left out, and why."""

    id: Id
    memory_class: MemoryClass
    reason: str
    tokens: int
    score: float


class PartFound(Event):
    """The answer of one memory class to one plan; every wanted class always answers.

    `dropped` are the best results below the relevance threshold. `earlier_ms` is how long a part that was sent with
    others had waited for them.
    """

    TYPE: ClassVar[str] = "retrieval.part-found.v1"
    kind: Literal["part"] = "part"
    plan_id: Id
    pack_id: Id
    message_id: Id
    memory_class: MemoryClass
    status: PartStatus
    items: tuple[Item, ...] = ()
    tokens: int = Field(ge=0, default=0)
    error: Absent[str] = None
    dropped: Absent[tuple[Dropped, ...]] = None
    earlier_ms: Absent[int] = Field(default=None, ge=0)


class PartsFound(Event):
    """The answers of several memory classes to one plan, by one process: what their parts would say one by one."""

    TYPE: ClassVar[str] = "retrieval.parts-found.v1"
    kind: Literal["parts"] = "parts"
    plan_id: Id
    pack_id: Id
    message_id: Id
    parts: tuple[PartFound, ...] = Field(min_length=1)


class PackInputs(Event):
    """All that a pack is made of, by the one task that asked for it: a pack is a pure function of this record.

    `parts` are those that came in time, each `earlier_ms` before `settled_at`; `previous` says which pack that the
    caller still holds has an item already.
    """

    TYPE: ClassVar[str] = "retrieval.pack-inputs.v1"
    kind: Literal["inputs"] = "inputs"
    pack_id: Id
    message_id: Id
    terms: JoinOpened
    parts: tuple[PartFound, ...]
    opened_at: AwareDatetime
    settled_at: AwareDatetime
    previous: Absent[dict[Id, Id]] = None


class JoinTicked(Event):
    """A tick on a quiet partition: in the log, so that deadlines follow the log and a replay meets the same ones."""

    TYPE: ClassVar[str] = "retrieval.join-ticked.v1"
    kind: Literal["tick"] = "tick"
    at: AwareDatetime


Partial = Annotated[JoinOpened | PartFound | PartsFound | PackInputs | JoinTicked, Field(discriminator="kind")]


SearchKind = Literal["document", "turn", "summary", "claim", "event", "process"]
MAX_RESULTS = 50


class SearchAsked(Event):
    """A search of memory that leaves no trace in it: only what fits all of its filters is found.

    `limit` is the most results. `since` and `until` bound when something was recorded.
    """

    TYPE: ClassVar[str] = "search.asked.v1"
    request_id: Id
    client_id: Id
    query: str
    limit: int = Field(default=10, ge=1, le=MAX_RESULTS)
    kind: Absent[SearchKind] = None
    document_id: Absent[Id] = None
    conversation_id: Absent[Id] = None
    since: Absent[StatedTime] = None
    until: Absent[StatedTime] = None

    @field_validator("query")
    @classmethod
    def _says_something(cls, value: str) -> str:
        if not value.strip():
            raise ValueError("there is no text in it")
        return value

    @model_validator(mode="after")
    def _in_order(self) -> "SearchAsked":
        if self.since is not None and self.until is not None and self.since > self.until:
            raise ValueError("since is after until; nothing can be recorded between them")
        return self


class SearchResult(Value):
    """Something found: its text, where it comes from, and why it was chosen; best first.

    `number` is that of its source in the text of all results. `user_id` is another user's who said it.
    """

    id: Id
    kind: SearchKind
    memory_class: MemoryClass
    title: str
    text: str
    score: float
    tokens: int = Field(ge=0)
    reason: str
    recorded_at: AwareDatetime
    truncated: bool = False
    number: Absent[int] = None
    document_id: Absent[Id] = None
    page: Absent[int] = None
    client_id: Absent[Id] = None
    conversation_id: Absent[Id] = None
    message_id: Absent[Id] = None
    role: Absent[Literal["user", "assistant"]] = None
    claim_id: Absent[Id] = None
    user_id: Absent[Id] = None


class SearchMade(Event):
    """The results of one search, as the pack of the same question would choose them; `text` is for a prompt.

    `evidence` is `none` where memory answered and has nothing. `missing` are the classes of memory that did not answer.
    `latency_ms` is the duration of the search itself.
    """

    TYPE: ClassVar[str] = "search.made.v1"
    request_id: Id
    user_id: Id
    query: str
    lang: str
    results: tuple[SearchResult, ...]
    evidence: Absent[Literal["found", "none"]] = None
    degraded: bool = False
    missing: tuple[MemoryClass, ...] = ()
    text: str
    total_tokens: int = Field(ge=0)
    tokenizer: str
    latency_ms: float = Field(ge=0)
