"""A look at a Qdrant server for those who check it; nothing is written."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agents.errors import Unavailable
from streams.stores.passages.points import COLLECTIONS
from streams.stores.passages.qdrant_collections import MISSING, name_of
from streams.stores.passages.qdrant_connection import QdrantConnection, QdrantRefusal

LOOK_S = 5.0
TENANT = "tenant_id"


@dataclass(frozen=True, slots=True)
class CollectionSeen:
    """A collection: whether it has its index by tenant, and what it says of the embedder it was written with."""

    by_tenant: bool
    embedder: str | None


@dataclass(frozen=True, slots=True)
class QdrantSeen:
    """The server's version, and its collections by name; None for a missing one."""

    version: str
    collections: Mapping[str, CollectionSeen | None]


async def look(url: str, api_key: str | None) -> QdrantSeen:
    """Ask a server; raises `Unavailable`."""
    connection = QdrantConnection(url, api_key, LOOK_S)
    try:
        said = await connection.answer("GET", "/")
        names = [name_of(each) for each in COLLECTIONS]
        return QdrantSeen(str(said.get("version", "")), {name: await _collection(connection, name) for name in names})
    except (ConnectionError, QdrantRefusal) as error:
        raise Unavailable("index", str(error) or f"no answer in {LOOK_S:g} s") from error
    finally:
        await connection.close()


async def _collection(connection: QdrantConnection, name: str) -> CollectionSeen | None:
    try:
        found = await connection.result("GET", f"/collections/{name}")
    except QdrantRefusal as error:
        if error.status == MISSING:
            return None
        raise
    return collection_of(found)


def collection_of(told: Mapping[str, Any]) -> CollectionSeen:
    """What a server's description of a collection says."""
    params = told.get("payload_schema", {}).get(TENANT, {}).get("params") or {}
    metadata = told.get("config", {}).get("metadata") or {}
    return CollectionSeen(bool(params.get("is_tenant")), metadata.get("embedder"))
