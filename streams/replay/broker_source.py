"""The broker of a replay: a server, a running `fathom up`, or the stopped broker of a directory."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

from agents.errors import FathomError
from streams.broker.process import BrokerProcess
from streams.config import Settings
from streams.runtime import data_dir as homes
from streams.stores.settings import EMBEDDED


class StoresLocked(FathomError):
    """Another process holds the embedded stores; the message names it and the remedy."""


def holder(settings: Settings, urls: Sequence[str]) -> homes.Addresses | None:
    """The running `fathom up` whose directory has one of the stores; None where each can be opened."""
    home = homes.home_of(settings.broker)
    found = None if home is None else homes.running(home)
    if home is None or found is None:
        return None
    return found if any(urlsplit(url).scheme == EMBEDDED and _lies_in(url, home) for url in urls) else None


def refuse_held_stores(settings: Settings, urls: Sequence[str]) -> None:
    """Raises `StoresLocked` where one of the stores is in the directory of a running `fathom up`."""
    if (found := holder(settings, urls)) is None:
        return
    home = homes.home_of(settings.broker)
    raise StoresLocked(
        f"`fathom up`, process {found.pid}, holds the embedded stores of {home}: one process owns them; stop it "
        f"with `kill {found.pid}`, run this again (it starts the broker of {home} for itself), then start it again"
    )


def _lies_in(url: str, home: Path) -> bool:
    given = url.partition("://")[2]
    return not given or Path(given).expanduser().absolute() == home.absolute()


@asynccontextmanager
async def broker_of(settings: Settings) -> AsyncIterator[str]:
    """The address of the broker; a stopped one of a directory is started, and stopped with the context.

    Raises `AlreadyRunning`, `BadDirectory`, `BrokerFailed`.
    """
    home = homes.home_of(settings.broker)
    found = None if home is None else homes.running(home)
    if home is None or found is not None:
        yield settings.broker if found is None else found.bootstrap
        return
    if not (home / homes.BROKER).is_dir():
        raise homes.BadDirectory(f"there is no log in {home}; name its directory with FATHOM_BROKER or --broker")
    owned = homes.lock(home)
    broker = BrokerProcess()
    try:
        yield await asyncio.to_thread(broker.start, home / homes.BROKER, partitions=settings.partitions)
    finally:
        await asyncio.to_thread(broker.stop)
        owned.release()
