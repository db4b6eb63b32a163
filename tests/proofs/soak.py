"""`fathom up` for hours, in slices on one data directory: load, faults, and what memory and files do meanwhile.

    python -m tests.proofs.soak --minutes 30 --data .cache/soak

Messages come at 70 % of what the first slice found to be held; every thirty seconds memory and open files of all
processes are looked at, and a question must have its pack; every two minutes the broker or the index stands still, or
the sessions' server is killed. Said are messages without a pack, and how much memory and files have grown, by least
squares. Exit code 1 where a message or a question has no pack.
"""

import argparse
import asyncio
import itertools
import os
import random
import signal
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.pipeline import HISTORY, QUESTIONS, Client, caught_up, paced
from bench.running import Running, processes, resident_mb, started
from tests import counters
from tests.proofs.overload.run import highest

SHARE = 0.7
CONVERSATIONS = 200
LOOK_S, FAULT_S, STANDS_S = 30.0, 120.0, 2.0
CANARY_S, ANSWERED_S, LEARNT_S = 20.0, 120.0, 900.0
# What a process takes when it is new is no growth: left out is the first third of a slice, five minutes at the most.
WARM_S = 300.0


@dataclass
class Looks:
    """What was seen of all processes of `fathom up`: seconds, kB of memory, open files."""

    at: list[float] = field(default_factory=list)
    resident: list[float] = field(default_factory=list)
    handles: list[float] = field(default_factory=list)

    def take(self, pid: int, second: float) -> None:
        """Look once."""
        files = [len(os.listdir(f"/proc/{one}/fd")) for one in processes(pid).values()]
        self.at.append(second)
        self.resident.append(1024 * sum(resident_mb(pid).values()))
        self.handles.append(sum(files))

    def growth(self) -> dict[str, int]:
        """How much both have grown, and what one per cent an hour is measured by; slices of it add up."""
        since = next((n for n, at in enumerate(self.at) if at >= min(WARM_S, self.at[-1] / 3)), 0) if self.at else 0
        at = self.at[since:]
        if len(at) < 3:
            return {}
        span = at[-1] - at[0]
        resident, handles = self.resident[since:], self.handles[since:]
        return {
            "grown kB": round(statistics.linear_regression(at, resident).slope * span),
            "kB hours": round(statistics.mean(resident) * span / 3600),
            "files grown": round(statistics.linear_regression(at, handles).slope * span),
        }


@dataclass
class Slice:
    """A slice under way: what was sent, asked and broken so far."""

    running: Running
    client: Client
    seconds: float
    sent: list[str] = field(default_factory=list)
    canaries: list[str] = field(default_factory=list)
    unanswered: int = 0
    faults: int = 0
    looks: Looks = field(default_factory=Looks)

    async def load(self, rate: int) -> None:
        """Messages at an even rate, half of them simple, half deep."""
        texts = {level: itertools.cycle(QUESTIONS[level]) for level in ("D0", "D2")}
        for due in paced(int(rate * self.seconds), rate):
            await due
            number = len(self.sent)
            text = next(texts["D2" if number % 2 else "D0"]).format(n=number)
            self.sent.append(await self.client.say(f"soak-{number % CONVERSATIONS}", text))

    async def look(self) -> None:
        """Look at the processes, and ask a question."""
        began = time.monotonic()
        while time.monotonic() - began < self.seconds:
            await asyncio.to_thread(self.looks.take, self.running.pid, time.monotonic() - began)
            asked = await self.client.say("canary", QUESTIONS["D0"][0].format(n=len(self.canaries)))
            self.canaries.append(asked)
            await self.client.all_packed([asked], CANARY_S)
            self.unanswered += asked not in self.client.packs
            await asyncio.sleep(max(began + LOOK_S * len(self.canaries) - time.monotonic(), 0))

    async def disturb(self, choose: random.Random) -> None:
        """Stop the broker or the index for a moment, or kill the sessions' server, which is started again."""
        for _ in range(int(self.seconds // FAULT_S)):
            await asyncio.sleep(FAULT_S * choose.uniform(0.5, 0.9))
            pids = processes(self.running.pid)
            name = choose.choice(sorted(pids.keys() & {"broker", "index", "valkey"}))
            if name == "valkey":
                os.kill(pids[name], signal.SIGKILL)
            else:
                os.kill(pids[name], signal.SIGSTOP)
                await asyncio.sleep(STANDS_S)
                os.kill(pids[name], signal.SIGCONT)
            self.faults += 1


async def soaked(running: Running, rate: int, minutes: float, seed: int) -> Slice:
    """One slice, until all that was sent has its pack or never will."""
    client = Client(running.bootstrap)
    await client.start()
    try:
        for number, (role, text) in itertools.product(range(CONVERSATIONS), HISTORY):
            await client.say(f"soak-{number}", text.format(n=number), role)
        await client.producer.flush()
        await caught_up(running, LEARNT_S)
        going = Slice(running, client, 60 * minutes)
        await asyncio.gather(going.load(rate), going.look(), going.disturb(random.Random(seed)))
        await client.producer.flush()
        await client.all_packed([*going.sent, *going.canaries], ANSWERED_S)
        return going
    finally:
        await client.stop()


def record(going: Slice, seed: int) -> bool:
    """Hand on and print what was counted; whether nothing is missing."""
    lost = sum(message not in going.client.packs for message in (*going.sent, *going.canaries))
    ran = {"minutes": round(going.seconds / 60), "messages": len(going.sent), "canaries": len(going.canaries)}
    faults = {"lost": lost, "canary late": going.unanswered}
    growth = going.looks.growth()
    counters.record("B17", "fathom up", {**ran, "disturbances": going.faults}, faults, growth, [seed])
    print(f"{ran}, {going.faults} disturbances: {faults}, {growth}")
    return not any(faults.values())


def rate_of(data: Path, running: Running) -> int:
    """What all slices on this data are loaded with, in messages a second."""
    kept = data / "rate"
    if not kept.exists():
        kept.write_text(f"{max(round(SHARE * asyncio.run(highest(running))), 1)}")
    return int(kept.read_text())


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.proofs.soak", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--seed", type=int, default=1, help="of the faults")
    parser.add_argument("--data", type=Path, help="kept from slice to slice; without it a new one")
    given = parser.parse_args(arguments)
    environment = {**os.environ, "FATHOM_LOG_LEVEL": "warning", "FATHOM_HTTP_PORT": "0"}
    with TemporaryDirectory(prefix="fathom-soak-") as new:
        data = (given.data or Path(new)).resolve()
        data.mkdir(parents=True, exist_ok=True)
        with started(["up", "--data", str(data / "up"), "--port", "0"], environment) as running:
            going = asyncio.run(soaked(running, rate_of(data, running), given.minutes, given.seed))
    return 0 if record(going, given.seed) else 1


if __name__ == "__main__":
    sys.exit(main())
