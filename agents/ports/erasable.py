"""The nodes that an erasure deletes, by label, with their names for people; stores that keep what they deleted."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable


@dataclass(frozen=True, slots=True)
class ConversationNodes:
    """The erasable nodes of a conversation, or of who a user is, by label; ids are the tenant's own."""

    ids: Mapping[str, tuple[str, ...]]

    def __or__(self, other: "ConversationNodes") -> "ConversationNodes":
        labels = {*self.ids, *other.ids}
        return ConversationNodes({each: (*self.ids.get(each, ()), *other.ids.get(each, ())) for each in labels})

    def counts(self) -> dict[str, int]:
        """How many of what, by names for people."""
        return {name: len(self.ids.get(label, ())) for label, name in COUNTED.items()}

    def passages(self) -> tuple[str, ...]:
        """The ids of those that the index searches beside the conversation's turns."""
        return (*self.ids.get("Message", ()), *self.ids.get("ConversationSummary", ()))

    def consultations(self) -> tuple[str, ...]:
        """The ids of consultations."""
        return self.ids.get("Consulta", ())


COUNTED: Mapping[str, str] = {
    "Message": "turns",
    "Claim": "claims",
    "Correcao": "corrections",
    "ConversationSummary": "summaries",
    "TimePoint": "dates",
    "CDCDecision": "decisions",
    "Consulta": "consultations",
    "AuditEvent": "audits",
    "UserProfile": "profiles",
    "Objective": "objectives",
}


@runtime_checkable
class CompactingStore(Protocol):
    """A store whose files keep what was deleted until it is compacted."""

    async def compact(self) -> None:
        """Rewrite the files without what was deleted; raises `Unavailable`."""
