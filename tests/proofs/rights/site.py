"""A broker that asks who comes, with a user for each group and every topic filled with the golden examples.

Beside the examples each topic holds a record that cannot be read, so that each stage has something for its dead
letters.
"""

import asyncio
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from aiokafka import TopicPartition as PartitionOfClient
from aiokafka.errors import KafkaError as ClientError
from confluent_kafka import KafkaError, KafkaException, TopicPartition
from confluent_kafka import Producer as PlainProducer
from confluent_kafka.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    NewTopic,
    OffsetSpec,
    ResourcePatternType,
    ResourceType,
)

from agents.errors import Unavailable
from deploy.docs import examples
from schemas.topics import COGNITION_STEPS, MEMORY_QUARANTINES
from streams import config
from streams.config import ConfigError
from streams.faust.consumer_group import GroupError
from streams.kafka import clients, topics_admin, topics_plan
from streams.kafka.security import PLAINTEXT
from streams.kafka.topics_plan import TopicError
from streams.runtime import access
from streams.runtime.access import Rights
from streams.runtime.up import consuming
from streams.topology import GROUPS, stages_of
from tests.proofs.rights import memory
from tests.servers.kafka_secure import SecureKafka, make_certificates

POISON = b"{ no JSON"
LIMIT_S, LOOK_S = 90.0, 0.1
MEMORY = dict.fromkeys(("FATHOM_REDIS_URL", "FATHOM_QDRANT_URL", "FATHOM_NEO4J_URL"), "memory://")
SHOWS = {
    "FATHOM_EMBEDDER": "hashing",
    "FATHOM_PARTITIONS": "1",
    "FATHOM_CREATE_TOPICS": "off",
    "FATHOM_REFERENCE_WAIT_MS": "0",
    "FATHOM_SESSION_TIMEOUT_MS": "6000",
    "RAG_ENABLE_COGRAG": "on",
    "RAG_COGRAG_VERIFICATION_ENABLED": "on",
    "RAG_COGRAG_MEMORY_ENABLED": "on",
}

# A right: kind of resource, its name, the operation, in Kafka's words.
Right = tuple[str, str, str]
# Topic, key, value, headers.
Sent = tuple[str, bytes, bytes, dict[str, str]]


def user_of(group: str) -> str:
    return f"fathom-{group}"


def rights_of(given: Rights) -> list[Right]:
    """One by one."""
    found = [("Topic", name, _constant(operation)) for name, each in given.topics.items() for operation in each]
    return [*found, *(("Group", name, _constant(each)) for name, said in given.groups.items() for each in said)]


def _constant(operation: str) -> str:
    """`DescribeConfigs` as `DESCRIBE_CONFIGS`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", operation).upper()


@dataclass
class Site:
    kafka: SecureKafka
    password: Path
    admin: AdminClient

    def environment(self, user: str) -> dict[str, str]:
        """That of a process that comes as this user."""
        return {
            **MEMORY,
            **SHOWS,
            "FATHOM_BROKER": self.kafka.sasl_ssl,
            "FATHOM_KAFKA_SECURITY": "SASL_SSL",
            "FATHOM_KAFKA_SASL_MECHANISM": "PLAIN",
            "FATHOM_KAFKA_USER": user,
            "FATHOM_KAFKA_PASSWORD_FILE": str(self.password),
            "FATHOM_KAFKA_CA_FILE": str(self.kafka.certificates.ca),
        }

    def settings(self, user: str) -> config.Settings:
        """As a worker reads them."""
        return config.load(self.environment(user))

    def give(self, user: str, rights: Iterable[Right]) -> None:
        """These rights, and no others."""
        of_user = AclBindingFilter(
            ResourceType.ANY, None, ResourcePatternType.ANY, f"User:{user}", None, AclOperation.ANY,
            AclPermissionType.ANY,
        )  # fmt: skip
        for done in self.admin.delete_acls([of_user]).values():
            done.result()
        for done in self.admin.create_acls([_binding(user, right) for right in rights]).values():
            done.result()

    def refused(self, user: str) -> set[Right]:
        """What the broker has refused this user so far, but for how large records may be: who may not ask goes on."""
        denied = {(kind, name, what) for who, what, kind, name in self.kafka.denied() if who == user}
        return {refused for refused in denied if refused[2] != "DESCRIBE_CONFIGS"}

    def ends(self, topics: Iterable[str]) -> dict[str, int]:
        """The offset after the last record of each topic's only partition."""
        asked = {TopicPartition(name, 0): OffsetSpec.latest() for name in topics}
        return {tp.topic: done.result().offset for tp, done in self.admin.list_offsets(asked).items()}

    def committed(self, group: str) -> dict[str, int]:
        """How far the group has come."""
        return asyncio.run(_committed(self.kafka.bootstrap, group))

    def commit(self, group: str, topics: Iterable[str]) -> None:
        """Let the group have come to the end of these topics."""
        asyncio.run(_commit(self.kafka.bootstrap, group, self.ends(topics)))

    def forget(self, group: str, *, outputs: bool) -> None:
        """Let the group begin again; with `outputs` it finds nothing in its ledger, and sends all again."""
        self.delete(str(access.of_group(group).group))
        if not outputs:
            return
        ledgers = {stage.ledger.name for stage in stages_of([group]) if stage.ledger is not None}
        read = {topic.name for stage in stages_of([group]) for topic in stage.reads}
        ends = self.ends(ledgers - read)
        if ends:
            cut = [TopicPartition(topic, 0, end) for topic, end in ends.items()]
            for done in self.admin.delete_records(cut).values():
                done.result()

    def delete(self, group: str) -> None:
        """Delete the group with its offsets."""
        deadline = time.monotonic() + LIMIT_S
        # A worker that was cut off while it joined is a member until its session ends.
        while not self._deleted(group) and time.monotonic() < deadline:
            time.sleep(LOOK_S)

    def anew(self, topic: str) -> None:
        """Delete a topic and make it again, without records."""
        self.admin.delete_topics([topic])[topic].result()
        deadline = time.monotonic() + LIMIT_S
        while True:
            try:
                self.admin.create_topics([NewTopic(topic, 1, 1)])[topic].result()
                return
            except KafkaException:  # it is still being deleted
                if time.monotonic() > deadline:
                    raise
            time.sleep(LOOK_S)

    def _deleted(self, group: str) -> bool:
        [done] = self.admin.delete_consumer_groups([group]).values()
        try:
            done.result()
        except KafkaException as error:
            if error.args[0].code() == KafkaError.NON_EMPTY_GROUP:
                return False
            if error.args[0].code() != KafkaError.GROUP_ID_NOT_FOUND:
                raise
        return True


def _binding(user: str, right: Right) -> AclBinding:
    kind, name, operation = right
    return AclBinding(
        ResourceType[kind.upper()], name, ResourcePatternType.LITERAL, f"User:{user}", "*", AclOperation[operation],
        AclPermissionType.ALLOW,
    )  # fmt: skip


# Not by librdkafka 2.16: where the coordinator answers with an error, as on a broker that has just begun, its process
# dies of a segmentation fault (in `rd_kafka_cgrp_op`, of a client without a group of its own).
async def _committed(bootstrap: str, group: str) -> dict[str, int]:
    try:
        async with clients.administering(bootstrap) as admin:
            found = await admin.list_consumer_group_offsets(group)
    except Unavailable:  # it does not know yet
        return {}
    return {tp.topic: committed.offset for tp, committed in found.items()}


async def _commit(bootstrap: str, group: str, offsets: Mapping[str, int]) -> None:
    consumer = clients.new_consumer(bootstrap, group_id=group)
    await consumer.start()
    try:
        whole = {PartitionOfClient(topic, 0): end for topic, end in offsets.items()}
        consumer.assign(list(whole))
        await consumer.commit(whole)
    finally:
        await consumer.stop()


@contextmanager
def site(folder: Path) -> Iterator[Site]:
    """The broker, its topics filled; users without any right."""
    password = folder / "password"
    password.write_text("only-for-tests")
    users = [user_of(name) for name in (*GROUPS, "serve", "seal", "layout")]
    with SecureKafka(folder / "kafka", make_certificates(folder / "pem"), others=users, rights=True) as kafka:
        asyncio.run(topics_admin.create_missing(kafka.bootstrap, topics_plan.wanted(1), PLAINTEXT))
        _fill(kafka.bootstrap)
        yield Site(kafka, password, AdminClient({"bootstrap.servers": kafka.bootstrap, "log_level": 0}))


def _sender(bootstrap: str) -> PlainProducer:
    return PlainProducer({"bootstrap.servers": bootstrap, "log_level": 0})


def _fill(bootstrap: str) -> None:
    sending = _sender(bootstrap)
    loaded = examples.load()
    for example in loaded:
        sending.produce(example.topic.name, example.raw, example.key.encode(), headers=example.raw_headers)
    for name in dict.fromkeys(example.topic.name for example in loaded):
        sending.produce(name, POISON, b"aurora|x|y")
    topic, key, value, headers = memory.feedback()
    sending.produce(topic, value, key, headers=headers)
    assert sending.flush(30) == 0


def _send(on: Site, record: Sent) -> None:
    sending = _sender(on.kafka.bootstrap)
    topic, key, value, headers = record
    sending.produce(topic, value, key, headers=headers)
    assert sending.flush(30) == 0


async def worked(on: Site, group: str) -> set[str]:
    """Let a worker with the group's stages work as its user; what was left undone when it could no more, or at all.

    It ends when all is done, something was refused, the worker failed, or time ran out.
    """
    for record in _new_work(group):
        _send(on, record)
    awaited = _awaited(group)
    for writers, topics in awaited.items():
        await asyncio.to_thread(on.commit, writers, topics)
    before, known = on.ends(_outputs(group)), on.refused(user_of(group))
    deadline = time.monotonic() + LIMIT_S
    working = asyncio.create_task(_work(on, group))
    try:
        while left := await asyncio.to_thread(undone, on, group, before):
            if working.done() or on.refused(user_of(group)) - known or time.monotonic() > deadline:
                return left
            await asyncio.sleep(LOOK_S)
        return set()
    finally:
        working.cancel()
        with suppress(asyncio.CancelledError, ConfigError, TopicError, GroupError, Unavailable, ClientError):
            await working
        for writers in awaited:
            on.delete(writers)


async def _work(on: Site, group: str) -> None:
    async with consuming(on.settings(user_of(group)), stages_of([group])) as running:
        await running.ended


def _new_work(group: str) -> list[Sent]:
    """What a group that knows what it has done has not done before."""
    if any(stage.first for stage in stages_of([group])):
        return [memory.message("chat-user-en"), memory.message("chat-assistant-results-en")]
    if MEMORY_QUARANTINES.name in _outputs(group):
        return [memory.retraction()]
    return [memory.step()] if COGNITION_STEPS in {stage.ledger for stage in stages_of([group])} else []


def _awaited(group: str) -> dict[str, set[str]]:
    """The topics that others have to have stored, by the group of those."""
    found: dict[str, set[str]] = {}
    for stage in stages_of([group]):
        for topic, writers in stage.awaited.items():
            found.setdefault(writers, set()).add(topic.name)
    return found


def _outputs(group: str) -> set[str]:
    return {name for name, operations in access.of_group(group).topics.items() if "Write" in operations} - handed(group)


def handed(group: str) -> set[str]:
    """The dead letters of stages that the process hands what it has made itself: they refuse nothing of it."""
    return {stage.dead_letters for stage in stages_of([group]) if stage.head}


def undone(on: Site, group: str, before: Mapping[str, int]) -> set[str]:
    """What the group has still to do: topics not read to their end, topics and dead letters without a record of it."""
    inputs = {topic.name for stage in stages_of([group]) for topic in stage.consumes}
    came, now = on.committed(str(access.of_group(group).group)), on.ends({*inputs, *_outputs(group)})
    unread = {f"reads {name}" for name in inputs if came.get(name, 0) < now[name]}
    return unread | {f"writes {name}" for name in _outputs(group) if now[name] <= before[name]}
