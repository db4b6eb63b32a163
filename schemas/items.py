"""The items of a context pack, each with its source and the reason for its selection.

A retrieval stage sets `score` and `reason`; the assembler adds `tokens` and may cut a text (`truncated`).
"""

from typing import Annotated, Literal

from pydantic import AwareDatetime, Field, model_validator

from schemas.base import Absent, Id, Value

AccessLevel = Literal["public", "internal", "restricted", "confidential"]
ACCESS_ORDER: dict[str, int] = {"public": 0, "internal": 1, "restricted": 2, "confidential": 3}


class TurnOrigin(Value):
    """Who said a turn, and in which conversation."""

    role: Literal["user", "assistant"]
    client_id: Id
    conversation_id: Id


class Provenance(Value):
    """A place in the log (topic, partition, offset) or a record of a store (store, id); at least one of them."""

    topic: Absent[str] = None
    partition: Absent[int] = None
    offset: Absent[int] = None
    store: Absent[str] = None
    id: Absent[str] = None

    @model_validator(mode="after")
    def _somewhere(self) -> "Provenance":
        in_log = self.topic is not None and self.partition is not None and self.offset is not None
        if not in_log and not (self.store and self.id):
            raise ValueError("provenance needs topic, partition and offset, or store and id")
        return self


class ItemBase(Value):
    """The fields of all items: source, time of recording, access level, rank and the reason they were kept.

    `covers`: the words of the question that a retrieved item has.
    """

    id: Id
    provenance: Provenance
    recorded_at: AwareDatetime
    access_level: AccessLevel = "public"
    reason: str
    score: float = 0.0
    scores: dict[str, float] = Field(default_factory=dict)
    tokens: int = Field(default=0, ge=0)
    truncated: bool = False
    covers: Absent[tuple[str, ...]] = None


class MessageItem(ItemBase):
    """One earlier message of the conversation, or the summary that replaces dropped ones."""

    type: Literal["message"] = "message"
    message_id: Id
    role: Literal["user", "assistant", "system"]
    content: str
    created_at: AwareDatetime
    seq: int
    frame_id: Id
    meta: dict[str, object] = Field(default_factory=dict)


class SessionSummaryItem(ItemBase):
    """An extract of the turns that are no longer in the working set."""

    type: Literal["session_summary"] = "session_summary"
    text: str
    to_seq: int


class ConversationSummary(ItemBase):
    """An extractive summary of a part of a conversation; `previous` for that of another conversation."""

    type: Literal["conversation_summary"] = "conversation_summary"
    conversation_id: Id
    text: str
    topic: str
    from_seq: int
    to_seq: int
    origin: Literal["current", "previous"] = "current"


class TimePoint(ItemBase):
    """A point in time that was mentioned, or one past message.

    `kind` is `message`, or the precision of the time: `minute`, `day`, `week`, `month`, `year`, `message_id` the
    message that mentions it. `holds`: true where its value replaced an older one, false where a later message replaced
    its value; `contests` are the messages that it corrects, which come and go with it.
    """

    type: Literal["time_point"] = "time_point"
    label: str
    at: AwareDatetime
    kind: str
    holds: Absent[bool] = None
    message_id: Absent[Id] = None
    contests: Absent[tuple[Id, ...]] = None


class Concept(ItemBase):
    type: Literal["concept"] = "concept"
    name: str
    definition: str


class Chunk(ItemBase):
    type: Literal["chunk"] = "chunk"
    chunk_uid: Id
    document_id: str
    title: str
    text: str
    position: int
    page: Absent[int] = None


class Knowledge(ItemBase):
    """A known fact with its title; `holds`: true where it replaced an older value, which the reason names.

    `said_by`: another user of the tenant who said it, and nobody verified it.
    """

    type: Literal["knowledge"] = "knowledge"
    title: str
    text: str
    memory_class: Literal["semantic", "episodic", "procedural"] = "semantic"
    confidence: float = Field(default=1.0, ge=0, le=1)
    holds: Absent[bool] = None
    said_by: Absent[Id] = None


class Process(ItemBase):
    type: Literal["process"] = "process"
    name: str
    how_to_terms: tuple[str, ...] = ()


class Step(ItemBase):
    type: Literal["step"] = "step"
    process_id: Id
    process_name: str
    order: int
    text: str


ClaimStatus = Literal["asserted", "contested", "superseded", "confirmed", "retracted"]


class ClaimItem(ItemBase):
    """A claim: subject, attribute and value as somebody asserted them; `user_id` where that is not who asks."""

    type: Literal["claim"] = "claim"
    claim_id: Id
    author: Literal["user", "system"]
    text: str
    subject: str
    attribute: str
    value: str
    message_id: Id
    confidence: float = Field(ge=0, le=1)
    status: ClaimStatus
    user_id: Absent[Id] = None


class Contradiction(ItemBase):
    """Two claims that cannot both hold, with both sides and the current one; `user_id` where one is another user's."""

    type: Literal["contradiction"] = "contradiction"
    claim_id: Id
    contradicts: Id
    kind: str
    status: Literal["pending_reconciliation", "resolved"]
    current: Absent[Id] = None
    explanation: str
    user_id: Absent[Id] = None


class Objective(ItemBase):
    type: Literal["objective"] = "objective"
    title: str
    status: str


class PersonaItem(ItemBase):
    """The user who asks: role, department, access level; unknown ones are `unknown` and `public`."""

    type: Literal["persona"] = "persona"
    user_id: Id
    user_role: str
    department: str
    persona_access: AccessLevel


Item = Annotated[
    MessageItem
    | SessionSummaryItem
    | ConversationSummary
    | TimePoint
    | Concept
    | Chunk
    | Knowledge
    | Process
    | Step
    | ClaimItem
    | Contradiction
    | Objective
    | PersonaItem,
    Field(discriminator="type"),
]
