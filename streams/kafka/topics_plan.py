"""The wanted topics, and their difference to the existing ones: step by step, with the loss of each step."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from schemas.topics import TOPICS
from streams.kafka.clients import MAX_MESSAGE_BYTES
from streams.topology import NAMED

Action = Literal["keep", "create", "alter", "grow", "recreate", "by hand"]
FOREVER = -1
DEAD_LETTER_RETENTION = timedelta(days=365)
# All records of one conversation have one order on each of these, and the join's ledger is per partition.
CONVERSATION_TOPICS = tuple(topic.name for topic in TOPICS if topic.key == "conversation")


@dataclass(frozen=True, slots=True)
class TopicSpec:
    """The wanted settings of a topic.

    None is compacted: a key is a conversation, or the owner of a claim or document, and each of its records is an event
    of its own, which audit and replay need; they expire by age alone.
    """

    name: str
    partitions: int
    retention_ms: int
    replication: int = 1

    @property
    def config(self) -> dict[str, str]:
        return {
            "cleanup.policy": "delete",
            "retention.ms": str(self.retention_ms),
            "max.message.bytes": str(MAX_MESSAGE_BYTES),
            "min.insync.replicas": str(min_insync(self.replication)),
        }


def min_insync(replication: int) -> int:
    """The minimum of in-sync replicas: 2 as soon as one of three may be away, else 1."""
    return 2 if replication >= 3 else 1


class TopicError(Exception):
    """Topics could not be created, or have wrong settings; the message gives the remedy."""


def wanted(partitions: int, replication: int = 1) -> tuple[TopicSpec, ...]:
    """Every topic of the topology, dead letters included."""
    registry = [TopicSpec(t.name, partitions, _ms(t.retention), replication) for t in TOPICS]
    letters = [
        TopicSpec(stage.dead_letters, partitions, _ms(DEAD_LETTER_RETENTION), replication) for stage in NAMED.values()
    ]
    return (*registry, *letters)


def _ms(span: timedelta) -> int:
    return int(span.total_seconds() * 1000)


def repartition_error(partitions: int, topic: TopicSpec) -> str:
    """The message for a topic with another partition count."""
    return (
        f"has {partitions} partitions, FATHOM_PARTITIONS is {topic.partitions}: set FATHOM_PARTITIONS={partitions}, "
        "or make new topics; changing the count would tear conversations apart"
    )


def missing(existing: Mapping[str, int], topics: Iterable[TopicSpec]) -> list[TopicSpec]:
    """The missing topics, given the partition counts of the existing ones."""
    return [topic for topic in topics if topic.name not in existing]


def repartitioned(existing: Mapping[str, int], topics: Iterable[TopicSpec]) -> dict[str, str]:
    """The messages for topics with another partition count, by topic."""
    return {
        topic.name: repartition_error(existing[topic.name], topic)
        for topic in topics
        if existing.get(topic.name, topic.partitions) != topic.partitions
    }


def check_partitions(existing: Mapping[str, int], topics: Iterable[TopicSpec]) -> None:
    """Raises `TopicError` where a conversation topic has another partition count."""
    for name, detail in repartitioned(existing, topics).items():
        if name in CONVERSATION_TOPICS:
            raise TopicError(f"{name} {detail}")


def check(existing: Mapping[str, int], topics: Iterable[TopicSpec]) -> None:
    """Raises `TopicError` where a topic is missing, or a conversation topic has another partition count."""
    wanted = tuple(topics)
    if lacking := missing(existing, wanted):
        raise TopicError(
            f"topics are missing: {', '.join(t.name for t in lacking)}; run `fathom topics apply`, "
            "or let this user see them"
        )
    check_partitions(existing, wanted)


@dataclass(frozen=True, slots=True)
class TopicState:
    """An existing topic; `older` is the number of records beyond the wanted retention, by their timestamps."""

    partitions: int
    replication: int
    config: Mapping[str, str]
    records: int = 0
    older: int = 0
    single_node: bool = False


@dataclass(frozen=True, slots=True)
class TopicChange:
    """One change to one topic; `loses` describes lost or reordered records, None without a loss."""

    topic: str
    action: Action
    setting: str
    now: str
    wanted: str
    loses: str | None = None
    detail: str = ""

    @property
    def pending(self) -> bool:
        return self.action != "keep"


def steps(topics: Iterable[TopicSpec], found: Mapping[str, TopicState]) -> list[TopicChange]:
    """The steps in the topics' order; one `keep` for a topic without a difference. Other topics are left alone."""
    planned: list[TopicChange] = []
    for topic in topics:
        planned += _steps(topic, found.get(topic.name))
    return planned


def refused(planned: Iterable[TopicChange], allowed: Iterable[str]) -> list[TopicChange]:
    """The steps with a loss that is not allowed."""
    names = set(allowed)
    return [step for step in planned if step.loses is not None and step.topic not in names]


def _steps(topic: TopicSpec, found: TopicState | None) -> list[TopicChange]:
    if found is None:
        detail = f"{topic.partitions} partitions, {topic.replication} replicas"
        return [TopicChange(topic.name, "create", "topic", "missing", detail)]
    made = [step for step in (_partitions(topic, found), _replication(topic, found)) if step is not None]
    if not made or made[0].action != "recreate":
        made += _configs(topic, found)
    return made or [TopicChange(topic.name, "keep", "topic", "as planned", "", detail=f"{found.partitions} partitions")]


def _partitions(topic: TopicSpec, found: TopicState) -> TopicChange | None:
    if found.partitions == topic.partitions:
        return None
    now, then = str(found.partitions), str(topic.partitions)
    conversations = topic.name in CONVERSATION_TOPICS
    detail = repartition_error(found.partitions, topic) if conversations else ""
    if found.partitions > topic.partitions:
        loses = (
            f"all {found.records} records: partitions cannot be taken away, the topic would be deleted and made again"
        )
        return TopicChange(topic.name, "recreate", "partitions", now, then, loses, detail)
    if not found.records:
        return TopicChange(topic.name, "grow", "partitions", now, then)
    whose = "a conversation" if conversations else "a key"
    loses = f"the order of {whose}: {found.records} records stay where they are, the next ones go to other partitions"
    return TopicChange(topic.name, "grow", "partitions", now, then, loses, detail)


def _replication(topic: TopicSpec, found: TopicState) -> TopicChange | None:
    if found.replication == topic.replication:
        return None
    how = "the embedded broker is one node" if found.single_node else "move replicas with kafka-reassign-partitions"
    return TopicChange(
        topic.name, "by hand", "replication", str(found.replication), str(topic.replication), detail=how
    )  # fmt: skip


def _configs(topic: TopicSpec, found: TopicState) -> list[TopicChange]:
    # A minimum above the topic's replicas would stop every write to it.
    wanted = topic.config | {"min.insync.replicas": str(min_insync(found.replication))}
    return [
        TopicChange(topic.name, "alter", name, found.config.get(name, "unknown"), value, _loss(name, topic, found))
        for name, value in wanted.items()
        if found.config.get(name) != value
    ]


def _loss(name: str, topic: TopicSpec, found: TopicState) -> str | None:
    if not found.records:
        return None
    now = found.config.get(name, "")
    if name == "retention.ms" and _age(now) > topic.retention_ms:
        return f"{found.older} of {found.records} records now, the others when they are as old"
    if name == "max.message.bytes" and int(now or 0) > int(topic.config[name]):
        return f"records above {topic.config[name]} bytes can no longer be written, nor those there are replayed"
    if name == "cleanup.policy":
        kept = "all but the newest record of each key" if "compact" in topic.config[name] else "what is past its age"
        return f"{kept}, of {found.records} records"
    return None


def _age(retention_ms: str) -> float:
    age = int(retention_ms or 0)
    return float("inf") if age == FOREVER else age
