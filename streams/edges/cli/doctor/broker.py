"""Checks of the broker: what it is, its topics, our rights, the groups, the clock, the dead letters."""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient

from streams.config import Settings
from streams.edges.cli.doctor.findings import DOWN, OK, SKIPPED, WARN, WRONG, Finding, found, some
from streams.edges.client import clients
from streams.edges.operations.lag import GroupLag, by_group, group_lag, stages_there
from streams.kafka import aiokafka_private, topic_rights, topics_admin, topics_plan
from streams.kafka.lag_status import LagStatus, LagWindow
from streams.kafka.security import security_of
from streams.kafka.topics_plan import TopicChange
from streams.topology import NAMED

# ApiKey of IncrementalAlterConfigs, which Kafka has since 2.3.
INCREMENTAL = 44
AHEAD_S = 60


@dataclass(frozen=True, slots=True)
class BrokerSeen:
    """What a broker was seen to have; `rights` is None where it does not tell, `groups` where nothing runs them."""

    bootstrap: str
    topics: Sequence[Mapping[str, Any]]
    versions: Mapping[int, tuple[int, int]]
    rights: Mapping[str, int] | None
    planned: Sequence[TopicChange]
    groups: Sequence[GroupLag] | None
    ahead: Sequence[str]
    dead_letters: Mapping[str, int]


async def broker(settings: Settings, bootstrap: str, *, runs: bool) -> list[Finding]:
    """All findings about a broker; `runs` is whether workers are expected to run. Raises `Unavailable`."""
    seen = await _look(settings, bootstrap, runs=runs)
    names = [each["topic"] for each in seen.topics]
    return [
        found("broker", OK, f"{bootstrap}, {len(names)} topics"),
        version(seen.versions),
        *plan(seen.planned),
        replicas(seen.topics),
        rights(seen.rights),
        clock(seen.ahead),
        *groups(seen.groups),
        unread(seen.groups),
        dead_letters(seen.dead_letters),
    ]


async def _look(settings: Settings, bootstrap: str, *, runs: bool) -> BrokerSeen:
    security = security_of(settings)
    existing = await topics_admin.existing(bootstrap, security)
    wanted = topics_plan.wanted(existing.get("messages.in", settings.partitions), settings.replication)
    planned = await topics_admin.plan(bootstrap, wanted, security)
    ours = [topic.name for topic in wanted if topic.name in existing]
    async with clients.administering(bootstrap) as admin, clients.reading(bootstrap, ()) as reader:
        letters = await _counts(reader, existing, [stage.dead_letters for stage in NAMED.values()])
        return BrokerSeen(
            bootstrap=bootstrap,
            topics=[each for each in await admin.describe_topics() if not each["error_code"]],
            versions=aiokafka_private.api_versions(admin),
            rights=await topic_rights.rights(admin, ours),
            planned=planned,
            groups=await _groups(admin, reader, existing) if runs else None,
            ahead=await _ahead(reader, existing, ours),
            dead_letters={name: count for name, count in letters.items() if count},
        )


async def _groups(admin: AIOKafkaAdminClient, reader: AIOKafkaConsumer, counts: Mapping[str, int]) -> list[GroupLag]:
    groups = by_group(await stages_there(admin))
    return [await group_lag(admin, reader, counts, each, LagWindow()) for each in groups.values()]


async def _counts(reader: AIOKafkaConsumer, counts: Mapping[str, int], topics: Iterable[str]) -> dict[str, int]:
    there = {name: clients.partitions_of(counts, [name]) for name in topics if name in counts}
    partitions = [tp for tps in there.values() for tp in tps]
    ends, begins = await reader.end_offsets(partitions), await reader.beginning_offsets(partitions)
    return {name: sum(ends[tp] - begins[tp] for tp in tps) for name, tps in there.items()}


async def _ahead(reader: AIOKafkaConsumer, counts: Mapping[str, int], topics: Sequence[str]) -> list[str]:
    """The topics with a record dated more than a minute from now."""
    at = int((time.time() + AHEAD_S) * 1000)
    later: Mapping[TopicPartition, object] = await reader.offsets_for_times(
        dict.fromkeys(clients.partitions_of(counts, topics), at)
    )
    return sorted({tp.topic for tp, offset in later.items() if offset is not None})


def version(versions: Mapping[int, tuple[int, int]]) -> Finding:
    """Whether the broker knows the requests that Fathom sends."""
    if not versions:
        return found("broker-version", SKIPPED, "it does not say which requests it knows")
    if INCREMENTAL not in versions:
        return found("broker-version", WRONG, f"{len(versions)} kinds of requests, without IncrementalAlterConfigs")
    return found("broker-version", OK, f"{len(versions)} kinds of requests; Kafka 2.3 or later")


def plan(planned: Sequence[TopicChange]) -> list[Finding]:
    """The topics as they are against the topic plan."""
    lacking = [step.topic for step in planned if step.action == "create"]
    parts = [f"{step.topic} {step.now}, not {step.wanted}" for step in planned if step.setting == "partitions"]
    copies = [f"{step.topic} {step.now}, not {step.wanted}" for step in planned if step.setting == "replication"]
    other = [f"{step.topic} {step.setting}={step.now}, not {step.wanted}" for step in planned if step.action == "alter"]
    return [
        found("topics", WRONG if lacking else OK, f"missing: {some(lacking)}" if lacking else "none is missing"),
        found("topic-partitions", WRONG if parts else OK, some(parts) or "as planned"),
        found("topic-settings", WARN if other else OK, some(other, 3) or "as planned"),
        found("replication", WARN if copies else OK, some(copies) or "as planned"),
    ]


def replicas(topics: Iterable[Mapping[str, Any]]) -> Finding:
    """Whether every partition has a leader and all its replicas."""
    whole = [(topic["topic"], part) for topic in topics for part in topic["partitions"]]
    headless = [f"{name}[{part['partition']}]" for name, part in whole if part["leader"] < 0]
    behind = [f"{name}[{part['partition']}]" for name, part in whole if len(part["isr"]) < len(part["replicas"])]
    if headless:
        return found("replicas", DOWN, f"without a leader: {some(headless)}")
    return found("replicas", WARN if behind else OK, some(behind) or "all partitions have theirs")


def rights(allowed: Mapping[str, int] | None) -> Finding:
    """Whether this user may read and write every topic."""
    if allowed is None:
        return found("rights", SKIPPED, "the broker asks nobody for rights, or does not tell them")
    denied = {name: lacks for name, bits in allowed.items() if (lacks := topic_rights.lacking(bits))}
    if not denied:
        return found("rights", OK, f"may read and write {len(allowed)} topics")
    topic, lacks = next(iter(denied.items()))
    said = " ".join(f"--operation {each}" for each in lacks)
    seen = some(f"{name}: may not {' or '.join(each)}" for name, each in denied.items())
    return found("rights", WRONG, seen, fix=f"kafka-acls --add --allow-principal User:NAME {said} --topic {topic}")


def clock(ahead: Sequence[str]) -> Finding:
    """Whether records are dated in the future of this machine."""
    seen = f"records dated more than {AHEAD_S} s from now: {some(ahead)}"
    return found("clock", WARN if ahead else OK, seen if ahead else "no record is dated in the future")


def groups(seen: Sequence[GroupLag] | None) -> list[Finding]:
    """Whether each consumer group keeps up."""
    if seen is None:
        return [found("group", SKIPPED, "nothing runs here")]
    states = {LagStatus.OK: OK, LagStatus.WARN: WARN}
    return [
        found(
            "group",
            states.get(each.judged.status, WRONG),
            f"{each.judged.why}; {each.membership}",
            of=each.name,
        )
        for each in seen
    ]


def unread(seen: Sequence[GroupLag] | None) -> Finding:
    """Whether every topic has somebody who reads it for each group."""
    if seen is None:
        return found("unread-topics", SKIPPED, "nothing runs here")
    idle = ((name, group.name) for group in seen if not group.members for name in group.partitions)
    topics = sorted({f"{name.partition('[')[0]} by {group}" for name, group in idle})
    return found("unread-topics", WARN if topics else OK, f"not read: {some(topics)}" if topics else "all are read")


def dead_letters(counts: Mapping[str, int]) -> Finding:
    """Whether there are dead letters."""
    if not counts:
        return found("dead-letters", OK, "none")
    topic = max(counts, key=lambda name: counts[name])
    seen = some(f"{name}: {count:,}" for name, count in counts.items())
    return found("dead-letters", WARN, seen, fix=f"fathom tail {topic} --from-beginning")
