"""Scheduling priority within one process: packs that are begun, then new ones, then background stages.

All stages of a process share one event loop. Computation (vectors, summaries, claims) would delay every hop of a pack,
so records of background stages are admitted when no pack is in progress or after a short timeout, stage by stage in
turn. And what is begun is finished first: where more comes than can be handled, messages wait at the first stage,
before their deadlines run, and not in every stage on the way.
"""

import asyncio
import contextlib
from collections import deque
from collections.abc import Hashable
from time import monotonic

from streams.runtime.admission.fairness import TenantCounts

MAX_WAIT_S = 0.01
# Records in progress behind the first stage, of half a dozen messages: enough to keep stores busy.
MAX_AHEAD = 64
# The first stage goes on even so: what is ahead may wait for a store that is down.
MAX_ADMISSION_S = 0.25
# Messages that wait are admitted a few at a time: what they become is ahead only when it has been through the log.
ADMITTED, ADMITTED_EVERY_S = 8, 0.005
# And fewer where those ahead did not get done in that time: else a slow machine has ever more in its later stages.
ADMITTED_LATE = 2
# How late the loop must be for records ahead to count: those that wait for a slow store keep nothing from being begun.
BUSY_S = 0.005


class _Turns:
    """Calls that wait, in a queue for each name: the names take turns, so that none waits for all of another's."""

    def __init__(self) -> None:
        self._queues: dict[Hashable, tuple[int, deque[asyncio.Future[None]]]] = {}

    def __bool__(self) -> bool:
        return bool(self._queues)

    def join(self, name: Hashable, together: int = 1) -> asyncio.Future[None]:
        """A future that is done when the call is released; `together` calls of a name are, in one turn."""
        call: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queues.setdefault(name, (together, deque()))[1].append(call)
        return call

    def release(self) -> None:
        """One turn, of the name that has waited longest for one."""
        name, (together, calls) = next(iter(self._queues.items()))
        del self._queues[name]
        for _ in range(min(together, len(calls))):
            if not (call := calls.popleft()).done():
                call.set_result(None)
        if calls:
            self._queues[name] = together, calls  # behind the others


class PriorityGate:
    """A gate of a process's stages: it counts the records in progress on the pack path."""

    def __init__(self) -> None:
        self._first = 0
        self._ahead = 0
        self._calm = asyncio.Event()
        self._calm.set()
        self._room = asyncio.Event()
        self._room.set()
        self._new = _Turns()
        self._opening: asyncio.Task[None] | None = None
        self._waiting = _Turns()
        self._admitting: asyncio.Task[None] | None = None
        self._full_since: float | None = None
        self.tenants = TenantCounts()

    def enter(self, *, first: bool = False) -> None:
        """Count a record of the pack path as in progress; `first`: at its first stage."""
        if first:
            self._first += 1
        else:
            self._ahead += 1
            if self._ahead >= MAX_AHEAD:
                self._room.clear()
        self._calm.clear()

    def leave(self, records: int, *, first: bool = False) -> None:
        """Count records of the pack path as done."""
        if first:
            self._first -= records
        else:
            self._ahead -= records
            if self._ahead < MAX_AHEAD:
                self._room.set()
        if self._first + self._ahead <= 0:
            self._calm.set()

    async def admitted(self, tenant: Hashable) -> None:
        """Wait while the loop is busy with those ahead, at most a quarter of a second; tenants take turns.

        A tenant that has little does not wait: those ahead are others'. Nor may that be more than as many again.
        """
        if not self._new and self._room.is_set():
            return
        if self._ahead < 2 * MAX_AHEAD and self.tenants.has_little(tenant):
            return
        admitted = self._new.join(tenant)
        if self._opening is None or self._opening.done():
            self._opening = asyncio.create_task(self._open())
        await admitted

    async def _open(self) -> None:
        while self._new:
            due, admitted = monotonic() + ADMITTED_EVERY_S, ADMITTED
            await asyncio.sleep(ADMITTED_EVERY_S)
            if monotonic() - due > BUSY_S and not self._room.is_set():
                try:
                    async with asyncio.timeout(MAX_ADMISSION_S):
                        await self._room.wait()
                except TimeoutError:
                    admitted = ADMITTED_LATE
            for _ in range(admitted):
                if self._new:
                    self._new.release()

    def filled(self, load: int, most: int) -> None:
        """Note how much of what it may the first stage has in progress."""
        if load >= most:
            self._full_since = self._full_since or monotonic()
        elif load < most // 2:
            self._full_since = None

    def full_for(self, tenant: str | None = None) -> float:
        """Seconds for which more messages have waited than the first stage may have in progress; 0 if none does.

        And 0 for a tenant that has little there: the overload is others'.
        """
        if self._full_since is None or (tenant is not None and self.tenants.has_little(tenant)):
            return 0.0
        return monotonic() - self._full_since

    async def turn(self, stage: str, together: int = 1) -> None:
        """Wait until no pack is in progress, at most ten milliseconds for each turn of a stage.

        Stages take turns; of one stage `together` records are admitted in one, in the order of their calls. More of
        those that compute would block the loop before the next pack.
        """
        admitted = self._waiting.join(stage, together)
        if self._admitting is None or self._admitting.done():
            self._admitting = asyncio.create_task(self._admit())
        await admitted

    async def _admit(self) -> None:
        while self._waiting:
            await asyncio.sleep(0)
            if not self._calm.is_set():
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(MAX_WAIT_S):
                        await self._calm.wait()
            self._waiting.release()
