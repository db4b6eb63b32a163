"""The locations of a worker's stores; without their drivers, so that it can be read before those are imported."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from agents.errors import FathomError

EMBEDDED, MEMORY = "embedded", "memory"
OWN = ("embedded://", "memory://")
HTTP = frozenset({"http", "https"})
# The schemes with +s speak TLS only, with a certificate that the system trusts.
BOLT = frozenset({"bolt", "bolt+s", "neo4j", "neo4j+s"})


@dataclass(frozen=True, slots=True)
class QdrantServer:
    """The address of a Qdrant server, and the file with its API key."""

    url: str
    api_key_file: Path | None = None


REDIS = frozenset({"redis", "rediss", "unix"})
QDRANT_SERVER = "http(s)://HOST:6333 without user or password (FATHOM_QDRANT_API_KEY_FILE names the file with the key)"

NEO4J_SERVER = (
    "bolt(+s)://HOST:7687 or neo4j(+s)://HOST:7687 without user or password "
    "(FATHOM_NEO4J_USER is the user, FATHOM_NEO4J_PASSWORD_FILE names the file with the password)"
)


class UnsupportedUrl(FathomError):
    """A store's URL with an unsupported scheme; the message names the supported ones."""

    def __init__(self, setting: str, url: str, supported: tuple[str, ...]) -> None:
        # The scheme only: the rest may hold a password.
        scheme = urlsplit(url).scheme or "none"
        super().__init__(
            f"FATHOM_{setting.upper()}: a URL with scheme {scheme!r} is not supported, use {', '.join(supported)}"
        )


@dataclass(frozen=True, slots=True)
class StoreSettings:
    """The locations of the stores. `embedded://` is below `data_dir`, `embedded://DIR` below DIR.

    `public_writable` marks an administrator's worker, which may write public data. `passages` is false where no stage
    needs the index: neither it nor its model is loaded then. `lexicons` is the folder of an operator's word lists.
    """

    data_dir: Path
    redis_url: str = "embedded://"
    qdrant_url: str = "embedded://"
    qdrant_api_key_file: Path | None = None
    neo4j_url: str = "embedded://"
    neo4j_user: str = "neo4j"
    neo4j_password: str | None = field(default=None, repr=False)
    embedder: Literal["use", "hashing"] = "use"
    public_writable: bool = False
    passages: bool = True
    lexicons: Path | None = None

    def directory(self, url: str, name: str) -> Path:
        """The directory of the embedded store of this URL."""
        given = url.partition("://")[2]
        return (Path(given).expanduser() if given else self.data_dir) / name

    def index_directory(self) -> Path | None:
        """The directory of the embedded index; None for another index."""
        return self.directory(self.qdrant_url, "index") if urlsplit(self.qdrant_url).scheme == EMBEDDED else None

    def graph_directory(self) -> Path | None:
        """The directory of the embedded graph; None for another graph."""
        return self.directory(self.neo4j_url, "graph") if urlsplit(self.neo4j_url).scheme == EMBEDDED else None

    def filled_from_log(self) -> dict[str, Path]:
        """The directories of the embedded stores that are filled from the log where they lack something, by name."""
        found = {"graph": self.graph_directory(), "index": self.index_directory() if self.passages else None}
        return {name: directory for name, directory in found.items() if directory is not None}

    def on_neo4j(self) -> bool:
        """Whether the graph is on a Neo4j server; a URL with a user or password is refused, not used."""
        parts = urlsplit(self.neo4j_url)
        return parts.scheme in BOLT and bool(parts.hostname) and "@" not in parts.netloc

    def index_server(self) -> QdrantServer | None:
        """The server of the index; None for another index, or a URL with a user or password."""
        parts = urlsplit(self.qdrant_url)
        if parts.scheme not in HTTP or not parts.hostname or "@" in parts.netloc:
            return None
        return QdrantServer(self.qdrant_url, self.qdrant_api_key_file)

    def unsupported(self) -> Iterator[UnsupportedUrl]:
        """The URLs that name no store."""
        own = (EMBEDDED, MEMORY)
        if urlsplit(self.redis_url).scheme not in (*own, *REDIS):
            yield UnsupportedUrl("redis_url", self.redis_url, (*OWN, "redis://", "rediss://", "unix://"))
        if self.passages and urlsplit(self.qdrant_url).scheme not in own and self.index_server() is None:
            yield UnsupportedUrl("qdrant_url", self.qdrant_url, (*OWN, QDRANT_SERVER))
        if urlsplit(self.neo4j_url).scheme not in own and not self.on_neo4j():
            yield UnsupportedUrl("neo4j_url", self.neo4j_url, (*OWN, NEO4J_SERVER))
