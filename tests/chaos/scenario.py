"""One run: servers, workers, a steady stream of messages, joins and stops in mid-load, then kills; and its evidence."""

import asyncio
import logging
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial

from aiokafka import AIOKafkaProducer

from schemas.topics import (
    CONTEXT_PACKS,
    CONVERSATION_TURNS,
    CORRECTIONS_IN,
    DOCUMENTS_IN,
    FEEDBACK_IN,
    MEMORY_KNOWLEDGE,
    MESSAGES_IN,
)
from streams.kafka import topics_admin, topics_plan
from streams.stage import Stage
from streams.topology import STAGES
from tests.chaos import messages as said
from tests.chaos import points, reading
from tests.chaos.checker import Verdict, check
from tests.chaos.entries import Evidence, Given, Sent
from tests.chaos.fleet import Event, Fleet
from tests.chaos.making import marked_again
from tests.chaos.messages import Message
from tests.chaos.points import Point
from tests.chaos.requests import Request, Requests
from tests.chaos.servers import COMMIT_S, PARTITIONS, Servers

LOGGER = logging.getLogger("chaos.run")
Step = Callable[[], Awaitable[object]]
TRICKLE = 10.0  # messages a second
# Of the full run; four servers beside it on two cores hold less.
RATE = 30.0
QUIET_S = 2 * COMMIT_S
# Nothing new for so long: what is missing then is lost.
PATIENCE_S = 45.0


@dataclass(frozen=True, slots=True)
class Plan:
    """At least `graceful` of at least `total` messages come before the first kill.

    `hot` and `writers` are the points to die at; `rate` is in messages a second.
    """

    total: int
    graceful: int
    rate: float
    conversations: int
    seed: int
    hot: tuple[Point, ...] = ()
    writers: tuple[Point, ...] = ()
    random_kills: int = 3
    documents: int = 4
    requests: bool = True  # whether there are any beside the messages


def brief(seed: int) -> Plan:
    """For every test run: 400 messages, three kills at random and two at points of the pack path."""
    hot = points.scattered(("produce/depth/after", "produce/assembler/after"), seed=seed, longest=1)
    return Plan(400, 150, 30.0, 32, seed, tuple(hot), random_kills=3, documents=2)


def small(seed: int) -> Plan:
    """The short proof: 1,500 messages, a kill at seven points and three at random."""
    hot_names = (
        "produce/depth/after", "produce/retrieval/after", "produce/assembler/after", "produce/cognition/after",
        "write/tool-session/after",
    )  # fmt: skip
    hot = points.scattered(hot_names, seed=seed, longest=2)
    writers = points.scattered(("write/graph-turns/after", "produce/correction/after"), seed=seed, longest=2)
    return Plan(1_500, 600, 30.0, 64, seed, tuple(hot), tuple(writers))


def full(seed: int, rate: float = RATE) -> Plan:
    """20,000 messages, three kills or more at each stage."""
    hot = points.scattered(points.of_hot(), seed=seed, longest=3)
    writers = points.scattered(points.of_writers(), seed=seed + 1, longest=3)
    return Plan(20_000, 4_000, rate, 240, seed, tuple(hot), tuple(writers), random_kills=12, documents=80)


@dataclass(slots=True)
class Outcome:
    """What a run showed. `graceful` is the verdict on what was in the log before the first kill."""

    broker: str
    verdict: Verdict
    graceful: Verdict
    evidence: Evidence
    events: list[Event]
    failures: list[str]
    took_s: float
    first_kill: float = 0.0


@dataclass
class Run:
    """The state of a run under way."""

    plan: Plan
    fleet: Fleet
    tail: reading.Tail
    producer: AIOKafkaProducer
    sent: list[Sent] = field(default_factory=list)
    given: list[Given] = field(default_factory=list)
    documents: list[str] = field(default_factory=list)
    # While a correction waits for what it names, nothing behind it is committed: none is sent before the first kill, as
    # long as nothing may be repeated.
    waits: bool = False
    _waiting: list[Request] = field(default_factory=list)
    _said: set[tuple[str, str]] = field(default_factory=set)
    _asked: set[tuple[str, str]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._requests = Requests(self.plan.seed)

    async def send(self, messages: Iterator[Message], least: int, steps: Sequence[Step] = ()) -> None:
        """Send so many at the plan's rate, then a few until the steps are done: each is taken in mid-load."""
        stepping = asyncio.create_task(self._steps(steps, least / self.plan.rate))
        due = time.monotonic()
        try:
            for number, message in enumerate(messages):
                if number >= least and stepping.done():
                    break
                await asyncio.sleep(max(due - time.monotonic(), 0))
                await self._send(message)
                if self.plan.requests:
                    await self._ask(self._requests.after(message))
                due += 1 / self.plan.rate if number < least else 1 / TRICKLE
            await stepping
        finally:
            stepping.cancel()

    async def _send(self, message: Message) -> None:
        key, value, headers = message.record(datetime.now(UTC))
        placed = await self.producer.send_and_wait(MESSAGES_IN.name, value, key=key, headers=headers)
        self.sent.append(
            Sent(message.message_id, message.conversation, message.role, message.content, placed.partition,
                 placed.offset)
        )  # fmt: skip
        for messages in (self._said, self._asked) if message.role == "user" else (self._said,):
            messages.add((message.conversation.key(), message.message_id))
        if len(self.sent) * self.plan.documents // self.plan.total > len(self.documents):
            document_id, value, headers = said.document(len(self.documents))
            self.documents.append(document_id)
            await self.producer.send_and_wait(DOCUMENTS_IN.name, value, key=document_id.encode(), headers=headers)

    async def _ask(self, requests: Sequence[Request]) -> None:
        """Send these, and those that waited for what is in the log now."""
        waiting, self._waiting = [*self._waiting, *requests], []
        for request in waiting:
            found = "" if request.after is None else self.tail.seen.ids.get(request.after)
            if found is None or self._is_held(request):
                self._waiting.append(request)
                continue
            key, value, headers = request.record(datetime.now(UTC), found)
            placed = await self.producer.send_and_wait(request.topic.name, value, key=key, headers=headers)
            self.given.append(request.given(found, placed.partition, placed.offset))

    def _is_held(self, request: Request) -> bool:
        return request.topic in (CORRECTIONS_IN, FEEDBACK_IN) and not self.waits

    async def _steps(self, steps: Sequence[Step], seconds: float) -> None:
        """Each at its time, at even distances, and after the one before."""
        began = time.monotonic()
        for number, step in enumerate(steps):
            due = began + seconds * (number + 0.5) / len(steps)
            await asyncio.sleep(max(due - time.monotonic(), 0))
            await step()

    async def drained(self, stages: Sequence[Stage] = STAGES) -> None:
        """Wait until all is answered and these stages have committed it, or nothing moves any more."""
        moved, before = time.monotonic(), (-1, -1)
        while time.monotonic() - moved < PATIENCE_S:
            await self._ask(())
            lag = await self.tail.lag(stages)
            if self._answered() and all(map(self._is_held, self._waiting)) and lag == 0:
                break
            if (now := (len(self.tail.entries), lag)) != before:
                moved, before = time.monotonic(), now
            await asyncio.sleep(0.5)
        await asyncio.sleep(QUIET_S)
        await self.tail.caught_up()
        LOGGER.info("drained: %d messages, %d records", len(self.sent), len(self.tail.entries))

    def _answered(self) -> bool:
        count = self.tail.count
        return (
            len(count[CONTEXT_PACKS.name]) >= len(self._asked)
            and len(count[CONVERSATION_TURNS.name]) >= len(self._said)
            and len(count[MEMORY_KNOWLEDGE.name]) >= len(self.documents)
        )

    def evidence(self) -> Evidence:
        """What is known so far, the graph left out."""
        return Evidence(
            marked_again(self.sent),
            tuple(self.tail.entries),
            given=tuple(self.given),
            documents=tuple(self.documents),
            canaries=said.CANARIES,
        )


@asynccontextmanager
async def started(plan: Plan, servers: Servers, **settings: str) -> AsyncIterator[Run]:
    """Topics, a producer, a reader of everything and an empty fleet; `settings` are the workers' environment."""
    await topics_admin.create_missing(servers.bootstrap, topics_plan.wanted(PARTITIONS, servers.replication))
    producer = AIOKafkaProducer(bootstrap_servers=servers.bootstrap, acks="all", enable_idempotence=True)
    await producer.start()
    try:
        environment = {**servers.environment(), **settings}
        async with reading.Tail(servers.bootstrap) as tail, Fleet(environment, servers.directory) as fleet:
            yield Run(plan, fleet, tail, producer)
    finally:
        await producer.stop()


async def run(plan: Plan, servers: Servers) -> Outcome:
    """Carry a plan out on these servers."""
    began = time.monotonic()
    async with started(plan, servers) as going:
        graceful, first_kill = await _phases(going, servers)
        evidence = going.evidence()
    evidence = await left(evidence, servers)
    took = time.monotonic() - began
    events, failures = going.fleet.events, going.fleet.failures
    return Outcome(servers.broker, check(evidence), graceful, evidence, events, failures, took, first_kill)


async def left(evidence: Evidence, servers: Servers) -> Evidence:
    """The evidence with what is left in the stores, once all workers have ended."""
    kept = await reading.kept_in(servers.shared["FATHOM_REDIS_URL"], evidence.given)
    return replace(evidence, graph=await reading.graph_of(servers.graph()), kept=kept)


async def _phases(going: Run, servers: Servers) -> tuple[Verdict, float]:
    plan, fleet = going.plan, going.fleet
    messages = said.messages(among=plan.conversations, seed=plan.seed)
    await asyncio.gather(
        fleet.join("hot-1", points.HOT),
        fleet.join("writers", points.WRITERS, servers.own),
    )
    await going.send(messages, plan.graceful, _graceful_steps(fleet, servers))
    await going.drained()
    graceful = check(going.evidence(), with_graph=False)
    first_kill = time.time()
    going.waits = True
    fleet.members["hot-1"].points.extend(plan.hot[::2])
    fleet.members["hot-2"].points.extend(plan.hot[1::2])
    fleet.members["writers"].points.extend(plan.writers)
    await going.send(messages, plan.total - plan.graceful, [*_kills(plan, fleet), fleet.spent])
    await fleet.peace()
    await going.drained()
    for name in list(fleet.members):
        await fleet.leave(name)
    await going.tail.caught_up()
    return graceful, first_kill


def _graceful_steps(fleet: Fleet, servers: Servers) -> list[Step]:
    # Where all workers have one graph, the second one learns too.
    second = points.HOT if servers.own else (*points.HOT, *points.LEARNING)

    async def comes_and_goes(name: str) -> None:
        await fleet.leave(name)
        await fleet.back(name)

    return [
        lambda: fleet.join("hot-2", second),
        lambda: comes_and_goes("hot-2"),
        lambda: comes_and_goes("writers"),
        lambda: comes_and_goes("hot-1"),
    ]


def _kills(plan: Plan, fleet: Fleet) -> list[Step]:
    """The first death of each member is at random; its successors die at their points."""
    choose = random.Random(plan.seed)
    names = ["hot-1", "writers", "hot-2"] + [
        choose.choice(("hot-1", "hot-2", "writers")) for _ in range(max(plan.random_kills - 3, 0))
    ]

    async def kill(name: str) -> None:
        fleet.kill(name)

    return [partial(kill, name) for name in names]
