"""Redis emptied and killed in mid-run, against a run in which it was left alone.

Every message is the same in both, and so must be what becomes of it: turns, depths, claims, summaries, and packs but
for those that say themselves that the working set was away. Without `--full` it is the run of the tests.
"""

import argparse
import asyncio
import logging
import os
import signal
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

from redis import Redis
from redis.asyncio import Redis as AsyncRedis
from redis.exceptions import RedisError

from agents.errors import Unavailable
from schemas import codec
from schemas.base import entity_key
from schemas.depth import DepthLevel
from schemas.envelope import Envelope, Outgoing
from schemas.learning import DepthVote
from schemas.memory import AuditDecision
from schemas.topics import (
    CONTEXT_PACKS,
    CONVERSATION_TURNS,
    DEPTH_CLASSIFIED,
    MEMORY_CLAIMS,
    MEMORY_CORRECTIONS,
    MEMORY_DECISIONS,
    MEMORY_SUMMARIES,
    MEMORY_VOTES,
    MESSAGES_IN,
)
from streams.stores.sessions.valkey import Valkey
from streams.stores.sessions.votes import RedisSignalWeights
from streams.topology import stages_of
from tests import counters
from tests.chaos import points, scenario
from tests.chaos.entries import Entry
from tests.chaos.messages import Message, messages
from tests.chaos.servers import BROKERS, Servers
from tests.proofs.chaos.run import WORKLOADS
from tests.servers import install
from tests.servers.embedded import EmbeddedServer
from tests.servers.kafka import KafkaServer
from tests.servers.redis import RedisServer

BEGAN = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
MADE = (CONVERSATION_TURNS, DEPTH_CLASSIFIED, MEMORY_CLAIMS, MEMORY_CORRECTIONS, MEMORY_SUMMARIES, CONTEXT_PACKS)
GROUPS = (*points.HOT, *points.LEARNING, "weight-writer")
# What tells how long something took, and when: no two runs agree on it.
TIMES = frozenset({"accepted_at", "assembled_at", "latency_ms", "parts", "settled_by", "made_at"})
# A slow machine must not be taken for a store that is away.
SETTINGS = {f"FATHOM_PACK_DEADLINE_MS_D{level}": "30000" for level in range(5)}
# Nothing new for so long: what is missing then is lost.
PATIENCE_S = 120.0
# Votes of a tenant that asks nothing, so that no depth is decided by how many of them are there by then.
VOTES, VOTERS = 40, "voters"


@dataclass(frozen=True, slots=True)
class Plan:
    """So many messages, `rate` a second, with that many times emptied and killed in between."""

    total: int
    rate: float
    emptied: int = 0
    killed: int = 0
    conversations: int = 12
    seed: int = 1

    def undisturbed(self) -> "Plan":
        return Plan(self.total, 2 * self.rate, conversations=self.conversations, seed=self.seed)


SMALL = Plan(120, 24, emptied=5, killed=3)
# More than this a machine with two cores does not hold beside the kills: it sheds what it looks up for.
FULL = Plan(3_000, 10, emptied=50, killed=50, conversations=40)


@dataclass(frozen=True, slots=True)
class Store:
    """A Redis that can be emptied, and killed so that it comes back."""

    url: str
    kill: Callable[[], None]

    def empty(self) -> None:
        """FLUSHALL, as soon as it answers."""
        while True:
            with suppress(RedisError), Redis.from_url(self.url) as admin:
                admin.flushall()
                return


@contextmanager
def serving(broker: str, directory: Path) -> Iterator[tuple[Servers, Store]]:
    """With the embedded broker the embedded Valkey, with Apache Kafka a Redis."""
    directory.mkdir(parents=True)
    server = KafkaServer(directory / "kafka") if broker == "kafka" else EmbeddedServer(directory / "broker")
    with server, _redis(directory) if broker == "kafka" else _valkey(directory) as store:
        shared = {"FATHOM_REDIS_URL": store.url} | dict.fromkeys(("FATHOM_QDRANT_URL", "FATHOM_NEO4J_URL"), "memory://")
        yield Servers(broker, server.bootstrap, directory, shared), store


@contextmanager
def _valkey(directory: Path) -> Iterator[Store]:
    valkey = Valkey(directory / "valkey")
    valkey.start()
    pid = directory / "valkey" / "valkey.pid"
    try:
        yield Store(f"unix://{valkey.socket}", lambda: os.kill(int(pid.read_text()), signal.SIGKILL))
    finally:
        valkey.stop()


@contextmanager
def _redis(directory: Path) -> Iterator[Store]:
    def kill() -> None:
        server.kill()
        server.start()

    with RedisServer(directory / "redis") as server:
        yield Store(server.url, kill)


def lacking(broker: str) -> str | None:
    """Why a run on a broker is not possible here; None when it is."""
    needed = ("kafka", "redis") if broker == "kafka" else ()
    return next((why for name in needed if (why := install.lacking(name)) is not None), None)


async def run(plan: Plan, servers: Servers, store: Store) -> list[Entry]:
    """All records that one run leaves."""
    said = list(islice(messages(among=plan.conversations, seed=plan.seed), plan.total))
    hot = stages_of(GROUPS)
    going = scenario.Plan(plan.total, plan.total, plan.rate, plan.conversations, plan.seed)
    async with scenario.started(going, servers, **SETTINGS) as running:
        await running.fleet.join("hot", GROUPS)
        await _vote(running)
        await _send(running, said, plan.rate, _steps(plan, store))
        wanted = {(one.conversation.key(), one.message_id) for one in said}
        asked = {(one.conversation.key(), one.message_id) for one in said if one.role == "user"}
        moved = 0
        async with asyncio.timeout(PATIENCE_S) as patience:
            while (
                len(running.tail.count[CONTEXT_PACKS.name]) < len(asked)
                or len(running.tail.count[CONVERSATION_TURNS.name]) < len(wanted)
                or await running.tail.lag(hot)
            ):
                await running.tail.more()
                if len(running.tail.entries) > moved:
                    moved = len(running.tail.entries)
                    patience.reschedule(asyncio.get_running_loop().time() + PATIENCE_S)
        await _until_all_votes_are_back(store)
        await running.fleet.leave("hot")
        await running.tail.caught_up()
        if running.fleet.failures:
            raise RuntimeError(str(running.fleet.failures))
        return list(running.tail.entries)


async def _vote(running: scenario.Run) -> None:
    """Votes before anything is emptied, every other one as an earlier version recorded it."""
    for number in range(VOTES):
        vote = DepthVote(
            id=f"v{number}", pattern="follow_up", decided=DepthLevel.D1, expected=DepthLevel.D2, rating=2, at=BEGAN,
            message_id=f"m{number}", pack_id=f"p{number}", user_id="ana",
        )  # fmt: skip
        detail = vote.model_dump(mode="json")
        audit = AuditDecision(
            kind="weights", id=vote.id, actor="chaos", subject_id=vote.pack_id, detail=detail, created_at=BEGAN
        )
        cause = Envelope(vote.id, "feedback.in", "chaos", BEGAN, VOTERS, vote.id)
        topic, event = ((MEMORY_VOTES, vote), (MEMORY_DECISIONS, audit))[number % 2]
        out = Outgoing(topic, entity_key(VOTERS, vote.pack_id), event, cause, vote.id)
        key, value, headers = codec.encode(out, "feedback")
        await running.producer.send_and_wait(topic.name, value, key=key, headers=headers)


async def _until_all_votes_are_back(store: Store) -> None:
    """Raises `TimeoutError` when the store lacks one for good: it was emptied after all of them were cast."""
    async with AsyncRedis.from_url(store.url) as client, asyncio.timeout(PATIENCE_S):
        while True:
            with suppress(Unavailable):
                # A reader of its own: one that goes on has a copy that is not asked for at every call.
                if sum(map(len, (await RedisSignalWeights(client).votes(VOTERS)).values())) == VOTES:
                    return
            await asyncio.sleep(0.2)


def _steps(plan: Plan, store: Store) -> list[Callable[[], None]]:
    """Emptied and killed by turns, as evenly as the numbers allow."""
    places = [(n + 0.5) / plan.emptied for n in range(plan.emptied)]
    kills = [(n + 0.6) / plan.killed for n in range(plan.killed)]
    both = [(place, store.empty) for place in places] + [(place, store.kill) for place in kills]
    return [step for _, step in sorted(both, key=lambda each: each[0])]


async def _send(running: scenario.Run, said: Sequence[Message], rate: float, steps: list[Callable[[], None]]) -> None:
    """One after the other, at fixed times of their own; each disturbance comes beside the messages."""
    waiting = list(enumerate(steps))
    under_way: set[asyncio.Task[None]] = set()
    for number, message in enumerate(said):
        key, value, headers = message.record(BEGAN + timedelta(seconds=number))
        await running.producer.send_and_wait(MESSAGES_IN.name, value, key=key, headers=headers)
        if waiting and number >= (waiting[0][0] + 0.5) * len(said) / len(steps):
            under_way.add(asyncio.ensure_future(asyncio.to_thread(waiting.pop(0)[1])))
        await asyncio.sleep(1 / rate)
    await asyncio.gather(*under_way, *(asyncio.to_thread(step) for _, step in waiting))


@dataclass(frozen=True, slots=True)
class Compared:
    """What a disturbed run shows beside an undisturbed one, by topic; `degraded` packs say so of themselves."""

    same: dict[str, int]
    different: tuple[str, ...]
    missing: tuple[str, ...]
    doubled: tuple[str, ...]
    degraded: int

    @property
    def wrong(self) -> tuple[str, ...]:
        return (*self.different, *self.missing, *self.doubled)


def record(plan: Plan, broker: str, found: Compared) -> None:
    """Hand on what was counted."""
    ran = {"messages": plan.total, "emptied": plan.emptied, "killed": plan.killed, "same": sum(found.same.values())}
    faults = {"lost": len(found.missing), "duplicate effect": len(found.doubled), "different": len(found.different)}
    workload = f"Redis emptied and killed, on {WORKLOADS[broker]}"
    counters.record("B8", workload, ran, faults, {"degraded packs": found.degraded}, [plan.seed])


def compared(undisturbed: Sequence[Entry], disturbed: Sequence[Entry]) -> Compared:
    """Every event of both runs by its id: the same bytes, but for times; nothing repeated, for nobody was killed."""
    same: Counter[str] = Counter()
    different, missing, doubled, degraded = [], [], [], 0
    for topic in MADE:
        before, after = _by_id(undisturbed, topic.name), _by_id(disturbed, topic.name)
        missing += [f"{topic.name}: {one}" for one in before.keys() ^ after.keys()]
        doubled += [f"{topic.name}: {one}" for one, values in after.items() if len(values) > 1]
        for one in before.keys() & after.keys():
            first, second = before[one][0], after[one][0]
            if topic is CONTEXT_PACKS and (first["degraded"] or second["degraded"]):
                degraded += 1
            elif first == second:
                same[topic.name] += 1
            else:
                fields = [name for name in first.keys() | second.keys() if first.get(name) != second.get(name)]
                different.append(f"{topic.name}: {one}: {sorted(fields)}")
    return Compared(dict(same), tuple(different), tuple(missing), tuple(doubled), degraded)


def _by_id(entries: Sequence[Entry], topic: str) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for entry in entries:
        if entry.topic == topic:
            found[entry.ce_id].append({n: field for n, field in entry.whole().items() if n not in TIMES})
    return found


def disturbed(plan: Plan, broker: str, directory: Path) -> list[Entry]:
    """One run on servers of its own."""
    with serving(broker, directory) as (servers, store):
        return asyncio.run(run(plan, servers, store))


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.proofs.chaos.emptied", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--full", action="store_true", help="3,000 messages, 50 times emptied and 50 times killed")
    parser.add_argument("--broker", choices=(*BROKERS, "both"), default="both")
    arguments = parser.parse_args()
    logging.getLogger("aiokafka").setLevel(logging.CRITICAL)
    plan = FULL if arguments.full else SMALL
    wrong = 0
    for broker in BROKERS if arguments.broker == "both" else (arguments.broker,):
        if (why := lacking(broker)) is not None:
            sys.stdout.write(f"{broker} did not run: {why}\n")
            wrong += 1
            continue
        with tempfile.TemporaryDirectory(prefix="fathom-emptied-") as directory:
            alone = disturbed(plan.undisturbed(), broker, Path(directory) / "alone")
            found = compared(alone, disturbed(plan, broker, Path(directory) / "disturbed"))
        record(plan, broker, found)
        wrong += len(found.wrong)
        sys.stdout.write(f"{broker}: {plan.emptied} times emptied, {plan.killed} killed: same {found.same}, ")
        sys.stdout.write(f"degraded packs {found.degraded}, wrong {len(found.wrong)}\n")
        sys.stdout.writelines(f"  {each}\n" for each in found.wrong[:20])
        sys.stdout.flush()
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
