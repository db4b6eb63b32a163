"""Look at a cluster's topics, and carry a plan out: what is missing, what changes, last what is made anew."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewPartitions
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.errors import KafkaError
from aiokafka.protocol.api import Request, RequestStruct, Response
from aiokafka.protocol.types import Array, Boolean, Int8, Int16, Int32, Schema, String

from streams.kafka.log_reader import PROMPT
from streams.kafka.security import Security
from streams.kafka.topics_admin import CONVERSATION_TOPICS, TOPIC_EXISTS, TopicError, TopicSpec, new_topic, unavailable
from streams.kafka.topics_plan import TopicChange, TopicState, refused, steps

EMBEDDED = "fathom-embedded"
SET = 0
GONE_LIMIT_S, GONE_POLL_S = 30.0, 0.2


class _AlterResponse(Response):  # type: ignore[misc]
    API_KEY = 44
    API_VERSION = 0
    SCHEMA = Schema(
        ("throttle_time_ms", Int32),
        (
            "resources",
            Array(("code", Int16), ("message", String("utf-8")), ("kind", Int8), ("name", String("utf-8"))),
        ),
    )


class _AlterStruct(RequestStruct):  # type: ignore[misc]
    API_KEY = 44
    API_VERSION = 0
    RESPONSE_TYPE = _AlterResponse
    SCHEMA = Schema(
        (
            "resources",
            Array(
                ("kind", Int8),
                ("name", String("utf-8")),
                ("configs", Array(("name", String("utf-8")), ("operation", Int8), ("value", String("utf-8")))),
            ),
        ),
        ("validate_only", Boolean),
    )


class IncrementalAlterConfigs(Request[_AlterStruct]):  # type: ignore[misc]
    """Set some configs of topics: aiokafka has only the request that resets all the others."""

    API_KEY = 44

    def __init__(self, configs: Mapping[str, Mapping[str, str]]) -> None:
        self._resources = [
            (ConfigResourceType.TOPIC, topic, [(name, SET, value) for name, value in changed.items()])
            for topic, changed in configs.items()
        ]

    def build(self, request_struct_class: type[_AlterStruct]) -> _AlterStruct:
        """The request as it is sent."""
        return request_struct_class(self._resources, False)


@asynccontextmanager
async def _administering(bootstrap: str, security: Security) -> AsyncIterator[AIOKafkaAdminClient]:
    admin = AIOKafkaAdminClient(bootstrap_servers=bootstrap, **security.client_options())
    try:
        await admin.start()
        yield admin
    except KafkaError as error:
        raise await unavailable(bootstrap, security, error) from error
    finally:
        await admin.close()


async def plan(bootstrap: str, topics: Sequence[TopicSpec], security: Security) -> list[TopicChange]:
    """What would have to be done; raises `Unavailable`, `BrokerRefuses`."""
    async with _administering(bootstrap, security) as admin:
        found = await _look(admin, topics)
        differing = [t for t in topics if t.name in found and any(s.pending for s in steps([t], found))]
        if differing:
            found |= await _count(bootstrap, security, differing, found)
        return steps(topics, found)


async def apply(
    bootstrap: str, topics: Sequence[TopicSpec], security: Security, allowed: Iterable[str] = ()
) -> tuple[list[TopicChange], list[TopicChange]]:
    """Carry out what loses nothing or is allowed to; what was planned, and what of it was refused.

    Raises `TopicError`, with nothing done, when conversation topics would not all have the same partitions after it.
    """
    planned = await plan(bootstrap, topics, security)
    left = refused(planned, allowed)
    torn = [step for step in left if step.setting == "partitions" and step.topic in CONVERSATION_TOPICS]
    if torn:
        raise TopicError(f"{torn[0].topic} {torn[0].detail}; it would lose {torn[0].loses}")
    todo = [step for step in planned if step.pending and step not in left]
    if todo:
        async with _administering(bootstrap, security) as admin:
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
    """The same topics with how much is in them: only what differs has to be counted."""
    counted: dict[str, TopicState] = {}
    consumer = AIOKafkaConsumer(
        bootstrap_servers=bootstrap, enable_auto_commit=False, **PROMPT, **security.client_options()
    )
    await consumer.start()
    try:
        for topic in topics:
            before = found[topic.name]
            partitions = [TopicPartition(topic.name, number) for number in range(before.partitions)]
            first, last = await consumer.beginning_offsets(partitions), await consumer.end_offsets(partitions)
            since = int(time.time() * 1000) - topic.retention_ms
            young = await consumer.offsets_for_times(dict.fromkeys(partitions, max(since, 0)))
            older = sum((last[tp] if young[tp] is None else young[tp].offset) - first[tp] for tp in partitions)
            counted[topic.name] = TopicState(
                before.partitions, before.replication, before.config, sum(last[tp] - first[tp] for tp in partitions),
                older, before.single_node,
            )  # fmt: skip
    finally:
        await consumer.stop()
    return counted


async def _carry_out(admin: AIOKafkaAdminClient, todo: Sequence[TopicChange], topics: Mapping[str, TopicSpec]) -> None:
    if new := [step.topic for step in todo if step.action == "create"]:
        await _create(admin, [topics[name] for name in new])
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
            await _create(admin, [topics[step.topic]])


async def _alter(admin: AIOKafkaAdminClient, configs: Mapping[str, Mapping[str, str]]) -> None:
    answer: Any = await admin._send_request(IncrementalAlterConfigs(configs))
    for code, message, _, name in answer.resources:
        if code:
            raise TopicError(f"topic {name} could not be changed: {message or f'error {code}'}")


async def _create(admin: AIOKafkaAdminClient, topics: Iterable[TopicSpec]) -> None:
    """Make topics, also of names that were deleted a moment ago: the broker may still be at it."""
    left, deadline = [new_topic(topic, topic.replication) for topic in topics], time.monotonic() + GONE_LIMIT_S
    while left:
        answer = await admin.create_topics(left)
        there = {name for name, code, _ in answer.topic_errors if code == TOPIC_EXISTS}
        for name, code, message in answer.topic_errors:
            if code not in (0, TOPIC_EXISTS) or (name in there and time.monotonic() > deadline):
                raise TopicError(f"topic {name} could not be created: {message or f'error {code}'}")
        left = [new for new in left if new.name in there]
        await asyncio.sleep(GONE_POLL_S if left else 0)
