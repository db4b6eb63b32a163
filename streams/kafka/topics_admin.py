"""Inspection and change of a cluster's topics; on its start a worker only creates missing ones."""

import asyncio
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta

from aiokafka.admin import AIOKafkaAdminClient, NewPartitions, NewTopic
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType

from streams.kafka import log_reader
from streams.kafka.aiokafka_private import alter_configs
from streams.kafka.clients import MAX_MESSAGE_BYTES, administering
from streams.kafka.security import PLAINTEXT, Security
from streams.kafka.topics_plan import (
    CONVERSATION_TOPICS,
    TopicChange,
    TopicError,
    TopicSpec,
    TopicState,
    check_partitions,
    missing,
    refused,
    steps,
)

TOPIC_EXISTS = 36
EMBEDDED = "fathom-embedded"
GONE_LIMIT_S, GONE_POLL_S = 30.0, 0.2


async def existing(bootstrap: str, security: Security = PLAINTEXT) -> dict[str, int]:
    """Partition count of every topic of the broker; raises `Unavailable`, `BrokerRejected`."""
    async with administering(bootstrap, security) as admin:
        described = await admin.describe_topics()
    return {topic["topic"]: len(topic["partitions"]) for topic in described if not topic["error_code"]}


async def retentions(
    bootstrap: str, names: Iterable[str], security: Security = PLAINTEXT
) -> dict[str, timedelta | None]:
    """How long topics keep their records, None for one that keeps all; raises `TopicError`, `Unavailable`."""
    async with administering(bootstrap, security) as admin:
        configs = await _configs(admin, names)
    kept = {name: int(config.get("retention.ms", -1)) for name, config in configs.items()}
    return {name: timedelta(milliseconds=ms) if ms >= 0 else None for name, ms in kept.items()}


async def check_limits(bootstrap: str, names: Iterable[str], security: Security = PLAINTEXT) -> None:
    """Raises `TopicError` where a topic takes smaller records than a worker writes; not where it may not be asked."""
    async with administering(bootstrap, security) as admin:
        try:
            configs = await _configs(admin, names)
        except TopicError:  # a user without the right to describe configs
            return
    limits = {name: int(config.get("max.message.bytes", MAX_MESSAGE_BYTES)) for name, config in configs.items()}
    if small := [f"{name} ({limit:,})" for name, limit in limits.items() if limit < MAX_MESSAGE_BYTES]:
        raise TopicError(
            f"max.message.bytes is too small of {', '.join(small)}: a worker writes records of up to "
            f"{MAX_MESSAGE_BYTES:,} bytes, and the broker would refuse them; run `fathom topics apply`"
        )


async def create_missing(bootstrap: str, topics: Sequence[TopicSpec], security: Security = PLAINTEXT) -> None:
    """Create the missing topics, and change none.

    Raises `TopicError` where partition counts of the conversation topics differ, `Unavailable` without a broker.
    """
    there = await existing(bootstrap, security)
    check_partitions(there, topics)
    if new := missing(there, topics):
        async with administering(bootstrap, security) as admin:
            await _create(admin, new)


async def plan(bootstrap: str, topics: Sequence[TopicSpec], security: Security) -> list[TopicChange]:
    """The necessary changes; raises `Unavailable`, `BrokerRejected`."""
    async with administering(bootstrap, security) as admin:
        found = await _look(admin, topics)
        differing = [t for t in topics if t.name in found and any(s.pending for s in steps([t], found))]
        if differing:
            found |= await _count(bootstrap, security, differing, found)
        return steps(topics, found)


async def apply(
    bootstrap: str, topics: Sequence[TopicSpec], security: Security, allowed: Iterable[str] = ()
) -> tuple[list[TopicChange], list[TopicChange]]:
    """Carry out changes that lose nothing or are allowed to; returns the planned and the refused changes.

    Raises `TopicError`, without any change, if the conversation topics would get different partition counts.
    """
    planned = await plan(bootstrap, topics, security)
    left = refused(planned, allowed)
    torn = [step for step in left if step.setting == "partitions" and step.topic in CONVERSATION_TOPICS]
    if torn:
        raise TopicError(f"{torn[0].topic} {torn[0].detail}; it would lose {torn[0].loses}")
    todo = [step for step in planned if step.pending and step not in left]
    if todo:
        async with administering(bootstrap, security) as admin:
            await _carry_out(admin, todo, {topic.name: topic for topic in topics})
    return planned, left


async def _look(admin: AIOKafkaAdminClient, topics: Iterable[TopicSpec]) -> dict[str, TopicState]:
    names = {topic.name for topic in topics}
    single = (await admin.describe_cluster())["cluster_id"] == EMBEDDED
    there = [t for t in await admin.describe_topics() if t["topic"] in names and not t["error_code"]]
    configs = await _configs(admin, [t["topic"] for t in there])
    return {
        t["topic"]: TopicState(
            len(t["partitions"]),
            min(len(partition["replicas"]) for partition in t["partitions"]),
            configs[t["topic"]],
            single_node=single,
        )
        for t in there
    }


async def _configs(admin: AIOKafkaAdminClient, names: Iterable[str]) -> dict[str, dict[str, str]]:
    resources = [ConfigResource(ConfigResourceType.TOPIC, name) for name in names]
    found: dict[str, dict[str, str]] = {}
    for answer in await admin.describe_configs(resources) if resources else ():
        for code, message, _, name, entries in answer.resources:
            if code:
                raise TopicError(f"the configs of topic {name} cannot be read: {message or f'error {code}'}")
            found[name] = {entry[0]: entry[1] for entry in entries}
    return found


async def _count(
    bootstrap: str, security: Security, topics: Iterable[TopicSpec], found: Mapping[str, TopicState]
) -> dict[str, TopicState]:
    """The states of differing topics with their record counts, which the others do not need."""
    counted: dict[str, TopicState] = {}
    # A reader that asks again soon for the topics it does not know yet: it was a tenth of a second for each.
    async with log_reader.opened(bootstrap, security, "broker") as consumer:
        for topic in topics:
            numbers = range(found[topic.name].partitions)
            there = await log_reader.bounds(consumer, topic.name, numbers)
            since = int(time.time() * 1000) - topic.retention_ms
            young = await log_reader.written_since(consumer, there, dict.fromkeys(numbers, since))
            records = sum(end - first for first, end in there.values())
            older = records - sum(end - first for first, end in young.values())
            counted[topic.name] = replace(found[topic.name], records=records, older=older)
    return counted


async def _carry_out(admin: AIOKafkaAdminClient, todo: Sequence[TopicChange], topics: Mapping[str, TopicSpec]) -> None:
    if new := [step.topic for step in todo if step.action == "create"]:
        await _create_again(admin, [topics[name] for name in new])
    configs: dict[str, dict[str, str]] = {}
    for step in todo:
        if step.action == "alter":
            configs.setdefault(step.topic, {})[step.setting] = step.wanted
    if configs:
        await _alter(admin, configs)
    if more := {step.topic: NewPartitions(int(step.wanted)) for step in todo if step.action == "grow"}:
        await admin.create_partitions(more)
    for step in todo:
        if step.action == "recreate":
            await admin.delete_topics([step.topic])
            await _create_again(admin, [topics[step.topic]])


async def _alter(admin: AIOKafkaAdminClient, configs: Mapping[str, Mapping[str, str]]) -> None:
    for name, why in (await alter_configs(admin, configs)).items():
        raise TopicError(f"topic {name} could not be changed: {why}")


async def _create_again(admin: AIOKafkaAdminClient, topics: Sequence[TopicSpec]) -> None:
    """Create topics, also under names just deleted, whose deletion the broker may not have finished."""
    left, deadline = topics, time.monotonic() + GONE_LIMIT_S
    while left := await _create(admin, left):
        if time.monotonic() > deadline:
            raise TopicError(f"topic {left[0].name} could not be created: it exists already")
        await asyncio.sleep(GONE_POLL_S)


async def _create(admin: AIOKafkaAdminClient, topics: Sequence[TopicSpec]) -> list[TopicSpec]:
    """Create topics; returns those that existed already. Raises `TopicError`, `KafkaError`."""
    new = [NewTopic(each.name, each.partitions, each.replication, topic_configs=each.config) for each in topics]
    answer = await admin.create_topics(new)
    for name, code, message in answer.topic_errors:
        if code not in (0, TOPIC_EXISTS):
            raise TopicError(f"topic {name} could not be created: {message or f'error {code}'}")
    there = {name for name, code, _ in answer.topic_errors if code == TOPIC_EXISTS}
    return [topic for topic in topics if topic.name in there]
