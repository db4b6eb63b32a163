"""The base of every retrieval stage: it answers each plan that wants its memory class, always in time.

A failure is answered with a part, too, so that no pack waits for a broken store.
"""

import asyncio
import copy
import logging
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import ClassVar, Protocol, Self, TypedDict, Unpack

from agents.concurrency import timeout
from agents.core.language.question_parts import asked_parts
from agents.core.packs import profiles
from agents.core.packs.rendering import line
from agents.core.retrieval import evidence, ranking
from agents.core.retrieval.evidence import JudgedHit
from agents.errors import Unavailable
from agents.ports.graph import GraphReader
from agents.ports.models import Clock, TokenCounter
from agents.ports.passages import Hit, PassageIndex, PassageQuery
from schemas.base import Conversation
from schemas.envelope import Outgoing, Received
from schemas.items import AccessLevel, Item
from schemas.retrieval import Dropped, MemoryClass, PartFound, PartStatus, RetrievalPlan, SourceRequest
from schemas.topics import PACKS_PARTIAL

LOGGER = logging.getLogger("fathom.retrieval")
# The margin of the deadline for the part to reach the assembler, and the minimum time for a late plan.
DELIVERY_MARGIN = timedelta(milliseconds=40)
MIN_BUDGET = timedelta(milliseconds=50)
# After a stall of the event loop as long as this, the timeout may be its fault and the store's answer may be there.
STALL_S = 0.02
EVIDENCE = frozenset({MemoryClass.EPISODIC, MemoryClass.SEMANTIC, MemoryClass.PROCEDURAL, MemoryClass.CLAIMS})
# The fields of items in which they say something.
SAID_IN = ("title", "name", "process_name", "text", "definition", "label", "explanation", "subject", "value")
EXPIRED = "expired: its plan was read after the deadline of the pack"


class Memory(Protocol):
    """One class of memory, which answers each plan that wants it with one part."""

    @property
    def memory(self) -> MemoryClass: ...

    def wants(self, plan: RetrievalPlan) -> bool: ...

    async def handle(self, record: Received[RetrievalPlan]) -> Sequence[Outgoing]: ...


class PassageFilter(TypedDict, total=False):
    """The fields of a `PassageQuery` that narrow a search."""

    access_level: AccessLevel
    kinds: tuple[str, ...]
    user_id: str | None


@dataclass(frozen=True, slots=True)
class RetrievalRequest:
    """One request to one class of memory: the plan, its source, and the tenant's conversation."""

    plan: RetrievalPlan
    source: SourceRequest
    conversation: Conversation

    @property
    def tenant(self) -> str:
        return self.conversation.tenant

    @property
    def asker(self) -> tuple[str, str, datetime]:
        """Whose access level counts: the tenant, the user, and as of when."""
        return self.tenant, self.plan.user_id, self.plan.as_of

    @property
    def context(self) -> str:
        """The conversational context of the question, searched with it: recent text and references."""
        plan = self.plan
        # Only the references of the latest message that has any: earlier ones may be about other things.
        said = plan.parameters or ()
        newest = [each.value for each in said if each.source == "history" and each.message_id == said[-1].message_id]
        return "\n".join(filter(None, (plan.context, " ".join(newest))))

    def query(self, limit: int, **wanted: Unpack[PassageFilter]) -> PassageQuery:
        """The index query for the message, as of its time; `wanted` narrows it, in addition to the plan."""
        plan, asked = self.plan, self.source
        if asked.kinds is not None:
            kinds = wanted.get("kinds") or asked.kinds
            wanted["kinds"] = tuple(kind for kind in kinds if kind in asked.kinds)
        return PassageQuery(plan.query, plan.lang, limit, plan.as_of, since=asked.since, context=self.context, **wanted)

    def part_queries(self, limit: int, **wanted: Unpack[PassageFilter]) -> list[PassageQuery]:
        """A query for each question of a message that says or asks more, by its own words; else none."""
        whole = self.query(limit, **wanted)
        return [
            replace(whole, text=part.text, context=part.context, alone=part.alone)
            for part in asked_parts(self.plan.query, self.plan.lang)
        ]

    async def search(
        self, index: PassageIndex, collection: str, limit: int, **wanted: Unpack[PassageFilter]
    ) -> Sequence[Sequence[Hit]]:
        """The hits of the whole message, and behind them those of each of its questions, where it says more."""
        queries = (self.query(limit, **wanted), *self.part_queries(limit, **wanted))
        return await asyncio.gather(*(index.search(self.tenant, collection, each) for each in queries))


@dataclass(frozen=True, slots=True)
class RetrievalResult:
    """Items, best first; `error` names a source that failed, while the other items still count.

    `dropped` are the items that were found and left out, of those below the relevance threshold the best.
    """

    items: Sequence[Item]
    error: str | None = None
    dropped: Sequence[Dropped] = ()


class Retriever(ABC):
    """A retrieval stage for one memory class; subclasses define `fetch`.

    `share`: how much of the time to the pack's deadline it may take; all of it, where nothing else finds evidence.
    `answers_late`: whether memory is asked for a pack that is out already, so that it can be revised.
    `hurried`: whether there are time limits; where the clock stands, as in a replay, nothing is late.
    """

    memory: ClassVar[MemoryClass]
    share = 0.8
    answers_late = False
    hurried = True

    def __init__(self, tokens: TokenCounter, clock: Clock) -> None:
        self._tokens = tokens
        self._clock = clock

    def over(self, index: PassageIndex, graph: GraphReader) -> Self:
        """The same retriever over other reads of the same stores."""
        made = copy.copy(self)
        for name, store in (("_index", index), ("_graph", graph)):
            if hasattr(made, name):
                setattr(made, name, store)
        return made

    @abstractmethod
    async def fetch(self, ask: RetrievalRequest) -> RetrievalResult:
        """The items of this memory for the request; raises `Unavailable` when no source answers."""

    def wants(self, plan: RetrievalPlan) -> bool:
        """Whether the plan asks for this class of memory."""
        return plan.wants(self.memory) is not None

    def limit(self, seconds: float) -> AbstractAsyncContextManager[None]:
        """The context that raises `TimeoutError` after so long."""
        return timeout(seconds, stall=STALL_S) if self.hurried else nullcontext()

    async def handle(self, record: Received[RetrievalPlan]) -> Sequence[Outgoing]:
        """One part, if the plan wants this class."""
        plan = record.event
        sources = [source for source in plan.sources if source.memory_class == self.memory]
        if not sources:
            return ()
        conversation = record.conversation(plan.client_id, plan.conversation_id)
        part = await self._answer(plan, sources, conversation, plan.deadline_at - record.logged_at)
        return (Outgoing(PACKS_PARTIAL, conversation.key(), part, record.envelope, self.memory.value),)

    async def _answer(
        self, plan: RetrievalPlan, sources: Sequence[SourceRequest], conversation: Conversation, most: timedelta
    ) -> PartFound:
        asked = [source for source in sources if source.skip is None]
        if not asked:
            return _part(plan, self.memory, PartStatus.SKIPPED, (), sources[0].skip)
        now = self._clock.now()
        if now > plan.deadline_at and not self.answers_late:
            return _part(plan, self.memory, PartStatus.TIMEOUT, (), EXPIRED)
        # By the plan's own host there never was more than `most`: a clock that is behind it gives no more time.
        seconds = max(min(plan.deadline_at - now, most) - DELIVERY_MARGIN, MIN_BUDGET).total_seconds()
        if not self._is_alone(plan):
            seconds *= self.share
        items: list[Item] = []
        dropped: list[Dropped] = []
        status, error = PartStatus.EMPTY, None
        try:
            async with self.limit(seconds):
                for source in asked:
                    found = await self.fetch(RetrievalRequest(plan, source, conversation))
                    wanted = [self._covering(plan, each) for each in found.items if profiles.is_asked_for(each, source)]
                    # A source that may spend the whole budget is held to it where the pack is made.
                    cap = source.max_tokens if source.max_tokens < plan.max_tokens else None
                    kept, over = ranking.fit(wanted, partial(self._count, plan.lang), cap)
                    items += kept
                    dropped += [*found.dropped, *(_over_share(self.memory, each) for each in over)]
                    error = error or found.error
        except TimeoutError:
            status, error = PartStatus.TIMEOUT, f"no answer within {seconds:.3f} s"
        except Unavailable as unavailable:
            status, error = PartStatus.ERROR, str(unavailable)
        else:
            status = PartStatus.ERROR if error else PartStatus.OK if items else PartStatus.EMPTY
        return _part(plan, self.memory, status, items, error, dropped)

    def _is_alone(self, plan: RetrievalPlan) -> bool:
        """Whether the pack would have no evidence without this class: it is then worth waiting for to the end."""
        asked = {source.memory_class for source in plan.sources if source.skip is None}
        return asked & EVIDENCE == {self.memory}

    def _covering(self, plan: RetrievalPlan, item: Item) -> Item:
        """The item with the words of the question that it has; a searched one has them from its search."""
        if self.memory not in EVIDENCE or item.covers is not None:
            return item
        said = " ".join(str(getattr(item, name, "")) for name in SAID_IN)
        return item.model_copy(update={"covers": evidence.covers(plan.query, plan.lang, said, plan.lang)})

    def _count(self, lang: str, item: Item) -> int:
        return self._tokens.count(line(item, lang))


async def part_of(memory: Memory, asked: Received[RetrievalPlan], clock: Clock) -> tuple[PartFound, datetime]:
    """The answer of one class, and when it came; a fault in it costs this part and no other."""
    try:
        [out] = await memory.handle(asked)
        part = out.event
        assert isinstance(part, PartFound)
    except Exception as error:
        LOGGER.error("retrieval.bug", exc_info=error, extra={"fields": {"memory_class": memory.memory.value}})
        part = _failed(asked.event, memory.memory, f"{type(error).__name__}: {error}")
    return part, clock.now()


def _failed(plan: RetrievalPlan, memory: MemoryClass, why: str) -> PartFound:
    return PartFound(
        plan_id=plan.plan_id,
        pack_id=plan.pack_id,
        message_id=plan.message_id,
        memory_class=memory,
        status=PartStatus.ERROR,
        error=why,
    )


def _part(
    plan: RetrievalPlan,
    memory: MemoryClass,
    status: PartStatus,
    items: Sequence[Item],
    error: str | None,
    dropped: Sequence[Dropped] = (),
) -> PartFound:
    return PartFound(
        plan_id=plan.plan_id,
        pack_id=plan.pack_id,
        message_id=plan.message_id,
        memory_class=memory,
        status=status,
        items=tuple(items),
        tokens=sum(item.tokens for item in items),
        error=error,
        dropped=tuple(dropped) or None,
    )


def _over_share(memory: MemoryClass, item: Item) -> Dropped:
    return Dropped(id=item.id, memory_class=memory, reason="budget", tokens=item.tokens, score=item.score)


def not_shown(memory: MemoryClass, hits: Sequence[JudgedHit[Hit]]) -> list[Dropped]:
    """The hits that are left out, as the pack lists them."""
    return [
        Dropped(id=each.hit.passage.id, memory_class=memory, reason=each.left_out, tokens=0, score=each.probability)
        for each in hits
    ]
