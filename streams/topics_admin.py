"""Topics as they should be against topics as they are: plan, then create what is missing (never destroy)."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta

from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.errors import KafkaError

from agents.errors import Unavailable
from schemas.topics import TOPICS
from streams.topology import STAGES

TOPIC_EXISTS = 36
DEAD_LETTER_RETENTION = timedelta(days=365)
MAX_MESSAGE_BYTES = 4_000_000
# All records of one conversation have one order on each of these, and the join's ledger is partition by partition.
CONVERSATION_TOPICS = tuple(topic.name for topic in TOPICS if topic.key == "conversation")


@dataclass(frozen=True, slots=True)
class Wanted:
    """A topic as it should be."""

    name: str
    partitions: int
    retention_ms: int

    @property
    def config(self) -> dict[str, str]:
        return {
            "cleanup.policy": "delete",
            "retention.ms": str(self.retention_ms),
            "max.message.bytes": str(MAX_MESSAGE_BYTES),
        }


@dataclass(frozen=True, slots=True)
class Change:
    """One line of a plan: `create`, `keep`, or `differs` with what a person has to decide."""

    topic: str
    action: str
    detail: str


class TopicError(Exception):
    """Topics could not be made or are not as they must be; the text says what to do."""


def wanted(partitions: int) -> tuple[Wanted, ...]:
    """Every topic of the topology, dead letters included."""
    registry = [Wanted(t.name, partitions, _ms(t.retention)) for t in TOPICS]
    letters = [Wanted(stage.dead_letters, partitions, _ms(DEAD_LETTER_RETENTION)) for stage in STAGES]
    return (*registry, *letters)


def _ms(span: timedelta) -> int:
    return int(span.total_seconds() * 1000)


def plan(existing: dict[str, int], topics: Iterable[Wanted]) -> list[Change]:
    """What `apply` would do, topic by topic."""
    return [_change(existing.get(topic.name), topic) for topic in topics]


def _change(partitions: int | None, topic: Wanted) -> Change:
    if partitions is None:
        return Change(topic.name, "create", f"{topic.partitions} partitions")
    if partitions == topic.partitions:
        return Change(topic.name, "keep", f"{partitions} partitions")
    return Change(
        topic.name,
        "differs",
        f"has {partitions} partitions, FATHOM_PARTITIONS is {topic.partitions}: set FATHOM_PARTITIONS={partitions}, "
        "or make new topics; changing the count would tear conversations apart",
    )


async def existing(bootstrap: str) -> dict[str, int]:
    """Partition count of every topic of the broker; raises `Unavailable`."""
    admin = AIOKafkaAdminClient(bootstrap_servers=bootstrap)
    try:
        await admin.start()
        described = await admin.describe_topics()
    except KafkaError as error:
        raise Unavailable("broker", f"{bootstrap}: {error or type(error).__name__}") from error
    finally:
        await admin.close()
    return {topic["topic"]: len(topic["partitions"]) for topic in described if not topic["error_code"]}


async def apply(bootstrap: str, topics: Iterable[Wanted], replication: int) -> list[Change]:
    """Create what is missing; the plan that was carried out.

    Raises `TopicError` where partition counts of the conversation topics differ, `Unavailable` without a broker.
    """
    todo = tuple(topics)
    changes = plan(await existing(bootstrap), todo)
    torn = [c for c in changes if c.action == "differs" and c.topic in CONVERSATION_TOPICS]
    if torn:
        raise TopicError(f"{torn[0].topic} {torn[0].detail}")
    missing = {c.topic for c in changes if c.action == "create"}
    new = [NewTopic(t.name, t.partitions, replication, topic_configs=t.config) for t in todo if t.name in missing]
    if new:
        await _create(bootstrap, new)
    return changes


async def _create(bootstrap: str, new: list[NewTopic]) -> None:
    admin = AIOKafkaAdminClient(bootstrap_servers=bootstrap)
    try:
        await admin.start()
        answer = await admin.create_topics(new)
    except KafkaError as error:
        raise Unavailable("broker", f"{bootstrap}: {error or type(error).__name__}") from error
    finally:
        await admin.close()
    for name, code, message in answer.topic_errors:
        if code not in (0, TOPIC_EXISTS):
            raise TopicError(f"topic {name} could not be created: {message or f'error {code}'}")
