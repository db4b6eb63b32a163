"""The context pack: the model's input, section by section, each item with its source and reason.

Field names of the sections are the seed's.
"""

from typing import ClassVar, Literal

from pydantic import AwareDatetime, Field

from schemas.base import Absent, Event, Id, Value
from schemas.depth import AppliedOptions, DepthLevel, Signal
from schemas.items import (
    Chunk,
    ClaimItem,
    Concept,
    Contradiction,
    ConversationSummary,
    Knowledge,
    MessageItem,
    Objective,
    Process,
    Provenance,
    SessionSummaryItem,
    Step,
    TimePoint,
)
from schemas.retrieval import Dropped, MemoryClass


class WorkingSetSection(Value):
    recent_messages: tuple[MessageItem, ...] = ()
    session_summary: Absent[str] = None
    session_summary_item: Absent[SessionSummaryItem] = None


class EpisodicSection(Value):
    conversation_summaries: tuple[ConversationSummary, ...] = ()
    relevant_events: tuple[TimePoint, ...] = ()


class SemanticSection(Value):
    concepts: tuple[Concept, ...] = ()
    knowledge_chunks: tuple[Chunk, ...] = ()
    definitions: tuple[Knowledge, ...] = ()


class ClaimsSection(Value):
    user_claims: tuple[ClaimItem, ...] = ()
    system_claims: tuple[ClaimItem, ...] = ()
    contradictions: tuple[Contradiction, ...] = ()


class ProceduralSection(Value):
    relevant_processes: tuple[Process, ...] = ()
    playbook_steps: tuple[Step, ...] = ()


class PersonaContext(Value):
    user_role: str = "unknown"
    department: str = "unknown"
    access_level: str = "public"
    current_objectives: Absent[tuple[Objective, ...]] = None
    provenance: Absent[Provenance] = None
    recorded_at: Absent[AwareDatetime] = None
    reason: str = "persona is in every pack"
    tokens: int = 0


class PartReport(Value):
    """The answer of one wanted class: its status."""

    memory_class: MemoryClass
    status: Literal["ok", "empty", "timeout", "error", "skipped", "missing"]
    items: int
    latency_ms: Absent[float] = None
    error: Absent[str] = None


class RepeatedItem(Value):
    """An item of a pack that the caller still holds: referred to, not injected again."""

    id: Id
    memory_class: MemoryClass
    pack_id: Id


class PackSource(Value):
    """A source that the text of a pack cites as `[number]`, and the items that stand under it."""

    number: int = Field(ge=1)
    name: str
    items: tuple[Id, ...]


class Reconciliation(Value):
    """The claims that a D3 answer has to reconcile."""

    claim_ids: tuple[Id, ...]
    original_claim_id: Absent[Id] = None


class ContextPack(Event):
    """The context for the answer to one message, within its token budget.

    `evidence`: whether memory, where searched, holds anything that helps to answer; `none` is a result, too. `text` is
    the pack as Markdown for a prompt, by the template it names; `total_tokens_estimated` are its tokens in `tokenizer`.
    `options` are the caller's, as in force.
    """

    TYPE: ClassVar[str] = "context.pack-assembled.v1"
    pack_id: Id
    revision: int = Field(default=1, ge=1)
    plan_id: Id
    message_id: Id
    conversation_id: Id
    client_id: Id
    user_id: Id
    query: str
    query_truncated: bool = False
    lang: str
    seq: int
    frame_id: Id
    depth_level: DepthLevel
    query_profile_used: str | None
    query_profile_version: Absent[int] = None
    strategy: str
    special_instructions: tuple[str, ...]
    max_tokens: int
    total_tokens_estimated: int
    text: Absent[str] = None
    template: Absent[str] = None
    tokenizer: Absent[str] = None
    sources: Absent[tuple[PackSource, ...]] = None
    working_set: WorkingSetSection
    persona_context: PersonaContext
    episodic: Absent[EpisodicSection] = None
    semantic: Absent[SemanticSection] = None
    claims: Absent[ClaimsSection] = None
    procedural: Absent[ProceduralSection] = None
    llm_instructions: tuple[str, ...]
    reconciliation: Absent[Reconciliation] = None
    evidence: Absent[Literal["found", "none"]] = None
    degraded: bool = False
    degraded_reasons: tuple[str, ...] = ()
    missing_sections: tuple[str, ...] = ()
    settled_by: Literal["complete", "deadline"] = "complete"
    parts: tuple[PartReport, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    already_in_context: tuple[RepeatedItem, ...] = ()
    confidence: float
    signals: tuple[Signal, ...] = ()
    assembled_at: AwareDatetime
    latency_ms: float = Field(ge=0)
    request_id: Absent[str] = None
    options: Absent[AppliedOptions] = None
