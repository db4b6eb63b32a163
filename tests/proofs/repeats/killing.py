"""A history stored by processes that are killed, SIGKILL, in mid-write, each followed by another."""

import asyncio
import pickle
import random
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.checkout import ROOT
from tests.proofs.repeats.deliveries import Contents, batches, repeated
from tests.proofs.repeats.member import acknowledged
from tests.proofs.repeats.stores import Place, closed, opened, whole

PATIENCE_S, LOOK_S = 3_600.0, 0.01


def killed(place: Place, events: Sequence[Any], directory: Path, *, seed: int, deaths: int) -> tuple[Contents, int]:
    """What is left when all is stored, and how many processes were killed while they wrote."""
    chance = random.Random(seed)
    cut = list(batches(repeated(events, chance), chance))
    plan, done = directory / "plan.pickle", directory / "done"
    plan.write_bytes(pickle.dumps((place, cut)))
    happened = 0
    # At even distances in the work, and then somewhere in the middle of a batch.
    for number in range(1, deaths + 1):
        happened += _one(plan, done, seed + number, until=len(cut) * number // (deaths + 1), chance=chance)
    _one(plan, done, seed, until=None, chance=chance)
    return asyncio.run(_read(place)), happened


def _one(plan: Path, done: Path, seed: int, *, until: int | None, chance: random.Random) -> bool:
    """One process; killed once so many batches are stored, unless it ends before."""
    command = [sys.executable, "-m", "tests.proofs.repeats.member", str(plan), str(done), str(seed)]
    process = subprocess.Popen(command, cwd=ROOT)
    deadline = time.monotonic() + PATIENCE_S
    try:
        while process.poll() is None:
            if until is not None and len(acknowledged(done)) >= until:
                time.sleep(chance.uniform(0, 0.2))
                process.kill()
            if time.monotonic() > deadline:
                raise TimeoutError(f"{' '.join(command)} does not end")
            time.sleep(LOOK_S)
        killed = process.returncode < 0
        if not killed and process.returncode != 0:
            raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}")
        return killed
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()


async def _read(place: Place) -> Contents:
    store = opened(place)
    try:
        return await whole(store, place)
    finally:
        await closed(store)
