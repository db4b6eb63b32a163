"""Stores' other halves that note what they are asked: an engine, a Qdrant, and which methods were called at all."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from streams.stores.graph.cypher import statements_of
from streams.stores.graph.embedded.engine import EmbeddedEngine
from streams.stores.graph.rows import RowBatch
from streams.stores.graph.store import Engine

# What asks for nothing of anybody's.
OPERATED = {
    "ping",
    "version",
    "close",
    "open",
    "follow",
    "incomplete_partitions",
    "start_restore",
    "complete_restore",
    "vectors",
}


class Called:
    """A store, and which of its methods were called."""

    def __init__(self, store: Any) -> None:
        self._store = store
        self.names: set[str] = set()

    def __getattr__(self, name: str) -> Any:
        self.names.add(name)
        return getattr(self._store, name)

    @property
    def left_out(self) -> set[str]:
        """The public methods that were not called."""
        own = {name for name in dir(type(self._store)) if callable(getattr(type(self._store), name))}
        return {name for name in own if not name.startswith("_")} - OPERATED - self.names


class Recording(Engine):
    """An engine that notes the texts it is given, and answers as the embedded graph does."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._graph = EmbeddedEngine(None)

    async def read(self, query: str, parameters: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
        self.texts.append(query)
        return await self._graph.read(query, parameters)

    async def write(self, rows: RowBatch) -> None:
        self.texts += [text for text, _ in statements_of(rows)]
        await self._graph.write(rows)

    async def erase(self, statement: str, parameters: Mapping[str, Any]) -> None:
        self.texts.append(statement)
        await self._graph.erase(statement, parameters)


class Server:
    """A Qdrant that notes what it is asked."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        # How rare a word is: one search a word, and how many texts there are.
        self.counted: list[Any] = []

    async def result(self, method: str, path: str, body: Any) -> Any:
        call = path.removeprefix("/collections/fathom_semantic/")
        if call == "points/query/batch":
            for each in body["searches"]:
                if each["limit"] == 1:
                    self.counted.append(each["filter"])
                else:
                    self.asked.append({"filter": each["filter"]})
            return [{"points": []} for _ in body["searches"]]
        if call == "points/count":
            self.counted.append(body["filter"])
            return {"count": 1 if body["exact"] else 2}
        if call == "points/scroll":
            self.asked.append({"page": body["filter"]})
            return {"points": [], "next_page_offset": None}
        self.asked.append(self._changed(method, call, body))
        return []

    def _changed(self, method: str, call: str, body: Any) -> dict[str, Any]:
        match method, call:
            case "POST", "points/delete?wait=true":
                return {"erased": [str(UUID(point)) == point for point in body["points"]]}
            case "POST", "points":
                return {"looked_up": [str(UUID(point)) == point for point in body["ids"]]}
            case "PUT", "points?wait=true":
                [point] = body["points"]
                payload = point["payload"]
                # Terms are made of a text: those of another value are others.
                terms = {name: type(payload[name]).__name__ for name in ("own", "around")}
                return {"stored": {**payload, **terms, "point": str(UUID(point["id"])) == point["id"]}}
            case _:
                raise AssertionError(f"no other call is expected: {method} {call}")
