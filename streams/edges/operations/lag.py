"""The status of each consumer group by its offsets, for the command and for HTTP."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient
from pydantic import Field

from schemas.base import Value
from streams.kafka.lag_status import LagJudged, LagSample, LagStatus, LagWindow, worst
from streams.runtime.layout.cluster import layout_by
from streams.stage import Stage
from streams.topology import LAYOUTS, groups_of

# The field of a described group that holds its members, in every version of the answer.
MEMBERS = 5


@dataclass(frozen=True, slots=True)
class GroupLag:
    """A group with the statuses of its partitions and the number of its members."""

    name: str
    members: int
    partitions: Mapping[str, LagJudged]

    @property
    def membership(self) -> str:
        """The number of its members in words."""
        return "1 member" if self.members == 1 else f"{self.members} members"

    @property
    def judged(self) -> LagJudged:
        return worst(self.partitions)


async def stages_there(admin: AIOKafkaAdminClient) -> Sequence[Stage]:
    """The stages of the cluster's layout."""
    return LAYOUTS[await layout_by(admin)]


def by_group(stages: Sequence[Stage]) -> Mapping[str, Sequence[Stage]]:
    """The stages of each group, by its name."""
    return {name: [stage for stage in stages if stage.group_name == name] for name in groups_of(stages)}


async def group_lag(
    admin: AIOKafkaAdminClient,
    reader: AIOKafkaConsumer,
    counts: Mapping[str, int],
    stages: Sequence[Stage],
    window: LagWindow,
) -> GroupLag:
    """The status of the group of some stages by the samples of its window and a new one of now."""
    group = stages[0].consumer_group
    committed = await admin.list_consumer_group_offsets(group)
    topics = {topic.name for stage in stages for topic in stage.consumes}
    whole = sorted(TopicPartition(topic, number) for topic in topics for number in range(counts.get(topic, 0)))
    ends, begins = await reader.end_offsets(whole), await reader.beginning_offsets(whole)
    held: Mapping[TopicPartition, int] = {
        tp: max(committed[tp].offset if tp in committed else 0, begins[tp]) for tp in whole
    }
    now = time.monotonic()
    window.add((f"{tp.topic}[{tp.partition}]", LagSample(now, held[tp], ends[tp])) for tp in sorted(held))
    members = await _members(admin, group)
    return GroupLag(stages[0].group_name, members, window.judged(members=members > 0))


async def _members(admin: AIOKafkaAdminClient, group: str) -> int:
    [answer] = await admin.describe_consumer_groups([group])
    [described] = answer.groups
    return len(described[MEMBERS])


class PartitionLag(Value):
    partition: str = Field(description="topic[number]")
    status: LagStatus
    lag: int = Field(description="records to read")
    why: str


class GroupLagShown(Value):
    """A consumer group; `why` is the reason of its worst partition, `members` are the processes that read."""

    group: str
    status: LagStatus
    lag: int
    why: str
    members: int
    partitions: tuple[PartitionLag, ...]


def shown(group: GroupLag) -> GroupLagShown:
    """The group as the command and HTTP show it."""
    judged = group.judged
    return GroupLagShown(
        group=group.name,
        status=judged.status,
        lag=judged.lag,
        why=judged.why,
        members=group.members,
        partitions=tuple(
            PartitionLag(partition=name, status=each.status, lag=each.lag, why=each.why)
            for name, each in group.partitions.items()
        ),
    )
