"""The committed offsets of consumer groups, journaled; they do not expire.

No offset is put on the disk before the records below it: the journal is synced when the logs are, and after them.
"""

import logging
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from streams.broker.journal import Journal

LOGGER = logging.getLogger("fathom.broker")
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
        for group, topic, partition, *committed in self._journal.salvage(_fits):
            if topic is None:
                self._groups.pop(group, None)
            elif committed:
                self._groups.setdefault(group, {})[topic, partition] = Committed(*committed)
            else:
                self._groups.get(group, {}).pop((topic, partition), None)

    def cut_to(self, end_of: Callable[[str, int], int | None]) -> None:
        """Move each offset beyond the end of its log back to that end.

        The log has lost what was committed, in a power cut: new records at those offsets would never be read.
        """
        for group, offsets in self._groups.items():
            for (topic, partition), committed in list(offsets.items()):
                end = end_of(topic, partition)
                if end is None or committed.offset <= end:
                    continue
                LOGGER.error(
                    "group %s had committed %d of %s-%d, whose log ends at %d: it goes on there, the rest is lost",
                    group, committed.offset, topic, partition, end,
                )  # fmt: skip
                self.commit(group, {(topic, partition): committed._replace(offset=end)})

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

    @property
    def outgrown(self) -> bool:
        """Whether the journal should be compacted."""
        return self._journal.lines > COMPACT_ABOVE + 2 * sum(map(len, self._groups.values()))

    def latest(self) -> Mapping[str, Mapping[Partition, Committed]]:
        """The offsets as they are now."""
        return {group: dict(offsets) for group, offsets in self._groups.items()}

    def compact(self, durable: Mapping[str, Mapping[Partition, Committed]]) -> None:
        """Drop what was replaced, and put these offsets on the disk, where the records below them are by now.

        Those committed since then follow, and are in the system's cache only.
        """
        rows = [(group, p, each) for group, offsets in self._groups.items() for p, each in offsets.items()]
        known = [(group, p, durable[group][p]) for group, p, _ in rows if p in durable.get(group, ())]
        self._journal.rewrite((group, *p, *committed) for group, p, committed in known)
        self._journal.append((group, *p, *committed) for group, p, committed in set(rows) - set(known))

    def forget_topic(self, name: str) -> None:
        """Delete a topic's offsets, so that a new topic of this name starts without them."""
        gone = [(group, p) for group, items in self._groups.items() for p in items if p[0] == name]
        if gone:
            self._journal.append([(group, *partition) for group, partition in gone])
            for group, partition in gone:
                del self._groups[group][partition]

    def sync(self) -> None:
        """Put everything on the disk; the logs must be there before."""
        self._journal.sync()

    def close(self, sync: bool = True) -> None:
        self._journal.close(sync)


def _fits(entry: object) -> bool:
    """Whether a line is one that `Offsets` writes."""
    if not isinstance(entry, list) or not 3 <= len(entry) <= 6:
        return False
    group, topic, partition, *committed = entry
    named = isinstance(group, str) and isinstance(topic, str | None) and isinstance(partition, int | None)
    return named and all(isinstance(each, int) for each in committed[:1])
