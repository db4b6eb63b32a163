"""What is said about answers and their sources: corrections, feedback, consultations, votes, quarantines."""

from collections.abc import Mapping, Sequence
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, AwareDatetime, Field, model_validator

from schemas.base import PUBLIC_TENANT, Absent, Event, Id, StatedTime, Value
from schemas.depth import DepthLevel
from schemas.items import AccessLevel

CorrectionKind = Literal["factual", "juridico", "formatacao"]
ClaimRuling = Literal["retract", "confirm"]
PathLabel = Literal["Processo", "Dispositivo", "Jurisprudencia", "Chunk", "SubPergunta"]
PATH_LABELS: tuple[PathLabel, ...] = ("Processo", "Dispositivo", "Jurisprudencia", "Chunk", "SubPergunta")


class CorrectionSubmitted(Event):
    """A user contests a claim or a consultation from outside a conversation.

    With a `ruling` the user takes the own claim back (`retract`), or says again that it holds (`confirm`).
    """

    TYPE: ClassVar[str] = "memory.correction-submitted.v1"
    claim_id: Absent[Id] = None
    consultation_id: Absent[Id] = Field(default=None, alias="consulta_id")
    text: str = Field(alias="texto", min_length=1)
    user_id: Id = Field(alias="usuario_id")
    correction_kind: CorrectionKind = Field(alias="tipo")
    new_value: Absent[str] = None
    ruling: Absent[ClaimRuling] = None
    created_at: Absent[StatedTime] = None

    @model_validator(mode="after")
    def _of_one_thing(self) -> "CorrectionSubmitted":
        if (self.claim_id is None) == (self.consultation_id is None):
            raise ValueError("a correction names either claim_id or consulta_id")
        if self.ruling is not None and (self.claim_id is None or self.new_value is not None):
            raise ValueError("a ruling is on a claim, and gives no new_value")
        if not self.text.strip():
            raise ValueError("a correction needs a text")
        return self


class FeedbackGiven(Event):
    """What a user thought of one pack: how good it was, 1 to 5, and how deep it should have gone."""

    TYPE: ClassVar[str] = "depth.feedback-given.v1"
    message_id: Id
    pack_id: Id
    conversation_id: Id
    client_id: Id
    rating: int = Field(ge=1, le=5)
    expected_depth: Absent[DepthLevel] = None
    reason: str = ""
    created_at: Absent[StatedTime] = None


class DepthVote(Event):
    """One feedback as depth weighs it: for messages that show the same signs, this level was expected.

    A later vote of the same id replaces the earlier; `pattern` is what `pattern_of` makes of the signs.
    """

    TYPE: ClassVar[str] = "memory.depth-voted.v1"
    id: Id
    pattern: str
    decided: DepthLevel
    expected: Absent[DepthLevel] = None
    rating: int = Field(ge=1, le=5)
    at: AwareDatetime
    message_id: Id
    pack_id: Id
    user_id: Id
    reason: str = ""


Votes = Mapping[str, Sequence[DepthVote]]
"""The votes of a tenant by their pattern."""


class GraphRef(Value):
    """A node that an answer came from, by label and id; `public` when it is shared with all tenants."""

    label: PathLabel
    id: Id
    public: bool = False

    def path(self) -> str:
        """`Label/id`, with `_public:` before it where it is shared: how corrections name what they penalise."""
        return f"{f'{PUBLIC_TENANT}:' if self.public else ''}{self.label}/{self.id}"

    @classmethod
    def from_path(cls, path: str) -> "GraphRef | None":
        """The node of a path; None for text that names none."""
        shared = path.startswith(f"{PUBLIC_TENANT}:")
        label, _, natural = path.removeprefix(f"{PUBLIC_TENANT}:").partition("/")
        found = next((known for known in PATH_LABELS if known == label), None)
        return cls(label=found, id=natural, public=shared) if found and natural else None


class SubQuestion(Value):
    """One node of the decomposition that was answered, with what the answer stands on.

    `signature` is that of its question (`core.cognition.signatures`); `evidence` are the passages read for it, cited or
    not.
    """

    node_id: Id
    text: str = Field(alias="texto")
    answer: str = Field(alias="resposta")
    citations: tuple[str, ...] = Field(default=(), alias="citacoes")
    parent_id: Absent[Id] = None
    uses: tuple[GraphRef, ...] = ()
    confidence: float = Field(ge=0, le=1)
    verified: bool = False
    signature: Absent[str] = None
    evidence: Absent[tuple[Id, ...]] = None


class ConsultationRecorded(Event):
    """A question that was decomposed and answered, kept to be found again and corrected.

    `access_level` is the highest of what the answer was made from: nobody below it may find the answer again.
    Only a question of the same `signature`, `scope` and case may reuse it.
    """

    TYPE: ClassVar[str] = "memory.consultation-recorded.v1"
    consultation_id: Id = Field(alias="consulta_id")
    job_id: Absent[Id] = None
    user_question: str = Field(alias="pergunta_usuario", min_length=1)
    final_answer: str = Field(alias="resposta_final")
    sub_questions: tuple[SubQuestion, ...] = Field(default=(), alias="sub_perguntas")
    verification_status: Literal["approved", "rejected", "abstain"]
    reused: tuple[Id, ...] = ()
    user_id: Absent[Id] = Field(default=None, alias="usuario_id")
    conversation_id: Absent[Id] = None
    client_id: Absent[Id] = None
    access_level: AccessLevel
    lang: str
    consulted_at: AwareDatetime = Field(alias="data")
    signature: Absent[str] = None
    scope: Absent[str] = None
    case_id: Absent[Id] = None

    @model_validator(mode="after")
    def _is_a_tree(self) -> "ConsultationRecorded":
        names = [sub.node_id for sub in self.sub_questions]
        if len(set(names)) != len(names):
            raise ValueError("two sub-questions have one node_id")
        for sub in self.sub_questions:
            if sub.parent_id is not None and sub.parent_id not in names:
                raise ValueError(f"the parent of {sub.node_id!r} is no sub-question of this consultation")
        return self


class NearMiss(Value):
    """An earlier consultation whose question has the same signature and which was yet not reused, and why."""

    consultation_id: Id
    similarity: float = Field(ge=-1, le=1)
    reason: Literal["similarity", "status", "scope", "corrected", "penalised", "evidence"]


def digest_text(value: str) -> str:
    """Refuse what is no SHA-256 in small hex digits; raises `ValueError`."""
    if len(value) != 64 or not set(value) <= set("0123456789abcdef"):
        raise ValueError("a hash is 64 hex digits")
    return value


Digest = Annotated[str, AfterValidator(digest_text)]


class SealedSegment(Value):
    """Records of one partition, from `begin` up to before `end`; `before` and `after` are the chain's hashes there.

    `marks` holds the first four bytes of the hash after each record, in base64, so that the first changed record can be
    named. `last_at` is the greatest time of a record: what is younger than its retention must still be in the log.
    """

    topic: str
    partition: int = Field(ge=0)
    begin: int = Field(ge=0)
    end: int = Field(ge=1)
    records: int = Field(ge=1)
    before: Digest
    after: Digest
    marks: str
    last_at: AwareDatetime


class AuditHead(Event):
    """The chain as it stood: `previous` is the SHA-256 of the head before, absent in the first one.

    `previous_at` is when that one was sealed: while it is younger than its retention it must still be in the log.
    """

    TYPE: ClassVar[str] = "audit.head-sealed.v1"
    number: int = Field(ge=1)
    previous: Absent[Digest] = None
    previous_at: Absent[AwareDatetime] = None
    segments: tuple[SealedSegment, ...] = Field(min_length=1)
    sealed_at: AwareDatetime


SourceKind = Literal["document", "feed", "conversation", "user", "message", "claim"]


class QuarantinedMessage(Value):
    """A message of a conversation, by its id and its position there."""

    message_id: Id
    client_id: Id
    conversation_id: Id
    seq: int = Field(ge=0)


class QuarantineChanged(Event):
    """A source whose content goes into no pack from now on, or does again (`lifted`); nothing is deleted.

    `source_id` is the id of a document, a conversation (of `client_id`), a user, a message or a claim; of a feed the
    beginning of its documents' ids. `messages` are hidden with it, and add to those of earlier events.
    """

    TYPE: ClassVar[str] = "memory.quarantine-changed.v1"
    source_kind: SourceKind
    source_id: Id
    client_id: Absent[Id] = None
    state: Literal["quarantined", "lifted"]
    messages: tuple[QuarantinedMessage, ...] = ()
    reason: str = ""
    asked_by: Id
    issued_at: AwareDatetime

    @model_validator(mode="after")
    def _names_its_client(self) -> "QuarantineChanged":
        if (self.source_kind == "conversation") != (self.client_id is not None):
            raise ValueError("a conversation has a client_id, and no other source has one")
        return self
