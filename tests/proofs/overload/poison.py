"""Poison of every kind among healthy records, on a worker that is started again.

    python -m tests.proofs.overload.poison    1 %, 10 % and 100 % of each kind, on the embedded broker and on Kafka
    python -m tests.proofs.overload.poison --brokers embedded --healthy 100 --kills 2

For each hundred healthy records there are as many poisons as the share says: bytes that are none, events of no schema,
a handler that raises, and three ways to kill the process from within a handler. Exit code 1 where a healthy record is
not handled by every stage, or a poison is not in the dead letters of its stages exactly once, with its key, bytes and
headers, after four or five deaths (a few more, where a process came further before it died). Said are the times from a
healthy record written to its being handled.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient

from bench.measure import percentile
from schemas.topics import CONVERSATION_TURNS, dead_letter_topic
from streams.kafka import topics_admin, topics_plan
from streams.kafka.records import Record
from streams.replay.log import opened
from streams.runtime.dead_letters import place_of
from streams.runtime.suspects import CODE
from streams.stores.sessions.valkey import Valkey
from streams.topology import STAGES
from tests import counters
from tests.checkout import ROOT
from tests.proofs.overload.poisoned import GROUP, KILLED, KILLS, NAMES
from tests.servers.embedded import EmbeddedServer
from tests.servers.kafka import KafkaServer

PARTITIONS, KEYS = 2, 7
SHARES = (0.01, 0.1, 1.0)
RATE = 50.0
MOST_SLOWER = 1.5
# Five, and one for each process that came further before it died.
MOST_DEATHS = 8
PATIENCE_S = 300.0
NUMBER = "poison"
# What every stage refuses; what one dies of is taken from every stage of its group.
MALFORMED: dict[str, bytes] = {"bytes": b"\xff\xfe\x00", "schema": b'{"colour": "blue"}'}
REASONS = {"bytes": "undecodable", "schema": "undecodable", "raises": "bug", **dict.fromkeys(KILLS, CODE)}
KINDS = tuple(REASONS)


@dataclass
class Part:
    """What came of the healthy records beside one share of one kind; times in seconds."""

    name: str
    healthy: int
    poisons: int
    deaths: int
    p50_s: float
    p99_s: float
    longest_s: float


@dataclass
class Outcome:
    """A run on one broker: its parts, the poisons by number with their kinds and bytes, and what was wrong."""

    broker: str
    parts: list[Part] = field(default_factory=list)
    poisons: dict[str, tuple[str, bytes, bytes]] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)


class RestartedWorker:
    """A worker that is started again whenever it dies, as a supervisor does."""

    def __init__(self, bootstrap: str, redis_url: str, directory: Path) -> None:
        self.log = directory / "handled.log"
        memory = dict.fromkeys(("FATHOM_QDRANT_URL", "FATHOM_NEO4J_URL"), "memory://")
        clean = {name: text for name, text in os.environ.items() if not name.startswith(("FATHOM_", "RAG_"))}
        self._environment = {
            **clean, **memory, "FATHOM_BROKER": bootstrap, "FATHOM_PARTITIONS": str(PARTITIONS),
            "FATHOM_REDIS_URL": redis_url, "FATHOM_EMBEDDER": "hashing",
            # A member of the same name takes its partitions back at once.
            "FATHOM_INSTANCE_ID": "poisoned",
        }  # fmt: skip
        self.deaths = 0
        self._process: subprocess.Popen[bytes] | None = None

    def keep(self) -> None:
        """Start it if it does not run."""
        if self._process is not None and self._process.poll() is not None:
            self.deaths += 1
            self._process = None
        if self._process is None:
            command = [sys.executable, "-m", "tests.proofs.overload.poisoned", str(self.log)]
            with self.log.with_suffix(".err").open("ab") as errors:
                self._process = subprocess.Popen(
                    command, cwd=ROOT, env=self._environment, stdout=subprocess.DEVNULL, stderr=errors
                )

    def kill(self) -> None:
        """SIGKILL, from outside."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def stop(self) -> int:
        """SIGTERM; the exit code."""
        assert self._process is not None
        self._process.terminate()
        return self._process.wait(60)

    def done(self) -> dict[tuple[str, str], float]:
        """When each stage was done with each text, the first time."""
        found: dict[tuple[str, str], float] = {}
        for stage, at, content in self._noted("done"):
            found.setdefault((stage, content), float(at))
        return found

    def begun(self) -> Counter[tuple[str, str]]:
        """How often each stage began each text."""
        return Counter((stage, content) for stage, _, content in self._noted("begun"))

    def _noted(self, what: str) -> list[tuple[str, str, str]]:
        rows = [line.split(" ", 4) for line in (self.log.read_text().splitlines() if self.log.exists() else [])]
        return [(row[0], row[3], row[4]) for row in rows if row[2] == what]


def turn(content: str) -> tuple[bytes, list[tuple[str, bytes]]]:
    """The value and headers of a turn."""
    found = json.loads((ROOT / "schemas/examples/conversation.turns/user-pt.json").read_text())
    headers = [(name, text.encode()) for name, text in found["headers"].items() if name != "ce_id"]
    return json.dumps({**found["value"], "content": content}).encode(), headers


class Poisoning:
    """One run: records of one producer, a worker that is started again, and a look at the dead letters."""

    def __init__(self, bootstrap: str, worker: RestartedWorker, outcome: Outcome) -> None:
        self._bootstrap = bootstrap
        self._worker = worker
        self.outcome = outcome

    async def part(self, name: str, healthy: int, poisons: Sequence[str], rate: float = RATE) -> Part:
        """So many healthy records at a rate, with these kinds of poison evenly among them, until all is settled."""
        deaths, sent = self._worker.deaths, {}
        expected: set[tuple[str, str]] = set()
        keeping = asyncio.create_task(self._keep())
        try:
            async with AIOKafkaProducer(bootstrap_servers=self._bootstrap, acks="all") as producer:
                for number in range(healthy):
                    text = f"{name} {number}"
                    await self._send(producer, number, *turn(text))
                    sent[text] = time.time()
                    for kind in poisons[number * len(poisons) // healthy : (number + 1) * len(poisons) // healthy]:
                        expected |= await self._poison(producer, number, kind)
                    await asyncio.sleep(1 / rate)
            await self._settled(sent, expected)
            await self._committed()
        finally:
            keeping.cancel()
        done = self._worker.done()
        times = [done[stage, text] - at for text, at in sent.items() for stage in NAMES if (stage, text) in done]
        if lacking := len(sent) * len(NAMES) - len(times):
            self.outcome.wrong.append(f"{name}: {lacking} times a stage did not handle a healthy record")
        part = Part(
            name, healthy, len(poisons), self._worker.deaths - deaths,
            percentile(times, 0.5), percentile(times, 0.99), max(times, default=float("inf")),
        )  # fmt: skip
        self.outcome.parts.append(part)
        return part

    async def _keep(self) -> None:
        while True:
            self._worker.keep()
            await asyncio.sleep(0.05)

    async def _send(
        self, producer: AIOKafkaProducer, number: int, value: bytes, headers: Sequence[tuple[str, bytes]]
    ) -> None:
        await producer.send_and_wait(
            CONVERSATION_TURNS.name, value, key=b"%d" % (number % KEYS), headers=list(headers),
            partition=number % PARTITIONS,
        )  # fmt: skip

    async def _poison(self, producer: AIOKafkaProducer, key: int, kind: str) -> set[tuple[str, str]]:
        number = f"{len(self.outcome.poisons)}"
        value, headers = turn(f"poison {kind} {number}")
        value = MALFORMED.get(kind, value)
        self.outcome.poisons[number] = kind, value, b"%d" % (key % KEYS)
        await self._send(producer, key, value, [*headers, (NUMBER, number.encode())])
        return {(stage, number) for stage in stages_of(kind)}

    async def _settled(self, sent: dict[str, float], expected: set[tuple[str, str]]) -> None:
        """Wait until all that is healthy is handled and all else is a dead letter, or nothing moves any more."""
        wanted = {(stage, text) for stage in NAMES for text in sent}
        moved, before = time.monotonic(), (-1, -1, -1)
        while time.monotonic() - moved < PATIENCE_S:
            done, letters = self._worker.done(), {_of(letter) for letter in await self.letters()}
            if wanted <= done.keys() and expected <= letters:
                return
            if (now := (len(done), len(letters), self._worker.deaths)) != before:
                moved, before = time.monotonic(), now
            await asyncio.sleep(0.5)
        self.outcome.wrong.append(
            f"not settled: {len(wanted - done.keys())} healthy, {len(expected - letters)} poisons"
        )

    async def _committed(self) -> None:
        """Wait until the offsets of all that is handled are committed.

        A process that is killed before sends its last dead letters again: they are delivered at least once. The poison
        of the next part would double those of this one.
        """
        groups = {stage.consumer_group for stage in STAGES if stage.name in NAMES}
        partitions = [TopicPartition(CONVERSATION_TURNS.name, number) for number in range(PARTITIONS)]
        admin = AIOKafkaAdminClient(bootstrap_servers=self._bootstrap)
        await admin.start()
        try:
            async with AIOKafkaConsumer(bootstrap_servers=self._bootstrap) as consumer, asyncio.timeout(PATIENCE_S):
                ends = await consumer.end_offsets(partitions)
                while any([await _lag(admin, group, ends) for group in groups]):  # noqa: ASYNC110 - of another process
                    await asyncio.sleep(0.1)
        finally:
            await admin.close()

    async def letters(self) -> list[Record]:
        """All dead letters of the stages."""
        found: list[Record] = []
        async with opened(self._bootstrap) as log:
            for stage in NAMES:
                async for batch in log.read(await log.spans(dead_letter_topic(stage))):
                    found += batch
        return found

    async def judge(self) -> None:
        """Look at every dead letter, and for every poison's."""
        counts: Counter[tuple[str, str]] = Counter()
        for letter in await self.letters():
            counts[_of(letter)] += 1
            self.outcome.wrong += self._faults(letter)
        for number, (kind, *_) in self.outcome.poisons.items():
            for stage in stages_of(kind):
                if counts[stage, number] != 1:
                    self.outcome.wrong.append(f"{kind}: {counts[stage, number]} dead letters of {stage}")
        for (stage, text), times in self._worker.begun().items():
            if stage == KILLED and text.startswith("poison ") and times > MOST_DEATHS:
                self.outcome.wrong.append(f"{text}: begun {times} times")

    def _faults(self, letter: Record) -> Iterator[str]:
        headers = {name: text.decode(errors="replace") for name, text in letter.headers}
        number = headers.get(NUMBER, "")
        if number not in self.outcome.poisons:
            yield f"a dead letter of no poison: {headers.get('__streams.errors.message')}"
            return
        kind, value, key = self.outcome.poisons[number]
        original = [*turn("")[1], (NUMBER, number.encode())]
        if letter.value != value or letter.key != key or list(letter.headers[: len(original)]) != original:
            yield f"{kind}: other bytes, key or headers than were sent"
        if kind in ("raises", *KILLS) and headers["fathom_reason"] != REASONS[kind]:
            yield f"{kind}: its reason is {headers['fathom_reason']}"
        if place_of(letter.headers) is None:
            yield f"{kind}: not said where it was"


async def _lag(admin: AIOKafkaAdminClient, group: str, ends: Mapping[TopicPartition, int]) -> int:
    stored = await admin.list_consumer_group_offsets(group, partitions=[*ends])
    return sum(end - max(stored[tp].offset if tp in stored else 0, 0) for tp, end in ends.items())


def stages_of(kind: str) -> tuple[str, ...]:
    """The stages in whose dead letters a poison of this kind is."""
    return NAMES if kind in MALFORMED else GROUP if kind in KILLS else (KILLED,)


def _of(letter: Record) -> tuple[str, str]:
    headers = dict(letter.headers)
    return headers["fathom_stage"].decode(), headers.get(NUMBER, b"").decode()


async def run(
    broker: str, bootstrap: str, worker: RestartedWorker, shares: Sequence[float], healthy: int, most_kills: int
) -> Outcome:
    """All kinds in all shares; of those that kill `most_kills` of a kind and share: each costs four or five starts."""
    outcome = Outcome(broker)
    await topics_admin.create_missing(bootstrap, topics_plan.wanted(PARTITIONS))
    poisoning = Poisoning(bootstrap, worker, outcome)
    await poisoning.part("warm", 10, ())
    outcome.parts.clear()
    await poisoning.part("alone", healthy, ())
    for kind in KINDS:
        for share in shares:
            count = max(round(share * healthy), 1)
            fewer = min(count, most_kills) if kind in KILLS else count
            beside = max(round(fewer / share), 1) if fewer < count else healthy  # the share stays
            await poisoning.part(f"{kind} {share:.0%}", beside, [kind] * fewer)
    await poisoning.judge()
    if (code := worker.stop()) != 0:
        outcome.wrong.append(f"the worker ended with {code}")
    return outcome


@contextmanager
def serving(broker: str, directory: Path) -> Iterator[tuple[str, RestartedWorker]]:
    """A broker, a session store of its own, and a worker that is not started yet."""
    with ExitStack() as stack:
        server = EmbeddedServer(directory / "broker") if broker == "embedded" else KafkaServer(directory / "kafka")
        bootstrap = stack.enter_context(server).bootstrap
        with valkey_at(directory / "valkey") as url:
            worker = RestartedWorker(bootstrap, url, directory)
            try:
                yield bootstrap, worker
            finally:
                worker.kill()


@contextmanager
def valkey_at(directory: Path) -> Iterator[str]:
    """The URL of a session store."""
    valkey = Valkey(directory)
    valkey.start()
    try:
        yield f"unix://{valkey.socket}"
    finally:
        valkey.stop()


def record(outcome: Outcome, broker: str) -> None:
    """Hand on what was counted."""
    ran = {
        "healthy": sum(part.healthy for part in outcome.parts),
        "poisons": len(outcome.poisons),
        "deaths": sum(part.deaths for part in outcome.parts),
    }
    counters.record("B13", f"poison of every kind, on {broker}", ran, {"wrong": len(outcome.wrong)})


def table(outcome: Outcome) -> str:
    """What is printed."""
    alone = max(outcome.parts[0].p99_s, 0.001)
    lines = [
        f"{outcome.broker}: ",
        "| beside | healthy | poisons | deaths | p50 s | p99 s | longest s | of p99 alone |",
        "|" + "---|" * 8,
    ]
    lines += [
        f"| {part.name} | {part.healthy} | {part.poisons} | {part.deaths} | {part.p50_s:.3f} | {part.p99_s:.3f} | "
        f"{part.longest_s:.3f} | {part.p99_s / alone:.2f} |"
        for part in outcome.parts
    ]
    quiet = [part.p99_s <= MOST_SLOWER * alone for part in outcome.parts[1:] if part.name.split()[0] not in KILLS]
    lines.append(f"of those that kill nothing within {MOST_SLOWER} x p99: {sum(quiet)} of {len(quiet)}")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.proofs.overload.poison", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--brokers", default="embedded,kafka", help="embedded, kafka or both")
    parser.add_argument("--healthy", type=int, default=200, help="healthy records beside each share of each kind")
    parser.add_argument("--kills", type=int, default=4, help="of each kind that kills and each share, at the most")
    given = parser.parse_args(arguments)
    wrong = 0
    for broker in given.brokers.split(","):
        with (
            tempfile.TemporaryDirectory(prefix="fathom-poison-") as folder,
            serving(broker, Path(folder)) as (bootstrap, worker),
        ):
            outcome = asyncio.run(run(broker, bootstrap, worker, SHARES, given.healthy, given.kills))
        record(outcome, broker)
        print(table(outcome), flush=True)
        for what in outcome.wrong[:50]:
            print(f"wrong: {what}")
        wrong += len(outcome.wrong)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
