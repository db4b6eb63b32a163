"""The topics: names, partition counts and configs in a journal, one log per partition in a folder of its own.

A topic is durable before its creation is answered. Folders missing in the journal are left alone, not removed: a lost
journal must not cost the records as well. A config that this broker cannot honour is refused by name, never stored
and ignored.
"""

import logging
import re
import shutil
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from streams.broker import clean_stop
from streams.broker.errors import Code, RequestRefused
from streams.broker.journal import Journal
from streams.broker.log import PartitionLog, Work, at_once

LOGGER = logging.getLogger("fathom.broker")

NAME = re.compile(r"[a-zA-Z0-9._-]{1,249}")
MAX_PARTITIONS = 1_000
DEFAULT_CONFIGS: Mapping[str, str] = {
    "cleanup.policy": "delete",
    "compression.type": "producer",
    "max.message.bytes": "1048588",
    "message.timestamp.type": "CreateTime",
    "min.insync.replicas": "1",
    "retention.bytes": "-1",
    "retention.ms": "604800000",
    # After a kill the last segment of every log is read at the start: 64 MB, as in Kafka, would be most of all logs.
    "segment.bytes": "4194304",
}
# The configs that may differ from their default, with their minimum.
LOWEST: Mapping[str, int] = {"max.message.bytes": 0, "retention.bytes": -1, "retention.ms": -1, "segment.bytes": 1024}
HIGHEST = 2**63 - 1


def checked(items: Iterable[tuple[str, str | None]]) -> dict[str, str]:
    """The configs unchanged; RequestRefused with INVALID_CONFIG and the reason for an unsupported one."""
    configs: dict[str, str] = {}
    for name, value in items:
        if (reason := _objection(name, value)) or value is None:
            raise RequestRefused(Code.INVALID_CONFIG, reason or f"{name} needs a value")
        configs[name] = value
    return configs


def _objection(name: str, value: str | None) -> str | None:
    if name not in DEFAULT_CONFIGS:
        return f"{name} is not supported here; supported are {', '.join(DEFAULT_CONFIGS)}"
    if value is None or value == DEFAULT_CONFIGS[name]:
        return None
    if name not in LOWEST:
        return f"{name}={value} is not supported by the embedded broker, only {DEFAULT_CONFIGS[name]}"
    try:
        return None if LOWEST[name] <= int(value) <= HIGHEST else f"{name} must be at least {LOWEST[name]}"
    except ValueError:
        return f"{name} must be a whole number, not {value!r}"


class BrokerTopic:
    """A topic and its logs, each made or loaded by `open_log` from its name."""

    def __init__(self, name: str, partitions: int, configs: dict[str, str], open_log: Callable[[str], PartitionLog]):
        self.name, self.configs = name, configs
        self.partitions: list[PartitionLog] = []
        self._open_log = open_log
        self.grow(partitions)

    def grow(self, count: int) -> None:
        self.partitions += [self._open_log(log_name(self.name, i)) for i in range(len(self.partitions), count)]

    def setting(self, name: str) -> int:
        return int(self.configs.get(name, DEFAULT_CONFIGS[name]))

    def remove(self) -> None:
        for log in self.partitions:
            log.remove()


def log_name(topic: str, partition: int) -> str:
    """The folder of a partition's log."""
    return f"{topic}-{partition}"


class Topics:
    """All topics of a directory.

    `later` is given work that may wait for the disk, `drained` waits until it is done; `loading` is called while logs
    load.
    """

    def __init__(
        self,
        directory: Path,
        default_partitions: int = 1,
        auto_create: bool = False,
        later: Callable[[Work], object] = at_once,
        drained: Work = lambda: None,
        loading: Work = lambda: None,
    ) -> None:
        self._folder = directory / "logs"
        self._folder.mkdir(mode=0o700, exist_ok=True)
        self._journal = Journal(directory / "topics.jsonl")
        self._default_partitions, self._auto_create = default_partitions, auto_create
        self._later, self._drained, self._loading = later, drained, loading
        # Each of use once: a log that is deleted and made again begins at 0.
        self._ends = clean_stop.read(directory)
        self.by_name: dict[str, BrokerTopic] = {}
        self._load()

    def _load(self) -> None:
        kept: dict[str, dict[str, Any]] = {}
        removed: dict[str, int] = {}
        for entry in self._journal.replay():
            name = entry["topic"]
            if entry.get("removed"):
                removed[name] = kept.pop(name)["partitions"]
            else:
                kept.setdefault(name, {}).update(entry)
                removed.pop(name, None)
        for name, count in removed.items():
            for number in range(count):
                shutil.rmtree(self._folder / log_name(name, number), ignore_errors=True)
        for name, entry in kept.items():
            self.by_name[name] = self._topic(name, entry["partitions"], entry.get("configs", {}))
        self._journal.rewrite(
            {"topic": topic.name, "partitions": len(topic.partitions), "configs": topic.configs}
            for topic in self.by_name.values()
        )

    def _topic(self, name: str, partitions: int, configs: dict[str, str]) -> BrokerTopic:
        return BrokerTopic(name, partitions, configs, self._open_log)

    def _open_log(self, name: str) -> PartitionLog:
        self._loading()
        return PartitionLog(self._folder / name, None if self._ends is None else self._ends.pop(name, 0), self._later)

    def existing(self, name: str, first_use: bool = False) -> BrokerTopic:
        """The topic; on first use it is created, if auto-creation is on."""
        if first_use and self._auto_create and name not in self.by_name:
            self.create(name, -1, {})
        if name not in self.by_name:
            raise RequestRefused(Code.UNKNOWN_TOPIC_OR_PARTITION, f"Topic '{name}' does not exist.")
        return self.by_name[name]

    def find(self, name: str, index: int) -> PartitionLog | None:
        topic = self.by_name.get(name)
        return topic.partitions[index] if topic is not None and 0 <= index < len(topic.partitions) else None

    def partition(self, name: str, index: int) -> PartitionLog:
        log = self.find(name, index)
        if log is None:
            raise RequestRefused(Code.UNKNOWN_TOPIC_OR_PARTITION)
        return log

    def check_new(self, name: str, partitions: int) -> int:
        """The partition count for a new topic of this name; RequestRefused if it cannot be created."""
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

    def create(self, name: str, partitions: int, configs: dict[str, str]) -> None:
        count = self.check_new(name, partitions)
        self._journal.append([{"topic": name, "partitions": count, "configs": configs}], sync=True)
        self.by_name[name] = self._topic(name, count, configs)

    def delete(self, name: str) -> None:
        topic = self.existing(name)
        self._drained()
        # Journal first: after a crash in between, loading completes the removal.
        self._journal.append([{"topic": name, "removed": True}], sync=True)
        del self.by_name[name]
        topic.remove()

    def grow(self, name: str, count: int, dry_run: bool) -> None:
        topic = self.existing(name)
        now = len(topic.partitions)
        if not now < count <= MAX_PARTITIONS:
            raise RequestRefused(Code.INVALID_PARTITIONS, f"Topic '{name}' has {now}, asked for {count}")
        if not dry_run:
            self._journal.append([{"topic": name, "partitions": count}], sync=True)
            topic.grow(count)

    def configure(self, name: str, configs: dict[str, str], dry_run: bool) -> None:
        topic = self.existing(name)
        if not dry_run:
            self._journal.append([{"topic": name, "configs": configs}], sync=True)
            topic.configs = configs

    def retain(self, now: float) -> None:
        for topic in self.by_name.values():
            age, size = topic.setting("retention.ms"), topic.setting("retention.bytes")
            for log in topic.partitions:
                log.retain(age, size, now)

    def logs(self) -> dict[str, PartitionLog]:
        """All logs, by name."""
        return {
            log_name(topic.name, number): log
            for topic in self.by_name.values()
            for number, log in enumerate(topic.partitions)
        }

    def close(self) -> bool:
        """Put everything on the disk; whether all of it is there."""
        closed = [_closed(name, log) for name, log in self.logs().items()]
        # Each of its lines is on the disk since it was written.
        self._journal.close(sync=False)
        return all(closed)


def _closed(name: str, log: PartitionLog) -> bool:
    try:
        log.close()
    except OSError as error:
        LOGGER.error("the log %s cannot be put on the disk: %s; check the disk", name, error)
        return False
    return True
