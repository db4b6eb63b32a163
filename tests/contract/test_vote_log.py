"""Votes read back from a broker: of both topics, each once, whatever the partitions of either are."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from aiokafka import AIOKafkaProducer
from aiokafka.admin import AIOKafkaAdminClient, NewTopic

from schemas import codec
from schemas.base import entity_key
from schemas.envelope import Envelope, Outgoing
from schemas.learning import DepthVote
from schemas.memory import AuditDecision
from schemas.topics import MEMORY_DECISIONS, MEMORY_VOTES
from streams.views.vote_log import KafkaVoteLog
from tests.contract.working_sets import NOON
from tests.servers.embedded import EmbeddedServer

VOTES = 2


@pytest.fixture
def bootstrap(tmp_path: Path) -> Iterator[str]:
    with EmbeddedServer(tmp_path / "broker") as server:
        yield server.bootstrap


def vote(name: str) -> DepthVote:
    ids = {"message_id": name, "pack_id": name, "user_id": "ana"}
    return DepthVote(id=name, pattern="follow_up", decided="D1", expected="D2", rating=2, at=NOON, **ids)


def outgoing(name: str, *, earlier: bool) -> Outgoing:
    """A vote as it is sent now, or as an earlier version recorded it."""
    cast = vote(name)
    detail = cast.model_dump(mode="json")
    audit = AuditDecision(kind="weights", id=name, actor="a", subject_id=name, detail=detail, created_at=NOON)
    topic, event = (MEMORY_DECISIONS, audit) if earlier else (MEMORY_VOTES, cast)
    return Outgoing(topic, entity_key("acme", name), event, Envelope(name, "", "test", NOON, "acme", name))


async def written(bootstrap: str, decisions: int) -> None:
    """A vote in each partition of both topics, of which the decisions have so many."""
    admin = AIOKafkaAdminClient(bootstrap_servers=bootstrap)
    await admin.start()
    counts = {MEMORY_VOTES: VOTES, MEMORY_DECISIONS: decisions}
    await admin.create_topics([NewTopic(topic.name, count, 1) for topic, count in counts.items()])
    await admin.close()
    producer = AIOKafkaProducer(bootstrap_servers=bootstrap)
    await producer.start()
    for topic, count in counts.items():
        for partition in range(count):
            out = outgoing(f"{topic.name}-{partition}", earlier=topic is MEMORY_DECISIONS)
            key, value, headers = codec.encode(out, "feedback")
            await producer.send_and_wait(topic.name, value, key=key, headers=headers, partition=partition)
    await producer.stop()


@pytest.mark.covers("CF-85", "S0-88")
@pytest.mark.parametrize("decisions", [1, 2, 5])
def test_every_vote_of_both_topics_is_read_by_one_partition(bootstrap: str, decisions: int) -> None:
    async def story() -> list[tuple[int, str, str]]:
        await written(bootstrap, decisions)
        # Each partition as another worker reads it, and both as one does.
        logs = [KafkaVoteLog(bootstrap).read(held, None) for held in ({0}, {1}, {0, 1})]
        return [
            (partition, tenant, cast.id)
            for log in logs
            async for portion in log
            for partition, votes in portion.items()
            for tenant, cast in votes
        ]

    decided = [(number % VOTES, "acme", f"memory.decisions-{number}") for number in range(decisions)]
    cast = [(number, "acme", f"memory.votes-{number}") for number in range(VOTES)]
    assert sorted(asyncio.run(story())) == sorted(2 * [*decided, *cast])
