"""`python -m streams.broker`: run the embedded broker until SIGTERM, SIGINT, or the end of its supervisor.

Prints one JSON line when it listens, and some before while it reads long logs. A failed start prints the reason in one
sentence and exits with 3. With `--supervised` standard input is a pipe held by the parent: its end, even by SIGKILL,
ends the broker cleanly.
"""

import argparse
import asyncio
import logging
import os
import resource
import select
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import uvloop

from streams.broker.broker import Broker, BrokerSettings
from streams.broker.errors import BrokerFailed, RequestRefused

CANNOT_START = 3
PARENT_CHECK_S = 0.2
LOADING_EVERY_S = 1.0


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m streams.broker", description="The embedded broker.")
    add = parser.add_argument
    add("--data", type=Path, required=True, dest="directory", help="directory of logs and journals")
    add("--host", default="127.0.0.1", help="loopback only")
    add("--port", type=int, default=0, help="0 picks a free one")
    add("--partitions", type=int, default=1, help="of topics created without a count")
    add("--auto-create", action="store_true", help="create topics on first use")
    add("--connections", type=int, default=1000, help="most at one time")
    add("--retention-check", type=float, default=5.0, metavar="SECONDS", dest="retention_check_s")
    add("--supervised", action="store_true", help="end when standard input ends")
    arguments = parser.parse_args()
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s %(message)s")
    os.umask(0o077)
    # A long history needs many open files; the default soft limit is too low.
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    try:
        uvloop.run(_serve(**vars(arguments)))
    except (BrokerFailed, RequestRefused, OSError) as e:
        if arguments.supervised:
            _say({"event": "failed", "reason": str(e)})
        else:
            sys.stderr.write(f"{e}\n")
        return CANNOT_START
    return 0


async def _serve(supervised: bool, **settings: Any) -> None:
    broker = Broker(BrokerSettings(**settings), _loading())
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    if supervised:
        _end_with_parent(stop)
    _say({"event": "listening", "bootstrap": await broker.start()})
    await stop.wait()
    await broker.stop()


def _loading() -> Callable[[], None]:
    """Says now and then that logs are being read: the parent waits as long as it hears so."""
    said = time.monotonic()

    def loading() -> None:
        nonlocal said
        if time.monotonic() - said > LOADING_EVERY_S:
            said = time.monotonic()
            _say({"event": "loading"})

    return loading


def _end_with_parent(stop: asyncio.Event) -> None:
    parent = os.getppid()

    def check() -> None:
        readable, _, _ = select.select([sys.stdin], [], [], 0)
        # The pipe stays open while any other child of the parent holds a copy of it.
        if os.getppid() != parent or (readable and not os.read(sys.stdin.fileno(), 1024)):
            stop.set()
        asyncio.get_running_loop().call_later(PARENT_CHECK_S, check)

    check()


def _say(event: dict[str, str]) -> None:
    sys.stdout.write(orjson.dumps(event).decode() + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
