"""The topics: names, partition counts and configs in a journal, one log per partition in a folder of its own.

A topic is durable before its creation is answered. Folders that no journal line names are left alone, not removed:
a lost journal must not cost the records as well.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from streams.broker.configs import DEFAULTS
from streams.broker.errors import Code, RequestRefused
from streams.broker.journal import Journal
from streams.broker.log import PartitionLog

NAME = re.compile(r"[a-zA-Z0-9._-]{1,249}")
MAX_PARTITIONS = 1_000


class BrokerTopic:
    def __init__(self, name: str, configs: dict[str, str]) -> None:
        self.name = name
        self.partitions: list[PartitionLog] = []
        self.configure(configs)

    def configure(self, configs: dict[str, str]) -> None:
        self.configs = configs
        self.effective = {**DEFAULTS, **configs}
        self.segment_bytes = int(self.effective["segment.bytes"])
        self.max_message_bytes = int(self.effective["max.message.bytes"])


class Topics:
    def __init__(self, directory: Path, default_partitions: int = 1) -> None:
        self._logs = directory / "logs"
        self._logs.mkdir(mode=0o700, exist_ok=True)
        self._journal = Journal(directory / "topics.jsonl")
        self._default_partitions = default_partitions
        self.by_name: dict[str, BrokerTopic] = {}
        self._load()

    def _load(self) -> None:
        counts: dict[str, int] = {}
        configs: dict[str, dict[str, str]] = {}
        starts: dict[tuple[str, int], int] = {}
        removed: dict[str, int] = {}
        for entry in self._journal.replay():
            name = entry["topic"]
            if "partitions" in entry:
                counts[name] = entry["partitions"]
                removed.pop(name, None)
            if "configs" in entry:
                configs[name] = entry["configs"]
            if "start" in entry:
                starts[name, entry["partition"]] = entry["start"]
            if entry.get("removed"):
                removed[name] = counts.pop(name)
                configs.pop(name, None)
                starts = {key: start for key, start in starts.items() if key[0] != name}
        for name, count in removed.items():
            for partition in range(count):
                PartitionLog(self._folder(name, partition)).remove()
        for name, count in counts.items():
            topic = self.by_name[name] = BrokerTopic(name, configs.get(name, {}))
            topic.partitions = [PartitionLog(self._folder(name, p), starts.get((name, p), 0)) for p in range(count)]
        self._journal.rewrite(self._entries())

    def _entries(self) -> Iterator[dict[str, object]]:
        for topic in self.by_name.values():
            yield {"topic": topic.name, "partitions": len(topic.partitions), "configs": topic.configs}
            for index, log in enumerate(topic.partitions):
                if log.start:
                    yield {"topic": topic.name, "partition": index, "start": log.start}

    def _folder(self, name: str, partition: int) -> Path:
        return self._logs / f"{name}-{partition}"

    def partition(self, name: str, index: int) -> PartitionLog:
        topic = self.by_name.get(name)
        if topic is None or not 0 <= index < len(topic.partitions):
            raise RequestRefused(Code.UNKNOWN_TOPIC_OR_PARTITION)
        return topic.partitions[index]

    def check_new(self, name: str, partitions: int) -> int:
        """The partition count a new topic of this name would get, or Refused."""
        if not NAME.fullmatch(name) or name in (".", ".."):
            raise RequestRefused(Code.INVALID_TOPIC, f"{name!r} is not a topic name: use 1-249 of a-z A-Z 0-9 . _ -")
        if name in self.by_name:
            raise RequestRefused(Code.TOPIC_ALREADY_EXISTS, f"Topic '{name}' already exists.")
        twin = next((t for t in self.by_name if t.replace(".", "_") == name.replace(".", "_")), None)
        if twin is not None:
            raise RequestRefused(Code.INVALID_TOPIC, f"{name!r} collides with {twin!r}: . and _ are taken for one")
        count = self._default_partitions if partitions == -1 else partitions
        if not 1 <= count <= MAX_PARTITIONS:
            raise RequestRefused(Code.INVALID_PARTITIONS, f"between 1 and {MAX_PARTITIONS} partitions, not {count}")
        return count

    def create(self, name: str, partitions: int, configs: dict[str, str]) -> BrokerTopic:
        count = self.check_new(name, partitions)
        self._journal.append([{"topic": name, "partitions": count, "configs": configs}], sync=True)
        topic = self.by_name[name] = BrokerTopic(name, configs)
        topic.partitions = [PartitionLog(self._folder(name, p)) for p in range(count)]
        return topic

    def delete(self, name: str) -> None:
        topic = self.existing(name)
        # Journal first: after a crash in between, loading finishes the removal.
        self._journal.append([{"topic": name, "removed": True}], sync=True)
        del self.by_name[name]
        for log in topic.partitions:
            log.remove()

    def grow(self, name: str, count: int, dry_run: bool) -> None:
        topic = self.existing(name)
        if not len(topic.partitions) < count <= MAX_PARTITIONS:
            raise RequestRefused(
                Code.INVALID_PARTITIONS, f"Topic '{name}' has {len(topic.partitions)}, asked for {count}"
            )
        if not dry_run:
            self._journal.append([{"topic": name, "partitions": count}], sync=True)
            added = range(len(topic.partitions), count)
            topic.partitions += [PartitionLog(self._folder(name, p)) for p in added]

    def configure(self, name: str, configs: dict[str, str], dry_run: bool) -> None:
        topic = self.existing(name)
        if not dry_run:
            self._journal.append([{"topic": name, "configs": configs}], sync=True)
            topic.configure(configs)

    def existing(self, name: str) -> BrokerTopic:
        topic = self.by_name.get(name)
        if topic is None:
            raise RequestRefused(Code.UNKNOWN_TOPIC_OR_PARTITION, f"Topic '{name}' does not exist.")
        return topic

    def delete_records(self, name: str, index: int, offset: int) -> int:
        """The new first offset; -1 means up to the end."""
        log = self.partition(name, index)
        target = log.end if offset == -1 else offset
        if not 0 <= target <= log.end:
            raise RequestRefused(Code.OFFSET_OUT_OF_RANGE)
        if target > log.start:
            self._journal.append([{"topic": name, "partition": index, "start": target}], sync=True)
            log.advance_start(target)
        return log.start

    def retain(self, now: float) -> None:
        for topic in self.by_name.values():
            age = int(topic.effective["retention.ms"])
            size = int(topic.effective["retention.bytes"])
            for log in topic.partitions:
                log.retain(age, size, now)

    def close(self) -> None:
        for topic in self.by_name.values():
            for log in topic.partitions:
                log.close()
        self._journal.close()


def all_logs(topics: Iterable[BrokerTopic]) -> Iterator[tuple[str, int, PartitionLog]]:
    for topic in topics:
        for index, log in enumerate(topic.partitions):
            yield topic.name, index, log
