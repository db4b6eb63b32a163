"""The explanation of what was decided on one message: values only, without the texts' full length."""

from typing import Literal

from pydantic import AwareDatetime

from schemas.base import Absent, Id, JsonObject, Value
from schemas.depth import AppliedOptions, DepthLevel, Signal
from schemas.retrieval import MemoryClass

EvidenceOrigin = Literal["log", "graph"]


class LogPlace(Value):
    """A record of the log, and the time it was written."""

    topic: str
    partition: int
    offset: int
    at: AwareDatetime


class MessageExplained(Value):
    """The message itself; `text` is there where a record that has it is still in the log."""

    message_id: Id
    conversation_id: Id
    client_id: Id
    user_id: Absent[Id] = None
    text: Absent[str] = None
    lang: Absent[str] = None
    at: AwareDatetime
    place: Absent[LogPlace] = None


class DepthExplained(Value):
    """The level and why: the signals with the words that show them, what else was in question, the options in force."""

    level: DepthLevel
    why: str
    confidence: Absent[float] = None
    classifier: Absent[str] = None
    signals: tuple[Signal, ...] = ()
    candidates: tuple[DepthLevel, ...] = ()
    options: Absent[AppliedOptions] = None
    place: Absent[LogPlace] = None


class PlanExplained(Value):
    plan_id: Id
    strategy: str
    query_profile: Absent[str] = None
    deadline_at: AwareDatetime
    tier: Absent[str] = None
    special_instructions: tuple[str, ...] = ()
    place: Absent[LogPlace] = None


class PartExplained(Value):
    """What was asked of one memory, and its answer; latency in ms from the opening of the join."""

    memory_class: MemoryClass
    selector: Absent[str] = None
    limit: Absent[int] = None
    max_tokens: Absent[int] = None
    skip: Absent[str] = None
    status: str
    items: int
    latency_ms: Absent[float] = None
    error: Absent[str] = None
    place: Absent[LogPlace] = None


class ItemExplained(Value):
    """An item of the pack; `text` is its beginning, `source` its place in the log or the id of a store."""

    section: str
    id: Id
    text: str
    source: str
    reason: str
    score: float
    tokens: int
    truncated: bool = False


class OmissionExplained(Value):
    """An item that was found and left out; `pack_id` where it stands in an earlier pack that the caller holds.

    `title` and `source` are those of the item where its memory sent it on, else `source` is the record in which its
    memory reported it.
    """

    memory_class: MemoryClass
    id: Id
    reason: str
    title: Absent[str] = None
    source: Absent[str] = None
    score: Absent[float] = None
    tokens: Absent[int] = None
    pack_id: Absent[Id] = None


class SectionTokens(Value):
    name: str
    tokens: int


class BudgetExplained(Value):
    """Tokens: `granted` = `used` + `unused`, and `used` = the sum of `sections` + `frame`.

    `asked` is the caller's own limit. `frame` is what the text has beside its items: headings, question, instructions;
    it is negative where items share text, as a citation.
    """

    asked: Absent[int] = None
    granted: int
    used: int
    unused: int
    sections: tuple[SectionTokens, ...]
    frame: int


class PackExplained(Value):
    """One revision of the pack."""

    pack_id: Id
    revision: int
    settled_by: str
    degraded: bool
    degraded_reasons: tuple[str, ...] = ()
    evidence: Absent[str] = None
    latency_ms: float
    place: LogPlace


class DecisionExplained(Value):
    """The decision as audited: its record in the log, or the node of the graph."""

    id: Id
    node: str
    level: Absent[DepthLevel] = None
    signals: tuple[str, ...] = ()
    query_profile: Absent[str] = None
    sources_retrieved: tuple[str, ...] = ()
    tokens_used: Absent[int] = None
    latency_ms: Absent[int] = None
    found_in: tuple[EvidenceOrigin, ...]
    place: Absent[LogPlace] = None


class VerdictExplained(Value):
    """The verdict on a tool call of this message, or of one that took values of it; `taken` names these."""

    call_id: Id
    tool_name: str
    status: str
    taken: tuple[str, ...] = ()
    error: Absent[str] = None
    place: LogPlace


class CorrectionExplained(Value):
    """A correction of something that was said in this message, answered to it, or shown in its pack."""

    id: Id
    target: str
    kind: str
    by: Id
    text: str
    new_value: Absent[str] = None
    at: AwareDatetime
    found_in: EvidenceOrigin
    place: Absent[LogPlace] = None


class AnswerExplained(Value):
    """A turn of the assistant that answers with this pack."""

    message_id: Id
    text: str
    place: LogPlace


class QuarantineExplained(Value):
    """A source that was quarantined when the pack was made (nothing of it is in the pack), or was `set since`.

    `items` are those of the pack that name the source; what else stems from it, `fathom quarantine report` finds.
    """

    source: str
    since: AwareDatetime
    by: Id
    reason: str = ""
    state: str
    items: tuple[str, ...] = ()


class Explanation(Value):
    """What was decided on one message and why, as known at `as_of` where that is stated.

    `gaps` says in sentences what could not be read and what is there instead. A pack that is no longer in the log
    leaves the fields that only it had empty.
    """

    tenant: Id
    as_of: Absent[AwareDatetime] = None
    message: MessageExplained
    depth: DepthExplained
    plan: Absent[PlanExplained] = None
    parts: tuple[PartExplained, ...] = ()
    packs: tuple[PackExplained, ...] = ()
    kept: tuple[ItemExplained, ...] = ()
    dropped: tuple[OmissionExplained, ...] = ()
    budget: Absent[BudgetExplained] = None
    decisions: tuple[DecisionExplained, ...] = ()
    answers: tuple[AnswerExplained, ...] = ()
    verdicts: tuple[VerdictExplained, ...] = ()
    corrections: tuple[CorrectionExplained, ...] = ()
    quarantines: tuple[QuarantineExplained, ...] = ()
    gaps: tuple[str, ...] = ()

    def as_json(self) -> JsonObject:
        """The fields as JSON values."""
        return self.model_dump(mode="json")
