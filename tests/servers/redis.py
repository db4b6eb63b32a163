"""One Redis from Debian's package on loopback and a free port; every acknowledged write survives SIGKILL."""

import socket
from collections.abc import Sequence
from pathlib import Path

from tests.servers.install import redis_binary
from tests.servers.process import HOST, Server, free_port

SETTINGS = """\
bind {host}
port {port}
protected-mode yes
daemonize no
dir "{directory}"
save ""
appendonly yes
appendfsync everysec
aof-load-truncated yes
maxmemory-policy noeviction
"""


class RedisServer(Server):
    """A Redis that keeps its directory and port over `kill` and `start`; `settings` are lines of its file."""

    name = "Redis"

    def __init__(self, directory: Path, *, password: str | None = None, settings: Sequence[str] = ()) -> None:
        super().__init__(directory)
        self.port = free_port()
        self.password = password
        self.settings = list(settings)

    @property
    def url(self) -> str:
        """Where clients connect, with the password if there is one."""
        return f"redis://{f':{self.password}@' if self.password else ''}{HOST}:{self.port}/0"

    def answers(self) -> bool:
        """Whether PING is answered: not while it loads its file."""
        login = f"AUTH {self.password}\r\n".encode() if self.password else b""
        try:
            with socket.create_connection((HOST, self.port), timeout=1) as connection:
                connection.sendall(login + b"PING\r\n")
                stream = connection.makefile("rb")
                return all(stream.readline().startswith(b"+") for _ in range(2 if login else 1))
        except OSError:
            return False

    def _command(self) -> Sequence[str]:
        binary = redis_binary()
        if binary is None:
            raise RuntimeError("Redis is not installed: python -m tests.servers.install redis")
        # In a file: a command line is read by everyone.
        file = self.directory / "redis.conf"
        file.touch(mode=0o600)
        lines = SETTINGS.format(host=HOST, port=self.port, directory=self.directory)
        password = [f"requirepass {self.password}"] if self.password else []
        file.write_text(lines + "".join(f"{line}\n" for line in (*password, *self.settings)))
        return [str(binary), str(file)]
