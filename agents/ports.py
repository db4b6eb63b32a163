"""What the agents need from outside, in their own words. Adapters and in-memory twins in `streams.stores` serve these.

Every method that touches memory takes the tenant (alone or in a `Conversation`): there is no way to ask without one.
Adapters raise `Unavailable` when the store does not answer; ids that already exist are written again without effect.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from agents.core.conversation import ConversationTurn, Opened, Session, Turns
from agents.core.dates import Span
from agents.core.document_kinds import DocumentKind
from agents.core.expansion import ExpansionContext
from schemas.assessment import ModelTier
from schemas.base import Conversation
from schemas.chat import Turn
from schemas.depth import DepthLevel
from schemas.envelope import Received
from schemas.items import (
    AccessLevel,
    ClaimItem,
    Concept,
    Contradiction,
    ConversationSummary,
    Knowledge,
    Objective,
    PersonaItem,
    Process,
    Step,
    TimePoint,
)
from schemas.learning import ConsultationRecorded, DepthVote, Votes
from schemas.memory import (
    AuditDecision,
    ChunkEntry,
    ClaimAsserted,
    ConceptEntry,
    CorrectionIssued,
    DefinitionEntry,
    KnowledgeRecorded,
    PackDecision,
    SummaryMade,
)
from schemas.tool_session import ToolSession


class Clock(Protocol):
    def now(self) -> datetime:
        """The wall clock, UTC."""


class TokenCounter(Protocol):
    def count(self, text: str) -> int:
        """How many tokens the text is."""

    def cut(self, text: str, limit: int) -> str:
        """The longest prefix of the text of at most `limit` tokens."""


class ExpansionEngine(Protocol):
    """An engine of the caller's that decides whether a statement needs expansion (REQ-017.4)."""

    async def check_if_expansion_needed(self, statement: str, context: ExpansionContext) -> tuple[bool, str]:
        """Whether to expand, and why; may take its time and raise anything."""


class LanguageModel(Protocol):
    """A model that completes a prompt (CF-38): it may improve a result, within its caller's limit of time."""

    async def complete(self, prompt: str, *, tier: ModelTier, max_tokens: int, temperature: float) -> str:
        """The text it answers with, as it came; raises `Unavailable`, whatever kept it from answering."""


class Narrator(Protocol):
    """A model of the operator's that words an answer (S1-13)."""

    async def narrate(self, meta: Mapping[str, Any]) -> str:
        """The answer in its words; may take its time and raise anything."""


class LanguageIdentifier(Protocol):
    def identify(self, text: str, default: str) -> str:
        """`pt` or `en`; `default` where the text is too short to tell."""


class Embedder(Protocol):
    size: int

    def encode(self, texts: Sequence[str]) -> list[list[float]]:
        """One unit vector of `size` numbers per text; pure computation, blocking."""


class DocumentReader(Protocol):
    async def read(self, kind: DocumentKind, data: bytes) -> str:
        """The text of a PDF or HTML document as Markdown, pages ended by form feeds; raises `Rejected`."""


class WorkingSets(Protocol):
    """Turns and session of each conversation: a view of the log, kept per frame (CF-14, CF-85)."""

    async def open(self, conversation: Conversation, message_id: str, limit: int) -> Opened:
        """The session, its current frame's last `limit` turns, and the outcome if this message was seen before."""

    async def frame_of(self, conversation: Conversation, message_id: str) -> str | None:
        """The frame an earlier message was filed in, while it is still known."""

    async def append(
        self,
        conversation: Conversation,
        frame_id: str,
        turn: ConversationTurn,
        session: Session,
        outcome: bytes,
        keep: int,
    ) -> None:
        """File a turn in its frame (the last `keep` are kept), with the new session and the outcome, in one step.

        A message id that was filed before changes nothing.
        """

    async def turns(self, conversation: Conversation, frame_id: str, *, up_to_seq: int, limit: int) -> Turns:
        """The last `limit` turns of a frame with `seq <= up_to_seq`, oldest first."""

    async def session_turns(self, conversation: Conversation, *, up_to_seq: int, limit: int) -> Turns:
        """The last `limit` turns of all frames with `seq <= up_to_seq`, ordered by seq."""


class SignalWeights(Protocol):
    """What the users of a tenant said about depth: a view of the votes on `memory.decisions` (S0-88)."""

    async def votes(self, tenant: str) -> Votes:
        """All votes of the tenant by pattern, each as of its own time; may be some seconds behind the log."""

    async def add(self, tenant: str, vote: DepthVote) -> None:
        """Remember a vote; the same one again changes nothing."""


class ToolSessions(Protocol):
    """What each session remembers for tool calls; who saves over somebody else's change is told so."""

    async def load(self, conversation: Conversation) -> tuple[ToolSession, str]:
        """The session, and its version for `save`."""

    async def save(self, conversation: Conversation, session: ToolSession, version: str) -> bool:
        """Replace the session of that version; False when it has changed meanwhile."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A text to be found again. `context` is searched with it (neighbours), `fields` come back with a hit.

    `lead` is what stands right before it, without which it says little: its vector is that of both. `fields` values are
    str, int, float or bool; `title` is searched as the text is. `user_id` None means everybody of the tenant. From
    `retired_at` on it is found no more.
    """

    id: str
    kind: str
    text: str
    lang: str
    recorded_at: datetime
    context: str = ""
    lead: str = ""
    access_level: AccessLevel = "public"
    user_id: str | None = None
    conversation_id: str | None = None
    retired_at: datetime | None = None
    fields: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PassageQuery:
    """What to look for, as of a time, with the asker's rights: only passages at or below `access_level`.

    `context` are words of the conversation that the text leans on; they count half. `user_id` limits to passages of
    that user or of everybody; `kinds` to those kinds; `not_in_conversation` leaves one conversation out. `since` leaves
    out what was recorded before.
    """

    text: str
    lang: str
    limit: int
    as_of: datetime
    access_level: AccessLevel = "public"
    kinds: tuple[str, ...] = ()
    user_id: str | None = None
    not_in_conversation: str | None = None
    since: datetime | None = None
    context: str = ""

    @property
    def spoken(self) -> str:
        """What the vector of the question is of."""
        return f"{self.context}\n{self.text}" if self.context else self.text


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage found; `score` orders those of one search, `scores` are its features (`agents.core.relevance`)."""

    passage: Passage
    score: float
    scores: Mapping[str, float]


class PassageIndex(Protocol):
    """Hybrid search over one collection per kind of memory: `semantic`, `episodic` (components §4)."""

    async def upsert(self, tenant: str, collection: str, passages: Sequence[Passage]) -> None:
        """Store passages by id; visible to the next search."""

    async def search(self, tenant: str, collection: str, query: PassageQuery) -> tuple[Hit, ...]:
        """The passages of this tenant nearest to the question by words and by meaning, best first."""

    async def vectors(self, texts: Sequence[str]) -> list[list[float]]:
        """The unit vector of each text, by the model that those of the passages are made with; nothing is stored."""


@dataclass(frozen=True, slots=True)
class Page:
    """Some ids of a listing, and where its next page begins; None at the end."""

    ids: tuple[str, ...]
    following: str | None


class PassageInventory(Protocol):
    """What of a tenant is in the index, to be held against the log."""

    async def listed(self, tenant: str, collection: str, *, after: str | None = None, limit: int = 1000) -> Page:
        """Ids of the tenant's own passages, each once; `after` is what the page before named as following."""

    async def remove(self, tenant: str, collection: str, ids: Sequence[str]) -> None:
        """Take passages of the tenant out; those that are not there do no harm."""


@dataclass(frozen=True, slots=True)
class NodeFound:
    """A node by its id, with its links: their types and the ids of their ends."""

    id: str
    links: tuple[tuple[str, str], ...]


class GraphInventory(Protocol):
    """What of a tenant is in the graph, to be held against the log; ids are the graph's own."""

    async def listed(self, tenant: str, label: str, *, after: str = "", limit: int = 1000) -> tuple[NodeFound, ...]:
        """The tenant's own nodes of a label behind the id `after`, by id; fewer than `limit` at the end."""

    async def remove(self, tenant: str, label: str, ids: Sequence[str]) -> None:
        """Take nodes of the tenant and their links out; those that are not there do no harm."""


@dataclass(frozen=True, slots=True)
class Persona:
    person: PersonaItem
    objectives: tuple[Objective, ...]


@dataclass(frozen=True, slots=True)
class Playbook:
    process: Process
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class ClaimsFound:
    """Claims as items, the contradictions they are in, and the claims as assertions: related, with their status."""

    claims: tuple[ClaimItem, ...]
    contradictions: tuple[Contradiction, ...]
    asserted: tuple[ClaimAsserted, ...] = ()


@dataclass(frozen=True, slots=True)
class Decided:
    """What was decided on a message whose pack went out, with the names of the signs it showed."""

    message_id: str
    level: DepthLevel
    signals: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Retired:
    """A passage, definition or concept that a version of its document no longer contains, and that version's time."""

    entry: ChunkEntry | DefinitionEntry | ConceptEntry
    at: datetime


class MemoryGraph(Protocol):
    """Reads of the graph; everything *as of* a time: what was recorded later is not seen."""

    async def persona(self, tenant: str, user_id: str, as_of: datetime) -> Persona | None:
        """The user's profile and all current objectives."""

    async def summaries(
        self, tenant: str, *, user_id: str, conversation_id: str | None, as_of: datetime, limit: int
    ) -> tuple[ConversationSummary, ...]:
        """The newest summaries of one conversation, or with None of all conversations of the user, newest first."""

    async def events(
        self, tenant: str, *, user_id: str, between: Span | None, as_of: datetime, limit: int
    ) -> tuple[TimePoint, ...]:
        """Points in time that the user's conversations speak of, in a span or at any time; what was said last first."""

    async def claims(
        self, tenant: str, *, client_id: str, conversation_id: str, as_of: datetime, limit: int
    ) -> ClaimsFound:
        """Claims made in a conversation and their contradictions, newest first."""

    async def claims_about(self, tenant: str, *, subjects: Sequence[str], as_of: datetime, limit: int) -> ClaimsFound:
        """Claims of any conversation of the tenant about these subjects, newest first.

        What users say of themselves is found under `claim_subjects.own_subject` of each, and under nothing else.
        """

    async def playbooks(
        self, tenant: str, *, terms: Sequence[str], access_level: AccessLevel, as_of: datetime, limit: int
    ) -> tuple[Playbook, ...]:
        """Processes whose how-to terms meet the question's, best first, steps in order; also of `_public`."""

    async def concepts(
        self, tenant: str, *, terms: Sequence[str], access_level: AccessLevel, as_of: datetime, limit: int
    ) -> tuple[Concept | Knowledge, ...]:
        """Concepts and definitions named by the question's terms, best first; also of `_public`."""

    async def claim(self, tenant: str, claim_id: str, as_of: datetime) -> ClaimAsserted | None:
        """The claim as it was asserted; None while its own event is not stored."""

    async def consultation_paths(self, tenant: str, consulta_id: str, as_of: datetime) -> tuple[str, ...] | None:
        """What a consultation's answer came from, as `Label/id`; None while it is not stored."""

    async def decision(self, tenant: str, pack_id: str, as_of: datetime) -> Decided | None:
        """What was decided on the message of a pack; None while it is not stored."""


class GraphWriter(Protocol):
    """Writes of the graph: idempotent, order-free, batched; the tenant of a row is its envelope's."""

    async def write_turns(self, rows: Sequence[Received[Turn]]) -> None: ...

    async def write_decisions(self, rows: Sequence[Received[PackDecision | AuditDecision]]) -> None: ...

    async def write_claims(self, rows: Sequence[Received[ClaimAsserted]]) -> None: ...

    async def write_corrections(self, rows: Sequence[Received[CorrectionIssued]]) -> None: ...

    async def write_consultations(self, rows: Sequence[Received[ConsultationRecorded]]) -> None: ...

    async def write_summaries(self, rows: Sequence[Received[SummaryMade]]) -> None: ...

    async def write_knowledge(self, rows: Sequence[Received[KnowledgeRecorded]]) -> None: ...

    async def retired(self, tenant: str, *, document_id: str, as_of: datetime) -> tuple[Retired, ...]:
        """What is searched by text of what was recorded of a document by then, and is retired from then on or later."""
