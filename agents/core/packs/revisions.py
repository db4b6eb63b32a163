"""A pack that went out without some of its parts, kept for a while so that a late one can still be packed.

Its inputs stay held meanwhile: whoever takes its partition over reads them again, and comes to the same revisions. A
late part is judged by its own time in the log, so that a replay judges it alike.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import cast

from agents.core.packs import join as joins
from agents.core.packs.join import Join
from schemas.envelope import Received
from schemas.retrieval import JoinOpened, MemoryClass, PartFound


@dataclass(frozen=True, slots=True)
class Incomplete:
    """A join whose pack is out: what its first revision lacked, and what the pack before had carried by then.

    Revisable `until` then; `at` is when its newest revision was made. `revision` is what the join comes to by now,
    `emitted` the highest one that was out when the partition was taken over: the join is then read again, and behind.
    """

    join: Join
    missing: frozenset[MemoryClass]
    until: datetime
    previous: Mapping[str, str]
    at: datetime
    revision: int = 1
    emitted: int = 1

    def wants(self, record: Received[JoinOpened | PartFound]) -> bool:
        """Whether a record of the pack is an input not seen yet: a late part in time, or one that is read again."""
        opened, event = self.join.opened, record.event
        if isinstance(event, JoinOpened):
            return opened is None
        if event.memory_class in self.join.parts:
            return False
        late = event.memory_class in self.missing
        if opened is None or not joins.missing(self.join) <= self.missing:
            return not late  # the join is read again; where its inputs are gone for good, nothing can be added to it
        return late and record.logged_at <= self.until

    def add(self, record: Received[JoinOpened | PartFound]) -> "Incomplete":
        """With a record it wants; a late part makes the next revision."""
        event = record.event
        if isinstance(event, JoinOpened):
            return replace(self, join=joins.add_terms(self.join, cast("Received[JoinOpened]", record)))
        join = joins.add_part(self.join, cast("Received[PartFound]", record))
        if event.memory_class not in self.missing:
            return replace(self, join=join)
        return replace(self, join=join, at=max(self.at, record.logged_at), revision=self.revision + 1)
