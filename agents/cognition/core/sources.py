"""The sources of evidence: what each is asked, how its list counts, and what earlier answers say of a passage.

Lists of ranks decide only which passages of the graph are judged; how likely a passage helps, and whether it does at
all, is the calibrated judgement of `core.retrieval`. Ranks alone lose against it (docs/judgement.md).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from agents.core.documents.entities import entities
from agents.legal.references import legal_references
from schemas.cognition import LeafEvidence, SourceName

RANK_OFFSET = 60
WEIGHTS: Mapping[SourceName, float] = {"lexical": 1.0, "vector": 1.0, "local": 1.2, "global": 0.8, "theme": 0.25}
# What the match of a key is worth: of a provision or a ruling, of an article whose act is not said, of a name, of an
# act alone.
PROVISION, ARTICLE, NAME, ACT = 1.0, 0.8, 0.6, 0.4
# What verification adds to the score of a passage that was cited before for such a question, and the least that
# corrections leave.
VERIFIED, LEAST = 1.15, 0.1


@dataclass(frozen=True, slots=True)
class RetrievalKey:
    """A thing that a question names exactly, and what its match is worth, 0-1."""

    kind: str
    name: str
    worth: float


def retrieval_keys(question: str) -> tuple[RetrievalKey, ...]:
    """The legal references and names of a question, the most telling first; by patterns, without a model."""
    found = [
        RetrievalKey(each.kind, each.name, _worth(each.kind, each.name))
        for each in entities(question, legal_references)
    ]
    return tuple(sorted(found, key=lambda key: (-key.worth, key.kind, key.name)))


def _worth(kind: str, name: str) -> float:
    if kind != "dispositivo":
        return PROVISION if kind in ("processo", "jurisprudencia") else NAME
    act, _, article = name.rpartition(", art. ")
    if not article or name == article:
        return ARTICLE if name.startswith("art. ") else ACT
    return PROVISION if act else ARTICLE


def by_keys(links: Iterable[tuple[str, str, str]], keys: Iterable[RetrievalKey]) -> tuple[str, ...]:
    """Passages by the worth of the keys that they match, best first; links are passage, kind and name."""
    worth = {(key.kind, key.name): key.worth for key in keys}
    best: dict[str, float] = {}
    for uid, kind, name in links:
        best[uid] = best.get(uid, 0.0) + worth.get((kind, name), 0.0)
    return tuple(sorted(best, key=lambda uid: (-best[uid], uid)))


def fused(lists: Mapping[SourceName, Sequence[str]]) -> tuple[str, ...]:
    """The passages of several ranked lists by reciprocal rank, best first; ties by id."""
    scores: dict[str, float] = {}
    for source, ranked in lists.items():
        for rank, uid in enumerate(dict.fromkeys(ranked), 1):
            scores[uid] = scores.get(uid, 0.0) + WEIGHTS[source] / (RANK_OFFSET + rank)
    return tuple(sorted(scores, key=lambda uid: (-scores[uid], uid)))


def is_near_enough(scores: Mapping[str, float], threshold: float, *, is_linked: bool) -> bool:
    """Whether a passage may be evidence: what only its vector speaks for needs a cosine of at least the threshold.

    Words of the question in it, or a link of the graph to it, speak for a passage whatever its cosine.
    """
    return is_linked or scores["bm25"] > 0 or scores["dense"] >= threshold


def factors(penalties: Iterable[tuple[str, float]], verified: Iterable[str]) -> dict[str, float]:
    """What to multiply the scores of passages by: every correction counts, at most so far as `LEAST`.

    What a correction speaks against is not raised, however often it was verified.
    """
    found: dict[str, float] = {}
    for uid, weight in penalties:
        found[uid] = max(found.get(uid, 1.0) * weight, LEAST)
    return {**dict.fromkeys(verified, VERIFIED), **found}


def adjusted(evidence: LeafEvidence, by: Mapping[str, float]) -> LeafEvidence:
    """Evidence with its score multiplied, at most 1."""
    factor = by.get(evidence.chunk_uid, 1.0)
    return evidence if factor == 1.0 else evidence.model_copy(update={"score": min(evidence.score * factor, 1.0)})
