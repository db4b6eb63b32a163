"""Take corrections from outside a conversation: of a claim, or of a consultation's answer.

reads   corrections.in      key entity (the target of the correction)
writes  memory.corrections  the contested target, the user, and the penalised nodes
        memory.claims       the user's claim, where a correction of a claim gives a value
        memory.quarantines  a claim that its user takes back
state   the graph (read): the target must be there, now or shortly
"""

from collections.abc import Sequence
from datetime import datetime
from functools import partial

from agents.core.claims import outside_corrections as rules
from agents.core.claims.subjects import filed_under
from agents.errors import Rejected
from agents.ports.graph import ConsultationFound, GraphReader
from agents.references import References
from schemas.base import Conversation, Source, derive, entity_key
from schemas.envelope import Outgoing, Received
from schemas.learning import CorrectionSubmitted
from schemas.memory import ClaimAsserted
from schemas.topics import MEMORY_CLAIMS, MEMORY_CONSULTATIONS, MEMORY_CORRECTIONS, MEMORY_QUARANTINES

MAX_EARLIER = 50


class CorrectionAgent:
    """Corrections; a target that is not yet in the graph is waited for as long as one may be on its way there."""

    def __init__(self, graph: GraphReader, references: References) -> None:
        self._graph = graph
        self._references = references

    async def handle(self, record: Received[CorrectionSubmitted]) -> Sequence[Outgoing]:
        """The correction, and the new claim, if any. Raises `Rejected` for an unknown target."""
        submitted, tenant = record.event, record.envelope.tenant
        steps: list[Outgoing] = []
        correction_id = derive("correction", tenant, record.envelope.id)
        at = submitted.created_at or record.envelope.time
        # The log's time counts, too: a client's clock may be behind that of the target.
        as_of = max(record.logged_at, record.envelope.time)
        if submitted.consultation_id is not None:
            found = await self._consultation(record, submitted.consultation_id, as_of)
            issued = rules.of_consultation(submitted, submitted.consultation_id, found.paths, at=at, id=correction_id)
            said_in = {"client_id": found.client_id, "conversation_id": found.conversation_id}
            issued = issued.model_copy(update=said_in)
        else:
            original = await self._claim(record, submitted.claim_id or "", as_of)
            place = Source(topic=record.topic, partition=record.partition, offset=record.offset)
            earlier = await self._earlier(submitted, original, tenant, as_of)
            issued, new = rules.of_claim(
                submitted, original, tenant=tenant, at=at, source=place, id=correction_id, earlier=earlier
            )
            if submitted.ruling == "retract":
                hiding = rules.hidden_with(original, issued)
                key = entity_key(tenant, derive("claim", "", original.claim_id))
                steps.append(Outgoing(MEMORY_QUARANTINES, key, hiding, record.envelope, issued.correction_id))
            if new is not None:
                own = Conversation(tenant=tenant, client_id=new.client_id, conversation_id=new.conversation_id)
                key = entity_key(tenant, own.key())
                steps.append(Outgoing(MEMORY_CLAIMS, key, new, record.envelope, new.claim_id))
        key = entity_key(tenant, issued.target_id)
        return (*steps, Outgoing(MEMORY_CORRECTIONS, key, issued, record.envelope, issued.correction_id))

    async def _earlier(
        self, submitted: CorrectionSubmitted, original: ClaimAsserted, tenant: str, as_of: datetime
    ) -> Sequence[ClaimAsserted]:
        """What the user knows about the subject of a claim that is confirmed; raises `Rejected` for another user's."""
        if submitted.ruling is None:
            return ()
        if submitted.user_id != original.user_id:
            raise Rejected("claim_of_another", "only the user who made a claim takes it back or confirms it")
        if submitted.ruling == "retract":
            return ()
        subject = filed_under(original.subject, original.user_id)
        found = await self._graph.claims_about(
            tenant, reader=original.user_id, subjects=[subject], as_of=as_of, limit=MAX_EARLIER
        )
        return [each for each in found.asserted if each.claim_id != original.claim_id]

    async def _claim(self, record: Received[CorrectionSubmitted], claim_id: str, as_of: datetime) -> ClaimAsserted:
        read = partial(self._graph.claim, record.envelope.tenant, claim_id, as_of)
        found = await self._references.find(read, MEMORY_CLAIMS, record.logged_at)
        if found is None:
            raise Rejected("claim_unknown", f"no claim {claim_id!r} was asserted; take its id from a pack or the graph")
        return found

    async def _consultation(
        self, record: Received[CorrectionSubmitted], consultation_id: str, as_of: datetime
    ) -> ConsultationFound:
        read = partial(self._graph.consultation, record.envelope.tenant, consultation_id, as_of)
        found = await self._references.find(read, MEMORY_CONSULTATIONS, record.logged_at)
        if found is None:
            raise Rejected("consultation_unknown", f"no consultation {consultation_id!r} is recorded")
        return found
