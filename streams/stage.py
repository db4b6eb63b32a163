"""A stage of the topology: what it reads and writes, in what order it is fed."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from schemas.topics import Topic, dead_letter_topic

if TYPE_CHECKING:
    from agents.ports.handlers import Handler
    from streams.dependencies import Dependencies

Order = Literal["key", "topic", "partition", "none"]


def _consumer_group(group: str) -> str:
    return f"fathom.{group}"


@dataclass(frozen=True)
class Stage:
    """A stage of the topology.

    `order` is the unit of sequential processing (`topic`: the key within one topic); several topics are co-partitioned
    and read in time order unless it is `none`. `ledger` is the output that is read on assignment; such a stage
    holds its inputs and settles them itself; `recalled` is read so, too, and holds nothing. `concurrency` is the
    maximum of records in progress, few enough to finish before a rebalance. A `background` stage yields to the pack
    path, `together` of its records at a time: those that are written together, else one; one with `passages` needs the
    index. A `storing` stage fills stores, whatever it sends beside that; a `hiding` one reads them without what is
    quarantined. The `first` stage of the pack path waits while later ones are full; where it is full itself, there is
    an overload. A stage with a `head` is chained to the one of its group that reads that topic: the process hands it
    what the stages before it have sent, and the broker feeds it nothing. What a record names may still be on a topic
    that it `awaits`, until the group named beside it has stored it. `build` makes its handler, where
    `streams.builders` does not.
    """

    name: str
    reads: tuple[Topic, ...]
    writes: tuple[Topic, ...]
    build: "Callable[[Dependencies], Handler] | None" = None
    group: str = ""
    order: Order = "key"
    ledger: Topic | None = None
    recalled: Topic | None = None
    concurrency: int = 128
    background: bool = False
    together: int = 1
    passages: bool = False
    storing: bool = False
    first: bool = False
    head: Topic | None = None
    hiding: bool = False
    awaits: tuple[tuple[Topic, str], ...] = ()

    def handler(self, built: "Dependencies") -> "Handler":
        """The stage over its dependencies."""
        from streams.builders import BUILDERS
        from streams.quarantine.reads import without_quarantined

        build = self.build or BUILDERS[self.name]
        return build(without_quarantined(built) if self.hiding else built)

    @property
    def consumer_group(self) -> str:
        return _consumer_group(self.group_name)

    @property
    def consumes(self) -> tuple[Topic, ...]:
        """The topics that its consumer group reads for it."""
        return () if self.head else self.reads

    @property
    def fed_from(self) -> tuple[Topic, ...]:
        """The topics whose partitions decide which records it gets."""
        return (self.head,) if self.head else self.reads

    @property
    def awaited(self) -> dict[Topic, str]:
        """The consumer group that stores each topic that it awaits."""
        return {topic: _consumer_group(group) for topic, group in self.awaits}

    @property
    def own_output(self) -> Topic | None:
        """The output that is read on assignment."""
        return self.ledger or self.recalled

    @property
    def group_name(self) -> str:
        return self.group or self.name

    @property
    def dead_letters(self) -> str:
        return dead_letter_topic(self.name)
