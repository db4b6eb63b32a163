"""Erase forgotten conversations from the graph and the index, and who a user is, and say how much that was.

reads   memory.erasures   key conversation
writes  memory.decisions  for audit: who had it erased, when, how many of what; no content
state   the graph, the passage index and the votes (write): the note of the erasure first, the contents after it
"""

from collections.abc import Mapping, Sequence

from agents.core.conversation.erasure import Erasure
from agents.erasures import is_covered
from agents.ports.erasable import CompactingStore, ConversationNodes
from agents.ports.graph import GraphEraser
from agents.ports.passages import PassageIndex
from agents.ports.sessions import SignalWeights
from schemas.base import Conversation, entity_key
from schemas.envelope import Outgoing, Received
from schemas.memory import AuditDecision, ErasureIssued
from schemas.topics import MEMORY_DECISIONS

EPISODIC, CONSULTATIONS = "episodic", "consultas"
TOGETHER = 500


class Eraser:
    """Erases by the graph's inventory of a conversation and by the index's own, for either may be ahead."""

    def __init__(self, graph: GraphEraser, index: PassageIndex, votes: SignalWeights) -> None:
        self._graph = graph
        self._index = index
        self._votes = votes

    async def handle(self, record: Received[ErasureIssued]) -> Sequence[Outgoing]:
        """The audit of the erasure; nothing for one that a later one has overtaken."""
        issued = record.event
        conversation = record.conversation(issued.client_id, issued.conversation_id)
        erasure = Erasure(issued.up_to_seq, issued.issued_at)
        found = await self._graph.note_erasure(conversation, erasure)
        if found is None:
            return ()
        passages = await self._passages(conversation, erasure, found)
        sums = {**found.counts(), "passages": sum(map(len, passages.values()))}
        if issued.user_id is not None:
            own = await self._graph.profile_nodes(conversation.tenant, issued.user_id)
            found |= own
            # Votes have no note: counted when they are removed, a repetition after a crash may count fewer.
            sums = own.counts() | {"votes": await self._votes.remove(conversation.tenant, issued.user_id)}
        # Before anything is deleted: an erasure that is cut short counts the same when it is repeated.
        counts = await self._graph.note_counts(conversation, erasure, sums)
        for collection, ids in passages.items():
            for start in range(0, len(ids), TOGETHER):
                await self._index.remove(conversation.tenant, collection, ids[start : start + TOGETHER])
        await self._graph.erase(conversation.tenant, found)
        # What an index and votes leave of deleted bytes is rewritten whole: not for each conversation.
        for store in (self._graph,) if issued.user_id is None else (self._graph, self._index, self._votes):
            if isinstance(store, CompactingStore):
                await store.compact()
        return (_audited(record, conversation, counts),)

    async def _passages(
        self, conversation: Conversation, erasure: Erasure, found: ConversationNodes
    ) -> Mapping[str, Sequence[str]]:
        known = await self._index.of_conversation(conversation.tenant, EPISODIC, conversation.conversation_id)
        own = [each.stored_as for each in known if is_covered(each, conversation.client_id, erasure)]
        return {EPISODIC: _once(*own, *found.passages()), CONSULTATIONS: _once(*found.consultations())}


def _once(*ids: str) -> list[str]:
    return [*dict.fromkeys(ids)]


def _audited(record: Received[ErasureIssued], conversation: Conversation, counts: Mapping[str, int]) -> Outgoing:
    issued = record.event
    audit = AuditDecision(
        kind="erasure",
        id=issued.erasure_id,
        actor=issued.asked_by,
        subject_id=issued.conversation_id,
        detail={
            "client_id": issued.client_id,
            "conversation_id": issued.conversation_id,
            "up_to_seq": issued.up_to_seq,
            "erased": dict(counts),
        },
        created_at=issued.issued_at,
    )
    key = entity_key(conversation.tenant, conversation.key())
    return Outgoing(MEMORY_DECISIONS, key, audit, record.envelope, "erasure")
