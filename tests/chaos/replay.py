"""A recorded log again: the assembler over its `packs.partial` in a fresh group, and `fathom replay` over all of it."""

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable
from datetime import UTC, datetime
from hashlib import sha256

from aiokafka import ConsumerRecord

from schemas.topics import CONTEXT_PACKS, PACKS_PARTIAL
from streams.replay.log import opened
from streams.replay.selection import REPLAY_HEADER
from streams.stores.tokens import best_tokens
from streams.testing.pipeline import Pipeline
from streams.topology import stages_of
from tests.chaos.entries import Entry
from tests.chaos.servers import PARTITIONS, Servers
from tests.checkout import ROOT

PATIENCE_S = 900.0


def packs_of(entries: Iterable[Entry]) -> dict[str, bytes]:
    """The recorded packs by id."""
    return {entry.event["pack_id"]: entry.value for entry in entries if entry.topic == CONTEXT_PACKS.name}


def replayed(log: Iterable[Entry]) -> dict[str, bytes]:
    """The packs that come of the same partial results at the same places and times."""
    partials = [entry for entry in log if entry.topic == PACKS_PARTIAL.name]
    tokens = best_tokens()
    with Pipeline(
        stages=stages_of(["assembler"], "split"), partitions=PARTITIONS, replace={"tokens": tokens}
    ) as pipeline:
        for entry in sorted(partials, key=lambda entry: (entry.partition, entry.offset)):
            pipeline.clock.at = datetime.fromtimestamp(entry.timestamp / 1000, UTC)
            headers = [(name, text.encode()) for name, text in entry.headers.items()]
            pipeline.log.append(entry.topic, entry.key.encode() or None, entry.value, headers, entry.partition)
        # A join takes a record from the future as of now.
        pipeline.clock.at = datetime.fromtimestamp(max(entry.timestamp for entry in partials) / 1000, UTC)
        pipeline.settle()
        return packs_of(Entry.of(record) for record in pipeline.log.of(CONTEXT_PACKS.name))


def differences(servers: Servers, packs: int) -> list[str]:
    """What `fathom replay` makes otherwise than it was recorded: a replay is killed in its middle, two are let end."""
    topics = {name: f"{CONTEXT_PACKS.name}.replay.{name}" for name in ("killed", "first", "second")}
    killed = _killed(servers, topics["killed"], packs // 3)
    found = [] if 0 < killed < packs else [f"replay killed: {killed} of {packs} packs were made before it"]
    for name in ("first", "second"):
        done = subprocess.run(
            _command(servers, name), cwd=ROOT, env=_environment(servers), capture_output=True, text=True
        )
        verdict = json.loads(done.stdout.strip().splitlines()[-1]) if done.returncode in (0, 5) else {}
        if (verdict.get("made"), verdict.get("equal")) != (packs, packs):
            found.append(f"replay {name}, of {packs} packs: {verdict or done.stderr}")
    made = {name: asyncio.run(_digests(servers, topic)) for name, topic in topics.items()}
    recorded = asyncio.run(_digests(servers, CONTEXT_PACKS.name))
    found += [f"replay {name}: other bytes than recorded" for name in ("first", "second") if made[name] != recorded]
    return found + [
        f"replay killed: other bytes than recorded in partition {number}"
        for number, digests in enumerate(made["killed"])
        if digests != recorded[number][: len(digests)]
    ]


def _killed(servers: Servers, topic: str, after: int) -> int:
    """How many packs a replay had made when it was killed: at least so many."""
    with subprocess.Popen(
        _command(servers, topic.rpartition(".")[2]), cwd=ROOT, env=_environment(servers),
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    ) as process:  # fmt: skip
        deadline = time.monotonic() + PATIENCE_S
        while process.poll() is None and asyncio.run(_records(servers, topic)) < after:
            assert time.monotonic() < deadline, f"{topic} stands still"
            time.sleep(0.1)
        process.kill()
    return asyncio.run(_records(servers, topic))


def _command(servers: Servers, name: str) -> list[str]:
    options = ("--mode", "exact", "--execute", "--json", "--id", name, "--broker", servers.bootstrap)
    return [sys.executable, "-m", "streams", "replay", *options]


def _environment(servers: Servers) -> dict[str, str]:
    return {**os.environ, **servers.environment()}


async def _records(servers: Servers, topic: str) -> int:
    async with opened(servers.bootstrap) as log:
        return sum(map(len, await log.spans(topic)))


async def _digests(servers: Servers, topic: str) -> list[list[bytes]]:
    """A digest of each record, without its time and the mark of a replay, partition by partition."""
    async with opened(servers.bootstrap) as log:
        found = []
        for span in await log.spans(topic):
            digests = [_digest(record) async for batch in log.read([span]) for record in batch]
            found.append(digests)
        return found


def _digest(record: ConsumerRecord) -> bytes:
    headers = [header for header in record.headers if header[0] != REPLAY_HEADER]
    return sha256(repr((record.key, record.value, headers)).encode()).digest()
