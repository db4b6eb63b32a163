"""What the interface answers. Fields that a newer server adds are kept, as attributes."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, model_validator

SECTIONS = ("working_set", "episodic", "semantic", "claims", "procedural")
# What an item says, whatever its type calls it.
TEXTS = ("text", "content", "definition", "explanation", "label", "name", "title")


class Answer(BaseModel):
    """A part of what the server answers."""

    model_config = ConfigDict(extra="allow", frozen=True)


class PackSource(Answer):
    """A source that the text of a pack cites as `[number]`, and the ids of the items under it."""

    number: int
    name: str
    items: tuple[str, ...]


class Item(Answer):
    """A thing that memory holds: a passage, a claim, an earlier message; `str` of it is what it says.

    What an item has depends on its `type`; the server's schema names every field, and each is an attribute.
    """

    id: str
    type: str
    reason: str = ""
    score: float = 0.0
    tokens: int = 0
    document_id: str | None = None
    message_id: str | None = None
    claim_id: str | None = None
    contradicts: str | None = None
    author: str | None = None
    role: str | None = None
    status: str | None = None
    value: str | None = None

    def __str__(self) -> str:
        said = self.model_extra or {}
        return next((said[name] for name in TEXTS if isinstance(said.get(name), str)), "")


class Section(Answer):
    """A section of a deep answer."""

    title: str
    text: str


class DeepAnswer(Answer):
    """An answer in sections of checked quotations; `str` of it is the whole as Markdown.

    `status` is `answered`, `partial` where something is `missing`, or `abstained` where nothing was found. What else it
    has (`sources`, `sub_answers`, `conflicts`) the server's schema names, and each is an attribute.
    """

    job_id: str
    message_id: str
    status: str
    lang: str
    text: str
    sections: tuple[Section, ...] = ()
    citations: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    confidence: float = 0.0

    def __str__(self) -> str:
        return self.text


class Pack(Answer):
    """The context for the answer to one message; `text`, of `total_tokens_estimated` tokens, is for the prompt.

    `evidence` is `found`, `none`, or None where nothing was searched for. `answer` is the deep answer, where the
    message was asked with `deep`.
    """

    pack_id: str
    message_id: str
    conversation_id: str
    client_id: str
    user_id: str
    query: str
    lang: str
    depth_level: Literal["D0", "D1", "D2", "D3", "D4"]
    text: str = ""
    sources: tuple[PackSource, ...] = ()
    max_tokens: int
    total_tokens_estimated: int
    evidence: str | None = None
    degraded: bool = False
    degraded_reasons: tuple[str, ...] = ()
    missing_sections: tuple[str, ...] = ()
    revision: int = 1
    answer: DeepAnswer | None = None

    @model_validator(mode="before")
    @classmethod
    def _with_answer(cls, said: Any) -> Any:
        """With `deep` the server gives pack and answer side by side."""
        if isinstance(said, dict) and isinstance(said.get("pack"), dict) and "answer" in said:
            return {**said["pack"], "answer": said["answer"]}
        return said

    def __str__(self) -> str:
        return self.text

    def items(self, kind: str | None = None) -> list[Item]:
        """Every item, section by section, or those of one `type`."""
        sections = [(self.model_extra or {}).get(section) or {} for section in SECTIONS]
        lists = [found for section in sections for found in section.values() if isinstance(found, list)]
        items = [Item.model_validate(item) for found in lists for item in found]
        return [item for item in items if kind in (None, item.type)]

    def cited(self) -> list[tuple[PackSource, Item]]:
        """The items that the text gives a numbered source for, with it, in the order of the sources."""
        by_id = {item.id: item for item in self.items()}
        return [(source, by_id[name]) for source in self.sources for name in source.items if name in by_id]

    def about(self, source: PackSource, item: Item) -> dict[str, str | int | float]:
        """What a framework keeps beside the text of an item: its source in this pack."""
        return {
            "source": source.name,
            "number": source.number,
            "type": item.type,
            "score": item.score,
            "document_id": item.document_id or "",
            "pack_id": self.pack_id,
        }


class Result(Answer):
    """Something that a search found: what it says, where it comes from, and why it was chosen; `str` of it is the text.

    `number` is that of its source in the text of all results.
    """

    id: str
    kind: Literal["document", "turn", "summary", "claim", "event", "process"]
    title: str
    text: str
    score: float
    tokens: int
    reason: str
    recorded_at: str
    number: int | None = None
    document_id: str | None = None
    conversation_id: str | None = None
    message_id: str | None = None
    claim_id: str | None = None

    def __str__(self) -> str:
        return self.text

    def about(self) -> dict[str, str | int | float]:
        """What a framework keeps beside the text of a result: its source."""
        return {
            "source": self.title,
            "number": self.number or 0,
            "type": self.kind,
            "score": self.score,
            "document_id": self.document_id or "",
            "conversation_id": self.conversation_id or "",
            "recorded_at": self.recorded_at,
        }


class Memory(Answer):
    """One fact that is remembered of a user; `str` of it is the sentence in which it was stated.

    `by` are the ids of the facts that replaced or contest it.
    """

    memory_id: str
    text: str
    subject: str
    attribute: str
    value: str
    author: Literal["user", "assistant"]
    status: Literal["holds", "confirmed", "contested", "replaced", "taken_back"]
    said_at: str
    user_id: str
    conversation_id: str
    message_id: str
    by: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.text


class Memories(Answer):
    """A page of facts, newest first; `next` is where the next one begins, if there is one."""

    memories: tuple[Memory, ...]
    next: str | None = None


class Found(Answer):
    """The results of a search, best first, and their `text` for a prompt; nothing of it was stored.

    `evidence` is `none` where memory has nothing; `missing` are the classes of memory that did not answer in time.
    """

    query: str
    lang: str
    results: tuple[Result, ...]
    evidence: str | None = None
    degraded: bool = False
    missing: tuple[str, ...] = ()
    text: str = ""
    total_tokens: int = 0

    def __str__(self) -> str:
        return self.text


class Receipt(Answer):
    """A record in the log, by its place; `message_id` where it is a message."""

    message_id: str | None = None
    topic: str
    partition: int
    offset: int


class Document(Answer):
    """A document in the log; `visible` where its passages can be found."""

    document_id: str
    visible: bool


class Turn(Answer):
    """A turn of a conversation; an assistant's `answers` a message."""

    message_id: str
    role: Literal["user", "assistant", "system"]
    content: str
    seq: int
    user_id: str
    lang: str
    answers: str | None = None


class Decision(Answer):
    """What was decided on a message: a pack, how deep."""

    message_id: str
    pack_id: str
    depth_level: str


class Conversation(Answer):
    """The newest turns of a conversation, and the decisions on its messages; `complete` where these are all."""

    client_id: str
    conversation_id: str
    complete: bool
    turns: tuple[Turn, ...]
    decisions: tuple[Decision, ...] = ()


class Talk(Answer):
    """A conversation that was used lately; `title` is its first question, `tokens` those of its newest packs."""

    conversation_id: str
    client_id: str | None = None
    title: str | None = None
    questions: int
    first_at: str
    last_at: str
    last_level: str
    tokens: tuple[int, ...]
    degraded: int


class Conversations(Answer):
    """A page of conversations, that of the last use first; `complete` is false where there were more than are read."""

    conversations: tuple[Talk, ...]
    total: int
    complete: bool


class Assessment(Answer):
    """Whether a query needs context, by rules, and why; nothing was searched or stored."""

    needs_deep_context: bool
    depth_level: str
    recommended_action: Literal["respond_directly", "search_context", "deep_retrieval"]
    recommended_tier: str
    confidence: float
    reason: str
    max_tokens: int
