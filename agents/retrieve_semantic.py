"""What documents say: passages, definitions and concepts, dense and lexical fused.

reads   retrieval.plans  key conversation
writes  packs.partial    class semantic
state   the passage index and the graph (read)
"""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from agents.core import claim_currency, ranking, text
from agents.core.claim_currency import Offered
from agents.errors import Unavailable
from agents.parts import Ask, Found, Retriever, access_of
from agents.ports import Clock, Hit, MemoryGraph, PassageIndex, PassageQuery, TokenCounter
from schemas.items import AccessLevel, Chunk, ClaimItem, Concept, Item, Knowledge, Provenance
from schemas.retrieval import MemoryClass

COLLECTION = "semantic"
LEARNT, LOOKED_AT = 10, 40
FIRST = 0.5  # what was said about the very subject comes before passages, whose fused scores are small
MAX_WORDS = 40
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
        question = ask.search_text()
        access: AccessLevel = "public"
        error = None
        try:
            persona = await self._graph.persona(ask.tenant, ask.plan.user_id, ask.plan.as_of)
            access = access_of(persona.person.persona_access if persona else None)
        except Unavailable as unavailable:
            error = str(unavailable)
        wanted = PassageQuery(question, ask.plan.lang, limit * SPARE, ask.plan.as_of, access)
        # At once: each waits for another server.
        hits, (concepts, wrong) = await asyncio.gather(
            self._index.search(ask.tenant, COLLECTION, wanted), self._known(ask, question, access, limit // 2)
        )
        error = error or wrong
        named = ranking.identifiers(question)
        chosen = ranking.diversify(
            hits,
            score=lambda hit: (
                hit.score
                * ranking.naming(named, hit.passage.text)
                * (1 + ranking.RECENCY_WEIGHT * ranking.recency(hit.passage.recorded_at, ask.plan.as_of))
            ),
            words=lambda hit: text.content_set(hit.passage.text, hit.passage.lang),
            limit=limit,
        )
        learnt = [item for item in concepts if isinstance(item, Knowledge) and item.score >= FIRST]
        rest = [item for item in concepts if item not in learnt]
        return Found([*learnt, *(_to_item(hit) for hit in chosen), *rest], error)

    async def _known(
        self, ask: Ask, question: str, access: AccessLevel, limit: int
    ) -> tuple[Sequence[Item], str | None]:
        """What the graph knows, and what was wrong when it could not be asked; nothing of a narrow request."""
        concepts: list[Item] = []
        if ask.source.narrow:
            return concepts, None
        try:
            found = await self._graph.concepts(
                ask.tenant,
                terms=text.content_words(question, ask.plan.lang),
                access_level=access,
                as_of=ask.plan.as_of,
                limit=limit,
            )
            concepts += found
            if ask.source.selector != "claim_related_concepts":
                concepts += await self._learnt(ask)
        except Unavailable as unavailable:
            return concepts, str(unavailable)
        return concepts, None

    async def _learnt(self, ask: Ask) -> list[Item]:
        """What users said and what was confirmed about the question's subjects: the value that holds, once each."""
        found = await self._graph.claims_about(
            ask.tenant, subjects=_phrases(ask.plan.query), as_of=ask.plan.as_of, limit=LOOKED_AT
        )
        items = {item.claim_id: item for item in found.claims}
        standing = claim_currency.offered(found.asserted)
        return [_as_knowledge(items[each.claim.claim_id], each) for each in standing[:LEARNT]]


def _phrases(query: str) -> list[str]:
    """The runs of up to four words of a question: one of them may be a claim's subject."""
    said = text.words(text.clip(query))[:MAX_WORDS]
    return sorted({" ".join(said[i : i + n]) for n in range(1, 5) for i in range(len(said) - n + 1)})


def _as_knowledge(claim: ClaimItem, offered: Offered) -> Knowledge:
    confirmed = claim.status == "confirmed"
    older = "".join(f"; before: {each.value} ({each.asserted_at:%Y-%m-%d})" for each in offered.instead_of[:1])
    doubt = ", contested by the assistant" if claim.status == "contested" else ""
    return Knowledge(
        id=claim.claim_id,
        provenance=claim.provenance,
        recorded_at=claim.recorded_at,
        access_level=claim.access_level,
        reason=f"{'confirmed' if confirmed else 'said'} in a conversation about {claim.subject}{doubt}{older}",
        score=1.0 if confirmed else 0.5,
        title=claim.subject,
        text=f"{claim.value} ({claim.text})",
        confidence=claim.confidence,
    )


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
                page=fields.get("page"),
            )
