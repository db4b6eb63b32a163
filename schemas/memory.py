"""What is remembered and audited: decisions, claims, corrections, summaries, knowledge; stored in the graph."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import AwareDatetime, Field, model_validator

from schemas.base import Absent, Event, Id, Source, StatedTime, Value
from schemas.depth import AppliedOptions, DepthLevel
from schemas.items import AccessLevel, ClaimStatus
from schemas.retrieval import QueryProfile


class PackDecision(Event):
    """One `:CDCDecision`: what was decided for one message, and what it cost; `profile` where one was used."""

    TYPE: ClassVar[str] = "memory.decision-recorded.v1"
    kind: Literal["pack"] = "pack"
    id: Id
    conversation_id: Id
    client_id: Id
    message_id: Id
    pack_id: Id
    plan_id: Id
    detected_signals: tuple[str, ...]
    depth_level: DepthLevel
    query_profile_used: str | None
    sources_retrieved: tuple[str, ...]
    tokens_used: int
    latency_ms: int
    created_at: AwareDatetime
    confidence: float
    classifier: str
    strategy: str
    degraded: bool
    profile: Absent[QueryProfile] = None
    options: Absent[AppliedOptions] = None
    seq: Absent[int] = None
    evidence: Absent[Literal["found", "none"]] = None


class AuditDecision(Event):
    """Any other decision worth keeping: a late part, a tool call, new weights, a penalty, an erasure, a quarantine.

    `conversation_id` and `client_id` name the conversation whose words `detail` quotes; what quotes none has neither.
    """

    TYPE: ClassVar[str] = "memory.audit-recorded.v1"
    kind: Literal[
        "late-part", "tool", "weights", "penalty", "erasure", "subject-erasure", "quarantine", "quarantine-lifted"
    ]
    id: Id
    actor: str
    subject_id: Id
    detail: dict[str, Any]
    created_at: AwareDatetime
    conversation_id: Absent[Id] = None
    client_id: Absent[Id] = None


class ErasureIssued(Event):
    """A conversation to erase from every store: what stems from its messages up to `up_to_seq`, and nothing later.

    What has no place there is erased up to `issued_at`; with `user_id`, that user's profile and votes are erased, too.
    """

    TYPE: ClassVar[str] = "memory.erasure-issued.v1"
    erasure_id: Id
    conversation_id: Id
    client_id: Id
    asked_by: Id  # the user, else the client
    up_to_seq: int = Field(ge=0)
    issued_at: AwareDatetime
    source: Source
    user_id: Absent[Id] = None


class Conflict(Value):
    """An older claim that the new one cannot stand beside."""

    claim_id: Id
    kind: Literal["correction", "newer_value", "negation"]
    score: float = Field(ge=0, le=1)


class ClaimAsserted(Event):
    """Somebody asserted subject-attribute-value; `source` orders assertions: the newest wins.

    Known to its user and the `audience`, who were there; `tenant_wide`: stated for no user; `shared`: by a policy.
    """

    TYPE: ClassVar[str] = "memory.claim-asserted.v1"
    claim_id: Id
    author: Literal["user", "system"]
    text: str
    subject: str
    attribute: str
    value: str
    functional: bool
    lang: str
    message_id: Id
    conversation_id: Id
    client_id: Id
    user_id: Id
    frame_id: Id
    seq: int
    confidence: float = Field(ge=0, le=1)
    status: ClaimStatus
    asserted_at: AwareDatetime
    source: Source
    contradicts: tuple[Conflict, ...] = ()
    supersedes: tuple[Id, ...] = ()
    audience: Absent[tuple[Id, ...]] = None
    tenant_wide: Absent[Literal[True]] = None
    shared: Absent[Literal[True]] = None


class CorrectionIssued(Event):
    """A user contested something, which penalises `penalised_paths` by `peso`, or ruled on an own claim (`ruling`)."""

    TYPE: ClassVar[str] = "memory.correction-issued.v1"
    correction_id: Id
    kind: Literal["claim", "consulta"]
    target_id: Id
    text: str = Field(alias="texto")
    user_id: Id = Field(alias="usuario_id")
    correction_kind: Literal["factual", "juridico", "formatacao"] = Field(alias="tipo")
    new_value: Absent[str] = None
    new_claim_id: Absent[Id] = None
    message_id: Absent[Id] = None
    conversation_id: Absent[Id] = None
    client_id: Absent[Id] = None
    penalised_paths: tuple[str, ...] = ()
    weight: Absent[float] = Field(default=None, alias="peso")
    ruling: Absent[Literal["retract", "confirm"]] = None
    issued_at: AwareDatetime
    seq: Absent[int] = None


class EventMention(Value):
    """A point in time that was talked about."""

    id: Id
    label: str
    at: AwareDatetime
    kind: str
    message_id: Id


class SummaryMade(Event):
    """Extract of a stretch of one frame of a conversation, with its other users; a later one of one id replaces it."""

    TYPE: ClassVar[str] = "memory.summary-made.v1"
    summary_id: Id
    conversation_id: Id
    client_id: Id
    user_id: Id
    frame_id: Id
    text: str
    topic: str
    terms: tuple[str, ...]
    lang: str
    from_message: Id
    to_message: Id
    from_seq: int
    to_seq: int
    relevant_events: tuple[EventMention, ...] = ()
    made_at: AwareDatetime
    quoted_users: Absent[tuple[Id, ...]] = None


class ObjectiveEntry(Value):
    id: Id
    title: str
    status: str = "active"


class Profile(Value):
    """Who a user is: role, department, what they may see, what they are after."""

    user_id: Id
    user_role: str = "unknown"
    department: str = "unknown"
    access_level: AccessLevel = "public"
    objectives: tuple[ObjectiveEntry, ...] = ()


class DocumentSubmitted(Event):
    """A document to remember, as text or as a file's bytes, or the profile of a user.

    `created_at` is the time of this version; what an earlier version had and this one has not is offered no more.
    """

    TYPE: ClassVar[str] = "knowledge.document-submitted.v1"
    document_id: Id
    title: str = Field(min_length=1)
    text: Absent[str] = None
    data: Absent[str] = Field(default=None, description="the file's bytes in base64, instead of text")
    uri: Absent[str] = None
    kind: Absent[Literal["text", "markdown", "html", "pdf", "profile"]] = Field(
        default=None, alias="tipo", description="what it is; looked at where it is not said, or not so"
    )
    access_level: AccessLevel = "public"
    lang: Absent[str] = None
    created_at: Absent[StatedTime] = None
    profile: Absent[Profile] = None

    @model_validator(mode="after")
    def _has_content(self) -> "DocumentSubmitted":
        if self.kind == "profile":
            if self.profile is None:
                raise ValueError("a document of tipo 'profile' needs the field profile")
        elif self.data is not None and self.text is not None:
            raise ValueError("a document has text or data, not both")
        elif not (self.text and self.text.strip()) and not self.data:
            raise ValueError(f"a document of tipo '{self.kind or 'text'}' needs a non-empty text, or data")
        return self


class DocumentDeleted(Event):
    """A document to forget: nothing of it is offered from `created_at` on; submitted again it is there again."""

    TYPE: ClassVar[str] = "knowledge.document-deleted.v1"
    document_id: Id
    deleted: Literal[True] = True
    created_at: Absent[StatedTime] = None


ThemeLevel = Literal["macro", "sub"]


class Theme(Value):
    """What a document is about, and how much of it: a macro theme, or a sub-theme of the macro theme `pai`."""

    name: str = Field(alias="nome", min_length=1)
    level: ThemeLevel = Field(alias="nivel")
    description: str = Field(alias="descricao")
    parent: Absent[str] = Field(default=None, alias="pai")
    relevance: float = Field(alias="relevancia", ge=0, le=1)


class ActiveTheme(Value):
    """A theme of the tenant's documents that the question is about, and how much, 0-1."""

    theme_id: Id
    name: str = Field(alias="nome")
    level: ThemeLevel = Field(alias="nivel")
    weight: float = Field(alias="peso", ge=0, le=1)


class EntryBase(Value):
    id: Id
    document_id: Id
    access_level: AccessLevel = "public"
    recency: AwareDatetime
    lang: str


class EntityMention(Value):
    """Who or what a passage names: a name, an acronym, a legal reference."""

    name: str
    kind: str = Field(alias="tipo")


class ChunkEntry(EntryBase):
    """A passage, of `block` where that was cut for its length; `context`, around it, is searched and never shown."""

    kind: Literal["chunk"] = "chunk"
    title: str
    text: str
    position: int
    context: str = ""
    page: Absent[int] = None
    block: Absent[int] = None
    entities: tuple[EntityMention, ...] = ()


class ConceptEntry(EntryBase):
    kind: Literal["concept"] = "concept"
    name: str
    definition: str
    related: tuple[Id, ...] = ()


class DefinitionEntry(EntryBase):
    kind: Literal["definition"] = "definition"
    title: str
    text: str
    confidence: float = 1.0


class StepEntry(Value):
    id: Id
    order: int = Field(ge=1)
    text: str


class ProcessEntry(EntryBase):
    kind: Literal["process"] = "process"
    name: str
    how_to_terms: tuple[str, ...]
    steps: tuple[StepEntry, ...] = Field(min_length=1)


class ProfileEntry(EntryBase):
    kind: Literal["profile"] = "profile"
    profile: Profile


class ThemeShare(Value):
    """A theme of the document, and how much of what is said belongs to it."""

    name: str = Field(alias="nome")
    level: ThemeLevel = Field(alias="nivel")
    relevance: float = Field(alias="relevancia", ge=0, le=1)


class LegalEntry(EntryBase):
    """A case, a ruling or a provision that a document refers to; `texto` is the sentence that does."""

    kind: Literal["legal"] = "legal"
    reference_kind: Literal["processo", "jurisprudencia", "dispositivo"] = Field(alias="tipo")
    reference: str = Field(alias="referencia")
    court: Absent[str] = Field(default=None, alias="tribunal")
    law: Absent[str] = Field(default=None, alias="lei")
    article: Absent[str] = Field(default=None, alias="artigo")
    text: str = Field(alias="texto")
    themes: tuple[ThemeShare, ...] = Field(default=(), alias="temas")


Entry = Annotated[
    ChunkEntry | ConceptEntry | DefinitionEntry | ProcessEntry | ProfileEntry | LegalEntry,
    Field(discriminator="kind"),
]


class KnowledgeRecorded(Event):
    """What one document, or a batch of it, adds to memory, the same for the same content; without entries: deleted."""

    TYPE: ClassVar[str] = "memory.knowledge-recorded.v1"
    document_id: Id
    title: str
    uri: Absent[str] = None
    content_hash: str
    batch: int = Field(ge=0)
    batches: int = Field(default=0, ge=0, description="how many there are; 0 when whoever wrote it did not say")
    entries: tuple[Entry, ...] = ()
    access_level: AccessLevel = "public"
    themes: tuple[Theme, ...] = Field(default=(), alias="temas")
    recorded_at: AwareDatetime
