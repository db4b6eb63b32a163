"""What quarantines have to do with a pack: those in force when it was made, and later ones of what it holds; pure."""

from collections.abc import Iterator
from datetime import datetime

from agents.core.quarantine.sources import Quarantine, Quarantines
from schemas.base import PUBLIC_TENANT
from schemas.packs import ContextPack
from streams.explanations.evidence import LogEvidence
from streams.explanations.explanation import QuarantineExplained
from streams.usage.members import SourceMembers, items_of


def quarantines_of(found: LogEvidence, pack: ContextPack | None, at: datetime) -> Iterator[QuarantineExplained]:
    """Each quarantine in force at a time, and each that was set since and names an item of the pack."""
    then, now = Quarantines(), Quarantines()
    for change in sorted(found.quarantines, key=lambda each: each.event.issued_at):
        now.apply(change)
        if change.event.issued_at <= at:
            then.apply(change)
    before = {each.source: each for each in _in_force(then, found.tenant)}
    after = {each.source: each for each in _in_force(now, found.tenant)}
    for source, known in before.items():
        yield _explained(known, "in force" if source in after else "in force then, lifted since", ())
    for source, new in after.items():
        items = () if source in before or pack is None else _items(new, pack)
        if items:
            yield _explained(new, "set since", items)


def _in_force(of: Quarantines, tenant: str) -> tuple[Quarantine, ...]:
    return (*of.of(tenant), *of.of(PUBLIC_TENANT))


def _items(quarantine: Quarantine, pack: ContextPack) -> tuple[str, ...]:
    """The items that name the source themselves: what else stems from it, `fathom quarantine report` finds."""
    members = SourceMembers(quarantine)
    documents = ((item.id, getattr(item, "document_id", None)) for item in items_of(pack))
    named = (name for name, document in documents if document and members.hidden.has_document(document))
    return tuple(dict.fromkeys((*members.in_pack(pack), *named)))


def _explained(of: Quarantine, state: str, items: tuple[str, ...]) -> QuarantineExplained:
    return QuarantineExplained(
        source=str(of.source), since=of.since, by=of.asked_by, reason=of.reason, state=state, items=items
    )
