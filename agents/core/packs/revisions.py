"""Packs emitted with missing parts, kept open for a time so that a late part can make a new revision.

The inputs stay unacknowledged meanwhile: the next owner of the partition reads them again and makes the same revisions.
Whether a part is late is decided by its own log timestamp, so that a replay decides alike.
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
    """An emitted pack with missing parts: what its first revision lacked, and the items of the previous pack.

    It may be revised `until` then; `at` is the time of its newest revision. `revision` is the current number, `emitted`
    the highest one in the output when the partition was assigned: after that the join is rebuilt from its inputs.
    """

    join: Join
    missing: frozenset[MemoryClass]
    until: datetime
    previous: Mapping[str, str]
    at: datetime
    revision: int = 1
    emitted: int = 1

    def wants(self, record: Received[JoinOpened | PartFound]) -> bool:
        """Whether a record of the pack is a new input: a part that is late but in time, or one read again."""
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
        """The pack with a wanted record added; a late part makes the next revision."""
        event = record.event
        if isinstance(event, JoinOpened):
            return replace(self, join=joins.add_terms(self.join, cast("Received[JoinOpened]", record)))
        join = joins.add_part(self.join, cast("Received[PartFound]", record))
        if event.memory_class not in self.missing:
            return replace(self, join=join)
        return replace(self, join=join, at=max(self.at, record.logged_at), revision=self.revision + 1)
