"""What documents say: passages, definitions and concepts, dense and lexical fused.

reads   retrieval.plans  key conversation
writes  packs.partial    class semantic
state   the passage index and the graph (read)
"""

from datetime import timedelta
from typing import Any

from agents.core import ranking, text
from agents.errors import Unavailable
from agents.parts import Ask, Found, Retriever, access_of
from agents.ports import Clock, Hit, MemoryGraph, PassageIndex, PassageQuery, TokenCounter
from schemas.items import AccessLevel, Chunk, Concept, Item, Knowledge, Provenance
from schemas.retrieval import MemoryClass

COLLECTION = "semantic"
FEW_WORDS = 3
SPARE = 3  # candidates per item wanted, for diversity to choose from


class SemanticRetriever(Retriever):
    memory = MemoryClass.SEMANTIC
    budget = timedelta(milliseconds=500)

    def __init__(self, tokens: TokenCounter, clock: Clock, index: PassageIndex, graph: MemoryGraph) -> None:
        super().__init__(tokens, clock)
        self._index = index
        self._graph = graph

    async def fetch(self, ask: Ask) -> Found:
        """The best passages for the question, then the concepts it names; what one store cannot say the other may."""
        limit = ask.source.limit or 10
        question = search_text(ask)
        concepts: list[Item] = []
        access: AccessLevel = "public"
        error = None
        try:
            persona = await self._graph.persona(ask.tenant, ask.plan.user_id, ask.plan.as_of)
            access = access_of(persona.person.persona_access if persona else None)
            found = await self._graph.concepts(
                ask.tenant,
                terms=text.content_words(question, ask.plan.lang),
                access_level=access,
                as_of=ask.plan.as_of,
                limit=limit // 2,
            )
            concepts = list(found)
        except Unavailable as unavailable:
            error = str(unavailable)
        hits = await self._index.search(
            ask.tenant,
            COLLECTION,
            PassageQuery(question, ask.plan.lang, limit * SPARE, ask.plan.as_of, access),
        )
        chosen = ranking.diversify(
            hits,
            score=lambda hit: (
                hit.score
                + ranking.RECENCY_WEIGHT * hit.score * ranking.recency(hit.passage.recorded_at, ask.plan.as_of)
            ),
            words=lambda hit: frozenset(text.content_words(hit.passage.text, hit.passage.lang)),
            limit=limit,
        )
        return Found([*(_to_item(hit) for hit in chosen), *concepts], error)


def search_text(ask: Ask) -> str:
    """The question; with the frame's terms behind it when it says too little by itself (`por quê?`)."""
    plan = ask.plan
    if plan.anchor is None or len(text.content_words(plan.query, plan.lang)) >= FEW_WORDS:
        return plan.query
    return f"{plan.query} {' '.join(plan.anchor.terms)}"


def _to_item(hit: Hit) -> Item:
    passage = hit.passage
    fields = passage.fields
    common: dict[str, Any] = {
        "id": passage.id,
        "provenance": Provenance(store="index", id=passage.id),
        "recorded_at": passage.recorded_at,
        "access_level": passage.access_level,
        "reason": f"{passage.kind} found by {' and '.join(sorted(hit.scores)) or 'search'}",
        "score": hit.score,
        "scores": dict(hit.scores),
    }
    match passage.kind:
        case "definition":
            return Knowledge(**common, title=str(fields.get("title", "")), text=passage.text)
        case "concept":
            return Concept(**common, name=str(fields.get("title", "")), definition=passage.text)
        case _:
            return Chunk(
                **common,
                chunk_uid=passage.id,
                document_id=str(fields.get("document_id", "")),
                title=str(fields.get("title", "")),
                text=passage.text,
                position=int(fields.get("position", 0)),
            )
