"""Of the records that the first stage has read, tenants take turns: what one sends too much waits, within bounds."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import orjson
import pytest

from schemas.envelope import Outgoing, Received
from schemas.topics import CONVERSATION_TURNS, MESSAGES_IN
from streams import config
from streams.kafka.records import Record, TopicPartition
from streams.runtime.admission import fairness
from streams.runtime.admission.fairness import OBJECTS_BYTES, Backlog, TenantCounts
from streams.runtime.admission.priority import MAX_AHEAD, PriorityGate
from streams.runtime.group_runner import GroupRunner
from streams.runtime.in_flight import InFlightRecord
from streams.stage import Stage
from streams.testing.pipeline import FakeClock, MemoryLog

NEIGHBOUR, QUIET = "neighbour", "quiet"
MOST = 128


class Steps:
    """A first stage that handles one record for each step."""

    def __init__(self) -> None:
        self.handled: list[tuple[str, int]] = []
        self._steps = asyncio.Semaphore(0)

    def step(self, times: int) -> None:
        for _ in range(times):
            self._steps.release()

    async def handle(self, record: Received[Any]) -> Sequence[Outgoing]:
        await self._steps.acquire()
        self.handled.append((record.envelope.tenant, record.offset))
        return ()


class Member:
    """A consumer group that notes what was acknowledged."""

    leased = True

    def __init__(self) -> None:
        self.acked: list[int] = []

    def ack(self, topic: str, partition: int, offset: int) -> None:
        self.acked.append(offset)

    def assignment(self) -> frozenset[TopicPartition]:
        return frozenset()

    def position(self, tp: TopicPartition) -> int | None:
        return None

    def highwater(self, tp: TopicPartition) -> int | None:
        return None


class Bench:
    """The first stage in its group, and records from a log of several partitions."""

    def __init__(self, **settings: Any) -> None:
        self.stage, self.member, self.gate = Steps(), Member(), PriorityGate()
        row = Stage("depth", (MESSAGES_IN,), (CONVERSATION_TURNS,), lambda _: None, first=True)
        log = MemoryLog(FakeClock(), 1)
        self.runner = GroupRunner("depth", [(row, self.stage)], log, config.load({}, **settings), gate=self.gate)
        self.runner.join(self.member)
        self._offset = 0

    def send(
        self, tenant: str, count: int, *, partition: int = 0, conversations: int = 10**6
    ) -> list[asyncio.Future[None]]:
        """Hand records over as a consumer does; what came back for those that were not taken at once."""
        left = []
        for _ in range(count):
            waiting = self.runner.sink(message(tenant, self._offset, partition, self._offset % conversations))
            self._offset += 1
            if waiting is not None:
                left.append(asyncio.ensure_future(waiting))
        return left


def message(tenant: str, offset: int, partition: int = 0, conversation: int = 0) -> Record:
    value = orjson.dumps(
        {"message_id": f"m{offset}", "role": "user", "content": "x", "conversation_id": "c", "client_id": "web"}
    )
    key = f"{tenant}:{conversation}".encode()
    return Record(MESSAGES_IN.name, partition, offset, 1_000, key, value, (("tenant", tenant.encode()),))


async def settled() -> None:
    for _ in range(50):
        await asyncio.sleep(0)


def run(scenario: Callable[[Bench], Any], **settings: Any) -> Any:
    async def running() -> Any:
        return await scenario(Bench(**settings))

    return asyncio.run(running())


def before_the_last_of(tenant: str, handled: Sequence[tuple[str, int]]) -> int:
    """How many of the others' were handled before the last of a tenant."""
    last = max(place for place, (whose, _) in enumerate(handled) if whose == tenant)
    return sum(whose != tenant for whose, _ in handled[:last])


async def a_flood_and_then_a_few(bench: Bench) -> int:
    waiting = bench.send(NEIGHBOUR, 5 * MOST) + bench.send(QUIET, 3)
    await settled()
    bench.stage.step(6 * MOST)
    await asyncio.gather(*waiting)
    await bench.runner.idle()
    assert len(bench.stage.handled) == 5 * MOST + 3 == len(set(bench.member.acked))
    return before_the_last_of(QUIET, bench.stage.handled)


@pytest.mark.covers("B16")
def test_a_few_messages_behind_a_flood_are_handled_with_those_in_progress() -> None:
    assert run(a_flood_and_then_a_few) <= MOST


def test_without_reading_ahead_they_come_after_the_flood() -> None:
    assert run(a_flood_and_then_a_few, max_waiting_mb=0) > 4 * MOST


def test_of_one_tenant_and_of_one_conversation_messages_keep_their_order() -> None:
    async def scenario(bench: Bench) -> list[tuple[str, int]]:
        for _ in range(20):
            bench.send(NEIGHBOUR, 30, conversations=7)
            bench.send(QUIET, 1, conversations=1)
            bench.stage.step(10)
            await settled()
        bench.stage.step(2_000)
        await bench.runner.idle()
        return bench.stage.handled

    handled = run(scenario)
    assert len(handled) == 20 * 31
    for tenant, conversations in ((NEIGHBOUR, 7), (QUIET, 1)):
        for number in range(conversations):
            one = [offset for whose, offset in handled if whose == tenant and offset % conversations == number]
            assert one == sorted(one)


def test_what_waits_is_bounded_in_bytes_and_reading_goes_on_as_it_gets_less() -> None:
    async def scenario(bench: Bench) -> tuple[int, int]:
        waiting = bench.send(NEIGHBOUR, 3_000)
        await settled()
        taken = 3_000 - len([one for one in waiting if not one.done()])
        assert taken * OBJECTS_BYTES <= (1 << 20) + (MOST + 1) * OBJECTS_BYTES
        bench.stage.step(4_000)
        await asyncio.gather(*waiting)
        await bench.runner.idle()
        return taken, len(bench.member.acked)

    taken, acked = run(scenario, max_waiting_mb=1)
    assert 2 * MOST < taken < 3_000
    assert acked == 3_000


def test_nothing_more_is_read_while_a_record_has_waited_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    backlog: Backlog[InFlightRecord] = Backlog(1 << 20, lambda: now[0])
    for offset, tenant in enumerate((NEIGHBOUR, NEIGHBOUR, QUIET)):
        backlog.put(tenant, InFlightRecord(message(tenant, offset), 1, lambda _: None))
        now[0] += 20.0
    assert not backlog.has_room()
    assert [backlog.take().record.offset, backlog.has_room()] == [0, False]
    monkeypatch.setattr(fairness, "MAX_AGE_S", 45.0)
    assert backlog.has_room()


def test_a_revocation_discards_what_waits_of_its_partitions_and_counts_it_no_more() -> None:
    async def scenario(bench: Bench) -> tuple[list[int], bool]:
        bench.send(NEIGHBOUR, 2 * MOST)
        bench.send(NEIGHBOUR, MOST, partition=1)
        bench.send(QUIET, 1)
        bench.stage.step(1)
        await settled()
        bench.stage.step(5 * MOST)
        await bench.runner.on_revoked(frozenset({TopicPartition(MESSAGES_IN.name, 0)}))
        revoked = [*bench.member.acked]
        await bench.runner.idle()
        bench.gate.tenants.came(QUIET)
        alone = not bench.gate.tenants.has_little(QUIET)
        return revoked, alone

    revoked, alone = run(scenario)
    assert alone  # nobody else is counted any more
    assert MOST <= len([offset for offset in revoked if offset < 2 * MOST]) < 2 * MOST


def test_a_tenant_that_has_little_waits_neither_for_those_ahead_nor_is_it_an_overload_of_its_own() -> None:
    async def scenario() -> tuple[bool, float, float]:
        gate = PriorityGate()
        for _ in range(MAX_AHEAD):
            gate.enter()
        for _ in range(200):
            gate.tenants.came(NEIGHBOUR)
        gate.tenants.came(QUIET)
        gate.filled(MOST, MOST)
        async with asyncio.timeout(60):
            await gate.admitted(QUIET)
        waiting = asyncio.create_task(gate.admitted(NEIGHBOUR))
        await asyncio.sleep(0)
        at_once = waiting.done()
        await waiting
        return at_once, gate.full_for(QUIET), gate.full_for(NEIGHBOUR)

    at_once, quiet, neighbour = asyncio.run(scenario())
    assert not at_once
    assert quiet == 0.0 < neighbour


def test_who_is_alone_or_has_what_all_have_has_not_little() -> None:
    counts = TenantCounts()
    for tenant in ("a", "b", "c", "d"):
        assert not counts.has_little(tenant)
        counts.came(tenant)
    assert not any(map(counts.has_little, "abcd"))
    for _ in range(4):
        counts.came("d")
    assert [*map(counts.has_little, "abcd")] == [True, True, True, False]
    for _ in range(4):
        counts.went("d")
    assert not any(map(counts.has_little, "abcd"))
