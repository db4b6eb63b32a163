"""A person is erased on four servers, with the keys on a fifth, by a command that is killed at each of its steps."""

import asyncio
import base64
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from aiokafka import AIOKafkaConsumer
from redis import Redis

from schemas.topics import TOPICS
from streams.edges.client import clients
from tests.checkout import ROOT
from tests.e2e.four_servers import Site, until
from tests.e2e.processes import UNHURRIED, Process, clean, fathom
from tests.proofs.e2e.killed_erasing import STEPS
from tests.proofs.e2e.test_erasing import ANA, BIA, QUESTION
from tests.proofs.e2e.test_replay_on_servers import _contents, _emptied
from tests.servers.install import lacking
from tests.servers.redis import RedisServer

TENANT = "aurora"
PEOPLE = {"ana": ANA, "bia": BIA}


class Guarded(Site):
    """Four servers, and a fifth that has the keys of persons."""

    def __init__(self, directory: Path, stack: ExitStack) -> None:
        super().__init__(directory, stack)
        keys = stack.enter_context(RedisServer(directory / "keys"))
        master = directory / "master-key"
        master.touch(mode=0o600)
        master.write_text(base64.b64encode(os.urandom(32)).decode())
        self.environment |= {"FATHOM_SUBJECT_KEYS": keys.url, "FATHOM_MASTER_KEY_FILE": str(master), **UNHURRIED}

    def say(self, user: str, text: str, conversation: str) -> str:
        """The pack of what a user says."""
        words = ("ask", text, "--conversation", conversation, "--client", "web", "--user", user, "--timeout", "120")
        return json.dumps(self.fathom(*words), ensure_ascii=False)

    def offers(self, user: str, word: str) -> Callable[[], bool]:
        """Whether a user who asks, each time in a conversation of its own, gets a word."""
        numbers = count()
        return lambda: word in self.say(user, QUESTION, f"{user}-asks-{next(numbers)}")

    def run(self, *arguments: str) -> str:
        """What a command prints."""
        done = fathom(*arguments, **self.environment)
        assert done.returncode == 0, (arguments, done.stdout, done.stderr)
        return done.stdout

    def killed(self, at: int, *arguments: str) -> int:
        """The exit status of a command that is killed at a step."""
        return subprocess.run(
            [sys.executable, "-m", "tests.proofs.e2e.killed_erasing", str(at), *arguments],
            cwd=ROOT, env={**clean(), **self.environment}, stdout=subprocess.DEVNULL, timeout=240, check=False,
        ).returncode  # fmt: skip

    def held(self) -> str:
        """All that the graph, the index and Redis hold."""
        graph, points = asyncio.run(_contents(self))
        payloads = [payload for found in points.values() for _, payload, _ in found]
        with Redis.from_url(self.environment["FATHOM_REDIS_URL"]) as redis:
            values = [_value(redis, key) for key in redis.scan_iter()]
        return repr((graph, payloads, values))


def _value(redis: "Redis", key: bytes) -> Any:
    reads: dict[bytes, Callable[[], Any]] = {
        b"string": lambda: redis.get(key),
        b"list": lambda: redis.lrange(key, 0, -1),
        b"hash": lambda: redis.hgetall(key),
        b"set": lambda: redis.smembers(key),
        b"zset": lambda: redis.zrange(key, 0, -1),
        b"stream": lambda: redis.xrange(key),
    }
    kind: Any = redis.type(key)
    return reads[kind]()


async def _log(bootstrap: str) -> bytes:
    """The bytes of every record of every topic of ours, as the broker has them."""
    counts = await clients.partition_counts(bootstrap)
    partitions = clients.partitions_of(counts, [topic.name for topic in TOPICS])
    async with AIOKafkaConsumer(bootstrap_servers=bootstrap, enable_auto_commit=False) as consumer:
        consumer.assign(partitions)
        await consumer.seek_to_beginning()
        ends = await consumer.end_offsets(consumer.assignment())
        found = b""
        while any([await consumer.position(tp) < end for tp, end in ends.items()]):
            for records in (await consumer.getmany(timeout_ms=500)).values():
                found += b"".join((each.key or b"") + (each.value or b"") for each in records)
    return found


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    for name in ("kafka", "redis", "qdrant", "neo4j"):
        if (why := lacking(name)) is not None:
            pytest.skip(why)
    with ExitStack() as stack:
        yield Guarded(tmp_path_factory.mktemp("guarded"), stack)


@pytest.mark.covers("B24")
@pytest.mark.timeout(1800)
def test_a_person_is_erased_by_a_command_that_dies_at_each_step(site: Guarded, tmp_path: Path) -> None:
    worker = Process("worker", stderr=tmp_path / "worker.err", **site.environment)
    try:
        worker.ready()
        for user, word in PEOPLE.items():
            site.run("profile", "set", user, "--role", f"{word}-papel", "--tenant", TENANT)
            site.say(user, f"O código do cofre Atlas é {word}.", f"{user}-1")
        for user, word in PEOPLE.items():
            until(site.offers(user, word), f"{user} should be offered {word}")
            assert word in site.held()
        erase = ("erase", "--subject", "ana", "--tenant", TENANT)
        statuses = [site.killed(1, *erase)]
        while statuses[-1] != 0:
            assert statuses[-1] == -signal.SIGKILL, statuses
            statuses.append(site.killed(len(statuses) + 1, *erase))
        assert len(statuses) > len(STEPS)
        assert "nothing of ana is left to erase" in site.run(*erase)
        of_ana(site)
        assert not site.offers("ana", ANA)()
        assert worker.end() == (0, "")
    finally:
        if worker.child.poll() is None:
            os.kill(worker.child.pid, signal.SIGKILL)
            worker.child.wait()
    asyncio.run(_emptied(site))
    with Redis.from_url(site.environment["FATHOM_REDIS_URL"]) as redis:
        redis.flushall()
    site.run("replay", "--mode", "rebuild", "--execute")
    of_ana(site)


def of_ana(site: Guarded) -> None:
    """Nothing of hers is anywhere, what is the other one's is, and one proof names the key."""
    held = site.held()
    assert (ANA in held, BIA in held) == (False, True)
    log = asyncio.run(_log(site.environment["FATHOM_BROKER"]))
    assert (ANA.encode() in log, BIA.encode() in log) == (False, False)
    assert log.count(b"ana-1") > 5  # its records are there
    turns, decisions = (
        site.run("tail", topic, "--from-beginning", "--no-follow", "--json")
        for topic in ("conversation.turns", "memory.decisions")
    )
    assert (ANA in turns, BIA in turns) == (False, True)
    assert ANA not in decisions
    values = [json.loads(line)["value"] or {} for line in decisions.splitlines()]
    proofs = [each["detail"]["key_id"] for each in values if each.get("kind") == "subject-erasure"]
    assert len([each for each in proofs if each]) == 1, proofs
