"""What was asserted, by whom, and what cannot stand beside it: for a user who contests something.

reads   retrieval.plans  key conversation
writes  packs.partial    class claims
state   the working set (read): this session's claims, extracted on the spot; the graph (read): older ones (CF-86)
"""

from collections.abc import Sequence
from datetime import timedelta

from agents.core import claims
from agents.core.claims import Heard, Utterance
from agents.core.trimming import ORIGINAL
from agents.errors import Unavailable
from agents.parts import Ask, Found, Retriever
from agents.ports import ClaimsFound, Clock, MemoryGraph, TokenCounter, WorkingSets
from schemas.items import ClaimItem, Contradiction, Item
from schemas.memory import ClaimAsserted
from schemas.retrieval import MemoryClass

LOOK_BACK = 200  # turns of the session whose claims are looked at


class ClaimsRetriever(Retriever):
    memory = MemoryClass.CLAIMS
    budget = timedelta(milliseconds=500)

    def __init__(self, tokens: TokenCounter, clock: Clock, graph: MemoryGraph, working_sets: WorkingSets) -> None:
        super().__init__(tokens, clock)
        self._graph = graph
        self._working_sets = working_sets

    async def fetch(self, ask: Ask) -> Found:
        """The session's claims of both authors with the original first; or what is known elsewhere on the subject."""
        turns = await self._working_sets.session_turns(ask.conversation, up_to_seq=ask.plan.seq - 1, limit=LOOK_BACK)
        earlier = claims.session_claims([Utterance.from_memory(turn, ask.conversation) for turn in turns])
        heard = claims.heard(self._message(ask), earlier)
        if ask.source.selector == "check_knowledge_conflicts":
            return await self._known_elsewhere(ask, earlier, heard)
        return await self._in_session(ask, earlier, heard)

    def _message(self, ask: Ask) -> Utterance:
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

    async def _in_session(self, ask: Ask, earlier: Sequence[ClaimAsserted], heard: Heard) -> Found:
        said = [*earlier, *heard.claims]
        original = heard.original.claim_id if heard.original else None
        items = {claim.claim_id: claims.to_item(claim, "claim of this session", 0.5) for claim in reversed(said)}
        conflicts: dict[str, Contradiction] = {c.id: c for c in claims.contradictions(said)}
        older, error = ClaimsFound((), ()), None
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
        return Found(_ordered(items, conflicts, original), error)

    async def _known_elsewhere(self, ask: Ask, earlier: Sequence[ClaimAsserted], heard: Heard) -> Found:
        """What any conversation of the tenant asserted on the subjects of this message."""
        about = [*heard.claims, *([heard.original] if heard.original else [])]
        subjects = sorted({claim.subject for claim in about})
        if not subjects:
            return Found([])
        found = await self._graph.claims_about(
            ask.tenant, subjects=subjects, as_of=ask.plan.as_of, limit=ask.source.limit or 10
        )
        own = {c.claim_id for c in (*earlier, *heard.claims)}
        items: list[Item] = [c for c in found.claims if c.claim_id not in own]
        return Found([*items, *found.contradictions])


def _ordered(items: dict[str, ClaimItem], conflicts: dict[str, Contradiction], original: str | None) -> list[Item]:
    """The original claim first, contested; then conflicts; then the rest, newest first."""
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
