"""What the interface answers. Fields that a newer server adds are kept, as attributes."""

from pydantic import BaseModel, ConfigDict

SECTIONS = ("working_set", "episodic", "semantic", "claims", "procedural")
# What an item says, whatever its type calls it.
TEXTS = ("text", "content", "definition", "explanation", "label", "name", "title")


class _Answer(BaseModel):
    model_config = ConfigDict(extra="allow", frozen=True)


class PackSource(_Answer):
    """A source that the text of a pack cites as `[number]`, and the ids of the items under it."""

    number: int
    name: str
    items: tuple[str, ...]


class Item(_Answer):
    """A thing that memory holds: a passage, a claim, an earlier message; what else its type says are attributes."""

    id: str
    type: str
    score: float = 0.0

    def __str__(self) -> str:
        said = self.model_extra or {}
        return next((said[name] for name in TEXTS if isinstance(said.get(name), str)), "")


class Pack(_Answer):
    """The context for the answer to one message; `text`, of `total_tokens_estimated` tokens, is for the prompt.

    `evidence` is `found`, `none`, or None where nothing was searched for. The sections with all items are attributes.
    """

    pack_id: str
    message_id: str
    conversation_id: str
    client_id: str
    user_id: str
    query: str
    lang: str
    depth_level: str
    text: str = ""
    sources: tuple[PackSource, ...] = ()
    max_tokens: int
    total_tokens_estimated: int
    evidence: str | None = None
    degraded: bool = False
    missing_sections: tuple[str, ...] = ()
    revision: int = 1

    def __str__(self) -> str:
        return self.text

    def cited(self) -> list[tuple[PackSource, Item]]:
        """Every item that the text has a source for, with it, in the order of the sources."""
        by_id: dict[str, Item] = {}
        for section in SECTIONS:
            for found in ((self.model_extra or {}).get(section) or {}).values():
                if isinstance(found, list):
                    by_id |= {item["id"]: Item.model_validate(item) for item in found}
        return [(source, by_id[name]) for source in self.sources for name in source.items if name in by_id]

    def items(self) -> list[Item]:
        """Every item that the text has a source for, in the order of the sources."""
        return [item for _, item in self.cited()]


class Receipt(_Answer):
    """A record in the log; its ids, as far as the call made any, and its place."""

    message_id: str | None = None
    topic: str
    partition: int
    offset: int


class Document(_Answer):
    """A document in the log; `visible` where its passages can be found."""

    document_id: str
    visible: bool


class Turn(_Answer):
    """A turn of a conversation."""

    message_id: str
    role: str
    content: str
    seq: int


class Decision(_Answer):
    """What was decided on a message: a pack, how deep."""

    message_id: str
    pack_id: str
    depth_level: str


class Conversation(_Answer):
    """The newest turns of a conversation, and the decisions on its messages; `complete` where these are all."""

    client_id: str
    conversation_id: str
    complete: bool
    turns: tuple[Turn, ...]
    decisions: tuple[Decision, ...] = ()
