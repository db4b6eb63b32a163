"""Search memory for a question that is no turn of a conversation: nothing of it is remembered.

reads   searches.in   key request
writes  searches.out  what was found, under the same key
state   the passage index and the graph (read)
"""

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta

from agents.core.assessment import question
from agents.core.conversation.memory import Turns
from agents.core.depth import levels
from agents.core.language.identification import first_language, identify_language
from agents.core.language.messages import LANGUAGES
from agents.core.packs import join as joins
from agents.core.packs import planning
from agents.core.packs.planning import Limits
from agents.core.search.results import anonymous, missing, selected
from agents.core.search.scope import SearchScope
from agents.ports.graph import GraphReader
from agents.ports.models import Clock, TokenCounter
from agents.ports.passages import PassageIndex
from agents.retrievers.base import Retriever, part_of
from agents.scoped_memory import ScopedMemory
from schemas.base import Conversation, Source, derive, entity_key
from schemas.depth import Anchor, AppliedOptions, DepthClassified
from schemas.envelope import Outgoing, Received
from schemas.policy import DEFAULT_POLICY, ContextPolicy
from schemas.retrieval import MemoryClass, PackInputs, PartFound, RetrievalPlan, SearchAsked, SearchMade
from schemas.topics import RETRIEVAL_PLANS, SEARCHES_OUT

# The tokens that the results may have, for each that is asked for, where the pack of the question has fewer.
TOKENS_EACH = 200
MS = timedelta(milliseconds=1)


class NoTurns:
    """The working set of a search, which has no conversation."""

    async def turns(self, _conversation: Conversation, _frame_id: str, *, up_to_seq: int, limit: int) -> Turns:  # noqa: ARG002
        return ()

    async def session_turns(self, _conversation: Conversation, *, up_to_seq: int, limit: int) -> Turns:  # noqa: ARG002
        return ()


class Searcher:
    """Asks the classes of memory as the pack of a new conversation would, and answers with what it would select."""

    def __init__(
        self,
        limits: Limits,
        memories: Sequence[Retriever],
        index: PassageIndex,
        graph: GraphReader,
        tokens: TokenCounter,
        clock: Clock,
        policy: ContextPolicy = DEFAULT_POLICY,
    ) -> None:
        self._limits, self._memories, self._tokens, self._clock = limits, tuple(memories), tokens, clock
        self._index, self._graph = index, graph
        self._lang = policy.lang

    async def handle(self, record: Received[SearchAsked]) -> Sequence[Outgoing]:
        """Emit the results of one search."""
        asked, envelope = record.event, record.envelope
        began = self._clock.now()
        classified = self._classified(record, began)
        conversation = record.conversation(classified.client_id, classified.conversation_id)
        scope = SearchScope.of(asked)
        plan = scope.narrowed(planning.make_plan(classified, conversation, self._limits))
        memory = ScopedMemory(scope, classified.user_id, self._index, self._graph)
        inputs = await self._inputs(record, classified, plan, memory, scope)
        join = joins.whole(record._replace(event=inputs))  # type: ignore[arg-type]
        pack, found = selected(join, self._tokens, memory.origin_of, asked.limit)
        lacking = missing(pack)
        made = SearchMade(
            request_id=asked.request_id,
            user_id=classified.user_id,
            query=asked.query,
            lang=classified.lang,
            results=tuple(found),
            evidence="found" if found else None if lacking else "none",
            degraded=bool(lacking),
            missing=lacking,
            text=pack.text or "",
            total_tokens=pack.total_tokens_estimated,
            tokenizer=self._tokens.name,
            latency_ms=max((self._clock.now() - began) / MS, 0.0),
        )
        return (Outgoing(SEARCHES_OUT, entity_key(envelope.tenant, asked.request_id), made, envelope),)

    async def _inputs(
        self,
        record: Received[SearchAsked],
        classified: DepthClassified,
        plan: RetrievalPlan,
        memory: ScopedMemory,
        scope: SearchScope,
    ) -> PackInputs:
        """What the classes of memory that the plan names have found, without what is outside of the scope."""
        asked: Received[RetrievalPlan] = Received(
            plan, record.envelope, record.key, RETRIEVAL_PLANS.name, record.partition, -1, record.timestamp
        )
        memories = [each.over(memory.index, memory.graph) for each in self._memories if each.wants(plan)]
        parts = await asyncio.gather(*(part_of(each, asked, self._clock) for each in memories))
        settled_at = self._clock.now()

        def kept(part: PartFound, at: datetime) -> PartFound:
            early = {"earlier_ms": round((settled_at - at) / MS) or None}
            if part.memory_class is MemoryClass.PERSONA:
                return part.model_copy(update={**early, "items": anonymous(part.items)})
            found = [item for item in part.items if getattr(item, "message_id", None) != plan.message_id]
            return scope.within(part.model_copy(update={**early, "items": found}), memory.origin_of)

        terms = planning.open_join(plan, classified, self._limits.profile(classified.depth_level))
        return PackInputs(
            pack_id=terms.pack_id,
            message_id=terms.message_id,
            terms=terms,
            parts=tuple(kept(*each) for each in parts),
            opened_at=record.logged_at,
            settled_at=settled_at,
        )

    def _classified(self, record: Received[SearchAsked], began: datetime) -> DepthClassified:
        """The query as the first message of a conversation that there is not, by its words alone."""
        asked, envelope = record.event, record.envelope
        lang = self._lang_of(asked.query, envelope.locale)
        decision = levels.classify(asked.query, (), lang=lang)
        budget = max(self._limits.max_tokens[decision.level], TOKENS_EACH * asked.limit)
        return DepthClassified(
            message_id=asked.request_id,
            conversation_id=derive("search", asked.request_id),
            client_id=asked.client_id,
            user_id=envelope.user_id or asked.client_id,
            query=asked.query,
            depth_level=decision.level,
            confidence=decision.confidence,
            signals=decision.signals,
            candidates=decision.candidates,
            classifier="heuristic",
            how_to=decision.how_to,
            lang=lang,
            seq=0,
            source=Source(topic=record.topic, partition=record.partition, offset=max(record.offset, 0)),
            frame_id=derive("frame", asked.request_id),
            anchor=Anchor(topic=asked.query[:160], terms=decision.terms),
            as_of=envelope.time,
            accepted_at=began,
            latency_ms=0.0,
            **question.need_of(asked.query, (), decision, lang, always=True),
            resets=decision.resets,
            options=AppliedOptions(look_up="always", max_tokens=budget),
        )

    def _lang_of(self, query: str, locale: str | None) -> str:
        """As stated, or as the words tell."""
        stated = (locale or "").lower()[:2]
        if stated in LANGUAGES:
            return stated
        return identify_language(query, "") or first_language(query, self._lang)
