"""What stages read of memory, without what is quarantined; where nothing is, a read costs one look into a dictionary.

A store is asked for more where hidden results have taken places, so that others come instead.
"""

from collections.abc import Sequence
from dataclasses import replace

from agents.context import ContextManager
from agents.core.caching.texts import text_cache
from agents.core.conversation.memory import ConversationTurn, Opened, Session, Turns
from agents.core.packs.planning import pack_id_of
from agents.core.quarantine.sources import HiddenSources, Quarantines
from agents.core.retrieval.turn_parts import message_of
from agents.ports.passages import Hit, Passage, PassageIndex, PassageQuery
from agents.ports.sessions import SignalWeights, WorkingSets
from schemas.base import Conversation
from schemas.learning import DepthVote, Votes
from streams.dependencies import Dependencies
from streams.quarantine.graph import hiding_graph

# By how much more is asked for, and up to how many results.
MORE, MOST = 4, 10_000


def without_quarantined(built: Dependencies) -> Dependencies:
    """The dependencies of a stage that reads memory for packs, answers or tools."""
    hiding = built.quarantines
    working_sets = HidingWorkingSets(built.working_sets, hiding)
    return replace(
        built,
        working_sets=working_sets,
        context=ContextManager(working_sets, built.context.policy),
        index=HidingIndex(built.index, hiding),
        graph=hiding_graph(built.graph, hiding),
        weights=HidingWeights(built.weights, hiding),
    )


class HidingIndex:
    """The passage index, in whose results nothing is quarantined."""

    def __init__(self, index: PassageIndex, quarantines: Quarantines) -> None:
        self._index = index
        self._quarantines = quarantines

    async def search(self, tenant: str, collection: str, query: PassageQuery) -> tuple[Hit, ...]:
        """The tenant's passages nearest to the question that no quarantine hides, best first."""
        hidden = self._quarantines.hidden(tenant)
        if not hidden:
            return await self._index.search(tenant, collection, query)
        limit = query.limit
        while True:
            found = await self._index.search(tenant, collection, replace(query, limit=limit))
            kept = tuple(hit for hit in found if not _is_hidden(hidden, hit.passage))
            if len(kept) >= query.limit or len(found) < limit or limit >= MOST:
                return kept[: query.limit]
            limit *= MORE

    async def upsert(self, tenant: str, collection: str, passages: Sequence[Passage]) -> None:
        """Store passages, hidden or not."""
        await self._index.upsert(tenant, collection, passages)

    async def of_conversation(self, tenant: str, collection: str, conversation_id: str) -> tuple[Passage, ...]:
        """The tenant's passages of the conversations of this id, hidden or not: they are read to be erased."""
        return await self._index.of_conversation(tenant, collection, conversation_id)

    async def remove(self, tenant: str, collection: str, ids: Sequence[str]) -> None:
        """Delete passages of the tenant."""
        await self._index.remove(tenant, collection, ids)

    async def vectors(self, texts: Sequence[str]) -> list[list[float]]:
        """The unit vector of each text."""
        return await self._index.vectors(texts)


def _is_hidden(hidden: HiddenSources, passage: Passage) -> bool:
    fields = passage.fields
    if document := fields.get("document_id"):
        return hidden.has_document(str(document))
    client, conversation = fields.get("client_id"), passage.conversation_id or ""
    if hidden.has_id(passage.id) or hidden.has_conversation(client, conversation):
        return True
    if hidden.has_turn(client, conversation, message_of(passage.id)):
        return True
    if passage.user_id is not None and hidden.has_user(passage.user_id):
        return True
    if passage.kind != "summary":
        return False
    return hidden.is_within(client, conversation, int(fields.get("from_seq", 0)), int(fields.get("to_seq", 0)))


class HidingWorkingSets:
    """Conversations without the turns that are quarantined."""

    def __init__(self, sets: WorkingSets, quarantines: Quarantines) -> None:
        self._sets = sets
        self._quarantines = quarantines

    async def open(self, conversation: Conversation, message_id: str, limit: int) -> Opened:
        """The session with the visible turns of its current frame, and this message's outcome."""
        opened = await self._sets.open(conversation, message_id, limit)
        turns = self._visible(conversation, opened.turns)
        return opened if turns is opened.turns else replace(opened, turns=turns)

    async def frame_of(self, conversation: Conversation, message_id: str) -> str | None:
        """The frame of an earlier message."""
        return await self._sets.frame_of(conversation, message_id)

    async def forget(self, conversation: Conversation, up_to_seq: int) -> None:
        """Erase turns and outcomes, hidden or not."""
        await self._sets.forget(conversation, up_to_seq)

    async def append(
        self,
        conversation: Conversation,
        frame_id: str,
        turn: ConversationTurn,
        session: Session,
        outcome: bytes,
        keep: int,
    ) -> bytes | None:
        """Store a turn: what is said in a quarantined conversation is there again when that is lifted."""
        return await self._sets.append(conversation, frame_id, turn, session, outcome, keep)

    async def turns(self, conversation: Conversation, frame_id: str, *, up_to_seq: int, limit: int) -> Turns:
        """The visible ones of the last turns of a frame, oldest first."""
        found = await self._sets.turns(conversation, frame_id, up_to_seq=up_to_seq, limit=limit)
        return self._visible(conversation, found)

    async def session_turns(self, conversation: Conversation, *, up_to_seq: int, limit: int) -> Turns:
        """The visible ones of the last turns of all frames, ordered by seq."""
        found = await self._sets.session_turns(conversation, up_to_seq=up_to_seq, limit=limit)
        return self._visible(conversation, found)

    def _visible(self, conversation: Conversation, turns: Turns) -> Turns:
        hidden = self._quarantines.hidden(conversation.tenant)
        if not hidden:
            return turns
        if hidden.has_conversation(conversation.client_id, conversation.conversation_id):
            return ()
        return tuple(turn for turn in turns if not _is_turn_hidden(hidden, conversation, turn))


def _is_turn_hidden(hidden: HiddenSources, where: Conversation, turn: ConversationTurn) -> bool:
    if hidden.has_id(turn.message_id) or hidden.has_turn(where.client_id, where.conversation_id, turn.message_id):
        return True
    return turn.user_id is not None and hidden.has_user(turn.user_id)


class HidingWeights:
    """The votes on depth that come from no quarantined user, message or conversation."""

    def __init__(self, weights: SignalWeights, quarantines: Quarantines) -> None:
        self._weights = weights
        self._quarantines = quarantines

    async def votes(self, tenant: str) -> Votes:
        """The visible votes of the tenant by pattern."""
        found, hidden = await self._weights.votes(tenant), self._quarantines.hidden(tenant)
        if not (hidden.users or hidden.messages or hidden.places):
            return found
        return {name: _counted(tenant, hidden, votes) for name, votes in found.items()}

    async def add(self, tenant: str, vote: DepthVote) -> None:
        """Store a vote."""
        await self._weights.add(tenant, vote)

    async def remove(self, tenant: str, user_id: str) -> int:
        """Remove the votes of a user; how many these were."""
        return await self._weights.remove(tenant, user_id)


def _counted(tenant: str, hidden: HiddenSources, votes: Sequence[DepthVote]) -> tuple[DepthVote, ...]:
    return tuple(
        vote
        for vote in votes
        if not (
            hidden.has_user(vote.user_id)
            or hidden.has_id(vote.message_id)
            or any(vote.pack_id == _pack_of(tenant, *place, vote.message_id) for place in hidden.places)
        )
    )


@text_cache(100_000)
def _pack_of(tenant: str, client_id: str, conversation_id: str, message_id: str) -> str:
    # A vote names no conversation, but its pack's id is made of it.
    where = Conversation(tenant=tenant, client_id=client_id, conversation_id=conversation_id)
    return pack_id_of(where, message_id)
