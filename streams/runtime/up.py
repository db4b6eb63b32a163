"""The lifecycle of a worker process: lock the directory, start the embedded broker, open the stores, consume, drain.

Shutdown is in the reverse order of start. When the process is killed, the broker and the cache exit too: both watch a
pipe that it holds.
"""

import asyncio
import gc
import logging
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import (
    AbstractAsyncContextManager,
    AsyncExitStack,
    asynccontextmanager,
    suppress,
)
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from socket import socket
from typing import TYPE_CHECKING, cast

from streams.broker.process import BrokerProcess
from streams.config import Settings, secret
from streams.kafka.security import security_of
from streams.listening import listening
from streams.runtime import data_dir as homes
from streams.runtime.embedded import broker as embedded_broker
from streams.runtime.layout import at_start
from streams.stores.damage import mark_missing
from streams.stores.passages.index_layout import clear_if_outdated
from streams.stores.passages.index_process import IndexProcess, spawn_index
from streams.stores.remote.server import ServedGraph, serving
from streams.stores.settings import StoreSettings
from streams.telemetry import metrics
from streams.telemetry.trace_export import export_traces

if TYPE_CHECKING:
    from streams.models.open import Models
    from streams.runtime.app import Worker
    from streams.runtime.health_server import ServedApi
    from streams.runtime.store_watch import Refill
    from streams.runtime.stores import Stores
    from streams.stage import Stage

LOGGER = logging.getLogger("fathom.up")
INTERRUPTED = 130
POLL_S = 0.25
REACHABLE_S = 10.0
# Thresholds of the garbage collector: a record makes about a hundred objects without cycles, and collecting every 700
# allocations, the default, took 8 % of a stage's time.
COLLECT = (20_000, 20, 100)


@dataclass(frozen=True)
class Running:
    """A running worker; `ended` gets the fatal error: a failed stage, or a broker that keeps dying."""

    bootstrap: str
    http: str
    ended: "asyncio.Future[BaseException]"


async def run(
    settings: Settings,
    stages: "Sequence[Stage]",
    *,
    port: int = 0,
    ready: Callable[[Running], None],
    api: "Callable[[], ServedApi] | None" = None,
    refill: "Refill | None" = None,
) -> BaseException | None:
    """Consume until a signal (None) or a failure (why); a second signal exits the process at once with 130.

    `api` makes the HTTP interface to serve beside health and metrics, `refill` fills damaged and lost stores. Raises
    the error of a failed start.
    """
    stopping = asyncio.Event()
    _on_signals(stopping, homes.home_of(settings.broker))
    begun = consuming(settings, stages, port=port, api=api, refill=refill)
    consuming_until = asyncio.create_task(_consume(begun, ready, stopping))
    stopped = asyncio.create_task(stopping.wait())
    await asyncio.wait({consuming_until, stopped}, return_when=asyncio.FIRST_COMPLETED)
    stopped.cancel()
    consuming_until.cancel()  # no effect after a failure
    with suppress(asyncio.CancelledError):
        return await consuming_until
    return None


async def _consume(
    begun: AbstractAsyncContextManager[Running], ready: Callable[[Running], None], stopping: asyncio.Event
) -> BaseException:
    async with begun as running:
        if not stopping.is_set():
            ready(running)
        return await running.ended


def _on_signals(stopping: asyncio.Event, home: Path | None) -> None:
    def stop() -> None:
        if not stopping.is_set():
            metrics.log(LOGGER, logging.INFO, "up.draining")
            stopping.set()
            return
        if home is not None:
            homes.unpublish(home)
        os._exit(INTERRUPTED)

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop)


@asynccontextmanager
async def consuming(
    settings: Settings,
    stages: "Sequence[Stage]",
    *,
    port: int = 0,
    api: "Callable[[], ServedApi] | None" = None,
    refill: "Refill | None" = None,
) -> AsyncIterator[Running]:
    """Run the stages until the context ends, then drain; `port` is that of an embedded broker, 0 picks a free one.

    Raises `ConfigError`, `BrokerFailed`, `AlreadyRunning`, `BadDirectory`, and what opening and starting raise.
    """
    # Models and modules are a million long-lived objects: collection is off while they load, and they are frozen after.
    gc.disable()
    async with AsyncExitStack() as stack:
        stack.callback(gc.enable)
        ended: asyncio.Future[BaseException] = asyncio.get_running_loop().create_future()
        home = homes.home_of(settings.broker)
        if home is not None:
            stack.callback(homes.lock(home).release)
        port_name = "FATHOM_HTTP_PORT" if api is None else "--http-port or FATHOM_HTTP_PORT"
        listener = stack.enter_context(listening(settings.http_host, settings.http_port, "FATHOM_HTTP_HOST", port_name))
        # In a thread: the last batch may wait for a collector that is away.
        stack.push_async_callback(asyncio.to_thread, export_traces(settings.otlp_url))
        missing = mark_missing(store_settings(settings, stages).filled_from_log()) if refill else ()
        models = _open_models(stack, settings, stages)
        if home is None:
            served, bootstrap = api and api(), settings.broker
            _tell("opening the stores, and connecting to the broker")
            stores = await _open_stores(stack, store_settings(settings, stages))
            await at_start.until_reachable(bootstrap, security_of(settings))
        else:
            bootstrap, stores, served = await _start_embedded(stack, settings, stages, home, port, ended, api)
        filling = await refill(settings, stores, missing, bootstrap) if refill and stores.unfilled else None
        shown = filling.stores if filling else stores
        worker = await _start(stack, settings, stages, bootstrap, shown, models, listener, served)
        if filling:
            stack.callback(asyncio.create_task(filling.run(bootstrap)).cancel)
        _collect_what_is_new()
        _report(stack, worker.failed(), ended)
        if home is not None:
            stack.callback(homes.unpublish, home)
            shared = await stack.enter_async_context(serving(home, cast("ServedGraph", stores.graph), stores.index))
            homes.publish(home, homes.Addresses(os.getpid(), bootstrap, worker.http, str(shared)))
        yield Running(bootstrap, worker.http, ended)


def _collect_what_is_new() -> None:
    gc.freeze()
    gc.set_threshold(*COLLECT)
    gc.enable()


async def _start_embedded(
    stack: AsyncExitStack,
    settings: Settings,
    stages: "Sequence[Stage]",
    home: Path,
    port: int,
    ended: "asyncio.Future[BaseException]",
    api: "Callable[[], ServedApi] | None",
) -> "tuple[str, Stores, ServedApi | None]":
    """Start the embedded broker and open the stores of a data directory; the interface is made meanwhile."""
    _tell("starting the embedded broker, and loading the stages")
    broker = BrokerProcess()
    stack.push_async_callback(asyncio.to_thread, broker.stop)
    booting = asyncio.create_task(embedded_broker.start(broker, home / homes.BROKER, port, settings.partitions))
    await asyncio.sleep(0)
    # The index process loads its model in parallel to the steps below.
    wanted = store_settings(settings, stages)
    index_directory = wanted.index_directory()
    if index_directory is not None and clear_if_outdated(index_directory):
        why = "an earlier version wrote it"
        metrics.log(LOGGER, logging.WARNING, "index.outdated", why=why, next="it is filled from the log")
    index = spawn_index(wanted)
    if index is not None:
        stack.push_async_callback(index.close)
    _import_stages()
    served = api and api()
    bootstrap = await booting
    _tell("opening the stores, and loading the sentence encoder")
    stores = await _open_stores(stack, wanted, index)
    _report(
        stack,
        embedded_broker.keep_running(
            broker, home / homes.BROKER, int(bootstrap.rpartition(":")[2]), settings.partitions
        ),
        ended,
    )
    return bootstrap, stores, served


def _tell(doing: str) -> None:
    """Say what the start is at: on a busy machine it takes a quarter of a minute."""
    metrics.log(LOGGER, logging.INFO, "up.starting", doing=doing)


def _import_stages() -> None:
    """Import the stages' modules, over a second of CPU time, while the broker starts in its own process."""
    import_module("streams.builders")
    import_module("streams.runtime.app")
    import_module("streams.runtime.warmup")


def store_settings(settings: Settings, stages: "Sequence[Stage]") -> StoreSettings:
    """The store settings of these stages; raises `ConfigError` for an unusable secret file."""
    # The index process reads the file itself; it is checked here to report errors like those of other settings.
    secret("qdrant_api_key_file", settings.qdrant_api_key_file)
    return StoreSettings(
        data_dir=homes.home_of(settings.broker) or homes.DEFAULT,
        redis_url=settings.redis_url,
        qdrant_url=settings.qdrant_url,
        qdrant_api_key_file=settings.qdrant_api_key_file,
        neo4j_url=settings.neo4j_url,
        neo4j_user=settings.neo4j_user,
        neo4j_password=secret("neo4j_password_file", settings.neo4j_password_file),
        embedder=settings.embedder,
        public_writable=settings.public_writer,
        passages=any(stage.passages for stage in stages),
        lexicons=settings.lexicons,
    )


def _open_models(stack: AsyncExitStack, settings: Settings, stages: "Sequence[Stage]") -> "Models | None":
    """Open the operator's models first, so that errors in them are reported at once."""
    if not settings.name_models():
        return None
    from streams.models.open import open_models

    models = open_models(settings, {stage.name for stage in stages})
    if models.close is not None:
        stack.push_async_callback(models.close)
    return models


async def _open_stores(stack: AsyncExitStack, wanted: StoreSettings, index: IndexProcess | None = None) -> "Stores":
    from streams.runtime.stores import open_whole_stores

    stores = await asyncio.to_thread(open_whole_stores, wanted, index)
    stack.push_async_callback(stores.close)
    return stores


async def _start(
    stack: AsyncExitStack,
    settings: Settings,
    stages: "Sequence[Stage]",
    bootstrap: str,
    stores: "Stores",
    models: "Models | None",
    listener: socket,
    api: "ServedApi | None",
) -> "Worker":
    from streams.runtime import access
    from streams.runtime.app import Worker, dependencies
    from streams.runtime.warmup import warm_up

    _tell("handling two sample messages in memory")
    await stores.ready()
    await warm_up(dependencies(settings, stores))
    await access.check_topics(bootstrap, security_of(settings), settings, stages)
    embedded = homes.home_of(settings.broker) is not None
    finish = partial(_finish, settings, bootstrap, stores, models) if embedded else None
    await at_start.settle(settings, stages, bootstrap, finish)
    if api is not None:
        api.read_decisions(stores.decisions)
    worker = Worker(settings, stages, bootstrap, stores, listener, models, api)
    stack.push_async_callback(worker.stop)
    _tell("joining the consumer groups")
    await worker.start()
    if api is not None:
        await asyncio.to_thread(api.wait_reachable, REACHABLE_S)
    return worker


async def _finish(
    settings: Settings,
    bootstrap: str,
    stores: "Stores",
    models: "Models | None",
    stages: "Iterable[Stage]",
    done: Callable[[], Awaitable[bool]],
) -> None:
    """Run stages until nothing is left for them."""
    from streams.runtime.app import Worker

    with listening(settings.http_host, 0, "FATHOM_HTTP_HOST", "FATHOM_HTTP_PORT") as listener:
        worker = Worker(settings, tuple(stages), bootstrap, stores, listener, models)
        await worker.start()
        try:
            while not await done():  # noqa: ASYNC110 - the broker tells nobody of a commit
                await asyncio.sleep(POLL_S)
        finally:
            await worker.stop()


def _report(stack: AsyncExitStack, failing: Awaitable[BaseException], ended: "asyncio.Future[BaseException]") -> None:
    """Report the error that `failing` returns as the end of the process."""

    async def watch() -> None:
        why = await failing
        if not ended.done():
            ended.set_result(why)

    task = asyncio.create_task(watch())
    stack.callback(task.cancel)
