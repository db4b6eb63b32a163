"""What a search is limited to: kind, document, conversation and time; and the sources of a plan that may have it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from agents.core.packs.sources import SOURCES, SourceSpec
from schemas.base import Value
from schemas.depth import DepthLevel
from schemas.items import Item, PersonaItem
from schemas.retrieval import (
    MemoryClass,
    PartFound,
    PassageKind,
    RetrievalPlan,
    SearchAsked,
    SearchKind,
    SourceRequest,
)

M = MemoryClass
# What of a class of memory is of a kind; no passages of an index, where it is empty.
KINDS: Mapping[SearchKind, Mapping[MemoryClass, tuple[PassageKind, ...] | None]] = {
    "document": {M.SEMANTIC: None},
    "turn": {M.EPISODIC: ("message",)},
    "summary": {M.EPISODIC: ("summary",)},
    "event": {M.EPISODIC: ("event",)},
    "claim": {M.SEMANTIC: ("definition",), M.CLAIMS: None},
    "process": {M.PROCEDURAL: None},
}
OF_DOCUMENTS, OF_CONVERSATIONS = frozenset({M.SEMANTIC, M.PROCEDURAL}), frozenset({M.SEMANTIC, M.EPISODIC, M.CLAIMS})
HOW_TO: SourceSpec = next(want for want in SOURCES[DepthLevel.D2] if want.memory_class is M.PROCEDURAL)


class ItemOrigin(Value):
    """Where an item comes from, and of which kind it is."""

    kind: SearchKind
    document_id: str | None = None
    client_id: str | None = None
    conversation_id: str | None = None
    message_id: str | None = None
    role: str | None = None
    claim_id: str | None = None
    user_id: str | None = None


@dataclass(frozen=True, slots=True)
class SearchScope:
    """The filters of one search."""

    kind: SearchKind | None = None
    document_id: str | None = None
    conversation_id: str | None = None
    since: datetime | None = None
    until: datetime | None = None

    @classmethod
    def of(cls, asked: SearchAsked) -> "SearchScope":
        return cls(asked.kind, asked.document_id, asked.conversation_id, asked.since, asked.until)

    def narrowed(self, plan: RetrievalPlan) -> RetrievalPlan:
        """The plan with the sources that may have what is in the scope, and that of the rights of who asks."""
        sources = [each for each in plan.sources if each.memory_class is not M.WORKING_SET]
        if self.kind == "process" and plan.wants(M.PROCEDURAL) is None:
            sources.append(
                SourceRequest(
                    memory_class=M.PROCEDURAL, selector=HOW_TO.selector, limit=HOW_TO.limit, max_tokens=plan.max_tokens
                )
            )
        return plan.model_copy(update={"sources": tuple(self._asked(each) for each in sources if self._may_have(each))})

    def _may_have(self, source: SourceRequest) -> bool:
        memory = source.memory_class
        if memory is M.PERSONA:
            return True
        return (
            (self.kind is None or memory in KINDS[self.kind])
            and (self.document_id is None or memory in OF_DOCUMENTS)
            and (self.conversation_id is None or memory in OF_CONVERSATIONS)
        )

    def _asked(self, source: SourceRequest) -> SourceRequest:
        if source.memory_class is M.PERSONA:
            return source
        kinds = KINDS[self.kind].get(source.memory_class) if self.kind is not None else None
        since = max(filter(None, (source.since, self.since)), default=None)
        return source.model_copy(update={"kinds": kinds or source.kinds, "since": since})

    def has(self, item: Item, origin: ItemOrigin) -> bool:
        """Whether an item is in the scope."""
        if isinstance(item, PersonaItem):
            return True
        return (
            self.kind in (None, origin.kind)
            and self.document_id in (None, origin.document_id)
            and self.conversation_id in (None, origin.conversation_id)
            and (self.since is None or item.recorded_at >= self.since)
            and (self.until is None or item.recorded_at <= self.until)
        )

    def within(self, part: PartFound, origin_of: Callable[[Item], ItemOrigin]) -> PartFound:
        """A part with the items that are in the scope."""
        return part.model_copy(update={"items": tuple(item for item in part.items if self.has(item, origin_of(item)))})
