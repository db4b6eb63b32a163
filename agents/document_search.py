"""The search of documents, as packs and cognition make it: candidates, and sections whose passages belong together."""

from collections.abc import Sequence
from dataclasses import replace

from agents.ports.passages import Hit

COLLECTION = "semantic"
CANDIDATES = 30
# How far the other passages of a section are raised towards its best.
SECTION_LIFT = 0.9


def by_section(hits: Sequence[Hit]) -> list[Hit]:
    """The hits, best first, with hits of one section raised towards the best of it.

    A long section is split by length, not by meaning: an article of law has its rule in one passage and its exceptions
    in the next.
    """
    best: dict[tuple[object, ...], float] = {}
    for hit in hits:
        best[_section(hit)] = max(best.get(_section(hit), hit.score), hit.score)
    lifted = [replace(hit, score=hit.score + SECTION_LIFT * (best[_section(hit)] - hit.score)) for hit in hits]
    return sorted(lifted, key=lambda hit: -hit.score)


def _section(hit: Hit) -> tuple[object, ...]:
    fields = hit.passage.fields
    return (fields.get("document_id"), fields.get("title")) if hit.passage.kind == "chunk" else (hit.passage.id,)
