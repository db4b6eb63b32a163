"""A listening socket, and who has the port where it cannot be had."""

import errno
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from streams.config import ConfigError

# Where Linux tells of its sockets and processes.
PROC = Path("/proc")
LISTEN = "0A"
MAX_WORDS = 3


@contextmanager
def listening(host: str, port: int, host_name: str, port_name: str) -> Iterator[socket.socket]:
    """A listening socket; raises `ConfigError`, which says who has the address and which names choose another."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind, protocol)
    except OSError as error:
        raise ConfigError(f"{host_name} {host}: {error.strerror}; name an address of this machine") from None
    with listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(address)
            # Before the server starts: a reader of the ready line may connect at once.
            listener.listen()
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                owner = owner_of(port)
                why = f"{error.strerror} by {owner}; end that one, or" if owner else f"{error.strerror};"
                raise ConfigError(
                    f"{host}:{port}: {why} choose another with {port_name}, where 0 picks a free port"
                ) from None
            raise ConfigError(
                f"{host}:{port}: {error.strerror}; choose another with {host_name} and {port_name}"
            ) from None
        yield listener


def owner_of(port: int) -> str | None:
    """Id and command of the process that listens at a port; None where another user has it, and not on Linux."""
    sockets = {f"socket:[{inode}]" for inode in _listening(port)}
    for process in PROC.glob("[0-9]*"):
        with suppress(OSError):
            if any(str(open_file.readlink()) in sockets for open_file in (process / "fd").iterdir()):
                return f"process {process.name} ({_command(process)})"
    return None


def _listening(port: int) -> Iterator[str]:
    """The inodes of the sockets that listen at a port."""
    for table in ("tcp", "tcp6"):
        with suppress(OSError):
            for line in (PROC / "net" / table).read_text().splitlines()[1:]:
                _, local, _, state, *_, inode = line.split()[:10]
                if state == LISTEN and int(local.rpartition(":")[2], 16) == port:
                    yield inode


def _command(process: Path) -> str:
    # Not all of it: options may hold a secret, and this goes into logs.
    words = (process / "cmdline").read_bytes().decode(errors="replace").split("\0")[:MAX_WORDS]
    return " ".join(Path(word).name for word in words if word)
