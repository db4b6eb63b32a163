"""The rights of each process on the broker: the least that its work needs, by the names of topics and groups.

A worker looks for no other topic when it starts, and the chart's users are given these. When it starts it checks that
the topics are there and large enough.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from schemas.topics import (
    ANSWERS_OUT,
    AUDIT_HEADS,
    COGNITION_STEPS,
    CONTEXT_PACKS,
    CONVERSATION_TURNS,
    CORRECTIONS_IN,
    DOCUMENTS_IN,
    FEEDBACK_IN,
    MEMORY_CLAIMS,
    MEMORY_CONSULTATIONS,
    MEMORY_CORRECTIONS,
    MEMORY_DECISIONS,
    MEMORY_ERASURES,
    MEMORY_QUARANTINES,
    MEMORY_VOTES,
    MESSAGES_IN,
    PACKS_PARTIAL,
    RETRIEVAL_PLANS,
    SEARCHES_IN,
    SEARCHES_OUT,
    TOOLS_CALLS_IN,
    TOOLS_CALLS_OUT,
    Topic,
    dead_letter_topic,
)
from streams.config import Settings
from streams.kafka import topics_admin, topics_plan
from streams.kafka.security import Security
from streams.runtime.layout.cluster import GROUPS, HEAD, JOIN
from streams.stage import Stage
from streams.topology import CHAINED_PATH, LAYOUTS, SPLIT_PATH, groups_of
from streams.views import tool_log, turn_log, vote_log

# What a view of the log reads without a group, by the topic whose partitions decide what it holds.
VIEWS: Mapping[Topic, tuple[str, ...]] = {
    MESSAGES_IN: turn_log.TOPICS,
    TOOLS_CALLS_IN: (*tool_log.TOPICS, MEMORY_ERASURES.name),
    MEMORY_VOTES: vote_log.TOPICS,
}
# What `fathom serve` sends for its callers, awaits for them and looks up for them.
SERVED_WRITES = (MESSAGES_IN, DOCUMENTS_IN, CORRECTIONS_IN, FEEDBACK_IN, TOOLS_CALLS_IN, SEARCHES_IN)
SERVED_READS = (
    ANSWERS_OUT, CONTEXT_PACKS, TOOLS_CALLS_IN, TOOLS_CALLS_OUT, MEMORY_ERASURES, CONVERSATION_TURNS, RETRIEVAL_PLANS,
    PACKS_PARTIAL,
    COGNITION_STEPS, MEMORY_DECISIONS, MEMORY_CLAIMS, MEMORY_CONSULTATIONS, MESSAGES_IN, DOCUMENTS_IN,
    SEARCHES_OUT, MEMORY_QUARANTINES,
)  # fmt: skip
# What is refused of what is asked, and runs that failed, which is told to whoever waits for an answer.
SERVED_LETTERS = tuple(dead_letter_topic(stage) for stage in ("depth", "tool-gate", "search", "cognition"))

# What `fathom audit seal` reads, and how long it is kept: what has expired is not missing.
SEALED = (MEMORY_DECISIONS, MEMORY_CLAIMS, MEMORY_CORRECTIONS, AUDIT_HEADS)


@dataclass(frozen=True, slots=True)
class Rights:
    """The operations on each topic and group, in Kafka's words and sorted; the group to read in, if any."""

    topics: Mapping[str, tuple[str, ...]]
    group: str | None = None
    # Others, of which it is asked how far they are.
    asked: tuple[str, ...] = ()
    # Others, whose places are set.
    moved: tuple[str, ...] = ()

    @property
    def groups(self) -> Mapping[str, tuple[str, ...]]:
        own = (self.group,) if self.group else ()
        return dict.fromkeys((*own, *self.moved), ("Read",)) | dict.fromkeys(self.asked, ("Describe",))


def of_group(name: str, layout: str = "chained") -> Rights:
    """The rights of a worker with all stages of this group in a layout; raises `KeyError` for an unknown one."""
    stages = [stage for stage in LAYOUTS[layout] if stage.group_name == name]
    if not stages:
        raise KeyError(name)
    group, asked = stages[0].consumer_group, dict[str, str]()
    for stage in stages:
        asked |= {topic.name: writers for topic, writers in stage.awaited.items()}
    if name in groups_of((*CHAINED_PATH, *SPLIT_PATH)):
        # A worker of the path learns the layout by what the join of the split one has committed, topic by topic.
        asked |= {PACKS_PARTIAL.name: JOIN}
    operations = _operations(_reads(stages), _writes(stages), asked)
    return Rights(operations, group, tuple(sorted({*asked.values()} - {group})))


def of_layout() -> Rights:
    """The rights of `fathom layout`, which sets the places of the groups that only the split layout has."""
    read = {MESSAGES_IN.name, *(name for topics in GROUPS.values() for name in topics)}
    return Rights(_operations(read, ()), asked=(HEAD,), moved=tuple(sorted(GROUPS)))


def of_serve() -> Rights:
    """The rights of `fathom serve`, which reads in no group."""
    reads = (*(topic.name for topic in SERVED_READS), *SERVED_LETTERS)
    return Rights(_operations(reads, (topic.name for topic in SERVED_WRITES)))


def of_seal() -> Rights:
    """The rights of `fathom audit seal`, which reads in no group and writes heads alone."""
    operations = _operations((topic.name for topic in SEALED), (AUDIT_HEADS.name,))
    return Rights({name: (each[0], "DescribeConfigs", *each[1:]) for name, each in operations.items()})


def topics_of(stages: Iterable[Stage]) -> frozenset[str]:
    """The topics that these stages read or write, by themselves, their views, ledgers and dead letters."""
    chosen = tuple(stages)
    return frozenset((*_reads(chosen), *_writes(chosen)))


def _reads(stages: Iterable[Stage]) -> list[str]:
    found: list[str] = []
    for stage in stages:
        found += [topic.name for topic in stage.consumes]
        found += [name for topic in stage.consumes for name in VIEWS.get(topic, ())]
        if stage.own_output is not None:
            found.append(stage.own_output.name)
        if stage.hiding:
            found.append(MEMORY_QUARANTINES.name)
    return found


def _writes(stages: Iterable[Stage]) -> list[str]:
    return [name for stage in stages for name in (*(topic.name for topic in stage.writes), stage.dead_letters)]


def _operations(reads: Iterable[str], writes: Iterable[str], looks: Iterable[str] = ()) -> dict[str, tuple[str, ...]]:
    read, written = set(reads), set(writes)
    return {
        name: ("Describe", *(("Read",) if name in read else ()), *(("Write",) if name in written else ()))
        for name in sorted(read | written | {*looks})
    }


async def check_topics(bootstrap: str, security: Security, settings: Settings, stages: Sequence[Stage]) -> int:
    """The partitions of a conversation's topics; makes missing topics where the settings say so.

    Raises `TopicError` for topics that are missing, torn or too small, `Unavailable`, `BrokerRejected`.
    """
    partitions = await _partitions(bootstrap, security, settings, stages)
    written = {topic.name for stage in stages for topic in stage.writes} | {stage.dead_letters for stage in stages}
    await topics_admin.check_limits(bootstrap, sorted(written), security)
    return partitions


async def _partitions(bootstrap: str, security: Security, settings: Settings, stages: Sequence[Stage]) -> int:
    if settings.create_topics:
        topics = topics_plan.wanted(settings.partitions, settings.replication)
        await topics_admin.create_missing(bootstrap, topics, security)
        return settings.partitions
    existing = await topics_admin.existing(bootstrap, security)
    # A user with few rights is shown its own topics only; all of conversations have one count of partitions.
    counts = [existing[name] for name in topics_plan.CONVERSATION_TOPICS if name in existing]
    partitions = counts[0] if counts else settings.partitions
    needed = topics_of(stages)
    topics_plan.check(existing, [topic for topic in topics_plan.wanted(partitions) if topic.name in needed])
    return partitions
