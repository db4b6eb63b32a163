"""The embedded broker of a worker: started on its directory, and again whenever it dies."""

import asyncio
import logging
from collections import deque
from pathlib import Path

from streams.broker.errors import BrokerFailed
from streams.broker.process import BrokerProcess
from streams.telemetry import metrics

LOGGER = logging.getLogger("fathom.up")
RETRY_S, POLL_S = 0.5, 0.25
ORPHAN_RETRIES = 10
RESTARTS, RESTART_WINDOW_S = 3, 60.0


async def start(broker: BrokerProcess, directory: Path, port: int, partitions: int) -> str:
    for _ in range(ORPHAN_RETRIES):
        try:
            return await asyncio.to_thread(broker.start, directory, port, partitions=partitions)
        except BrokerFailed as error:
            # The directory is locked by us, so its broker is an orphan, about to notice that its parent has gone.
            if "in use" not in str(error):
                raise
        await asyncio.sleep(RETRY_S)
    return await asyncio.to_thread(broker.start, directory, port, partitions=partitions)


async def keep_running(broker: BrokerProcess, directory: Path, port: int, partitions: int) -> BaseException:
    """Restart the broker on the same port whenever it dies; return the error when it keeps dying."""
    loop = asyncio.get_running_loop()
    began: deque[float] = deque(maxlen=RESTARTS)
    while True:
        await asyncio.sleep(POLL_S)
        if broker.running:
            continue
        if len(began) == RESTARTS and loop.time() - began[0] < RESTART_WINDOW_S:
            return BrokerFailed(f"the embedded broker ended {RESTARTS + 1} times within a minute; see the lines above")
        began.append(loop.time())
        metrics.log(LOGGER, logging.WARNING, "broker.restart", directory=str(directory))
        await asyncio.to_thread(broker.kill)
        try:
            await start(broker, directory, port, partitions)
        except BrokerFailed as error:
            return error
