"""What was talked about: summaries of conversations, and single past messages as points in time.

reads   retrieval.plans  key conversation
writes  packs.partial    class episodic
state   the graph, the passage index and the working set (read)
"""

import asyncio
from collections.abc import Sequence
from datetime import timedelta

from agents.core import ranking, summaries, text
from agents.errors import Unavailable
from agents.parts import Ask, Found, Retriever
from agents.ports import Clock, Hit, MemoryGraph, PassageIndex, PassageQuery, TokenCounter, WorkingSets
from schemas.base import derive
from schemas.items import ConversationSummary, Item, Provenance, TimePoint
from schemas.policy import ContextPolicy
from schemas.retrieval import MemoryClass

COLLECTION = "episodic"
SUMMARY_CHARS = 900
SPARE = 2
NEAR = 0.35  # cosine of unit sentence vectors
RECENT = 2  # summaries of a conversation that are worth reading whatever the question


class EpisodicRetriever(Retriever):
    memory = MemoryClass.EPISODIC
    budget = timedelta(milliseconds=300)

    def __init__(
        self,
        tokens: TokenCounter,
        clock: Clock,
        graph: MemoryGraph,
        index: PassageIndex,
        working_sets: WorkingSets,
        policy: ContextPolicy,
    ) -> None:
        super().__init__(tokens, clock)
        self._graph = graph
        self._index = index
        self._working_sets = working_sets
        self._policy = policy

    async def fetch(self, ask: Ask) -> Found:
        """By selector: the last summary, recent ones and what the question reminds of, or only the new anchor's."""
        match ask.source.selector:
            case "last_conversation_summary":
                return Found(await self._last(ask))
            case "recent_summaries":
                return await self._recent_and_relevant(ask)
            case "new_anchor_only":
                return Found(await self._about_anchor(ask))
            case _:
                return Found(await self._relevant(ask))

    async def _last(self, ask: Ask) -> Sequence[Item]:
        """The newest summary of this conversation, else of the user's previous one (CF-09)."""
        current = await self._of_conversation(ask, 1)
        if current:
            return current
        return await self._previous(ask, 1)

    async def _of_conversation(self, ask: Ask, limit: int) -> Sequence[ConversationSummary]:
        try:
            found = await self._graph.summaries(
                ask.tenant,
                user_id=ask.plan.user_id,
                conversation_id=ask.plan.conversation_id,
                as_of=ask.plan.as_of,
                limit=limit,
            )
        except Unavailable:
            found = ()
        return found or await self._on_the_fly(ask)

    async def _on_the_fly(self, ask: Ask) -> Sequence[ConversationSummary]:
        """A summary from the working set: the next message may come before the summariser's has reached the graph."""
        if not self._policy.enabled:
            return ()
        turns = await self._working_sets.turns(
            ask.conversation, ask.plan.frame_id, up_to_seq=ask.plan.seq - 1, limit=self._policy.max_turns
        )
        if len(turns) < 2:
            return ()
        meta = turns[-1].meta or {}
        item = ConversationSummary(
            id=derive("summary-on-the-fly", ask.conversation.key(), ask.plan.frame_id, turns[-1].seq),
            provenance=Provenance(topic=meta["topic"], partition=meta["partition"], offset=meta["offset"]),
            recorded_at=turns[-1].created_at,
            reason="extract of the conversation so far",
            score=1.0,
            conversation_id=ask.plan.conversation_id,
            text=summaries.summarise(turns, lang=ask.plan.lang, max_chars=SUMMARY_CHARS),
            topic=summaries.topic_of(turns, ask.plan.lang),
            from_seq=turns[0].seq,
            to_seq=turns[-1].seq,
        )
        return (item,) if item.text else ()

    async def _previous(self, ask: Ask, limit: int) -> Sequence[ConversationSummary]:
        found = await self._graph.summaries(
            ask.tenant, user_id=ask.plan.user_id, conversation_id=None, as_of=ask.plan.as_of, limit=limit + RECENT
        )
        others = [s for s in found if s.conversation_id != ask.plan.conversation_id]
        return [s.model_copy(update={"origin": "previous"}) for s in others[:limit]]

    async def _recent_and_relevant(self, ask: Ask) -> Found:
        # At once: each waits for another server.
        (recent, error), reminded = await asyncio.gather(self._recent(ask), self._relevant(ask))
        known = {item.id for item in recent}
        relevant = [item for item in reminded if item.id not in known]
        return Found([*relevant[:RECENT], *recent, *relevant[RECENT:]], error)

    async def _recent(self, ask: Ask) -> tuple[Sequence[Item], str | None]:
        """The newest summaries, and what was wrong when they could not be asked for."""
        recent: list[Item] = []
        try:
            recent += await self._of_conversation(ask, RECENT)
            recent += await self._previous(ask, RECENT)
        except Unavailable as unavailable:
            return recent, str(unavailable)
        return recent, None

    async def _relevant(self, ask: Ask) -> Sequence[Item]:
        limit = ask.source.limit or 8
        question = ask.search_text()
        query = PassageQuery(question, ask.plan.lang, limit * SPARE, ask.plan.as_of, user_id=ask.plan.user_id)
        hits = await self._index.search(ask.tenant, COLLECTION, query)
        named = ranking.identifiers(question)
        chosen = ranking.diversify(
            [hit for hit in hits if hit.passage.id != ask.plan.message_id and _is_relevant(hit)],
            score=lambda hit: hit.score * ranking.naming(named, hit.passage.text),
            words=lambda hit: text.content_set(hit.passage.text, hit.passage.lang),
            limit=limit,
        )
        return [to_item(hit, ask.plan.conversation_id) for hit in chosen]

    async def _about_anchor(self, ask: Ask) -> Sequence[Item]:
        """Only what speaks of the new subject; the abandoned frame is not among it (CF-12)."""
        terms = set(text.content_words(ask.plan.query, ask.plan.lang))
        found = await self._relevant(ask)
        return [
            item
            for item in found
            if isinstance(item, ConversationSummary) and terms & set(text.content_words(item.topic, ask.plan.lang))
        ]


def _is_relevant(hit: Hit) -> bool:
    """Shares a word with the question, or is near it in meaning: the nearest of nothing near is noise (S0-02)."""
    return "bm25" in hit.scores or hit.scores.get("dense", 0.0) >= NEAR


def to_item(hit: Hit, conversation_id: str) -> ConversationSummary | TimePoint:
    """A past message as a point in time, a summary as itself."""
    passage, fields = hit.passage, hit.passage.fields
    place = Provenance(store="index", id=passage.id)
    if "topic_name" in fields:
        place = Provenance(
            topic=str(fields["topic_name"]),
            partition=int(fields["partition"]),
            offset=int(fields["offset"]),
            store="index",
            id=passage.id,
        )
    reason = f"{passage.kind} found by {' and '.join(sorted(hit.scores)) or 'search'}"
    if passage.kind == "summary":
        return ConversationSummary(
            id=passage.id,
            provenance=place,
            recorded_at=passage.recorded_at,
            access_level=passage.access_level,
            reason=reason,
            score=hit.score,
            scores=dict(hit.scores),
            conversation_id=passage.conversation_id or "",
            text=passage.text,
            topic=str(fields.get("topic", "")),
            from_seq=int(fields.get("from_seq", 0)),
            to_seq=int(fields.get("to_seq", 0)),
            origin="current" if passage.conversation_id == conversation_id else "previous",
        )
    return TimePoint(
        id=passage.id,
        provenance=place,
        recorded_at=passage.recorded_at,
        access_level=passage.access_level,
        reason=reason,
        score=hit.score,
        scores=dict(hit.scores),
        label=f"{fields.get('role', 'user')}: {passage.text}",
        at=passage.recorded_at,
        kind="message",
    )
