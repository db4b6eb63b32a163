"""`python -m tests.proofs.chaos.broker_kills`: kills of the broker itself, and of workers in the middle of a rebalance.

Every broker dies by SIGKILL and is started again on the same data. With `--cluster` there are three of them, every
topic is on all, two must hold a record, and who dies is the leader of a partition under load or a group's coordinator.
"""

import argparse
import asyncio
import logging
import random
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.errors import KafkaError

from schemas.topics import CONTEXT_PACKS, MESSAGES_IN, PACKS_PARTIAL
from tests.chaos import messages as said
from tests.chaos import points, report, scenario
from tests.chaos.checker import check
from tests.chaos.fleet import Event
from tests.chaos.scenario import Outcome, Plan, Run, Step
from tests.chaos.servers import PARTITIONS, Servers, lacking, serving_brokers
from tests.servers.kafka_cluster import KafkaCluster

LOGGER = logging.getLogger("chaos.brokers")
BROKER, COORDINATOR = "broker SIGKILL", "coordinator SIGKILL"
# By whether there are three.
WORKLOADS = {False: "the only broker of Apache Kafka killed", True: "of three brokers of Apache Kafka some killed"}
ROWS = "B2 B3"
LED = (MESSAGES_IN.name, PACKS_PARTIAL.name, CONTEXT_PACKS.name)
ASK_S = 30.0


@dataclass(frozen=True, slots=True)
class Ordeal:
    """What is done to a run: so many broker kills, each left dead for so long, and kills during rebalances."""

    plan: Plan
    broker_kills: int
    rebalances: int
    dead_s: tuple[float, ...] = (0.0,)


def small(seed: int) -> Ordeal:
    """For every test run: one kill of the broker in mid-load."""
    return Ordeal(Plan(300, 40, 30.0, 24, seed, documents=2), broker_kills=1, rebalances=0)


def full(seed: int) -> Ordeal:
    """3,000 messages, six deaths of brokers, some for longer than a member's session, and three in rebalances."""
    plan = Plan(3_000, 300, 30.0, 96, seed, documents=20)
    return Ordeal(plan, broker_kills=6, rebalances=3, dead_s=(0.0, 2.0, 9.0))


@dataclass
class Killing:
    """The brokers of a run, and the deaths so far."""

    brokers: KafkaCluster
    going: Run
    choose: random.Random

    async def broker(self, dead_s: float) -> None:
        """Kill the leader of a partition under load, or a coordinator; start it again after so many seconds."""
        coordinator = len(self.brokers.nodes) > 1 and self.choose.random() < 1 / 3
        number = await (self._coordinator() if coordinator else self._leader())
        node = self.brokers.nodes[number]
        event = Event(f"broker-{number}", COORDINATOR if coordinator else BROKER, time.time())
        node.kill()
        await asyncio.sleep(dead_s)
        await asyncio.to_thread(node.start)
        event.ready = time.time()
        event.took = event.ready - event.at
        self.going.fleet.events.append(event)
        LOGGER.info("%s %s, back after %.1f s", event.member, event.kind, event.took)
        await self._whole()

    async def in_a_rebalance(self, name: str) -> None:
        """A member comes, and another is killed before the group has settled; then the newcomer leaves."""
        fleet = self.going.fleet
        joining = asyncio.create_task(fleet.join(name, points.HOT))
        # A worker takes one to two seconds to its join: somewhere from there on.
        await asyncio.sleep(self.choose.uniform(1.0, 3.0))
        fleet.kill("hot-1")
        await joining
        await asyncio.wait_for(fleet.members["hot-1"].ready.wait(), ASK_S * 2)
        await fleet.leave(name)

    async def _leader(self) -> int:
        topic, partition = self.choose.choice(LED), self.choose.randrange(PARTITIONS)
        async with self._asking() as admin:
            [described] = await admin.describe_topics([topic])
        leaders = {each["partition"]: each["leader"] for each in described["partitions"]}
        return int(leaders[partition])

    async def _coordinator(self) -> int:
        async with self._asking() as admin:
            return int(await admin.find_coordinator(f"fathom.{self.choose.choice(points.HOT)}"))

    async def _whole(self) -> None:
        """Wait until every partition has all its replicas in step: the next death must not be one too many."""
        deadline = time.monotonic() + ASK_S
        while time.monotonic() < deadline:
            try:
                async with self._asking() as admin:
                    described = await admin.describe_topics()
            except KafkaError:
                described = []
            rows = [partition for topic in described for partition in topic["partitions"]]
            if rows and all(len(row["isr"]) == len(row["replicas"]) for row in rows):
                return
            await asyncio.sleep(0.3)

    def _asking(self) -> "Asking":
        return Asking(self.brokers.bootstrap)


class Asking:
    """An administrator's connection, for one question."""

    def __init__(self, bootstrap: str) -> None:
        self._admin = AIOKafkaAdminClient(bootstrap_servers=bootstrap)

    async def __aenter__(self) -> AIOKafkaAdminClient:
        await self._admin.start()
        return self._admin

    async def __aexit__(self, *_: object) -> None:
        await self._admin.close()


async def run(ordeal: Ordeal, servers: Servers, brokers: KafkaCluster) -> Outcome:
    """Carry an ordeal out; its evidence, judged as that of any run."""
    began, plan = time.monotonic(), ordeal.plan
    async with scenario.started(plan, servers) as going:
        fleet = going.fleet
        messages = said.messages(among=plan.conversations, seed=plan.seed)
        await asyncio.gather(fleet.join("hot-1", points.HOT), fleet.join("writers", points.WRITERS, servers.own))
        if ordeal.rebalances:
            await fleet.join("hot-2", points.HOT)
        await going.send(messages, plan.graceful)
        await going.drained()
        graceful, first_kill = check(going.evidence(), with_graph=False), time.time()
        killing = Killing(brokers, going, random.Random(plan.seed))
        going.waits = True
        await going.send(messages, plan.total - plan.graceful, _steps(ordeal, killing))
        await going.drained()
        for name in [name for name, member in fleet.members.items() if not member.leaving]:
            await fleet.leave(name)
        await going.tail.caught_up()
        evidence = going.evidence()
    evidence = await scenario.left(evidence, servers)
    took = time.monotonic() - began
    return Outcome(servers.broker, check(evidence), graceful, evidence, fleet.events, fleet.failures, took, first_kill)


def _steps(ordeal: Ordeal, killing: Killing) -> list[Step]:
    """Deaths of brokers, with those in rebalances between them."""
    steps: list[Step] = []
    for number in range(max(ordeal.broker_kills, ordeal.rebalances)):
        if number < ordeal.broker_kills:
            dead_s = ordeal.dead_s[number % len(ordeal.dead_s)]
            steps.append(lambda dead_s=dead_s: killing.broker(dead_s))  # type: ignore[misc]
        if number < ordeal.rebalances:
            steps.append(lambda number=number: killing.in_a_rebalance(f"guest-{number}"))  # type: ignore[misc]
    return steps


def main(arguments: Sequence[str]) -> int:
    about = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--cluster", action="store_true", help="three brokers, three replicas, two in step")
    parser.add_argument("--small", action="store_true", help="300 messages and one kill")
    parser.add_argument("--seed", type=int, default=1, help="of messages, places and times")
    parser.add_argument("-v", "--verbose", action="store_true", help="say who lives and dies")
    wanted = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    logging.basicConfig(level=logging.INFO if wanted.verbose else logging.WARNING, format="%(asctime)s %(message)s")
    logging.getLogger("aiokafka").setLevel(logging.CRITICAL)
    if (why := lacking("kafka")) is not None:
        sys.stdout.write(f"kafka did not run: {why}\n")
        return 1
    directory = Path(tempfile.mkdtemp(prefix="fathom-chaos-brokers-"))
    with serving_brokers(directory, cluster=wanted.cluster) as (servers, brokers):
        outcome = asyncio.run(run((small if wanted.small else full)(wanted.seed), servers, brokers))
    sys.stdout.write(f"{report.table(outcome)}\n{report.json_line(outcome)}\n")
    report.record(outcome, ROWS, WORKLOADS[wanted.cluster], wanted.seed)
    if report.violations(outcome):
        sys.stdout.write(f"logs are kept in {directory}\n")
        return 1
    shutil.rmtree(directory, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
