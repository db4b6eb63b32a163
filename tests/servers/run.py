"""`make servers`: Kafka, Redis, Qdrant and Neo4j on loopback until Ctrl-C; standard output is a worker's settings.

make servers &                                     # or in another terminal
set -a; . .servers/data/settings.env; set +a; fathom worker

What they keep is in `.servers/data`, so it is there again at the next start, on other ports.
"""

import secrets
import signal
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import FrameType

from streams.stores.ownership import DirectoryInUse, Ownership
from tests.servers.install import INSTALLERS, SERVERS, InstallError
from tests.servers.kafka import KafkaServer
from tests.servers.neo4j import Neo4jServer
from tests.servers.process import Server
from tests.servers.qdrant import QdrantServer
from tests.servers.redis import RedisServer

DATA = SERVERS / "data"
SETTINGS = "settings.env"
ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

Settings = dict[str, str]


class Ended(Exception):
    """Somebody asked us to end."""


def kafka(directory: Path) -> tuple[Server, Settings]:
    server = KafkaServer(directory / "kafka")
    return server, {"FATHOM_BROKER": server.bootstrap}


def redis(directory: Path) -> tuple[Server, Settings]:
    server = RedisServer(directory / "redis")
    return server, {"FATHOM_REDIS_URL": server.url}


def qdrant(directory: Path) -> tuple[Server, Settings]:
    server = QdrantServer(directory / "qdrant")
    return server, {"FATHOM_QDRANT_URL": server.url}


def neo4j(directory: Path) -> tuple[Server, Settings]:
    file = directory / "neo4j-password"
    if not file.exists():
        file.touch(mode=0o600)
        file.write_text(secrets.token_urlsafe(16))
    server = Neo4jServer(directory / "neo4j", password=file.read_text())
    return server, {
        "FATHOM_NEO4J_URL": server.url,
        "FATHOM_NEO4J_USER": server.user,
        "FATHOM_NEO4J_PASSWORD_FILE": str(file),
    }


SERVER_OF: dict[str, Callable[[Path], tuple[Server, Settings]]] = {
    "kafka": kafka,
    "redis": redis,
    "qdrant": qdrant,
    "neo4j": neo4j,
}


def say(line: str) -> None:
    """To standard error: standard output is for the settings."""
    sys.stderr.write(line + "\n")


def end(number: int, frame: FrameType | None) -> None:
    # A second one must not cut short the stops that the first began.
    for each in ENDINGS:
        signal.signal(each, signal.SIG_IGN)
    raise Ended


def serve(directory: Path, names: Sequence[str]) -> int:
    """Start the servers, say where they are, and stop them all when asked to end or when one has ended."""
    settings: Settings = {}
    servers: list[Server] = []
    with ExitStack() as stack:
        stack.callback(Ownership(directory).release)
        try:
            for each in ENDINGS:
                signal.signal(each, end)
            for name in names:
                server, where = SERVER_OF[name](directory)
                say(f"Starting {server.name} ...")
                servers.append(stack.enter_context(server))
                settings |= where
            lines = "".join(f"{name}={value}\n" for name, value in settings.items())
            stack.callback((directory / SETTINGS).unlink, missing_ok=True)
            (directory / SETTINGS).write_text(lines)
            sys.stdout.write(lines)
            sys.stdout.flush()
            say(f"All run until Ctrl-C. For a worker: set -a; . {directory / SETTINGS}; set +a; fathom worker")
            return watch(servers)
        except Ended:
            say("Stopping ...")
            return 0


def watch(servers: list[Server]) -> int:
    """Wait for ever, or return 1 when a server ends by itself."""
    while True:
        for server in servers:
            if server.ended:
                say(f"{server.name} has ended, see {server.log}; stopping the others.")
                return 1
        time.sleep(0.2)


def main(names: Sequence[str]) -> int:
    """Install and serve the named servers, by default all."""
    if unknown := sorted(set(names) - SERVER_OF.keys()):
        say(f"{unknown[0]} is none of {', '.join(SERVER_OF)}.")
        return 2
    names = names or list(SERVER_OF)
    try:
        for name in names:
            INSTALLERS[name](say)
        return serve(DATA, names)
    except DirectoryInUse as error:
        say(f"{DATA} is served by {error.owner} already.")
        return 1
    except (InstallError, RuntimeError) as error:
        say(str(error))
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
