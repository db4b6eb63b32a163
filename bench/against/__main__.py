"""This version and an earlier one in turns: latency, CPU, records and disk of a message, CPU at rest, memory.

    make bench-against COMMIT=bf0ef12a ROUNDS=5      last line: JSON with the median of each figure, by version

The earlier version is checked out and set up below `.cache/`. Each round starts `fathom up` of both, asks D0 and D2 at
50 messages a second, and ends them: what else the machine does meets both alike.
"""

import argparse
import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import uvloop

from bench.measure import ROOT, median, say
from bench.pipeline import Client, at_rate
from bench.running import Running, cpu_by_process, fathom_up, resident_mb
from streams.edges.client import clients

RATE, SECONDS, REST_S = 50, 8.0, 5.0
LEVELS = ("D0", "D2")


def checkout(commit: str) -> Path:
    """A folder with that commit, set up to run."""
    folder = ROOT / ".cache" / "against" / commit
    if not folder.exists():
        subprocess.run(["git", "worktree", "add", "--detach", "--force", str(folder), commit], cwd=ROOT, check=True)
    subprocess.run(["sh", "deploy/setup.sh", "base"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return folder


async def records(bootstrap: str) -> int:
    """The records on all topics."""
    async with clients.reading(bootstrap, ()) as reader:
        counts = await clients.partition_counts(bootstrap)
        return sum((await reader.end_offsets(clients.partitions_of(counts, counts))).values())


def stored_kb(folder: Path) -> float:
    """What a folder takes on disk."""
    return sum(file.stat().st_blocks for file in folder.rglob("*") if file.is_file()) / 2


async def measured(running: Running, folder: Path) -> dict[str, float]:
    """The figures of one start."""
    client, found = Client(running.bootstrap), dict[str, float]()
    await client.start()
    try:
        await client.remember()
        await at_rate(client, "D2", 20, 5, running)  # warm
        for level in LEVELS:
            before, kb = await records(running.bootstrap), stored_kb(folder)
            row = await at_rate(client, level, RATE, SECONDS, running)
            made = await records(running.bootstrap) - before
            of = f"{level} "
            found |= {of + name: row[name] for name in ("p50_ms", "p95_ms", "degraded")}
            found |= {f"{of}{kind} ms": used for kind, used in row["cpu_ms_a_message"].items()}
            found[of + "records a message"] = round(made / row["sent"], 1)
            found[of + "kB a message"] = round((stored_kb(folder) - kb) / row["sent"], 1)
        rest, began = cpu_by_process(running.pid), time.monotonic()
        await asyncio.sleep(REST_S)
        seconds = time.monotonic() - began
        at_rest = {kind: used - rest.get(kind, 0.0) for kind, used in cpu_by_process(running.pid).items()}
        found["at rest ms/s"] = round(1000 * sum(at_rest.values()) / seconds, 1)
        found["ready s"] = round(running.ready_s, 1)
    finally:
        await client.stop()
    return found | {f"{kind} MB": held for kind, held in resident_mb(running.pid).items()}


def medians(rounds: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The median of each figure."""
    return {name: round(median([each[name] for each in rounds if name in each]), 1) for name in rounds[0]}


def main() -> int:
    parser = argparse.ArgumentParser(description="This version and an earlier one in turns.")
    parser.add_argument("commit")
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    uvloop.install()
    versions = {"before": checkout(asked.commit), "now": ROOT}
    rounds: dict[str, list[dict[str, float]]] = {name: [] for name in versions}
    for _ in range(asked.rounds):
        for name, root in versions.items():
            with fathom_up(root) as running:
                rounds[name].append(asyncio.run(measured(running, running.folder)))
            say(f"{name}: {json.dumps(rounds[name][-1])}")
    found: dict[str, Any] = {name: medians(each) for name, each in rounds.items()}
    for figure in found["now"]:
        say(f"{figure:<24}{found['before'].get(figure, '–'):>10}{found['now'][figure]:>10}")
    print(json.dumps({"commit": asked.commit, "rounds": asked.rounds, **found}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
