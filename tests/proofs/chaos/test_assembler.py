"""The assembler of the split layout is killed: with joins open, and at every place where it sends or commits."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import islice

import pytest

from schemas.topics import CONTEXT_PACKS
from streams.kafka.security import PLAINTEXT
from streams.runtime.layout import cluster
from streams.topology import stages_of
from tests.chaos import checker, messages, scenario
from tests.chaos.checker import by_stream, check
from tests.chaos.messages import Message
from tests.chaos.points import Point
from tests.chaos.scenario import Plan, Run
from tests.chaos.servers import Servers

JOINS = 50
PLAN = Plan(total=200, graceful=0, rate=60.0, conversations=16, seed=5, documents=0, requests=False)
FRONT = ("depth", "planner")
# Nobody answers for a while, and no pack may go out for that reason.
PATIENT = {f"FATHOM_PACK_DEADLINE_MS_D{level}": "60000" for level in range(5)}
# Each process dies where it stands, whatever it has in hand; to the next ones a record may seem to kill them.
NOT_OF_RECORDS = {"FATHOM_MAX_CRASHES": "0"}
POINTS = (
    Point("produce/assembler/before", 5),
    Point("produce/assembler/after", 8),
    Point("produce/assembler/after", 5),
    Point("commit/assembler/before"),
    Point("commit/assembler/after"),
)


@asynccontextmanager
async def _split(servers: Servers, **settings: str) -> AsyncIterator[Run]:
    """A run on a cluster of the split layout."""
    async with scenario.started(PLAN, servers, FATHOM_LAYOUT="split", **settings) as going:
        await cluster.enter_split(servers.bootstrap, PLAINTEXT)
        yield going


async def _until(going: Run, stream: str, count: int) -> None:
    """Wait for so many different events of a stream."""
    async with asyncio.timeout(60):
        while len({entry.ce_id for entry in by_stream(going.tail.entries)[stream]}) < count:
            await going.tail.more()


def _questions(count: int) -> list[Message]:
    every = messages.messages(among=PLAN.conversations, seed=PLAN.seed)
    asked = {message.message_id: message for message in islice(every, 6 * count) if message.role == "user"}
    return list(asked.values())[:count]


@pytest.mark.timeout(240)
@pytest.mark.covers("AC-30", "CF-68")
def test_fifty_open_joins_survive_a_kill_and_give_one_pack_each(servers: Servers) -> None:
    async def kill_with_open_joins() -> tuple[list[dict[str, object]], checker.Verdict, int]:
        async with _split(servers, **PATIENT) as going:
            await asyncio.gather(going.fleet.join("front", FRONT), going.fleet.join("assembler", ("assembler",)))
            await going.send(iter(_questions(JOINS)), JOINS)
            await _until(going, checker.OPENS, JOINS)
            await asyncio.sleep(1)  # the assembler has read them, and committed nothing
            out_before = len(by_stream(going.tail.entries)[CONTEXT_PACKS.name])
            going.fleet.kill("assembler")
            await going.fleet.join("retrieval", ("retrieval",))
            await _until(going, CONTEXT_PACKS.name, JOINS)
            await asyncio.sleep(1)
            await going.tail.caught_up()
            packs = [entry.event for entry in by_stream(going.tail.entries)[CONTEXT_PACKS.name]]
            return packs, check(going.evidence(), with_graph=False, with_cognition=False), out_before

    packs, verdict, out_before = asyncio.run(kill_with_open_joins())
    assert out_before == 0
    assert len({pack["pack_id"] for pack in packs}) == len(packs) == JOINS
    assert {pack["settled_by"] for pack in packs} == {"complete"}
    assert verdict.findings == ()


@pytest.mark.timeout(240)
@pytest.mark.covers("CF-67", "CF-68", "AC-29")
def test_an_assembler_killed_wherever_it_sends_or_commits_sends_every_pack_once(servers: Servers) -> None:
    async def kill_at_each_point() -> tuple[checker.Verdict, list[str], list[str]]:
        async with _split(servers, **NOT_OF_RECORDS) as going:
            fleet = going.fleet
            await asyncio.gather(
                fleet.join("front", (*FRONT, "retrieval", "learning")),
                fleet.join("assembler", ("assembler",), points=POINTS),
            )
            every = messages.messages(among=PLAN.conversations, seed=PLAN.seed)
            await going.send(every, PLAN.total, [fleet.spent])
            await going.drained(stages_of((*FRONT, "retrieval", "assembler", "learning"), "split"))
            kinds = [event.kind for event in fleet.kills]
            return check(going.evidence(), with_graph=False, with_cognition=False), kinds, fleet.failures

    verdict, kinds, failures = asyncio.run(kill_at_each_point())
    assert kinds == [point.name for point in POINTS]
    assert failures == []
    assert verdict.findings == ()
    assert verdict.repeats[CONTEXT_PACKS.name] == 0
    assert verdict.packs > 50
