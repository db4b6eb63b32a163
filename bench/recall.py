"""Recall: the share of the exactly nearest passages that the codes (embedded) and the graphs (server) find.

    make bench-recall
    python -m bench.recall --passages 20000

Passages are one tenant's, their vectors near each other by subject; exact is a comparison of all vectors here. Asked is
as retrieval asks: fifty candidates a list. `server` is what FATHOM_QDRANT_URL names, and keeps what is written.
"""

import argparse
import asyncio
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

from agents.ports.passages import PassageQuery
from bench import filling
from bench.filling import Texts
from bench.measure import finish, say
from bench.memory_stores import AS_OF, BATCH, until_green
from streams import config
from streams.stores.passages.candidates import CANDIDATES
from streams.stores.passages.qdrant_edge import QdrantEdgeIndex
from streams.stores.passages.qdrant_server import QdrantServerIndex
from streams.stores.settings import QdrantServer

PASSAGES, QUESTIONS, NEAREST = 100_000, 200, 10
# What a score loses between the store and here.
ROUNDED = 1e-4


class UseEmbedder(filling.UseEmbedder):
    """Gives a text the same vector each time, and knows all it has given; named as the one whose index it fills."""

    def __init__(self) -> None:
        super().__init__()
        self.given: dict[str, list[float]] = {}

    def encode(self, texts: Sequence[str]) -> list[list[float]]:
        """One unit vector per text."""
        new = [text for text in dict.fromkeys(texts) if text not in self.given]
        self.given.update(zip(new, super().encode(new), strict=True) if new else ())
        return [self.given[text] for text in texts]


async def recall(index: QdrantEdgeIndex | QdrantServerIndex, embedder: UseEmbedder, passages: int) -> dict[str, Any]:
    """The share of the nearest ten that is found, on average and at worst."""
    import numpy  # its threads are counted when it is first imported: by the embedder

    texts, tenant = Texts(), f"bench-recall-{uuid4().hex[:8]}"
    for start in range(0, passages, BATCH):
        await index.upsert(tenant, "semantic", filling.passages(texts, start, min(start + BATCH, passages)))
    if isinstance(index, QdrantServerIndex):
        await until_green(_server())
    stored = numpy.array([*embedder.given.values()], dtype=numpy.float32)
    shares = []
    for _ in range(QUESTIONS):
        question = texts.question()
        [vector] = embedder.encode([question])
        tenth = numpy.sort(stored @ numpy.array(vector, dtype=numpy.float32))[-NEAREST] - ROUNDED
        hits = await index.search(tenant, "semantic", PassageQuery(question, "pt", CANDIDATES, AS_OF))
        near = sorted((hit.scores["dense"] for hit in hits if "dense" in hit.scores), reverse=True)[:NEAREST]
        shares.append(sum(score >= tenth for score in near) / NEAREST)
    mean = round(float(sum(shares)) / len(shares), 3)
    return {"mean": mean, "worst": float(min(shares)), "whole": shares.count(1.0) / len(shares)}


def _server() -> QdrantServer:
    return QdrantServer(os.environ["FATHOM_QDRANT_URL"], config.load().qdrant_api_key_file)


async def measure(passages: int) -> dict[str, Any]:
    found: dict[str, Any] = {"passages": passages, "nearest": NEAREST, "questions": QUESTIONS}
    with tempfile.TemporaryDirectory(prefix="fathom-bench-") as folder:
        embedder = UseEmbedder()
        embedded = QdrantEdgeIndex(Path(folder), embedder)
        try:
            found["embedded"] = await recall(embedded, embedder, passages)
        finally:
            await embedded.close()
    say(json.dumps(found))
    if os.environ.get("FATHOM_QDRANT_URL", "").startswith("http"):
        server, embedder = _server(), UseEmbedder()
        key = None if server.api_key_file is None else server.api_key_file.read_text().strip()
        served = QdrantServerIndex(server.url, embedder, api_key=key)
        try:
            await served.open()
            found["server"] = await recall(served, embedder, passages)
        finally:
            await served.close()
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--passages", type=int, default=PASSAGES)
    finish("recall", "make bench-recall", asyncio.run(measure(parser.parse_args().passages)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
