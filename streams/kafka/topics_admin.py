"""Topics as they should be, and the making of those that are missing; a worker does no more than that at its start."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta

from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.errors import KafkaError

from agents.errors import Unavailable
from schemas.topics import TOPICS
from streams.kafka import broker_diagnosis
from streams.kafka.security import PLAINTEXT, Security
from streams.topology import STAGES

TOPIC_EXISTS = 36
DEAD_LETTER_RETENTION = timedelta(days=365)
# The limit of a batch, and of one record: a dead letter is its original and what was wrong with it.
MAX_MESSAGE_BYTES = 4_000_000
# All records of one conversation have one order on each of these, and the join's ledger is partition by partition.
CONVERSATION_TOPICS = tuple(topic.name for topic in TOPICS if topic.key == "conversation")


@dataclass(frozen=True, slots=True)
class TopicSpec:
    """A topic as it should be.

    None is compacted: a key is a conversation, a claim's or a document's owner, and each of its records is an event of
    its own, which audit and replay want; they go by age alone.
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
    """How many replicas must hold a record before it counts: 2 as soon as one of three may be away, else 1."""
    return 2 if replication >= 3 else 1


@dataclass(frozen=True, slots=True)
class Change:
    """One line of a plan: `create`, `keep`, or `differs` with what a person has to decide."""

    topic: str
    action: str
    detail: str


class TopicError(Exception):
    """Topics could not be made or are not as they must be; the text says what to do."""


def wanted(partitions: int, replication: int = 1) -> tuple[TopicSpec, ...]:
    """Every topic of the topology, dead letters included."""
    registry = [TopicSpec(t.name, partitions, _ms(t.retention), replication) for t in TOPICS]
    letters = [TopicSpec(stage.dead_letters, partitions, _ms(DEAD_LETTER_RETENTION), replication) for stage in STAGES]
    return (*registry, *letters)


def _ms(span: timedelta) -> int:
    return int(span.total_seconds() * 1000)


def plan(existing: dict[str, int], topics: Iterable[TopicSpec]) -> list[Change]:
    """What `apply` would do, topic by topic."""
    return [_change(existing.get(topic.name), topic) for topic in topics]


def _change(partitions: int | None, topic: TopicSpec) -> Change:
    if partitions is None:
        return Change(topic.name, "create", f"{topic.partitions} partitions")
    if partitions == topic.partitions:
        return Change(topic.name, "keep", f"{partitions} partitions")
    return Change(topic.name, "differs", repartition_error(partitions, topic))


def repartition_error(partitions: int, topic: TopicSpec) -> str:
    """What to say of a topic with another count of partitions."""
    return (
        f"has {partitions} partitions, FATHOM_PARTITIONS is {topic.partitions}: set FATHOM_PARTITIONS={partitions}, "
        "or make new topics; changing the count would tear conversations apart"
    )


def check(existing: dict[str, int], topics: Iterable[TopicSpec]) -> None:
    """Raises `TopicError` where a topic is missing, or where a conversation topic has another count of partitions."""
    changes = plan(existing, topics)
    if missing := [change.topic for change in changes if change.action == "create"]:
        raise TopicError(f"topics are missing: {', '.join(missing)}; run `fathom topics apply`")
    _refuse_torn(changes)


def _refuse_torn(changes: Iterable[Change]) -> None:
    for change in changes:
        if change.action == "differs" and change.topic in CONVERSATION_TOPICS:
            raise TopicError(f"{change.topic} {change.detail}")


async def existing(bootstrap: str, security: Security = PLAINTEXT) -> dict[str, int]:
    """Partition count of every topic of the broker; raises `Unavailable`, `BrokerRefuses`."""
    admin = AIOKafkaAdminClient(bootstrap_servers=bootstrap, **security.client_options())
    try:
        await admin.start()
        described = await admin.describe_topics()
    except KafkaError as error:
        raise await unavailable(bootstrap, security, error) from error
    finally:
        await admin.close()
    return {topic["topic"]: len(topic["partitions"]) for topic in described if not topic["error_code"]}


async def unavailable(bootstrap: str, security: Security, error: KafkaError) -> Unavailable:
    """What an error of a client means; raises `BrokerRefuses` where a broker answers and will not have us."""
    hint = await broker_diagnosis.check(bootstrap, security)
    return Unavailable("broker", f"{bootstrap}: {hint or error or type(error).__name__}")


async def apply(
    bootstrap: str, topics: Iterable[TopicSpec], replication: int, security: Security = PLAINTEXT
) -> list[Change]:
    """Create what is missing; the plan that was carried out.

    Raises `TopicError` where partition counts of the conversation topics differ, `Unavailable` without a broker.
    """
    todo = tuple(topics)
    changes = plan(await existing(bootstrap, security), todo)
    _refuse_torn(changes)
    missing = {c.topic for c in changes if c.action == "create"}
    if new := [new_topic(topic, replication) for topic in todo if topic.name in missing]:
        admin = AIOKafkaAdminClient(bootstrap_servers=bootstrap, **security.client_options())
        try:
            await admin.start()
            await create(admin, new)
        except KafkaError as error:
            raise await unavailable(bootstrap, security, error) from error
        finally:
            await admin.close()
    return changes


def new_topic(topic: TopicSpec, replication: int) -> NewTopic:
    """The request for a topic."""
    config = topic.config | {"min.insync.replicas": str(min_insync(replication))}
    return NewTopic(topic.name, topic.partitions, replication, topic_configs=config)


async def create(admin: AIOKafkaAdminClient, new: list[NewTopic]) -> None:
    """Make topics; one that somebody else has just made is as good. Raises `TopicError`, `KafkaError`."""
    answer = await admin.create_topics(new)
    for name, code, message in answer.topic_errors:
        if code not in (0, TOPIC_EXISTS):
            raise TopicError(f"topic {name} could not be created: {message or f'error {code}'}")
