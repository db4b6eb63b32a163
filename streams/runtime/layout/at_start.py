"""At a worker's start: the broker is there and its layout is ours, or the embedded one, which only we use, switches."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable

from agents.errors import Unavailable
from streams.config import Settings
from streams.kafka.security import Security, security_of
from streams.runtime.layout import cluster
from streams.stage import Stage
from streams.telemetry import metrics
from streams.topology import CHAINED_PATH, SPLIT_PATH

LOGGER = logging.getLogger("fathom.up")
RETRY_S, LOG_EVERY_S = 0.5, 5.0
# Runs stages until what is asked of it says that nothing is left.
Finish = Callable[[Iterable[Stage], Callable[[], Awaitable[bool]]], Awaitable[None]]


async def settle(settings: Settings, stages: Iterable[Stage], bootstrap: str, finish: Finish | None) -> None:
    """Check the layout of the cluster; with `finish`, an embedded one becomes what the settings say.

    What the split stages have in hand is done first. Raises `ConfigError` where another process may run the other
    layout.
    """
    security = security_of(settings)
    if {stage.name for stage in stages}.isdisjoint({stage.name for stage in (*CHAINED_PATH, *SPLIT_PATH)}):
        return
    if finish is None:
        # The broker answers, and still looks for the coordinator of the group, or loads what it has committed.
        return await until_answered(bootstrap, lambda: cluster.check(bootstrap, security, settings.layout))
    there = await cluster.layout_of(bootstrap, security)
    if there == settings.layout:
        return
    metrics.log(LOGGER, logging.INFO, "layout.switching", there=there, to=settings.layout)
    if there == "chained":
        return await cluster.enter_split(bootstrap, security)

    async def done() -> bool:
        return not await cluster.unread(bootstrap, security)

    await finish([stage for stage in SPLIT_PATH if not stage.first], done)
    await cluster.leave_split(bootstrap, security)


async def until_reachable(bootstrap: str, security: Security) -> None:
    """Wait for an external broker; raises `BrokerRejected` when it refuses us."""
    from streams.kafka.topics_admin import existing

    logging.getLogger("aiokafka").setLevel(logging.CRITICAL)
    await until_answered(bootstrap, lambda: existing(bootstrap, security))


async def until_answered(bootstrap: str, ask: Callable[[], Awaitable[object]]) -> None:
    """Ask until there is an answer, logging every five seconds; raises what is no `Unavailable`."""
    loop = asyncio.get_running_loop()
    log_at = loop.time()
    while True:
        try:
            await ask()
            return
        except Unavailable as error:
            if loop.time() >= log_at:
                metrics.log(
                    LOGGER, logging.WARNING, "broker.waiting", broker=bootstrap, why=error.detail, next="trying again"
                )
                log_at = loop.time() + LOG_EVERY_S
        await asyncio.sleep(RETRY_S)
