"""All topics that Fathom reads or writes: the single registry, from which groups, docs and checks derive."""

import re
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from typing import Annotated, Literal, Union

from pydantic import Discriminator, Tag, TypeAdapter

from schemas.assessment import AssessmentAsked, AssessmentMade
from schemas.base import Event
from schemas.chat import AnswerGiven, AskPayload, ChatMessage, ConversationForgotten, Turn
from schemas.cognition import CognitionStep
from schemas.depth import DepthClassified
from schemas.learning import (
    AuditHead,
    ConsultationRecorded,
    CorrectionSubmitted,
    DepthVote,
    FeedbackGiven,
    QuarantineChanged,
)
from schemas.memory import (
    AuditDecision,
    ClaimAsserted,
    CorrectionIssued,
    DocumentDeleted,
    DocumentSubmitted,
    ErasureIssued,
    KnowledgeRecorded,
    PackDecision,
    SummaryMade,
)
from schemas.packs import ContextPack
from schemas.retrieval import (
    JoinOpened,
    JoinTicked,
    PackInputs,
    PartFound,
    PartsFound,
    RetrievalPlan,
    SearchAsked,
    SearchMade,
)
from schemas.tools import ToolCallRequested, ToolCallResolved, ToolConfirmation, ToolResult

NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*(\.[a-z0-9]+(-[a-z0-9]+)*)+")
LONG = timedelta(days=365)
DAY = timedelta(days=1)
WEEK = timedelta(days=7)
# Longer than anything that an erasure covers: a store filled from the log must not bring it back.
LONGEST = timedelta(days=730)
# A quarantine must not end by itself.
ENDLESS = timedelta(days=36_500)

KeyKind = Literal["conversation", "entity"]


@dataclass(frozen=True)
class Topic:
    """A topic: its events, the meaning of its key, its retention, whether outsiders write it.

    `outside` topics refuse unknown fields; on others a newer producer's extra field is ignored. `shared` ones may carry
    documents that every tenant reads, which only an administrator's worker stores.
    """

    name: str
    events: tuple[type[Event], ...]
    key: KeyKind
    retention: timedelta
    purpose: str
    outside: bool = False
    shared: bool = False
    max_bytes: int = 1_000_000

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.name):
            raise ValueError(f"topic names are dots and hyphens, never '_': {self.name!r}")

    @cached_property
    def adapter(self) -> TypeAdapter[Event]:
        """The adapter that validates a value of this topic into its event."""
        if len(self.events) == 1:
            return TypeAdapter(self.events[0])
        if AskPayload in self.events:
            return TypeAdapter(Annotated[CHAT_SHAPES, Discriminator(_chat_shape)])
        if DocumentDeleted in self.events:
            return TypeAdapter(Annotated[DOCUMENTS, Discriminator(_document_shape)])
        if PackDecision in self.events:
            return TypeAdapter(Annotated[DECISIONS, Discriminator("kind")])
        return TypeAdapter(Annotated[PARTIALS, Discriminator("kind")])


def _chat_shape(value: object) -> str:
    """The shape of a value of `messages.in`: with `question` the ask payload, with `forgotten` the wish to forget."""
    if isinstance(value, AskPayload) or (isinstance(value, dict) and "question" in value):
        return "ask"
    if isinstance(value, ConversationForgotten) or (isinstance(value, dict) and "forgotten" in value):
        return "forgotten"
    return "message"


def _document_shape(value: object) -> str:
    """The shape of a value of `documents.in`: with `deleted` the deletion."""
    if isinstance(value, DocumentDeleted) or (isinstance(value, dict) and "deleted" in value):
        return "deleted"
    return "submitted"


CHAT_SHAPES = Union[  # noqa: UP007  (a tagged union needs the typing form)
    Annotated[AskPayload, Tag("ask")],
    Annotated[ChatMessage, Tag("message")],
    Annotated[ConversationForgotten, Tag("forgotten")],
]
DOCUMENTS = Union[Annotated[DocumentSubmitted, Tag("submitted")], Annotated[DocumentDeleted, Tag("deleted")]]  # noqa: UP007
DECISIONS = Union[PackDecision, AuditDecision]  # noqa: UP007
PARTIALS = Union[JoinOpened, PartFound, PartsFound, PackInputs, JoinTicked]  # noqa: UP007

MESSAGES_IN = Topic(
    "messages.in", (AskPayload, ChatMessage, ConversationForgotten), "conversation", LONG,
    "user, assistant and system turns of a conversation in one order, and the wish to forget it", outside=True,
    max_bytes=256_000,
)  # fmt: skip
CONVERSATION_TURNS = Topic(
    "conversation.turns", (Turn,), "conversation", LONG,
    "what the depth stage accepted, validated once, with seq, frame and language",
)  # fmt: skip
DEPTH_CLASSIFIED = Topic(
    "depth.classified", (DepthClassified,), "conversation", WEEK, "depth of each user message, and why"
)
RETRIEVAL_PLANS = Topic("retrieval.plans", (RetrievalPlan,), "conversation", WEEK, "what to fetch for a message")
PACKS_PARTIAL = Topic(
    "packs.partial", (JoinOpened, PartFound, PartsFound, PackInputs, JoinTicked), "conversation", WEEK,
    "the plan's terms and the answers of the memory classes, in one order",
)  # fmt: skip
CONTEXT_PACKS = Topic(
    "context-packs.out", (ContextPack,), "conversation", timedelta(days=30),
    "the context pack of each message; also the emission ledger of the join", max_bytes=1_000_000,
)  # fmt: skip
ANSWERS_OUT = Topic(
    "answers.out", (AnswerGiven,), "conversation", timedelta(days=30),
    "the answer to each question: status, results, meta, answer, and nothing of the conversation",
)  # fmt: skip
MEMORY_DECISIONS = Topic("memory.decisions", (PackDecision, AuditDecision), "entity", LONG, "every decision, for audit")
MEMORY_VOTES = Topic("memory.votes", (DepthVote,), "entity", LONG, "users' votes on the depth of packs")
MEMORY_CLAIMS = Topic("memory.claims", (ClaimAsserted,), "entity", LONG, "what was asserted by whom")
MEMORY_CORRECTIONS = Topic("memory.corrections", (CorrectionIssued,), "entity", LONG, "what was contested by whom")
MEMORY_SUMMARIES = Topic("memory.summaries", (SummaryMade,), "entity", LONG, "extracts of conversations")
MEMORY_ERASURES = Topic(
    "memory.erasures", (ErasureIssued,), "conversation", LONGEST, "conversations that every store forgets"
)
MEMORY_QUARANTINES = Topic(
    "memory.quarantines", (QuarantineChanged,), "entity", ENDLESS,
    "sources whose content goes into no pack until it is lifted", shared=True,
)  # fmt: skip
DOCUMENTS_IN = Topic(
    "documents.in", (DocumentSubmitted, DocumentDeleted), "entity", LONG,
    "documents and profiles to remember, and documents to forget", outside=True, shared=True,
    # A file in base64, and room for the headers within the broker's limit (also that of its dead letter).
    max_bytes=3_900_000,
)  # fmt: skip
MEMORY_KNOWLEDGE = Topic(
    "memory.knowledge", (KnowledgeRecorded,), "entity", LONG, "what documents add to memory", shared=True
)
CORRECTIONS_IN = Topic(
    "corrections.in",
    (CorrectionSubmitted,),
    "entity",
    LONG,
    "claims and consultations that users contest",
    outside=True,
)
FEEDBACK_IN = Topic(
    "feedback.in", (FeedbackGiven,), "conversation", LONG, "how deep packs should have gone, by their readers",
    outside=True,
)  # fmt: skip
ASSESSMENTS_IN = Topic(
    "assessments.in", (AssessmentAsked,), "entity", WEEK, "queries of which a caller asks whether they need context",
    outside=True, max_bytes=256_000,
)  # fmt: skip
ASSESSMENTS_OUT = Topic(
    "assessments.out", (AssessmentMade,), "entity", WEEK, "whether a query needs deep context, and what to do about it"
)
SEARCHES_IN = Topic(
    "searches.in", (SearchAsked,), "entity", DAY, "searches of memory, which are no turns of a conversation",
    outside=True, max_bytes=256_000,
)  # fmt: skip
SEARCHES_OUT = Topic("searches.out", (SearchMade,), "entity", DAY, "what each search has found")
TOOLS_CALLS_IN = Topic(
    "tools.calls.in", (ToolCallRequested,), "conversation", WEEK, "tool calls that agents want to make", outside=True,
    max_bytes=256_000,
)  # fmt: skip
TOOLS_CALLS_OUT = Topic(
    "tools.calls.out", (ToolCallResolved,), "conversation", WEEK,
    "the verdict on each tool call; the only topic that executors read",
)  # fmt: skip
TOOLS_RESULTS_IN = Topic(
    "tools.results.in", (ToolResult,), "conversation", LONG, "what tools have done", outside=True, max_bytes=256_000
)
TOOLS_CONFIRMATIONS_IN = Topic(
    "tools.confirmations.in", (ToolConfirmation,), "conversation", WEEK, "a user's yes or no to a sensitive call",
    outside=True,
)  # fmt: skip
MEMORY_CONSULTATIONS = Topic(
    "memory.consultations", (ConsultationRecorded,), "entity", LONG, "questions that were decomposed and answered"
)

COGNITION_STEPS = Topic(
    "cognition.steps", (CognitionStep,), "entity", WEEK,
    "the state of a cognitive run after each of its nodes: checkpoint, transport and replay log",
)  # fmt: skip

AUDIT_HEADS = Topic(
    "audit.heads", (AuditHead,), "entity", LONGEST,
    "heads of the hash chain over decisions, claims and corrections, by which later changes of the log are found",
)  # fmt: skip

TOPICS: tuple[Topic, ...] = (
    MESSAGES_IN,
    CONVERSATION_TURNS,
    MEMORY_ERASURES,
    DEPTH_CLASSIFIED,
    RETRIEVAL_PLANS,
    PACKS_PARTIAL,
    CONTEXT_PACKS,
    ANSWERS_OUT,
    MEMORY_DECISIONS,
    MEMORY_VOTES,
    MEMORY_CLAIMS,
    MEMORY_CORRECTIONS,
    MEMORY_SUMMARIES,
    DOCUMENTS_IN,
    MEMORY_KNOWLEDGE,
    CORRECTIONS_IN,
    FEEDBACK_IN,
    MEMORY_CONSULTATIONS,
    COGNITION_STEPS,
    ASSESSMENTS_IN,
    ASSESSMENTS_OUT,
    SEARCHES_IN,
    SEARCHES_OUT,
    TOOLS_CALLS_IN,
    TOOLS_CALLS_OUT,
    TOOLS_RESULTS_IN,
    TOOLS_CONFIRMATIONS_IN,
    AUDIT_HEADS,
    MEMORY_QUARANTINES,
)
BY_NAME: dict[str, Topic] = {topic.name: topic for topic in TOPICS}


def dead_letter_topic(stage: str) -> str:
    """The dead-letter topic of a stage."""
    return f"dead-letters.{stage}"
