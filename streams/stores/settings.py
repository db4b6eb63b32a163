"""The locations of a worker's stores; without their drivers, so that it can be read before those are imported."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

EMBEDDED = "embedded"
HTTP = frozenset({"http", "https"})
# The schemes with +s speak TLS only, with a certificate that the system trusts.
BOLT = frozenset({"bolt", "bolt+s", "neo4j", "neo4j+s"})


@dataclass(frozen=True, slots=True)
class QdrantServer:
    """The address of a Qdrant server, and the file with its API key."""

    url: str
    api_key_file: Path | None = None


@dataclass(frozen=True, slots=True)
class StoreSettings:
    """The locations of the stores. `embedded://` is below `data_dir`, `embedded://DIR` below DIR.

    `public_writable` marks an administrator's worker, which may write public data. `passages` is false where no stage
    needs the index: neither it nor its model is loaded then.
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

    def directory(self, url: str, name: str) -> Path:
        """The directory of the embedded store of this URL."""
        given = url.partition("://")[2]
        return (Path(given).expanduser() if given else self.data_dir) / name

    def index_directory(self) -> Path | None:
        """The directory of the embedded index; None for another index."""
        return self.directory(self.qdrant_url, "index") if urlsplit(self.qdrant_url).scheme == EMBEDDED else None

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
