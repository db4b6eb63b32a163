"""Where the stores of a worker are; without their drivers, so that it can be asked before those are imported."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

EMBEDDED = "embedded"
HTTP = frozenset({"http", "https"})
# Those with +s speak TLS only, with a certificate that the system trusts.
BOLT = frozenset({"bolt", "bolt+s", "neo4j", "neo4j+s"})


@dataclass(frozen=True, slots=True)
class QdrantServer:
    """Where a Qdrant server is, and the file that holds its API key."""

    url: str
    api_key_file: Path | None = None


@dataclass(frozen=True, slots=True)
class StoreSettings:
    """Where the stores are. `embedded://` is below `data_dir`, `embedded://DIR` below DIR.

    `public_writable` makes this worker an administrator's: it may write what every tenant reads. `passages` is false
    where no stage needs the index: it is not opened then, nor its model loaded.
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
        """Where the embedded store of this URL keeps its files."""
        given = url.partition("://")[2]
        return (Path(given).expanduser() if given else self.data_dir) / name

    def index_directory(self) -> Path | None:
        """Where the embedded index is; None when the index is another one."""
        return self.directory(self.qdrant_url, "index") if urlsplit(self.qdrant_url).scheme == EMBEDDED else None

    def on_neo4j(self) -> bool:
        """Whether the graph is on a Neo4j server; a URL that holds a user or password is refused, not used."""
        parts = urlsplit(self.neo4j_url)
        return parts.scheme in BOLT and bool(parts.hostname) and "@" not in parts.netloc

    def index_server(self) -> QdrantServer | None:
        """The server the index is on; None when the index is another one, or its URL holds a user or password."""
        parts = urlsplit(self.qdrant_url)
        if parts.scheme not in HTTP or not parts.hostname or "@" in parts.netloc:
            return None
        return QdrantServer(self.qdrant_url, self.qdrant_api_key_file)
