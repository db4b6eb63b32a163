"""Which sources of a tenant are quarantined, folded from the log; pure.

Whatever stems from one is hidden where it is read, and stays stored: lifted, everything is as it was.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from schemas.base import PUBLIC_TENANT
from schemas.envelope import Received
from schemas.learning import QuarantineChanged, QuarantinedMessage, SourceKind

Place = tuple[str, str]  # client, conversation


@dataclass(frozen=True, slots=True)
class SourceName:
    """A source: its kind and id, and of a conversation its client."""

    kind: SourceKind
    id: str
    client_id: str | None = None

    def __str__(self) -> str:
        return f"{self.kind}:{self.id}"


@dataclass(frozen=True, slots=True)
class Quarantine:
    """A source that is quarantined: since when, by whom and why, with the messages that are hidden with it."""

    source: SourceName
    since: datetime
    asked_by: str
    reason: str
    messages: tuple[QuarantinedMessage, ...] = ()


@dataclass(frozen=True, slots=True)
class HiddenSources:
    """What a tenant's reads leave out; false where that is nothing."""

    documents: frozenset[str] = frozenset()
    feeds: tuple[str, ...] = ()
    places: frozenset[Place] = frozenset()
    users: frozenset[str] = frozenset()
    messages: frozenset[str] = frozenset()
    claims: frozenset[str] = frozenset()
    turns: frozenset[tuple[str, str, str]] = frozenset()
    positions: Mapping[Place, tuple[int, ...]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return any((self.documents, self.feeds, self.places, self.users, self.messages, self.claims, self.turns))

    def has_document(self, document_id: str) -> bool:
        """Whether a document is hidden, by its id or its feed."""
        return document_id in self.documents or document_id.startswith(self.feeds)

    def has_conversation(self, client_id: str | None, conversation_id: str) -> bool:
        """Whether all of a conversation is hidden; without a client, whether one of this id is of any."""
        if client_id:
            return (client_id, conversation_id) in self.places
        return any(conversation_id == of for _, of in self.places)

    def has_user(self, user_id: str) -> bool:
        """Whether what a user said is hidden, and who they are."""
        return user_id in self.users

    def has_id(self, found: str) -> bool:
        """Whether an id is that of a hidden message or claim."""
        return found in self.messages or found in self.claims

    def has_turn(self, client_id: str | None, conversation_id: str, message_id: str) -> bool:
        """Whether a turn is hidden with a claim; clients may number messages in each conversation anew."""
        return (client_id or "", conversation_id, message_id) in self.turns

    def is_within(self, client_id: str | None, conversation_id: str, from_seq: int, to_seq: int) -> bool:
        """Whether a stretch of a conversation, ends included, has a hidden message."""
        return any(
            from_seq <= seq <= to_seq
            for (client, conversation), known in self.positions.items()
            if conversation == conversation_id and client_id in (None, "", client)
            for seq in known
        )


NOTHING = HiddenSources()


class Quarantines:
    """The quarantines of all tenants as the log has them; what everybody reads is hidden from everybody."""

    def __init__(self) -> None:
        self._found: dict[str, dict[SourceName, Quarantine]] = defaultdict(dict)
        self._hidden: dict[str, HiddenSources] = {}

    def apply(self, received: Received[QuarantineChanged]) -> None:
        """Fold the next event; a repeat changes nothing."""
        event, tenant = received.event, received.envelope.tenant
        source = SourceName(event.source_kind, event.source_id, event.client_id)
        if event.state == "lifted":
            self._found[tenant].pop(source, None)
        else:
            known = self._found[tenant].get(source)
            new = Quarantine(source, event.issued_at, event.asked_by, event.reason, event.messages)
            self._found[tenant][source] = new if known is None else _joined(known, new)
        self._hidden.clear()

    def replace(self, other: "Quarantines") -> None:
        """Become what another one is, at once."""
        self._found = other._found
        self._hidden.clear()

    def of(self, tenant: str) -> tuple[Quarantine, ...]:
        """The tenant's own quarantines, the oldest first."""
        return tuple(sorted(self._found.get(tenant, {}).values(), key=lambda each: (each.since, str(each.source))))

    def hidden(self, tenant: str) -> HiddenSources:
        """What is hidden from a tenant: by its own quarantines, and by those of what every tenant reads."""
        found = self._hidden.get(tenant)
        if found is None:
            found = self._hidden[tenant] = hidden_by((*self.of(tenant), *self.of(PUBLIC_TENANT)))
        return found


def _joined(known: Quarantine, new: Quarantine) -> Quarantine:
    return replace(known, messages=tuple(dict.fromkeys((*known.messages, *new.messages))))


def hidden_by(quarantines: Collection[Quarantine]) -> HiddenSources:
    """What these quarantines hide together."""
    if not quarantines:
        return NOTHING
    by_kind: dict[str, set[str]] = defaultdict(set)
    places: set[Place] = set()
    for source in (each.source for each in quarantines):
        if source.client_id is not None:
            places.add((source.client_id, source.id))
        else:
            by_kind[source.kind].add(source.id)
    messages = [message for each in quarantines for message in each.messages]
    of_claims = [message for each in quarantines if each.source.kind == "claim" for message in each.messages]
    others = [message for each in quarantines if each.source.kind != "claim" for message in each.messages]
    return HiddenSources(
        documents=frozenset(by_kind["document"]),
        feeds=tuple(sorted(by_kind["feed"])),
        places=frozenset(places),
        users=frozenset(by_kind["user"]),
        messages=frozenset((*by_kind["message"], *(each.message_id for each in others))),
        claims=frozenset(by_kind["claim"]),
        turns=frozenset((each.client_id, each.conversation_id, each.message_id) for each in of_claims),
        positions=_positions(messages),
    )


def _positions(messages: Iterable[QuarantinedMessage]) -> dict[Place, tuple[int, ...]]:
    found: dict[Place, set[int]] = defaultdict(set)
    for each in messages:
        found[each.client_id, each.conversation_id].add(each.seq)
    return {place: tuple(sorted(seqs)) for place, seqs in found.items()}
