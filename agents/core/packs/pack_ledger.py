"""The packs of one output partition that are out since a time: none of them is emitted again. Pure: no clock or I/O."""

from collections import OrderedDict
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from schemas.base import Event
from schemas.envelope import Received
from schemas.packs import ContextPack
from schemas.retrieval import JoinOpened, MemoryClass, PackInputs

LONG_AGO = datetime.min.replace(tzinfo=UTC)
LEDGER_SIZE = 50_000
# By how much the clocks of workers may differ, and how far the output is read back at a time.
CLOCKS, BACK = timedelta(minutes=1), timedelta(minutes=10)


class Lacking(NamedTuple):
    """What a pack lacks whose late parts are not audited yet, and its time."""

    classes: frozenset[MemoryClass]
    at: datetime


class PackLedger(OrderedDict[str, Lacking]):
    """Pack id -> the classes that it lacks, for the audit of the first of them to come late; none after that."""

    def __init__(self) -> None:
        super().__init__()
        self._since = LONG_AGO
        self._found: list[tuple[str, Lacking]] = []

    def put(self, pack_id: str, lacking: Lacking) -> None:
        """Add a pack that is out now; of too many the oldest is forgotten."""
        self[pack_id] = lacking
        if len(self) > LEDGER_SIZE:
            self.popitem(last=False)

    def unknown_since(self, event: Event) -> datetime | None:
        """The time since which the packs are to be known before an event is handled, where they are not.

        A stage before may send again what it sent long ago, when it dies while an older record keeps it from
        committing. The pack may be out since the message was accepted, a time that such a repeat has from the first.
        """
        terms = event.terms if isinstance(event, PackInputs) else event
        if not isinstance(terms, JoinOpened) or terms.pack_id in self:
            return None
        accepted_at = terms.accepted_at - CLOCKS
        return None if accepted_at >= self._since else min(accepted_at, self._since - BACK)

    def look_back(self) -> Callable[[Received[ContextPack]], None]:
        """What takes each earlier pack, oldest first, of which only this is kept."""
        found = self._found = []
        return lambda emitted: found.append((emitted.event.pack_id, lacking_of(emitted.event)))

    def remember(self, since: datetime) -> None:
        """Know the packs since a time, too: those that were taken."""
        found, self._found = self._found, []
        for pack_id, lacking in reversed(found):  # each to the front: the oldest is forgotten first
            if pack_id not in self:
                self[pack_id] = lacking
                self.move_to_end(pack_id, last=False)
        self._since = since


def lacking_of(pack: ContextPack) -> Lacking:
    """What a pack lacks; a revision was made by a late part, which is audited: what it still lacks is not again."""
    return Lacking(frozenset() if pack.revision > 1 else missing_of(pack), pack.assembled_at)


def missing_of(pack: ContextPack) -> frozenset[MemoryClass]:
    """The classes whose parts did not come in time."""
    return frozenset(report.memory_class for report in pack.parts if report.status == "missing")
