"""Semantic memory: document passages that answer, and definitions, concepts and claims that the question names.

reads   retrieval.plans  key conversation
writes  packs.partial    class semantic
state   the passage index and the graph (read)
"""

import asyncio
from collections.abc import Sequence
from datetime import timedelta

from agents.core.claims import questions, resolution
from agents.core.claims.resolution import CurrentClaim
from agents.core.language import text
from agents.core.retrieval import evidence
from agents.core.retrieval.evidence import JudgedHit
from agents.document_search import CANDIDATES, COLLECTION, by_section
from agents.errors import Unavailable
from agents.ports.graph import GraphReader
from agents.ports.models import Clock, TokenCounter
from agents.ports.passages import Hit, PassageIndex
from agents.retrievers.base import RetrievalRequest, RetrievalResult, Retriever, access_of, irrelevant
from schemas.items import AccessLevel, Chunk, ClaimItem, Concept, Item, Knowledge, Provenance
from schemas.retrieval import MemoryClass

MAX_CLAIMS, MAX_CLAIMS_READ = 10, 40
# Scores of items named exactly, and of confirmed claims about them.
NAMED, CONFIRMED = 0.6, 0.9
MAX_WORDS = 40
KINDS = ("chunk", "definition", "concept")


class SemanticRetriever(Retriever):
    memory = MemoryClass.SEMANTIC
    budget = timedelta(milliseconds=500)

    def __init__(self, tokens: TokenCounter, clock: Clock, index: PassageIndex, graph: GraphReader) -> None:
        super().__init__(tokens, clock)
        self._index = index
        self._graph = graph

    async def fetch(self, ask: RetrievalRequest) -> RetrievalResult:
        """Items above the relevance threshold, most probable first; where one store fails, those of the other."""
        limit = ask.source.limit or 10
        access: AccessLevel = "public"
        error = None
        try:
            persona = await self._graph.persona(ask.tenant, ask.plan.user_id, ask.plan.as_of)
            access = access_of(persona.person.persona_access if persona else None)
        except Unavailable as unavailable:
            error = str(unavailable)
        # At once: each waits for another server.
        found, (known, wrong) = await asyncio.gather(
            ask.search(self._index, COLLECTION, CANDIDATES, access_level=access, kinds=KINDS),
            self._named_items(ask, access, limit),
        )
        hits, *of_parts = map(by_section, found)
        kept, below = evidence.worth_showing(hits, "documents", ask.plan.as_of, limit, of_parts)
        items = [*known, *(_to_item(each, ask) for each in kept)]
        items.sort(key=lambda item: -evidence.preference(item.score, item.recorded_at, ask.plan.as_of))
        return RetrievalResult(items, error or wrong, irrelevant(self.memory, below))

    async def _named_items(
        self, ask: RetrievalRequest, access: AccessLevel, limit: int
    ) -> tuple[Sequence[Item], str | None]:
        """Items that the question names exactly, and the error where the graph did not answer."""
        named: list[Item] = []
        asked = text.content_words(ask.plan.query, ask.plan.lang)
        try:
            if not ask.source.narrow:
                found = await self._graph.concepts(
                    ask.tenant, terms=asked, access_level=access, as_of=ask.plan.as_of, limit=limit
                )
                named += [_as_named(each) for each in found if _is_named(each, asked, ask.plan.lang)]
            named += await self._user_claims(ask)
            if not ask.source.narrow and ask.source.selector != "claim_related_concepts":
                named += [each for each in await self._subject_claims(ask) if _is_named(each, asked, ask.plan.lang)]
        except Unavailable as unavailable:
            return named, str(unavailable)
        return named, None

    async def _user_claims(self, ask: RetrievalRequest) -> list[Knowledge]:
        """The user's claims about themselves, if asked for: the current value with its predecessor."""
        kinds = questions.about_oneself(ask.plan.query, ask.plan.lang)
        if kinds is None:
            return []
        user_id = ask.plan.user_id
        found = await self._graph.claims_about(
            ask.tenant, subjects=questions.subjects_of(user_id), as_of=ask.plan.as_of, limit=MAX_CLAIMS_READ
        )
        items = {item.claim_id: item for item in found.claims}
        own = questions.own_claims(found.asserted, user_id, kinds)
        return [_as_knowledge(items[each.claim.claim_id], each, CONFIRMED) for each in own[:MAX_CLAIMS]]

    async def _subject_claims(self, ask: RetrievalRequest) -> list[Knowledge]:
        """Claims about the question's subjects: the current value of each, once."""
        found = await self._graph.claims_about(
            ask.tenant, subjects=_phrases(ask.plan.query), as_of=ask.plan.as_of, limit=MAX_CLAIMS_READ
        )
        items = {item.claim_id: item for item in found.claims}
        standing = resolution.offered(found.asserted)
        return [_as_knowledge(items[each.claim.claim_id], each) for each in standing[:MAX_CLAIMS]]


def _is_named(item: Concept | Knowledge, asked: Sequence[str], lang: str) -> bool:
    """Whether the question names the item and the item covers most of the question."""
    name, said = (item.name, item.definition) if isinstance(item, Concept) else (item.title, item.text)
    return evidence.names(asked, name, lang) and evidence.answers_half(asked, f"{name} {said}", lang)


def _as_named(item: Concept | Knowledge) -> Concept | Knowledge:
    return item.model_copy(update={"score": NAMED, "reason": "the question names it"})


def _phrases(query: str) -> list[str]:
    """The n-grams of up to four words of a question, as candidate subjects of claims."""
    said = text.words(text.clip(query))[:MAX_WORDS]
    return sorted({" ".join(said[i : i + n]) for n in range(1, 5) for i in range(len(said) - n + 1)})


def _as_knowledge(claim: ClaimItem, offered: CurrentClaim, score: float = NAMED) -> Knowledge:
    confirmed = claim.status == "confirmed"
    older = "".join(f"; before: {each.value} ({each.asserted_at:%Y-%m-%d})" for each in offered.instead_of[:1])
    doubt = ", contested by the assistant" if claim.status == "contested" else ""
    return Knowledge(
        id=claim.claim_id,
        provenance=claim.provenance,
        recorded_at=claim.recorded_at,
        access_level=claim.access_level,
        reason=f"{'confirmed' if confirmed else 'said'} in a conversation about {claim.subject}{doubt}{older}",
        score=CONFIRMED if confirmed else score,
        title=claim.subject,
        text=f"{claim.value} ({claim.text})",
        confidence=claim.confidence,
        holds=True if older else None,
    )


def _to_item(judged: JudgedHit[Hit], ask: RetrievalRequest) -> Item:
    hit = judged.hit
    passage = hit.passage
    fields = passage.fields
    said = f"{fields.get('title', '')} {passage.text}"
    common: dict[str, object] = {
        "id": passage.id,
        "provenance": Provenance(store="index", id=passage.id),
        "recorded_at": passage.recorded_at,
        "access_level": passage.access_level,
        "reason": evidence.reason(evidence.covers(ask.plan.query, ask.plan.lang, said, passage.lang)),
        "score": judged.probability,
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
