"""Procedural memory: processes and their steps, for how-to questions.

reads   retrieval.plans  key conversation
writes  packs.partial    class procedural
state   the passage index and the graph (read)
"""

import asyncio
from collections.abc import Sequence
from functools import partial

from agents.access_levels import AccessLevels
from agents.core.language import text
from agents.core.retrieval import evidence
from agents.ports.graph import GraphReader, Playbook
from agents.ports.models import Clock, TokenCounter
from agents.ports.passages import Hit, PassageIndex
from agents.retrievers.base import RetrievalRequest, RetrievalResult, Retriever, not_shown
from schemas.items import AccessLevel, Item
from schemas.retrieval import MemoryClass

COLLECTION = "semantic"
CANDIDATES, NAMED = 10, 20


class ProceduralRetriever(Retriever):
    memory = MemoryClass.PROCEDURAL

    def __init__(self, tokens: TokenCounter, clock: Clock, index: PassageIndex, graph: GraphReader) -> None:
        super().__init__(tokens, clock)
        self._index = index
        self._graph = graph
        self._access = AccessLevels(graph)

    async def fetch(self, ask: RetrievalRequest) -> RetrievalResult:
        """The processes above the relevance threshold, most probable first, each followed by its steps in order."""
        ((hits, *of_parts), playbooks), error = await self._access.searched(*ask.asker, partial(self._found, ask))
        known = {playbook.process.id: playbook for playbook in playbooks}
        kept, left_out = evidence.worth_showing(hits, "documents", ask.plan.as_of, ask.source.limit or 2, of_parts)
        items: list[Item] = []
        for each in kept:
            playbook = known.get(each.hit.passage.id)
            if playbook is not None:
                scored = {"score": each.probability}
                items += [playbook.process.model_copy(update=scored), *playbook.steps]
        return RetrievalResult(items, error, not_shown(self.memory, left_out))

    async def _found(
        self, ask: RetrievalRequest, access: AccessLevel
    ) -> tuple[Sequence[Sequence[Hit]], Sequence[Playbook]]:
        # A process that shares one word with the question, perhaps a verb, may be another one: the index decides.
        return await asyncio.gather(
            ask.search(self._index, COLLECTION, CANDIDATES, access_level=access, kinds=("process",)),
            self._graph.playbooks(
                ask.tenant,
                terms=text.content_words(f"{ask.plan.query} {ask.context}", ask.plan.lang),
                access_level=access,
                as_of=ask.plan.as_of,
                limit=NAMED,
            ),
        )
