"""Sealing as a process: again and again until SIGTERM, with health and metrics where `FATHOM_HTTP_PORT` is set."""

import asyncio
import signal
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

from streams.config import Settings
from streams.listening import listening
from streams.runtime.health import Health, ProcessState
from streams.runtime.health_server import HealthServer
from streams.web_pages import names_of

BEAT_S = 1.0
# Beside the seconds between two heads: so long a first one over a large log may take.
LATE_S = 120.0


async def keep_sealing(seal: Callable[[], Awaitable[None]], every: float, settings: Settings) -> None:
    """Seal every so many seconds; after SIGTERM the head that is being written is ended. Raises what `seal` raises."""
    stopping = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopping.set)
    health = SealerHealth(every)
    async with _probed(health, settings):
        while not stopping.is_set():
            await seal()
            health.sealed()
            with suppress(TimeoutError):
                await asyncio.wait_for(stopping.wait(), every)


class SealerHealth(Health):
    """Alive while the loop moves; ready while everything was sealed not long ago."""

    def __init__(self, every: float, now: Callable[[], float] = time.monotonic) -> None:
        super().__init__(self._state)
        self._now = now
        self._most = every + LATE_S
        self._sealed = now()

    def sealed(self) -> None:
        """Record that all that was written is sealed."""
        self._sealed = self._now()
        self.started = True

    def _state(self) -> ProcessState:
        since = self._now() - self._sealed
        return {"groups": {}, "away": [f"nothing was sealed for {since:.0f} s"] if since > self._most else []}


@asynccontextmanager
async def _probed(health: SealerHealth, settings: Settings) -> AsyncIterator[None]:
    """Answer probes; without a port that was asked for none is opened."""
    if "http_port" not in settings.model_fields_set:
        yield
        return
    with listening(settings.http_host, settings.http_port, "FATHOM_HTTP_HOST", "FATHOM_HTTP_PORT") as listener:
        probes = HealthServer(health, listener, names_of(settings))
        probes.start()
        beating = asyncio.create_task(_beat(health))
        try:
            yield
        finally:
            health.stopping = True
            beating.cancel()
            await asyncio.to_thread(probes.stop)


async def _beat(health: Health) -> None:
    while True:
        health.beat()
        await asyncio.sleep(BEAT_S)
