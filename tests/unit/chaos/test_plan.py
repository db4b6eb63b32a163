"""The full run dies at every stage, before and after what it does; what waits for room belongs to the next owner."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from itertools import islice
from typing import Any

import pytest

from schemas.envelope import Outgoing, Received
from schemas.topics import DOCUMENTS_IN
from streams import config
from streams.kafka.records import Record, TopicPartition
from streams.runtime.group_runner import GroupRunner
from streams.testing.pipeline import FakeClock, MemoryLog
from streams.topology import GROUPS, STAGES, stages_of
from tests.chaos import messages, points, requests, requests_checker, scenario

THREE = 3
WRITES = {
    "turn-writer": "write/graph-turns",
    "decision-writer": "write/graph-decisions",
    "claim-writer": "write/graph-claims",
    "correction-writer": "write/graph-corrections",
    "summary-writer": "write/graph-summaries",
    "knowledge-writer": "write/graph-knowledge",
    "turn-indexer": "write/index",
    "weight-writer": "write/weights",
    "consultation-writer": "write/graph-consultations",
}


def test_the_full_run_kills_every_stage_three_times_and_every_group_around_its_commit() -> None:
    plan = scenario.full(seed=1)
    deaths = Counter(point.name for point in (*plan.hot, *plan.writers))
    places = {stage.name: f"produce/{stage.name}" if stage.writes else WRITES[stage.name] for stage in STAGES}
    for name, place in (places | {"tool-gate's session": "write/tool-session"}).items():
        assert deaths[f"{place}/before"] >= 1, name
        assert deaths[f"{place}/before"] + deaths[f"{place}/after"] >= THREE, name
    for group in GROUPS:
        assert deaths[f"commit/{group}/before"] >= 1
        assert deaths[f"commit/{group}/after"] >= 1


def test_groups_are_shared_out_to_the_two_kinds_of_workers() -> None:
    assert sorted((*points.HOT, *points.WRITERS)) == sorted(GROUPS)


def test_the_same_seed_says_the_same_and_no_tenant_says_the_others_word() -> None:
    said = list(islice(messages.messages(among=60, seed=3), 600))
    assert said == list(islice(messages.messages(among=60, seed=3), 600))
    assert len({message.message_id for message in said}) < len(said)
    assert len({message.conversation.key() for message in said}) == 60
    for tenant, word in messages.CANARIES.items():
        assert any(word in message.content for message in said if message.conversation.tenant == tenant)
        assert not any(word in message.content for message in said if message.conversation.tenant != tenant)


def test_the_same_seed_asks_the_same_of_every_stage_and_no_tenant_says_the_others_word() -> None:
    said = list(islice(messages.messages(among=60, seed=3), 600))
    asked, again = ([r for m in said for r in each.after(m)] for each in (requests.Requests(3), requests.Requests(3)))
    assert asked == again
    assert len({request.id for request in asked}) == len(asked)
    assert {request.topic.name for request in asked} == set(requests_checker.FROM_OUTSIDE)
    assert {request.status for request in asked} == {"", "resolved", "error", "confirmation_required"}
    assert any(request.refused for request in asked)
    for tenant, word in messages.CANARIES.items():
        mine = {request.conversation.tenant for request in asked if word in str(request.event)}
        assert mine == {tenant}


class Slow:
    """Handles a record when it is let."""

    def __init__(self) -> None:
        self.let = asyncio.Event()
        self.seen: list[int] = []
        self.steps: tuple[Outgoing, ...] = ()

    async def handle(self, record: Received[Any]) -> Sequence[Outgoing]:
        self.seen.append(record.offset)
        await self.let.wait()
        return self.steps


@pytest.mark.covers("CF-67")
def test_a_record_that_waits_for_room_when_its_partition_goes_is_left_to_the_next_owner() -> None:
    async def lose_the_partition() -> list[int]:
        stub, log = Slow(), MemoryLog(FakeClock(), 1)
        settings = config.load({}, max_in_flight=1)
        runner = GroupRunner("ingestion", [(stages_of(["ingestion"])[0], stub)], log, settings)
        for number in range(2):
            _, value, headers = messages.document(number)
            log.append(DOCUMENTS_IN.name, b"%d" % number, value, headers, 0)
        first, second = log.of(DOCUMENTS_IN.name)
        assert runner.sink(first) is None
        waiting = asyncio.ensure_future(_awaited(runner, second))
        await asyncio.sleep(0)
        waiting.cancel()
        stub.let.set()
        await runner.on_revoked(frozenset({TopicPartition(DOCUMENTS_IN.name, 0)}))
        return stub.seen

    assert asyncio.run(lose_the_partition()) == [0]


async def _awaited(runner: GroupRunner, record: Record) -> None:
    waiting = runner.sink(record)
    assert waiting is not None
    await waiting
