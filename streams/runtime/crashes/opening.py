"""The journal of a worker, opened; without one it works as well."""

import logging
from collections.abc import Callable, Sequence
from pathlib import Path

from streams.config import Settings
from streams.runtime.crashes.journal import deployment, opened
from streams.runtime.crashes.watch import CrashCounts, CrashWatch
from streams.telemetry import metrics
from streams.topology import Stage

LOGGER = logging.getLogger("fathom.group")


async def open_watch(
    settings: Settings, folder: Path, stages: Sequence[Stage], counts: CrashCounts
) -> tuple[CrashWatch, Callable[[], None]]:
    """Count what dead processes left in hand in a folder, and open a journal there; the call closes it in order."""
    shared = deployment(settings.broker, settings.redis_url)
    try:
        file = opened(
            folder,
            shared,
            [stage.name for stage in stages],
            sorted({topic.name for stage in stages for topic in stage.reads}),
        )
    except OSError as error:
        metrics.log(
            LOGGER, logging.WARNING, "crash.unwatched", folder=str(folder), why=str(error),
            next="records that kill this process are not found; set FATHOM_JOURNAL_DIR to a folder of its own",
        )  # fmt: skip
        return CrashWatch(None, counts), lambda: None
    watch = CrashWatch(file.journal, counts)
    await watch.count_crashes(folder, shared)
    return watch, file.close
