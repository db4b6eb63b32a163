"""What earlier consultations of a tenant say about a question: answers to reuse, passages to trust more or less."""

from collections.abc import Collection, Sequence

from agents.cognition.core import sources
from agents.cognition.core.dual_retriever import bound
from agents.cognition.core.memory_check import MAX_CONSULTATIONS, SIMILAR, RecalledConsultations, signature_of
from agents.concurrency import timeout
from agents.errors import Unavailable
from agents.ports.graph import CognitionGraph
from agents.ports.passages import PassageIndex
from schemas.cognition import CognitiveState

LOOKED_UP_S = 2.0


class ConsultationMemory:
    """Reads of consultations and corrections; a store that does not answer leaves the question as if new."""

    def __init__(self, index: PassageIndex, graph: CognitionGraph) -> None:
        self._index = index
        self._graph = graph

    async def recall(self, state: CognitiveState) -> RecalledConsultations:
        """The consultations with the question's signature, with their cosines and the doubted passages they cite."""
        try:
            async with timeout(LOOKED_UP_S):
                found = await self._graph.consultations(
                    state.tenant_id, signature=signature_of(state), as_of=state.as_of, limit=MAX_CONSULTATIONS
                )
                cited = {uid for each in found for answer in each.answers for uid in answer.chunks}
                doubted = await self._penalties(state, cited)
                earlier = [each.question for each in found]
                earlier += [answer.question for each in found for answer in each.answers]
                near = await self._cosines([*dict.fromkeys(earlier)], _questions(state))
        except (Unavailable, TimeoutError):
            return RecalledConsultations()
        return RecalledConsultations(found, near, frozenset(uid for uid, _, _ in doubted))

    async def factors(self, state: CognitiveState, chunk_uids: Collection[str]) -> dict[str, float]:
        """What to multiply the scores of passages by, where similar questions were corrected or answered."""
        if not chunk_uids:
            return {}
        recalled = await self.recall(state)
        try:
            async with timeout(LOOKED_UP_S):
                against = await self._penalties(state, chunk_uids)
                near = await self._cosines([*dict.fromkeys(said for _, _, said in against)], [state.query])
        except (Unavailable, TimeoutError):
            return {}
        counted = [(uid, weight) for uid, weight, said in against if near.get((said, state.query), 0.0) >= SIMILAR]
        verified = set(recalled.verified(state.query)) & set(chunk_uids)
        return sources.factors(counted, sorted(verified))

    async def _penalties(self, state: CognitiveState, uids: Collection[str]) -> Sequence[tuple[str, float, str]]:
        if not uids:
            return ()
        found = await self._graph.penalties(state.tenant_id, chunk_uids=sorted(uids), as_of=state.as_of)
        return [(each.chunk_uid, each.weight, each.question) for each in found]

    async def _cosines(self, earlier: Sequence[str], now: Sequence[str]) -> dict[tuple[str, str], float]:
        if not earlier:
            return {}
        vectors = await self._index.vectors([*earlier, *now])
        old, new = vectors[: len(earlier)], vectors[len(earlier) :]
        return {
            (said, asked): sum(a * b for a, b in zip(one, other, strict=True))
            for said, one in zip(earlier, old, strict=True)
            for asked, other in zip(now, new, strict=True)
        }


def _questions(state: CognitiveState) -> list[str]:
    leaves = state.mind_map.leaves() if state.mind_map else ()
    return [*dict.fromkeys((state.query, *(bound(state, leaf) for leaf in leaves)))]
