"""The committed offsets of consumer groups, journaled; they do not expire."""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from streams.broker.journal import Journal

COMPACT_ABOVE = 50_000


class Committed(NamedTuple):
    offset: int
    metadata: str | None = ""
    leader_epoch: int = -1


Partition = tuple[str, int]


class Offsets:
    def __init__(self, directory: Path) -> None:
        self._journal = Journal(directory / "offsets.jsonl")
        self._groups: dict[str, dict[Partition, Committed]] = {}
        for group, topic, partition, *committed in self._journal.replay():
            if topic is None:
                self._groups.pop(group, None)
            elif committed:
                self._groups.setdefault(group, {})[topic, partition] = Committed(*committed)
            else:
                self._groups.get(group, {}).pop((topic, partition), None)

    def of(self, group: str) -> dict[Partition, Committed]:
        return self._groups.get(group, {})

    def groups(self) -> Iterable[str]:
        """The groups that have committed."""
        return self._groups

    def commit(self, group: str, items: dict[Partition, Committed]) -> None:
        if not items:
            return
        self._journal.append([(group, *partition, *committed) for partition, committed in items.items()])
        self._groups.setdefault(group, {}).update(items)
        if self._journal.lines > COMPACT_ABOVE + 2 * sum(map(len, self._groups.values())):
            self._journal.rewrite(
                (name, *partition, *committed)
                for name, offsets in self._groups.items()
                for partition, committed in offsets.items()
            )

    def forget_topic(self, name: str) -> None:
        """Delete a topic's offsets, so that a new topic of this name starts without them."""
        gone = [(group, p) for group, items in self._groups.items() for p in items if p[0] == name]
        if gone:
            self._journal.append([(group, *partition) for group, partition in gone])
            for group, partition in gone:
                del self._groups[group][partition]

    def close(self) -> None:
        self._journal.close()
