"""One shard of the embedded index: where its files are, how it is made, and how an optimised copy takes its place.

A shard lies in a directory named after its collection, an optimised one in `NAME-GENERATION`; the file `NAME.at` says
which of them is whole. It changes in one step, so that a death at any moment leaves the old files or the new ones.
Every write goes through `update`: while a copy is made none may change the files, and what comes afterwards is
written to both.
"""

import asyncio
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

import qdrant_edge as edge

from streams.stores.passages.points import DENSE, TERMS

# Graphs are for tenants above this, in KB of vectors (5,000 of ours); the others' passages are compared one by one.
GRAPH_KB = 10_000
# From here on a journal costs more memory than an optimised copy is worth now.
MAX_JOURNALLED = 20_000
VECTORS = len((DENSE, TERMS))


class Shard:
    """A collection's shard in `directory`; `pending` is how many of its points no graph or packed index has yet."""

    def __init__(self, directory: Path, name: str, size: int, *, graph_kb: int = GRAPH_KB) -> None:
        # As a whole: the process that copies runs elsewhere.
        self._directory = directory = directory.absolute()
        self.name = name
        self._config = _config(size, graph_kb)
        self.path = directory / _current(directory, name)
        _remove_others(directory, name, self.path.name)
        self._engine = _open(self.path, self._config)
        self._still = asyncio.Event()
        self._still.set()
        self._journal: list[tuple[Any, int]] | None = None
        # Words are indexed from the first; what is missing of all vectors, the dense ones lack.
        self.pending: int = max(0, VECTORS * self.points - self._engine.info().indexed_vectors_count)

    @property
    def points(self) -> int:
        """How many points there are."""
        return int(self._engine.info().points_count)

    @property
    def journalled(self) -> int:
        """How many points were written since the copy was made."""
        return sum(points for _, points in self._journal or ())

    async def update(self, operation: Any, points: int) -> None:
        """Write that many points; waits while the files are copied."""
        while not self._still.is_set():
            await self._still.wait()
        self._engine.update(operation)
        self.pending += points
        if self._journal is not None:
            self._journal.append((operation, points))

    def query_batch(self, requests: Sequence[Any]) -> Sequence[Sequence[Any]]:
        """The points found by each request."""
        found: Sequence[Sequence[Any]] = self._engine.query_batch(edge.QueryBatchRequest(list(requests)))
        return found

    def count(self, wanted: Any) -> int:
        """How many points a filter lets through."""
        return int(self._engine.count(edge.CountRequest(exact=False, filter=wanted)))

    def retrieve(self, ids: Sequence[Any], *, vectors: bool = False) -> Sequence[Any]:
        """The points of these ids that there are, with their payloads, and with their vectors where wanted."""
        records: Sequence[Any] = self._engine.retrieve(list(ids), True, vectors)
        return records

    def scroll(self, request: Any) -> tuple[Sequence[Any], Any]:
        """The points asked for in the order of their ids, and the id after them."""
        records, following = self._engine.scroll(request)
        return records, following

    def flush(self) -> None:
        """Write everything down."""
        self._engine.flush()

    def close(self) -> None:
        """Write everything down and let others in."""
        self._engine.close()

    def hold(self) -> Path:
        """Let nothing change the files until `release`; where the next generation belongs."""
        self._still.clear()
        self._engine.flush()
        return self._directory / f"{self.name}-{uuid4().hex[:8]}"

    def release(self, *, copied: bool) -> None:
        """Go on writing; what is written from now on is missing in the copy."""
        self._journal = [] if copied else None
        self._still.set()

    async def adopt(self, path: Path) -> None:
        """Go on with the files there, which are an optimised copy of ours, and what was written since."""
        assert self._journal is not None  # there is no copy without one
        engine = _open(path, self._config)
        try:
            missed = 0
            while self._journal:
                operation, points = self._journal.pop(0)
                engine.update(operation)
                missed += points
                await asyncio.sleep(0)  # searches, and writes to what is still ours, come between
            engine.flush()
            _point_at(self._directory, self.name, path.name)
        except BaseException:
            engine.close()
            raise
        old, self._engine, self.path, self._journal = (self._engine, self.path), engine, path, None
        self.pending = missed
        old[0].close()
        await asyncio.to_thread(shutil.rmtree, old[1], ignore_errors=True)

    def forget(self, path: Path) -> None:
        """Go on without the copy that was begun there."""
        self._journal = None
        self._still.set()
        shutil.rmtree(path, ignore_errors=True)


def _config(size: int, graph_kb: int) -> Any:
    sparse = edge.EdgeSparseVectorParams(modifier=edge.Modifier.Idf)
    return edge.EdgeConfig(
        vectors={DENSE: edge.EdgeVectorParams(size=size, distance=edge.Distance.Cosine)},
        sparse_vectors={TERMS: sparse},
        # No graph over everybody: nobody searches all tenants, and it would cost a millisecond a passage to build.
        hnsw_config=edge.HnswIndexConfig(
            m=0, payload_m=16, ef_construct=100, full_scan_threshold=graph_kb, max_indexing_threads=1
        ),
        optimizers=edge.EdgeOptimizersConfig(indexing_threshold=graph_kb, default_segment_number=2),
    )


def _open(path: Path, config: Any) -> Any:
    if path.exists():
        return edge.EdgeShard.load(str(path), config)
    shard = edge.EdgeShard.create(str(path), config)
    shard.update(edge.UpdateOperation.create_field_index("tenant_id", edge.KeywordIndexParams(is_tenant=True)))
    for name in ("user_id", "conversation_id", "kind"):
        plain = edge.KeywordIndexParams(enable_hnsw=False)
        shard.update(edge.UpdateOperation.create_field_index(name, plain))
    for name in ("access", "recorded_at", "retired_at"):
        ordered = edge.IntegerIndexParams(lookup=False, range=True, enable_hnsw=False)
        shard.update(edge.UpdateOperation.create_field_index(name, ordered))
    return shard


def _current(directory: Path, name: str) -> str:
    note = directory / f"{name}.at"
    return note.read_text() if note.exists() else name


def _point_at(directory: Path, name: str, generation: str) -> None:
    draft = directory / f"{name}.at.new"
    with draft.open("w") as note:
        note.write(generation)
        note.flush()
        os.fsync(note.fileno())
    draft.replace(directory / f"{name}.at")
    folder = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _remove_others(directory: Path, name: str, current: str) -> None:
    """Remove what a death left behind: copies not finished, files replaced."""
    for path in (directory / name, *directory.glob(f"{name}-*")):
        if path.name != current:
            shutil.rmtree(path, ignore_errors=True)
