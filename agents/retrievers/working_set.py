"""The working set: the last messages of the frame, or the whole session when something is contested.

reads   retrieval.plans  key conversation
writes  packs.partial    class working_set
state   the working set (read), up to the message, never beyond it
"""

from datetime import timedelta

from agents.context import ContextManager
from agents.core.conversation.memory import ConversationTurn, Turns
from agents.ports.models import Clock, TokenCounter
from agents.ports.sessions import WorkingSets
from agents.retrievers.base import RetrievalRequest, RetrievalResult, Retriever
from schemas.items import MessageItem, Provenance
from schemas.retrieval import MemoryClass


class WorkingSetRetriever(Retriever):
    memory = MemoryClass.WORKING_SET
    # A read takes a millisecond; the limit is for a store being restarted or rebuilt, which takes some hundred.

    def __init__(self, tokens: TokenCounter, clock: Clock, working_sets: WorkingSets, context: ContextManager) -> None:
        super().__init__(tokens, clock)
        self._working_sets = working_sets
        self._context = context

    async def fetch(self, ask: RetrievalRequest) -> RetrievalResult:
        """The last messages before this one, newest first, so that a token cap keeps the newest."""
        turns = await self._turns(ask)
        return RetrievalResult([to_item(turn, ask.source.selector) for turn in reversed(turns)])

    async def _turns(self, ask: RetrievalRequest) -> Turns:
        policy = self._context.policy
        before = ask.plan.seq - 1
        if ask.source.selector == "clear_and_reset" or not policy.enabled:
            return ()
        if ask.source.selector == "full_session":
            turns = await self._working_sets.session_turns(
                ask.conversation, up_to_seq=before, limit=policy.session_turns
            )
            ttl = timedelta(seconds=policy.ttl_seconds)
            return tuple(turn for turn in turns if ask.plan.as_of - turn.created_at <= ttl)
        limit = ask.source.limit or 0
        turns = await self._working_sets.turns(
            ask.conversation, ask.plan.frame_id, up_to_seq=before, limit=policy.max_turns
        )
        return self._context.recent(turns, ask.plan.as_of)[-limit:] if limit else ()


def to_item(turn: ConversationTurn, selector: str) -> MessageItem:
    """The pack item of a stored turn, with its position in the log."""
    return MessageItem(
        id=turn.message_id,
        provenance=Provenance(**turn.place.model_dump()),
        recorded_at=turn.created_at,
        reason=f"working set: {selector}",
        score=1.0,
        message_id=turn.message_id,
        role=turn.role,
        content=turn.content,
        created_at=turn.created_at,
        seq=turn.seq,
        frame_id=turn.frame_id,
    )
