"""A worker process in which records kill: each stage notes what it handles in a file, and `claims` dies of poison.

    python -m tests.proofs.overload.poisoned LOG

Settings come from the environment. It ends at SIGTERM, or as the poison says.
"""

import asyncio
import ctypes
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import uvloop

from schemas.base import Event
from schemas.envelope import Received, Step
from streams import config
from streams.runtime.app import Worker
from streams.runtime.stores import open_stores
from streams.runtime.up import store_settings
from streams.topology import STAGES, Stage

KILLED = "claims"
# Two stages of one group, and one of another.
GROUP = (KILLED, "summariser")
NAMES = (*GROUP, "turn-writer")
SLOW_S = 0.002


def _out_of_memory() -> None:
    """What a kernel does to a process that asks for too much."""
    os.kill(os.getpid(), signal.SIGKILL)


def _raise() -> None:
    raise ZeroDivisionError("poison")


# What a text brings about; `raises` and what is no event kill nothing.
KILLS: dict[str, Callable[[], object]] = {
    "killed": _out_of_memory,
    "segfault": partial(ctypes.string_at, 0),
    "abort": os.abort,
}
POISONS: dict[str, Callable[[], object]] = {**KILLS, "raises": _raise}


class NotingHandler:
    """Notes every turn in a file, when it was begun and how long it took since its record was written."""

    def __init__(self, stage: str, log: Path) -> None:
        self._stage = stage
        self._log = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    async def handle(self, received: Received[Event]) -> Sequence[Step]:
        """Work a little, die of poison."""
        content = str(getattr(received.event, "content", ""))
        place = f"{received.partition}:{received.offset}"
        os.write(self._log, f"{self._stage} {place} begun {time.time():.4f} {content}\n".encode())
        await asyncio.sleep(SLOW_S)
        kind = content.removeprefix("poison ").partition(" ")[0]
        if self._stage == KILLED and content.startswith("poison ") and kind in POISONS:
            POISONS[kind]()
        os.write(self._log, f"{self._stage} {place} done {time.time():.4f} {content}\n".encode())
        return []


def _stages(log: Path) -> tuple[Stage, ...]:
    rows = [stage for stage in STAGES if stage.name in NAMES]
    return tuple(replace(row, build=lambda _, name=row.name: NotingHandler(name, log)) for row in rows)  # type: ignore[misc]


async def _main(log: Path) -> int:
    settings = config.load()
    stages = _stages(log)
    stores = open_stores(store_settings(settings, ()))
    told = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, told.set)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        worker = Worker(settings, stages, settings.broker, stores, listener)
        await worker.start()
        failing, stopping = asyncio.ensure_future(worker.failed()), asyncio.ensure_future(told.wait())
        await asyncio.wait({failing, stopping}, return_when=asyncio.FIRST_COMPLETED)
        failed = failing.done()  # before the stop, which ends what would be a fault before it
        await worker.stop()
        await stores.close()
        return int(failed)


if __name__ == "__main__":
    sys.exit(uvloop.run(_main(Path(sys.argv[1]))))
