"""The journal of a worker: in its data directory, or where it is told; without one it works as well."""

import logging
import os
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from streams.config import Settings
from streams.runtime import data_dir
from streams.runtime.crashes.journal import deployment, opened
from streams.runtime.crashes.watch import CrashCounts, CrashWatch
from streams.telemetry import metrics
from streams.topology import Stage

LOGGER = logging.getLogger("fathom.group")
JOURNAL = "journal"


def folder_of(settings: Settings) -> Path:
    """The folder of journals; it must be there again when the process is started again."""
    if settings.journal_dir is not None:
        return settings.journal_dir
    home = data_dir.home_of(settings.broker)
    return Path(tempfile.gettempdir()) / f"fathom-{os.geteuid()}" if home is None else home / JOURNAL


async def open_watch(
    settings: Settings, stages: Sequence[Stage], counts: CrashCounts
) -> tuple[CrashWatch, Callable[[], None]]:
    """Count what dead processes left in hand, and open a journal; the call closes it in order."""
    folder, shared = folder_of(settings), deployment(settings.broker, settings.redis_url)
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
