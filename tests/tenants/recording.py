"""Stores' other halves that note what they are asked: an engine, a Qdrant, and which methods were called at all."""

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any
from uuid import UUID

from streams.stores.graph.cypher import statements_of
from streams.stores.graph.memory import MemoryEngine
from streams.stores.graph.rows import RowBatch

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


class Recording:
    """An engine that notes the texts it is given, and answers as the twin does."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._twin = MemoryEngine()

    async def read(self, query: str, parameters: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
        self.texts.append(query)
        return await self._twin.read(query, parameters)

    async def write(self, rows: RowBatch) -> None:
        self.texts += [text for text, _ in statements_of(rows)]
        await self._twin.write(rows)

    async def erase(self, statement: str, parameters: Mapping[str, Any]) -> None:
        self.texts.append(statement)
        await self._twin.erase(statement, parameters)


class Server:
    """A Qdrant that notes what it is asked."""

    def __init__(self) -> None:
        self.http = SimpleNamespace(points_api=self, search_api=self)
        self.asked: list[dict[str, Any]] = []
        # How rare a word is: one search a word, and how many texts there are.
        self.counted: list[Any] = []

    async def query_batch_points(self, _: str, *, query_request_batch: Any) -> Any:
        searches = query_request_batch.searches
        for each in searches:
            asked = each.filter.model_dump(mode="json", exclude_none=True)
            if each.limit == 1:
                self.counted.append(asked)
            else:
                self.asked.append({"filter": asked})
        return SimpleNamespace(result=[SimpleNamespace(points=[]) for _ in searches])

    async def count(self, _: str, *, count_filter: Any, exact: bool) -> Any:
        self.counted.append(count_filter.model_dump(mode="json", exclude_none=True))
        return SimpleNamespace(count=1 if exact else 2)

    async def scroll(self, _: str, *, scroll_filter: Any, **_more: Any) -> Any:
        self.asked.append({"page": scroll_filter.model_dump(mode="json", exclude_none=True)})
        return [], None

    async def delete(self, _: str, *, points_selector: list[str], wait: bool) -> None:
        assert wait
        self.asked.append({"erased": [str(UUID(point)) == point for point in points_selector]})

    async def get_points(self, _: str, *, point_request: Any) -> Any:
        self.asked.append({"looked_up": [str(UUID(point)) == point for point in point_request.ids]})
        return SimpleNamespace(result=[])

    async def upsert_points(self, _: str, *, wait: bool, point_insert_operations: Any) -> None:
        assert wait
        [point] = point_insert_operations.points
        # Terms are made of a text: those of another value are others.
        terms = {name: type(point.payload[name]).__name__ for name in ("own", "around")}
        self.asked.append({"stored": {**point.payload, **terms, "point": str(UUID(point.id)) == point.id}})
