"""Turn what users say about the depth of packs into votes, which depth weighs from then on.

reads   feedback.in       key conversation
writes  memory.votes      one vote per feedback; the log from which weights are rebuilt
        memory.decisions  the same vote, for audit
state   the graph (read): what was decided on the message of the pack
"""

from collections.abc import Sequence
from functools import partial

from agents.core.depth.votes import pattern_of
from agents.core.packs.planning import pack_id_of
from agents.errors import Rejected
from agents.ports.graph import GraphReader
from agents.references import References
from schemas.base import derive, entity_key
from schemas.envelope import Outgoing, Received
from schemas.learning import DepthVote, FeedbackGiven
from schemas.memory import AuditDecision
from schemas.topics import MEMORY_DECISIONS, MEMORY_VOTES

ACTOR = "feedback"


class FeedbackAgent:
    """A pack's decision may be on its way to the graph: it is waited for as long as it may be, then refused."""

    def __init__(self, graph: GraphReader, references: References) -> None:
        self._graph = graph
        self._references = references

    async def handle(self, record: Received[FeedbackGiven]) -> Sequence[Outgoing]:
        """The vote and its audit. Raises `Rejected` for a pack that this tenant's conversation never had."""
        given, envelope = record.event, record.envelope
        conversation = record.conversation(given.client_id, given.conversation_id)
        if given.pack_id != pack_id_of(conversation, given.message_id):
            raise Rejected("pack_unknown", f"the pack {given.pack_id!r} is not of message {given.message_id!r} here")
        as_of = max(record.logged_at, envelope.time)
        read = partial(self._graph.decision, envelope.tenant, given.pack_id, as_of)
        decided = await self._references.find(read, MEMORY_DECISIONS, record.logged_at)
        if decided is None:
            raise Rejected("pack_unknown", f"no pack {given.pack_id!r} went out")
        user = envelope.user_id or given.client_id
        vote = DepthVote(
            id=derive("vote", given.pack_id, user),
            pattern=pattern_of(decided.signals),
            decided=decided.level,
            expected=given.expected_depth,
            rating=given.rating,
            at=given.created_at or envelope.time,
            message_id=given.message_id,
            pack_id=given.pack_id,
            user_id=user,
            reason=given.reason,
        )
        audit = AuditDecision(
            kind="weights",
            id=derive("weights", envelope.id),
            actor=ACTOR,
            subject_id=given.pack_id,
            detail=vote.model_dump(mode="json"),
            created_at=vote.at,
            conversation_id=given.conversation_id,
            client_id=given.client_id,
        )
        key = entity_key(envelope.tenant, given.pack_id)
        return (
            Outgoing(MEMORY_VOTES, key, vote, envelope, vote.id),
            Outgoing(MEMORY_DECISIONS, key, audit, envelope, vote.id),
        )
