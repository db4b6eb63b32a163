"""The watch of all a process stands on: stores, broker, disk, each asked every few seconds, and what is damaged."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import TYPE_CHECKING, Protocol

from agents.concurrency import timeout
from agents.errors import Unavailable
from streams.config import Settings
from streams.kafka.broker_probe import BrokerProbe
from streams.kafka.security import security_of
from streams.telemetry import metrics

if TYPE_CHECKING:
    from streams.runtime.stores import Stores

LOGGER = logging.getLogger("fathom.worker")
EVERY_S = 3.0
# The limit of a check that has none of its own; longer than any of those.
CHECK_S = 15.0
# A store that misses a check or two is slow, or restarting: it is away when nothing came from it for so long.
AWAY_S = 10.0
LOOK_EVERY_S = 60.0
LOOKED_AT = "see docs/backup.md#damaged-files; remove it, or move it elsewhere, when you have looked at it"

Check = Callable[[], Awaitable[str | None]]


class StoreWatch:
    """The state of each store by name: a check returns None for one that answers, else what is wrong, or raises it.

    `run` works in one event loop; the states may be read in any thread.
    """

    def __init__(self, checks: Mapping[str, Check], *, clock: Callable[[], float] = time.monotonic) -> None:
        self._checks = checks
        self._clock = clock
        # Replaced and never changed, for they are read in another thread.
        self._states: dict[str, str | None] = {}
        self._answered: dict[str, float] = {}

    async def run(self) -> None:
        """Ask until cancelled."""
        await asyncio.gather(*(self._ask_forever(name) for name in self._checks))

    def states(self) -> dict[str, str]:
        """`ok`, or what was wrong at the last check."""
        return {name: wrong or "ok" for name, wrong in self._states.items()}

    def away(self) -> dict[str, str]:
        """What is wrong with each store that has not answered for `AWAY_S` seconds, or never has."""
        now, answered = self._clock(), self._answered
        return {
            name: wrong
            for name, wrong in self._states.items()
            if wrong and (name not in answered or now - answered[name] >= AWAY_S)
        }

    async def ask(self, name: str) -> None:
        """Check one store now, and keep what was found; a change is logged."""
        began = time.monotonic()
        try:
            async with timeout(CHECK_S):
                wrong = await self._checks[name]()
        except TimeoutError:
            wrong = f"{name} is unavailable: no answer in {CHECK_S:g} s"
        except Unavailable as unavailable:
            wrong = str(unavailable)
        except Exception as error:  # noqa: BLE001 - a watch that ended by a bug of a driver would say "ok" for ever
            wrong = f"{name} is unavailable: {error!r}"
        if wrong is None:
            self._answered = {**self._answered, name: self._clock()}
        if wrong != self._states.get(name):
            level, event = (logging.WARNING, "store.down") if wrong else (logging.INFO, "store.up")
            metrics.log(LOGGER, level, event, store=name, why=wrong or "answers")
        self._states = {**self._states, name: wrong}
        metrics.STORE_UP.labels(name).set(wrong is None)
        metrics.STORE_SECONDS.labels(name).observe(time.monotonic() - began)

    async def _ask_forever(self, name: str) -> None:
        while True:
            await self.ask(name)
            await asyncio.sleep(EVERY_S)


class StoreFilling(Protocol):
    """The filling of stores that lack what the log says; `stores` is what stages read until it is done."""

    stores: "Stores"

    async def run(self, bootstrap: str) -> None:
        """Fill them from the log of this broker."""


# Of the settings, the stores, the names of those that were not there, and the address of the broker.
Refill = Callable[[Settings, "Stores", Collection[str], str], Awaitable[StoreFilling | None]]


class DamageWatch:
    """What was set aside because it was damaged, by `look`, the files and directories that are there."""

    def __init__(self, look: Callable[[], list[str]]) -> None:
        self._look = look
        # Replaced and never changed, for it is read in another thread.
        self.files: list[str] = []

    async def run(self) -> None:
        """Look until cancelled."""
        while True:
            await self.look()
            await asyncio.sleep(LOOK_EVERY_S)

    async def look(self) -> None:
        """Look now; what is new is logged."""
        found = await asyncio.to_thread(self._look)
        for file in sorted({*found} - {*self.files}):
            metrics.log(LOGGER, logging.WARNING, "data.damaged", file=file, next=LOOKED_AT)
        self.files = found


def broker_probe(bootstrap: Callable[[], str], settings: Settings) -> BrokerProbe:
    """The probe of the broker at this address, which may change; raises `ConfigError`."""
    return BrokerProbe(bootstrap, security_of(settings))


async def answered(probe: BrokerProbe) -> None:
    """The check of a broker; raises `Unavailable`."""
    await probe.ask()
