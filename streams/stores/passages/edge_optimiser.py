"""Optimises shards of the embedded index that have grown, each on a copy of its files and in a process of its own.

The engine optimises under Python's lock, seconds for ten thousand passages: here, no search would be answered. Searches
go on meanwhile; writes wait while the files are copied. When the copy takes the shard's place, searches wait until it
is loaded: 3 ms per thousand passages.
"""

import asyncio
import logging
import os
import sys
import time
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from streams.child_process import PACKAGE_ROOT
from streams.stores.passages.edge_shard import MAX_JOURNALLED, Shard
from streams.stores.passages.optimise_shard import COPIED, COPY
from streams.telemetry import metrics

LOGGER = logging.getLogger("fathom.index")

# A shard is optimised when this many points are new, or a quarter of it, but no more than that.
FEWEST, SHARE, MOST = 10_000, 4, 50_000
# Before the next attempt, when there was no room for a copy or too much was written meanwhile.
PAUSE_S = 60.0
LOOK_S = 1.0


class Optimiser:
    """Watches over shards; `notice` after every write."""

    def __init__(self, shards: Sequence[Shard], *, fewest: int = FEWEST) -> None:
        self._shards = shards
        self._fewest = fewest
        self._working: asyncio.Task[None] | None = None
        self._turn = asyncio.Lock()

    def notice(self) -> None:
        """Begin when a shard has grown enough."""
        if (self._working is None or self._working.done()) and any(map(self._due, self._shards)):
            self._working = asyncio.create_task(self._work())

    async def now(self, shard: Shard) -> bool:
        """Replace the shard's files by an optimised copy; false when there is none, and everything is as it was."""
        async with self._turn:  # each takes a core and the room of a copy
            return await _optimise(shard)

    async def close(self) -> None:
        """Leave off what is under way; the shards stay as they are."""
        if self._working is not None:
            self._working.cancel()
            with suppress(asyncio.CancelledError):
                await self._working

    def _due(self, shard: Shard) -> bool:
        new = shard.pending
        return new >= self._fewest and new >= min(shard.points // SHARE, max(MOST, self._fewest))

    async def _work(self) -> None:
        while due := [shard for shard in self._shards if self._due(shard)]:
            done = [await self.now(shard) for shard in due]
            if not all(done):
                await asyncio.sleep(PAUSE_S)


async def _optimise(shard: Shard) -> bool:
    began = time.monotonic()
    child = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "streams.stores.passages.optimise_shard", str(shard.path)),
        stdin=PIPE,
        stdout=PIPE,
        stderr=DEVNULL,
        cwd=PACKAGE_ROOT,
    )
    path = shard.hold()
    why: str | None = "the files could not be copied: is there room for as many three times over?"
    try:
        if await _copied(child, path):
            shard.release(copied=True)
            why = await _optimised(child, shard)
        if why is None:
            await shard.adopt(path)
    finally:
        if child.returncode is None:
            child.kill()
            await child.wait()
        if shard.path != path:
            shard.forget(path)
    told = {"collection": shard.name, "seconds": round(time.monotonic() - began, 1)}
    if why is not None:
        metrics.log(LOGGER, logging.WARNING, "index.not_optimised", why=why, next="trying again later", **told)
        return False
    metrics.log(LOGGER, logging.INFO, "index.optimised", points=shard.points, **told)
    return True


async def _copied(child: Process, path: Path) -> bool:
    assert child.stdin is not None
    assert child.stdout is not None
    with suppress(ConnectionError):
        child.stdin.write(COPY + os.fsencode(path) + b"\n")
        await child.stdin.drain()
    return await child.stdout.readline() == COPIED


async def _optimised(child: Process, shard: Shard) -> str | None:
    """Why there is no optimised copy; None when there is."""
    ended = asyncio.create_task(child.wait())
    while not ended.done():
        await asyncio.wait({ended}, timeout=LOOK_S)
        if not ended.done() and shard.journalled > MAX_JOURNALLED:
            child.kill()
            await ended
            return "too much was written meanwhile"
    return None if ended.result() == 0 else f"it ended with {ended.result()}"
