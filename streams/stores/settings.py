"""Where the stores of a worker are; without their drivers, so that it can be asked before those are imported."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

EMBEDDED = "embedded"


@dataclass(frozen=True, slots=True)
class StoreSettings:
    """Where the stores are. `embedded://` is below `data_dir`, `embedded://DIR` below DIR.

    `public_writable` makes this worker an administrator's: it may write what every tenant reads.
    """

    data_dir: Path
    redis_url: str = "embedded://"
    qdrant_url: str = "embedded://"
    neo4j_url: str = "embedded://"
    embedder: Literal["use", "hashing"] = "use"
    public_writable: bool = False

    def directory(self, url: str, name: str) -> Path:
        """Where the embedded store of this URL keeps its files."""
        given = url.partition("://")[2]
        return (Path(given).expanduser() if given else self.data_dir) / name

    def index_directory(self) -> Path | None:
        """Where the embedded index is; None when the index is another one."""
        return self.directory(self.qdrant_url, "index") if urlsplit(self.qdrant_url).scheme == EMBEDDED else None
