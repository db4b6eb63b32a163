"""The ports of the memory graph: reads, writes and listings.

Every method takes the tenant; adapters raise `Unavailable` when the graph does not answer; an id that exists is written
again without effect.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

from agents.core.conversation.erasure import Erasure
from agents.core.language.dates import Span
from agents.ports.cognition import ChunkPenalty, PassageLink, PastConsultation, ThemeFound
from agents.ports.erasable import ConversationNodes
from schemas.base import Conversation, Source
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
from schemas.learning import ConsultationRecorded
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


@dataclass(frozen=True, slots=True)
class NodeFound:
    """A node's id and its relationships: their types and the ids of their ends."""

    id: str
    links: tuple[tuple[str, str], ...]


class GraphInventory(Protocol):
    """The listing of a tenant's nodes, for reconciliation with the log; ids are the graph's own."""

    async def listed(self, tenant: str, label: str, *, after: str = "", limit: int = 1000) -> tuple[NodeFound, ...]:
        """The tenant's own nodes of a label after the id `after`, ordered by id; fewer than `limit` at the end."""

    async def remove(self, tenant: str, label: str, ids: Sequence[str]) -> None:
        """Delete nodes of the tenant with their relationships; unknown ids are ignored."""


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
    """Claims as items, their contradictions, and the claims as assertions with relations and status."""

    claims: tuple[ClaimItem, ...]
    contradictions: tuple[Contradiction, ...]
    asserted: tuple[ClaimAsserted, ...] = ()


@dataclass(frozen=True, slots=True)
class NamedFound:
    """What a question names: concepts and definitions, best first, and claims about its subjects."""

    concepts: tuple[Concept | Knowledge, ...]
    claims: ClaimsFound


@dataclass(frozen=True, slots=True)
class ConsultationFound:
    """The sources of a consultation's answer, as `Label/id`, and the conversation it was asked in, if any."""

    paths: tuple[str, ...]
    client_id: str | None = None
    conversation_id: str | None = None


@dataclass(frozen=True, slots=True)
class MessageDecision:
    """The decision on a message with an emitted pack, with the names of its signals."""

    message_id: str
    level: DepthLevel
    signals: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DecisionMade:
    """What was decided on a message, and what its pack cost; latency in ms."""

    decision_id: str
    message_id: str
    conversation_id: str
    client_id: str | None
    at: datetime
    level: DepthLevel
    tokens: int
    latency_ms: int
    degraded: bool
    user_id: str | None = None
    evidence: Literal["found", "none"] | None = None


@dataclass(frozen=True, slots=True)
class DecisionTrace:
    """The decisions on one message, a revision each, and its place in the log where its turn is stored."""

    decision_ids: tuple[str, ...]
    pack_id: str
    conversation_id: str
    client_id: str | None
    user_id: str | None
    at: datetime
    level: DepthLevel
    signals: tuple[str, ...]
    tokens: int
    latency_ms: int
    place: Source | None


@dataclass(frozen=True, slots=True)
class ClaimContested:
    """A correction of a claim, as the graph has it."""

    correction_id: str
    claim_id: str
    user_id: str
    kind: str
    text: str
    new_value: str | None
    at: datetime
    ruling: str | None = None


@dataclass(frozen=True, slots=True)
class Asker:
    """Whose decisions are read: those of one client and of one user, or of all where it is None."""

    client_id: str | None = None
    user_id: str | None = None


@dataclass(frozen=True, slots=True)
class Retired:
    """A passage, definition or concept missing from a later version of its document, and that version's time."""

    entry: ChunkEntry | DefinitionEntry | ConceptEntry
    at: datetime


class CognitionGraph(Protocol):
    """Reads for complex questions, *as of* a time: what passages are linked with, and what was answered before."""

    async def themes(
        self, tenant: str, *, terms: Sequence[str], access_level: AccessLevel, as_of: datetime, limit: int
    ) -> tuple[ThemeFound, ...]:
        """Themes named by the question's terms, of documents that the asker may read, best first; also of `_public`."""

    async def near_themes(
        self, tenant: str, *, ids: Sequence[str], access_level: AccessLevel, as_of: datetime, limit: int
    ) -> tuple[ThemeFound, ...]:
        """The themes above and below the given ones, one step away."""

    async def passages_about(
        self, tenant: str, *, themes: Sequence[str], access_level: AccessLevel, as_of: datetime, limit: int
    ) -> tuple[PassageLink, ...]:
        """Passages of themes: of sections that bear their names, and what mentions the cases, rulings and laws of them.

        At most `limit` of either sort.
        """

    async def passages_naming(
        self, tenant: str, *, names: Sequence[tuple[str, str]], access_level: AccessLevel, as_of: datetime, limit: int
    ) -> tuple[PassageLink, ...]:
        """Passages that mention entities, given by kind and name; entities of too many passages lead nowhere."""

    async def passages_connected(
        self, tenant: str, *, chunk_uids: Sequence[str], access_level: AccessLevel, as_of: datetime, limit: int
    ) -> tuple[PassageLink, ...]:
        """Passages that mention what the given ones do, those with most in common first; two steps of the graph."""

    async def consultations(
        self, tenant: str, *, signature: str, as_of: datetime, limit: int
    ) -> tuple[PastConsultation, ...]:
        """The newest consultations whose question has this signature, newest first."""

    async def penalties(self, tenant: str, *, chunk_uids: Sequence[str], as_of: datetime) -> tuple[ChunkPenalty, ...]:
        """What the tenant's corrections say against passages."""


class GraphReader(CognitionGraph, Protocol):
    """Reads of the graph *as of* a time: later records are not seen."""

    async def persona(self, tenant: str, user_id: str, as_of: datetime) -> Persona | None:
        """The user's profile and all current objectives."""

    async def summaries(
        self, tenant: str, *, user_id: str, conversation_id: str | None, as_of: datetime, limit: int
    ) -> tuple[ConversationSummary, ...]:
        """The newest summaries of one conversation, or with None of all conversations of the user, newest first."""

    async def events(
        self, tenant: str, *, user_id: str, between: Span | None, as_of: datetime, limit: int
    ) -> tuple[TimePoint, ...]:
        """Dated events of the user's conversations, in a span or at any time; the latest statement first."""

    async def claims(
        self, tenant: str, *, client_id: str, conversation_id: str, as_of: datetime, limit: int
    ) -> ClaimsFound:
        """Claims made in a conversation and their contradictions, newest first."""

    async def claims_about(
        self, tenant: str, *, reader: str, subjects: Sequence[str], as_of: datetime, limit: int, shared: bool = False
    ) -> ClaimsFound:
        """Claims of any conversation of the tenant about these subjects that a user may read, newest first.

        With `shared` also those of others that a policy shares.

        Claims of users about themselves are stored under `own_subject` of each only.
        """

    async def playbooks(
        self, tenant: str, *, terms: Sequence[str], access_level: AccessLevel, as_of: datetime, limit: int
    ) -> tuple[Playbook, ...]:
        """Processes whose how-to terms match the question's, best first, steps in order; also of `_public`."""

    async def named(
        self,
        tenant: str,
        *,
        reader: str,
        terms: Sequence[str],
        subjects: Sequence[str] = (),
        access_level: AccessLevel,
        as_of: datetime,
        limit: int,
        max_claims: int = 0,
        shared: bool = False,
    ) -> NamedFound:
        """Concepts and definitions named by the question's terms, also of `_public`, and claims about its subjects.

        Of claims those that `reader`, a user, may read. One method, as a server answers all of it in one round trip; at
        most `limit` concepts and `max_claims` claims.
        """

    async def claim(self, tenant: str, claim_id: str, as_of: datetime) -> ClaimAsserted | None:
        """The claim as asserted; None until its event is stored."""

    async def consultation(self, tenant: str, consultation_id: str, as_of: datetime) -> ConsultationFound | None:
        """Where a consultation's answer came from; None until it is stored."""

    async def decision(self, tenant: str, pack_id: str, as_of: datetime) -> MessageDecision | None:
        """The decision on the message of a pack; None until it is stored."""


class DecisionReader(Protocol):
    """Reads of what was decided in a stretch of time, from `since` on, newest first."""

    async def decisions(
        self, tenant: str, *, whose: Asker, since: datetime, as_of: datetime, limit: int
    ) -> tuple[DecisionMade, ...]:
        """The decisions on packs."""

    async def corrections(
        self, tenant: str, *, whose: Asker, since: datetime, as_of: datetime, limit: int
    ) -> tuple[datetime, ...]:
        """The times at which something was contested."""

    async def questions(self, tenant: str, decision_ids: Sequence[str], as_of: datetime) -> Mapping[str, str]:
        """The texts of the messages of decisions, by the ids of these."""

    async def decisions_on(self, tenant: str, message_id: str, as_of: datetime) -> tuple[DecisionTrace, ...]:
        """The decisions on the messages of this id, one trace for each conversation that has one, newest first."""

    async def contested(self, tenant: str, claim_ids: Sequence[str], as_of: datetime) -> tuple[ClaimContested, ...]:
        """The corrections of claims, oldest first."""


class GraphEraser(Protocol):
    """Erasures of conversations: noted first, and kept, so that what arrives later is not stored any more."""

    async def erased(self, tenant: str, conversations: Collection[Conversation]) -> Mapping[Conversation, Erasure]:
        """The latest erasure of each conversation of the tenant that was ever erased."""

    async def note_erasure(self, conversation: Conversation, erasure: Erasure) -> ConversationNodes | None:
        """Note an erasure, and list what it covers; None where a later one was noted before."""

    async def note_counts(
        self, conversation: Conversation, erasure: Erasure, counts: Mapping[str, int]
    ) -> Mapping[str, int]:
        """Keep how many of what an erasure found; the greatest numbers that it ever found."""

    async def profile_nodes(self, tenant: str, user_id: str) -> ConversationNodes:
        """The nodes that say who a user is, or was."""

    async def erase(self, tenant: str, nodes: ConversationNodes) -> None:
        """Delete nodes with their relationships; a repeat changes nothing."""


class GraphWriter(GraphEraser, Protocol):
    """Writes of the graph: idempotent, order-free, batched; the tenant of a row is its envelope's.

    What stems from an erased conversation is not stored, whenever it arrives.
    """

    async def write_turns(self, rows: Sequence[Received[Turn]]) -> None: ...

    async def write_decisions(self, rows: Sequence[Received[PackDecision | AuditDecision]]) -> None: ...

    async def write_claims(self, rows: Sequence[Received[ClaimAsserted]]) -> None: ...

    async def write_corrections(self, rows: Sequence[Received[CorrectionIssued]]) -> None: ...

    async def write_consultations(self, rows: Sequence[Received[ConsultationRecorded]]) -> None: ...

    async def write_summaries(self, rows: Sequence[Received[SummaryMade]]) -> None: ...

    async def write_knowledge(self, rows: Sequence[Received[KnowledgeRecorded]]) -> None: ...

    async def retired(self, tenant: str, *, document_id: str, as_of: datetime) -> tuple[Retired, ...]:
        """The text-searchable nodes of a document recorded by `as_of` and retired at or after it."""
