"""Assessments of whether a query needs deep context, before anything is fetched for it."""

from enum import StrEnum
from typing import ClassVar, Literal

from pydantic import Field

from schemas.base import Absent, Event, Id, Value
from schemas.depth import DepthLevel

TierName = Literal["minimal", "standard", "deep"]
ModelTier = Literal["fast", "standard", "advanced"]
Action = Literal["respond_directly", "search_context", "deep_retrieval"]


class QueryType(StrEnum):
    """The purpose of a query."""

    GREETING = "greeting"
    CLARIFICATION = "clarification"
    DIRECT_QUESTION = "direct_question"
    ARCHITECTURAL = "architectural"
    IMPLEMENTATION = "implementation"
    REVIEW_REQUEST = "review_request"
    DEBUGGING = "debugging"
    OTHER = "other"


class ProcessingTier(Value):
    """How much processing a query may cost; `max_latency_ms` in milliseconds."""

    name: TierName
    description: str
    max_latency_ms: int = Field(ge=1)
    context_retrieval: bool
    semantic_expansion: bool
    cross_reference: bool
    llm_model: ModelTier


class RecommendedTool(Value):
    """A tool to call, and why; priority 1 is first."""

    name: str
    reason: str
    priority: int = Field(ge=1)


class SkippedTool(Value):
    """A tool not to call, and why."""

    name: str
    reason: str


class Assessment(Value):
    """The advice on a query for its caller; `estimated_savings` in tokens, 0 unless retrieval is skipped."""

    needs_deep_context: bool
    confidence: float = Field(ge=0, le=1)
    reason: str
    recommended_action: Action
    estimated_savings: int = Field(ge=0)
    query_type: QueryType
    recommended_tier: TierName
    recommended_tools: tuple[RecommendedTool, ...] = ()
    skip_tools: tuple[SkippedTool, ...] = ()
    depth_level: DepthLevel


class AssessmentAsked(Event):
    """A caller's request whether a query needs retrieval."""

    TYPE: ClassVar[str] = "assessment.asked.v1"
    request_id: Id
    query: str
    conversation_summary: Absent[str] = None
    available_context: Absent[tuple[str, ...]] = None


class AssessmentMade(Assessment, Event):
    """The answer to one request; `latency_ms` is the duration of the assessment itself, in milliseconds."""

    TYPE: ClassVar[str] = "assessment.made.v1"
    request_id: Id
    classifier: Literal["heuristic", "heuristic_timeout", "engine", "llm"]
    latency_ms: float = Field(ge=0)
