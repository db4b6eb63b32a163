"""At a worker's start: its layout is the cluster's; or the embedded cluster, where nothing else runs, switches."""

import logging
from collections.abc import Awaitable, Callable, Iterable

from streams.config import Settings
from streams.kafka.security import security_of
from streams.runtime.layout import cluster
from streams.stage import Stage
from streams.telemetry import metrics
from streams.topology import CHAINED_PATH, SPLIT_PATH

LOGGER = logging.getLogger("fathom.up")
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
        return await cluster.check(bootstrap, security, settings.layout)
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
