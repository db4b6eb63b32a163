"""Claims: assertions, their authors and their contradictions, for a user who contests something.

reads   retrieval.plans  key conversation
writes  packs.partial    class claims
state   the working set (read): this session's claims, extracted on the spot; the graph (read): older ones;
        the passage index (read): what documents say otherwise, and vectors to compare sentences by
"""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from agents.access_levels import AccessLevels
from agents.core.claims import checks, lifecycle, statements
from agents.core.claims import documents as claim_documents
from agents.core.claims.documents import DocumentText
from agents.core.claims.lifecycle import ClaimUpdate, Utterance
from agents.core.claims.statements import Statement
from agents.core.claims.subjects import filed_under
from agents.core.language import contradiction
from agents.core.packs.draft import ORIGINAL
from agents.errors import Unavailable
from agents.ports.graph import ClaimsFound, GraphReader
from agents.ports.models import Clock, TokenCounter
from agents.ports.passages import Hit, PassageIndex, PassageQuery
from agents.ports.sessions import WorkingSets
from agents.retrievers.base import RetrievalRequest, RetrievalResult, Retriever
from schemas.items import AccessLevel, ClaimItem, Contradiction, Item
from schemas.memory import ClaimAsserted
from schemas.retrieval import MemoryClass

COLLECTION = "semantic"
MAX_SEARCHED, MAX_PASSAGES = 3, 6
VECTORS_S = 0.15
MAX_TURNS = 200  # turns of the session whose claims are read
MAX_COMPARED = 40  # turns whose sentences are compared by vectors


@dataclass(frozen=True, slots=True)
class Compared:
    """Semantic contradictions between sentences; `error` says why they could not be compared."""

    conflicts: Sequence[Contradiction] = ()
    error: str | None = None


class ClaimsRetriever(Retriever):
    memory = MemoryClass.CLAIMS

    def __init__(
        self,
        tokens: TokenCounter,
        clock: Clock,
        graph: GraphReader,
        working_sets: WorkingSets,
        index: PassageIndex | None = None,
    ) -> None:
        super().__init__(tokens, clock)
        self._index = index
        self._graph = graph
        self._access = AccessLevels(graph)
        self._working_sets = working_sets

    async def fetch(self, ask: RetrievalRequest) -> RetrievalResult:
        """The session's claims with the contested original first; without one, claims and documents from elsewhere."""
        turns = await self._working_sets.session_turns(ask.conversation, up_to_seq=ask.plan.seq - 1, limit=MAX_TURNS)
        said = [Utterance.from_memory(turn, ask.conversation) for turn in turns]
        earlier, message = lifecycle.session_claims(said), self._message(ask)
        update = lifecycle.heard(message, earlier)
        # Where the claims' own relations show a contradiction, no semantic comparison is needed.
        new = () if any(claim.contradicts for claim in update.claims) else statements.new_in(message)
        if ask.source.selector == "check_knowledge_conflicts":
            return await self._known_elsewhere(ask, earlier, update, new)
        before = (each for utterance in said[-MAX_COMPARED:] for each in statements.of(utterance))
        return await self._in_session(ask, earlier, update, await self._contradicted(new, before))

    def _message(self, ask: RetrievalRequest) -> Utterance:
        plan = ask.plan
        return Utterance(
            conversation=ask.conversation,
            message_id=plan.message_id,
            author="user",
            text=plan.query,
            lang=plan.lang,
            seq=plan.seq,
            frame_id=plan.frame_id,
            user_id=plan.user_id,
            at=plan.as_of,
            source=plan.source,
        )

    async def _contradicted(self, new: Sequence[Statement], before: Iterable[Statement]) -> Compared:
        """The earlier statements that contradict a new one; without vectors none, and the error."""
        compared = statements.comparable(new, before)
        if self._index is None or not compared:
            return Compared()
        texts = list(dict.fromkeys(each.text for each in (*new, *compared)))
        try:
            # The claims' own relations must not wait for the index.
            async with self.limit(VECTORS_S):
                vectors = dict(zip(texts, await self._index.vectors(texts), strict=True))
        except TimeoutError:
            return Compared(error=f"no vectors within {VECTORS_S} s")
        except Unavailable as unavailable:
            return Compared(error=str(unavailable))
        # The weights are for one encoder's vectors.
        fits = len(vectors[texts[0]]) == contradiction.SIZE
        return Compared(statements.contradictions(new, compared, vectors)) if fits else Compared()

    async def _in_session(
        self, ask: RetrievalRequest, earlier: Sequence[ClaimAsserted], update: ClaimUpdate, against: Compared
    ) -> RetrievalResult:
        said = [*earlier, *update.claims]
        original = update.original.claim_id if update.original else None
        items = {claim.claim_id: lifecycle.to_item(claim, "claim of this session", 0.5) for claim in reversed(said)}
        conflicts: dict[str, Contradiction] = {c.id: c for c in (*lifecycle.contradictions(said), *against.conflicts)}
        older, error = ClaimsFound((), ()), against.error
        try:
            older = await self._graph.claims(
                ask.tenant,
                client_id=ask.plan.client_id,
                conversation_id=ask.plan.conversation_id,
                as_of=ask.plan.as_of,
                limit=ask.source.limit or 40,
            )
        except Unavailable as unavailable:
            error = str(unavailable)
        items = {**{item.claim_id: item for item in older.claims}, **items}
        conflicts = {**{c.id: c for c in older.contradictions}, **conflicts}
        found = _ordered(items, conflicts, original)
        return RetrievalResult(_of_others(found, [*older.asserted, *said], ask.plan.user_id), error)

    async def _known_elsewhere(
        self, ask: RetrievalRequest, earlier: Sequence[ClaimAsserted], update: ClaimUpdate, new: Sequence[Statement]
    ) -> RetrievalResult:
        """Claims of other conversations and documents on the message's subject, and those that contradict it."""
        about = [*update.claims, *([update.original] if update.original else [])]
        subjects = sorted({filed_under(claim.subject, ask.plan.user_id) for claim in about})
        documents, error = await self._documents(ask, [*about, *new])
        written = [each for document in documents for each in statements.of_document(document, ask.plan.lang)]
        against = await self._contradicted(new, written)
        if not subjects:
            return RetrievalResult(against.conflicts, error or against.error)
        found = await self._graph.claims_about(
            ask.tenant,
            reader=ask.plan.user_id,
            subjects=subjects,
            as_of=ask.plan.as_of,
            limit=ask.source.limit or 10,
        )
        own = {c.claim_id for c in (*earlier, *update.claims)}
        others = {c.claim_id: c for c in found.asserted if c.claim_id not in own}
        items: list[Item] = [c for c in found.claims if c.claim_id in others]
        elsewhere = (*checks.with_others(about, list(others.values())), *found.contradictions)
        conflicts = {c.id: c for c in (*elsewhere, *claim_documents.in_all(about, documents), *against.conflicts)}
        marked = _of_others([*conflicts.values(), *items], found.asserted, ask.plan.user_id)
        return RetrievalResult(marked, error or against.error)

    async def _documents(
        self, ask: RetrievalRequest, about: Sequence[ClaimAsserted | Statement]
    ) -> tuple[list[DocumentText], str | None]:
        """The passages nearest to each statement that the user may read; the error where the index does not answer."""
        if self._index is None or not about:
            return [], None
        index, texts = self._index, list(dict.fromkeys((each.text, each.lang) for each in about))[:MAX_SEARCHED]

        async def search(access: AccessLevel) -> Sequence[Sequence[Hit]]:
            wanted = (PassageQuery(text, lang, MAX_PASSAGES, ask.plan.as_of, access) for text, lang in texts)
            return await asyncio.gather(*(index.search(ask.tenant, COLLECTION, each) for each in wanted))

        try:
            hits, error = await self._access.searched(*ask.asker, search)
        except Unavailable as unavailable:
            return [], str(unavailable)
        return list({hit.passage.id: _document(hit) for found in hits for hit in found}.values()), error


def _document(hit: Hit) -> DocumentText:
    passage = hit.passage
    return DocumentText(passage.id, str(passage.fields.get("title", "")), passage.text, passage.recorded_at)


def _of_others(items: Iterable[Item], asserted: Iterable[ClaimAsserted], user_id: str) -> list[Item]:
    """The items, those that quote another user with that user: what holds them is erased with either of them."""
    others = {claim.claim_id: claim.user_id for claim in asserted if claim.user_id != user_id}

    def marked(item: Item) -> Item:
        sides = (item.claim_id, item.contradicts) if isinstance(item, Contradiction) else (item.id,)
        whose = next((others[side] for side in sides if side in others), None)
        return item if whose is None else item.model_copy(update={"user_id": whose})

    return [marked(item) for item in items]


def _ordered(items: dict[str, ClaimItem], conflicts: dict[str, Contradiction], original: str | None) -> list[Item]:
    """Order claims: the contested original, then conflicts, then the rest, newest first."""
    contested = {side for c in conflicts.values() for side in (c.claim_id, c.contradicts)}
    marked = [
        item.model_copy(
            update={
                "status": "contested" if item.claim_id in contested and item.claim_id == original else item.status,
                "score": 1.0 if item.claim_id == original else 0.8 if item.claim_id in contested else item.score,
                "scores": {**item.scores, ORIGINAL: 1.0} if item.claim_id == original else item.scores,
                "reason": "original claim of the correction" if item.claim_id == original else item.reason,
            }
        )
        for item in items.values()
    ]
    marked.sort(key=lambda item: (item.score, item.recorded_at, item.id), reverse=True)
    first = [item for item in marked if item.score >= 0.8]
    rest = [item for item in marked if item.score < 0.8]
    return [*first, *conflicts.values(), *rest]
