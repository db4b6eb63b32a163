"""Workers of 0.1.0 replaced by this version's, one at a time and under load, and back.

    python -m tests.proofs.upgrades.upgrades [--cycles N] [--rate MESSAGES_A_SECOND]

A cycle is an upgrade of both workers and a rollback of both. As in the chart, the next worker consumes before the one
it replaces is told to stop. The layout stays split, as 0.1.0 has it. The broker is Apache Kafka, the sessions are in
Redis, graph and index in memory. It ends with how many messages have no pack, or two.
"""

import argparse
import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from uuid import uuid4

from confluent_kafka import Consumer, Producer, TopicPartition

from deploy.docs import examples
from schemas.topics import CONTEXT_PACKS, MESSAGES_IN
from streams.kafka import topics_admin, topics_plan
from streams.kafka.security import PLAINTEXT
from streams.runtime.layout import cluster
from tests import counters
from tests.checkout import ROOT
from tests.servers.install import SERVERS, InstallError
from tests.servers.kafka import KafkaServer
from tests.servers.redis import RedisServer

# The commit that is 0.1.0.
BEFORE, BEFORE_COMMIT = "0.1.0", "1a13404"
PARTITIONS, CONVERSATIONS = 4, 12
START_S, STOP_S, SETTLE_S = 180.0, 60.0, 90.0
UV = ROOT / ".venv/bin/uv"


def installed_before() -> Path:
    """The `fathom` of 0.1.0, built from the repository's history; raises `InstallError`."""
    target = SERVERS / "releases" / BEFORE
    command = target / ".venv/bin/fathom"
    if command.exists():
        return command
    packed = subprocess.run(["git", "archive", BEFORE_COMMIT], cwd=ROOT, capture_output=True, check=False)
    if packed.returncode != 0:
        raise InstallError(f"the history of this checkout does not hold {BEFORE}: fetch it whole, then run this again")
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    with tarfile.open(fileobj=BytesIO(packed.stdout)) as archive:
        archive.extractall(target, filter="data")
    own = {**os.environ, "VIRTUAL_ENV": str(target / ".venv")}
    for step in (
        ["venv", "--quiet", "--python", sys.executable, ".venv"],
        ["pip", "install", "--quiet", "--require-hashes", "-r", "deploy/requirements/base.txt"],
        ["pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "."],
    ):
        done = subprocess.run([str(UV), *step], cwd=target, env=own, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise InstallError(f"{BEFORE} could not be installed: {done.stderr.strip()[-200:]}")
    return command


@dataclass
class Member:
    """A worker with all groups; `said` is where its log is."""

    command: Path
    environment: dict[str, str]
    said: Path
    child: subprocess.Popen[str] = field(init=False)

    def start(self) -> None:
        with self.said.open("w") as log:
            self.child = subprocess.Popen(
                [str(self.command), "worker"], cwd=self.said.parent, env=self.environment, stdout=subprocess.PIPE,
                stderr=log, text=True,
            )  # fmt: skip
        assert self.child.stdout is not None
        if not self.child.stdout.readline():
            raise RuntimeError(f"{self.command} did not start: {self.said.read_text()[-500:]}")

    def stop(self) -> int:
        """Its exit code after SIGTERM."""
        self.child.send_signal(signal.SIGTERM)
        return self.child.wait(STOP_S)


@dataclass
class Load:
    """Messages at a rate, from a thread, until told; what was sent, in order."""

    bootstrap: str
    rate: float
    sent: list[str] = field(default_factory=list)
    _told: threading.Event = field(default_factory=threading.Event)

    @contextmanager
    def running(self) -> Iterator[None]:
        thread = threading.Thread(target=self._send)
        thread.start()
        try:
            yield
        finally:
            self._told.set()
            thread.join()

    def _send(self) -> None:
        said = next(each for each in examples.load(topics=[MESSAGES_IN]) if each.name == "chat-user-en")
        assert isinstance(said.value, dict)
        producer = Producer({"bootstrap.servers": self.bootstrap, "log_level": 0})
        while not self._told.wait(1 / self.rate):
            name, talk = str(uuid4()), f"talk-{len(self.sent) % CONVERSATIONS}"
            value = {**said.value, "message_id": name, "conversation_id": talk}
            value["content"] = f"When does the library open on day {len(self.sent)}?"
            key = "|".join((said.headers["tenant"], value["client_id"], talk))
            headers = {**said.headers, "ce_id": name}
            producer.produce(MESSAGES_IN.name, json.dumps(value), key, headers=headers)
            producer.poll(0)
            self.sent.append(name)
        producer.flush(30)


@dataclass(frozen=True)
class Outcome:
    """What became of the messages, and of the workers."""

    sent: int
    lacking: list[str]
    doubled: list[str]
    dead: dict[str, int]
    exits: Counter[int]
    upgrades: int
    rollbacks: int

    @property
    def faultless(self) -> bool:
        return not (self.lacking or self.doubled or self.dead or self.exits.keys() - {0})


def record(outcome: Outcome) -> None:
    """Hand on what was counted."""
    ran = {"messages": outcome.sent, "upgrades": outcome.upgrades, "rollbacks": outcome.rollbacks}
    faults = {
        "lost": len(outcome.lacking), "duplicate effect": len(outcome.doubled),
        "dead letter": sum(outcome.dead.values()), "exit code": sum(n for code, n in outcome.exits.items() if code),
    }  # fmt: skip
    counters.record("B11", "Apache Kafka", ran, faults)


def read(bootstrap: str, topic: str) -> list[bytes]:
    """All that is on a topic."""
    reader = Consumer({"bootstrap.servers": bootstrap, "group.id": str(uuid4()), "log_level": 0})
    with suppress(KeyError):
        left = {}
        for number in range(PARTITIONS):
            tp = TopicPartition(topic, number, 0)
            _, end = reader.get_watermark_offsets(tp, timeout=10)
            left |= {number: end} if end else {}
        reader.assign([TopicPartition(topic, number, 0) for number in left])
        found = []
        while left:
            for message in reader.consume(500, 1.0):
                found.append(message.value())
                if message.offset() + 1 >= left.get(message.partition(), 0):
                    left.pop(message.partition(), None)
        reader.close()
        return found
    return []


def packs(bootstrap: str) -> Counter[str]:
    """How many packs each message has."""
    return Counter(json.loads(value)["message_id"] for value in read(bootstrap, CONTEXT_PACKS.name))


def tried(folder: Path, *, cycles: int, rate: float) -> Outcome:
    """Run the cycles; raises `InstallError`."""
    before, now = installed_before(), ROOT / ".venv/bin/fathom"
    with KafkaServer(folder / "kafka") as kafka, RedisServer(folder / "redis") as redis:
        topics = topics_plan.wanted(PARTITIONS)
        asyncio.run(topics_admin.create_missing(kafka.bootstrap, topics, PLAINTEXT))
        own = {name: text for name, text in os.environ.items() if not name.startswith(("FATHOM_", "RAG_"))}
        environment = own | {
            "FATHOM_BROKER": kafka.bootstrap,
            "FATHOM_PARTITIONS": str(PARTITIONS),
            "FATHOM_REDIS_URL": redis.url,
            "FATHOM_QDRANT_URL": "memory://",
            "FATHOM_NEO4J_URL": "memory://",
            "FATHOM_EMBEDDER": "hashing",
        }
        count, exits, load = 0, Counter[int](), Load(kafka.bootstrap, rate)

        def member(command: Path) -> Member:
            nonlocal count
            count += 1
            # 0.1.0 has the one layout, and does not know the setting.
            layout = {"FATHOM_LAYOUT": "split"} if command == now else {}
            made = Member(command, environment | layout, folder / f"worker-{count}.log")
            made.start()
            return made

        members: list[Member] = []
        try:
            members += [member(before), member(before)]
            with load.running():
                # What tells this version the layout of a cluster of 0.1: what its join has committed.
                _until(lambda: asyncio.run(cluster.layout_of(kafka.bootstrap, PLAINTEXT)) == "split")
                for _ in range(cycles):
                    for version in (now, before):
                        for place in range(len(members)):
                            following = member(version)
                            exits[members[place].stop()] += 1
                            members[place] = following
            _until(lambda: not set(load.sent) - packs(kafka.bootstrap).keys())
        finally:
            for each in members:
                with suppress(subprocess.TimeoutExpired):
                    exits[each.stop()] += 1
                each.child.kill()
        found = packs(kafka.bootstrap)
        dead = {t.name: len(read(kafka.bootstrap, t.name)) for t in topics if t.name.startswith("dead-letters.")}
    return Outcome(
        sent=len(load.sent),
        lacking=[name for name in load.sent if not found[name]],
        doubled=[name for name, number in found.items() if number > 1],
        dead={name: number for name, number in dead.items() if number},
        exits=exits,
        upgrades=cycles,
        rollbacks=cycles,
    )


def _until(there: Callable[[], bool]) -> None:
    """Wait for something, for a bounded time."""
    deadline = time.monotonic() + SETTLE_S
    while not there() and time.monotonic() < deadline:
        time.sleep(1)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.proofs.upgrades.upgrades")
    parser.add_argument("--cycles", type=int, default=20)
    parser.add_argument("--rate", type=float, default=20.0)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="fathom-upgrades-") as folder:
        try:
            outcome = tried(Path(folder), cycles=options.cycles, rate=options.rate)
        except InstallError as error:
            sys.stderr.write(f"{error}\n")
            return 1
    record(outcome)
    print(
        f"{outcome.upgrades} upgrades from {BEFORE} and {outcome.rollbacks} rollbacks, {outcome.sent} messages: "
        f"{len(outcome.lacking)} without a pack, {len(outcome.doubled)} with two; "
        f"dead letters {outcome.dead or 'none'}; exit codes {dict(outcome.exits)}"
    )
    return 0 if outcome.faultless else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
