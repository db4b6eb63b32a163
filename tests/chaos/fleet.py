"""Worker processes under a supervisor: whatever dies is started again at once, and every death is written down."""

import asyncio
import logging
import os
import signal
import sys
import time
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from tests.chaos.points import NOWHERE, RANDOM, Point
from tests.checkout import ROOT

LOGGER = logging.getLogger("chaos.fleet")
REPOSITORY = ROOT
# The limit of a hang: with brokers dying a join waits for the end of two rebalances, on a busy machine.
READY_S = 180.0
GRACE_S = 10.0
# A point that is not reached within this time is tried once more, later: the process dies where it is.
PATIENCE_S = 12.0


@dataclass(slots=True)
class Event:
    """Something that happened to a member; times by the wall clock, `ready` when its successor consumed."""

    member: str
    kind: str
    at: float
    took: float = 0.0
    ready: float | None = None


@dataclass
class Member:
    """One worker and its successors; `points` are where they die, one each."""

    name: str
    groups: Sequence[str]
    environment: Mapping[str, str]
    log: Path
    points: deque[Point] = field(default_factory=deque)
    process: asyncio.subprocess.Process | None = None
    point: Point = NOWHERE
    ready: asyncio.Event = field(default_factory=asyncio.Event)
    unarmed: asyncio.Event = field(default_factory=asyncio.Event)
    ready_at: float = 0.0
    leaving: bool = False

    def __str__(self) -> str:
        state = "consumes" if self.ready.is_set() else "is not ready"
        return f"{self.name} {state}, dies at {self.point.name}, then at {len(self.points)} more, see {self.log}"

    async def start(self) -> None:
        """Start the process; `ready` is set once it consumes."""
        self.ready.clear()
        self.unarmed.clear()
        self.point = self.points.popleft() if self.points else NOWHERE
        with self.log.open("ab") as errors:
            self.process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "tests.chaos.worker", *self.point.arguments(), *self.groups,
                cwd=REPOSITORY,
                env={**os.environ, **self.environment},
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=errors,
                start_new_session=True,
            )  # fmt: skip

    async def until_ready_or_dead(self) -> bool:
        """Read the line that says so; False when the process ends without it."""
        assert self.process is not None
        assert self.process.stdout is not None
        said = await self.process.stdout.readline()
        if b'"ready"' not in said:
            return False
        self.ready_at = time.time()
        LOGGER.info("%s is ready, dies at %s", self.name, self.point.name)
        self.ready.set()
        if self.point is NOWHERE:
            self.unarmed.set()
        return True

    def signal(self, number: signal.Signals) -> None:
        """Send a signal, if there is a process to take it."""
        if self.process is not None and self.process.returncode is None:
            with suppress(ProcessLookupError):
                os.kill(self.process.pid, number)


class Stuck(Exception):
    """Nobody died and nobody came back for so long that waiting on is of no use; says where each member is."""


class Fleet:
    """All members of a run; used as a context, at whose end nothing of them is left."""

    def __init__(self, environment: Mapping[str, str], directory: Path) -> None:
        self._environment = environment
        self._directory = directory
        self._watching: dict[str, asyncio.Task[None]] = {}
        self.members: dict[str, Member] = {}
        self.events: list[Event] = []
        self.failures: list[str] = []

    async def __aenter__(self) -> "Fleet":
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._watching.values():
            task.cancel()
        for member in self.members.values():
            member.signal(signal.SIGKILL)
            if member.process is not None:
                await member.process.wait()

    async def join(
        self, name: str, groups: Sequence[str], stores: Mapping[str, str] | None = None, points: Iterable[Point] = ()
    ) -> Event:
        """A new member; returns once it consumes."""
        environment = {**self._environment, **(stores or {})}
        member = Member(name, groups, environment, self._directory / f"{name}.log", deque(points))
        self.members[name] = member
        event = Event(name, "join", time.time())
        self._watching[name] = asyncio.create_task(self._watch(member))
        await asyncio.wait_for(member.ready.wait(), READY_S)
        event.ready = member.ready_at
        self.events.append(event)
        return event

    async def leave(self, name: str) -> Event:
        """SIGTERM; a failure unless the process exits with 0 within ten seconds."""
        member = self.members[name]
        await asyncio.wait_for(member.ready.wait(), READY_S)
        member.leaving = True
        event = Event(name, "SIGTERM", time.time())
        member.signal(signal.SIGTERM)
        assert member.process is not None
        try:
            code = await asyncio.wait_for(member.process.wait(), 3 * GRACE_S)
        except TimeoutError:
            code = -1
            member.signal(signal.SIGKILL)
        event.took = time.time() - event.at
        self.events.append(event)
        if code == -signal.SIGKILL and member.point is not NOWHERE:
            event.kind = member.point.name  # it came to its point while it was leaving
        elif code != 0 or event.took > GRACE_S:
            self.failures.append(f"{name}: SIGTERM ended with {code} after {event.took:.1f} s")
        await self._watching.pop(name)
        return event

    async def back(self, name: str) -> None:
        """Start a member that left again; returns once it consumes."""
        member = self.members[name]
        member.leaving = False
        self._watching[name] = asyncio.create_task(self._watch(member))
        await asyncio.wait_for(member.ready.wait(), READY_S)

    def kill(self, name: str) -> None:
        """SIGKILL from outside, wherever the process is."""
        member = self.members[name]
        member.unarmed.clear()
        if member.process is not None and member.process.returncode is None:
            member.point = RANDOM
            member.signal(signal.SIGKILL)

    async def spent(self) -> None:
        """Wait until every member has died at all of its points and is back; raises `Stuck` when nothing happens."""
        for member in self.members.values():
            while not member.unarmed.is_set():
                before = self._happened()
                with suppress(TimeoutError):
                    await asyncio.wait_for(member.unarmed.wait(), READY_S)
                if self._happened() == before and not member.unarmed.is_set():
                    raise Stuck(f"nothing for {READY_S:.0f} s: {'; '.join(map(str, self.members.values()))}")

    def _happened(self) -> tuple[int, float]:
        return len(self.events), max(member.ready_at for member in self.members.values())

    async def peace(self) -> None:
        """No more deaths: whoever still has a place to die at leaves and comes back without it."""
        for name, member in self.members.items():
            member.points.clear()
            await asyncio.wait_for(member.ready.wait(), READY_S)
            if member.point is not NOWHERE and not member.leaving:
                await self.leave(name)
                await self.back(name)

    @property
    def kills(self) -> list[Event]:
        """The deaths by SIGKILL."""
        return [event for event in self.events if event.kind not in ("join", "SIGTERM")]

    async def _watch(self, member: Member) -> None:
        while True:
            await member.start()
            assert member.process is not None
            if await member.until_ready_or_dead():
                self._came_back(member)
            await self._until_dead(member)
            code = member.process.returncode
            member.ready.clear()
            if member.leaving:
                return
            LOGGER.info("%s ended with %s at %s", member.name, code, member.point.name)
            kind = member.point.name if code == -signal.SIGKILL else f"exit {code}"
            self.events.append(Event(member.name, kind, time.time()))
            if code != -signal.SIGKILL:
                self.failures.append(f"{member.name}: ended by itself with {code}, see {member.log}")
                await asyncio.sleep(1)

    async def _until_dead(self, member: Member) -> None:
        assert member.process is not None
        while True:
            due = member.ready_at + member.point.after + PATIENCE_S - time.time()
            waits = member.point is not NOWHERE and not member.leaving
            try:
                await asyncio.wait_for(member.process.wait(), max(due, 0.05) if waits else 1.0)
                return
            except TimeoutError:
                if waits and due <= 0:
                    LOGGER.info("%s did not come to %s", member.name, member.point.name)
                    if not member.point.again:
                        member.points.append(replace(member.point, again=True))
                    member.point = RANDOM
                    member.signal(signal.SIGKILL)

    def _came_back(self, member: Member) -> None:
        for event in reversed(self.events):
            if event.member == member.name:
                if event.kind != "SIGTERM" and event.ready is None:
                    event.ready = member.ready_at
                return
