"""One Qdrant from its pinned binary on loopback and free ports, REST and gRPC."""

import os
import socket
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from pathlib import Path

from tests.servers.install import qdrant_binary
from tests.servers.process import HOST, Server, free_ports

# What a client says first (RFC 9113, 3.4), with settings that are all the default; the server answers with its own.
HTTP2_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(3) + b"\x04" + bytes(5)


@dataclass(frozen=True, slots=True)
class QdrantAddress:
    """Where a Qdrant answers, and the key it asks for."""

    url: str
    grpc_port: int
    api_key: str | None


class QdrantServer(Server):
    """A Qdrant that keeps its directory and ports over `kill` and `start`; `settings` are `QDRANT__…` names."""

    name = "Qdrant"

    def __init__(
        self, directory: Path, *, api_key: str | None = None, settings: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(directory)
        self.port, self.grpc_port = free_ports(2)
        self.api_key = api_key
        self._settings = dict(settings or {})

    @property
    def url(self) -> str:
        """Where clients connect over REST."""
        return f"http://{HOST}:{self.port}"

    @property
    def address(self) -> QdrantAddress:
        """What a client needs."""
        return QdrantAddress(self.url, self.grpc_port, self.api_key)

    def answers(self) -> bool:
        """Whether it is ready, which needs no key: its collections are loaded, and it can be asked to end."""
        return self._says_ready() and self._speaks_grpc()

    def _says_ready(self) -> bool:
        connection = HTTPConnection(HOST, self.port, timeout=2)
        try:
            connection.request("GET", "/readyz")
            return connection.getresponse().status == 200
        except (OSError, HTTPException):
            return False
        finally:
            connection.close()

    def _speaks_grpc(self) -> bool:
        # Its two servers each wait for SIGTERM, the second a little later: asked to end before, it never does.
        with suppress(OSError), socket.create_connection((HOST, self.grpc_port), timeout=2) as connection:
            connection.sendall(HTTP2_PREFACE)
            return connection.recv(1) != b""
        return False

    def _command(self) -> Sequence[str]:
        binary = qdrant_binary()
        if binary is None:
            raise RuntimeError("Qdrant is not installed, or not the pinned one: python -m tests.servers.install qdrant")
        return [str(binary), "--disable-telemetry"]

    def _environment(self) -> Mapping[str, str]:
        # Not ours as a whole: a QDRANT__… of the user's would change the server under test.
        return {
            "PATH": os.environ.get("PATH", ""),
            "QDRANT__SERVICE__HOST": HOST,
            "QDRANT__SERVICE__HTTP_PORT": str(self.port),
            "QDRANT__SERVICE__GRPC_PORT": str(self.grpc_port),
            "QDRANT__SERVICE__ENABLE_STATIC_CONTENT": "false",
            "QDRANT__STORAGE__STORAGE_PATH": str(self.directory / "storage"),
            "QDRANT__STORAGE__SNAPSHOTS_PATH": str(self.directory / "snapshots"),
            "QDRANT__TELEMETRY_DISABLED": "true",
            "QDRANT__LOG_LEVEL": "WARN",
            **({"QDRANT__SERVICE__API_KEY": self.api_key} if self.api_key else {}),
            **self._settings,
        }
