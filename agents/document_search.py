"""The search of documents, as packs and cognition make it: candidates, and blocks whose pieces belong together."""

from collections.abc import Sequence
from dataclasses import replace

from agents.ports.passages import Hit

COLLECTION = "semantic"
CANDIDATES = 30
# How far the other pieces of a block are raised towards its best.
BLOCK_LIFT = 0.9


def by_block(hits: Sequence[Hit]) -> list[Hit]:
    """The hits, best first, with pieces of one block raised towards the best of them.

    A long block is cut by length, not by meaning: an article of law has its rule in one passage and its exceptions in
    the next. Passages of one section that were not cut stand for themselves.
    """
    best: dict[tuple[object, ...], float] = {}
    for hit in hits:
        best[_block(hit)] = max(best.get(_block(hit), hit.score), hit.score)
    lifted = [replace(hit, score=hit.score + BLOCK_LIFT * (best[_block(hit)] - hit.score)) for hit in hits]
    return sorted(lifted, key=lambda hit: -hit.score)


def _block(hit: Hit) -> tuple[object, ...]:
    fields = hit.passage.fields
    return (fields.get("document_id"), fields["block"]) if "block" in fields else (hit.passage.id,)
