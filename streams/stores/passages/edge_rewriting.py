"""Rewriting of an embedded shard without what was deleted from it.

The engine marks a deleted point and keeps its vector, its text and the log of its writing in the files. So the points
that are left are copied into a shard of their own, whose directory takes the place of the old one.
"""

import asyncio
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import cast
from uuid import UUID

import qdrant_edge as edge

from streams.stores.passages.points import DENSE, TERMS

PAGE = 200
FRESH, OLD = ".fresh", ".old"


async def rewritten(path: Path, shard: edge.EdgeShard, opened: Callable[[Path], edge.EdgeShard]) -> edge.EdgeShard:
    """The shard of `path` without deleted points; nobody may write to it meanwhile."""
    fresh_path, old_path = path.with_name(path.name + FRESH), path.with_name(path.name + OLD)
    shutil.rmtree(fresh_path, ignore_errors=True)
    fresh = await asyncio.to_thread(opened, fresh_path)
    following: int | UUID | str | None = None
    while True:
        page = edge.ScrollRequest(offset=following, limit=PAGE, with_payload=True, with_vector=True)
        records, following = shard.scroll(page)
        if records:
            # In threads: searches go on.
            copies = edge.UpdateOperation.upsert_points([_copied(each) for each in records])
            await asyncio.to_thread(fresh.update, copies)
        if following is None:
            break
    await asyncio.to_thread(fresh.close)
    shard.close()
    os.rename(path, old_path)
    os.rename(fresh_path, path)
    shutil.rmtree(old_path)
    return opened(path)


def recover(path: Path) -> None:
    """Undo or finish a rewriting that was cut short by the death of the process."""
    fresh, old = path.with_name(path.name + FRESH), path.with_name(path.name + OLD)
    if old.exists() and not path.exists():
        os.rename(fresh if fresh.exists() else old, path)
    shutil.rmtree(fresh, ignore_errors=True)
    shutil.rmtree(old, ignore_errors=True)


def _copied(record: edge.Record) -> edge.Point:
    vectors = cast("dict[str, list[float] | edge.SparseVector]", record.vector)
    return edge.Point(id=record.id, vector={name: vectors[name] for name in (DENSE, TERMS)}, payload=record.payload)
