"""Procedural memory: processes and their steps, for how-to questions.

reads   retrieval.plans  key conversation
writes  packs.partial    class procedural
state   the passage index and the graph (read)
"""

import asyncio
from datetime import timedelta

from agents.core.language import text
from agents.core.retrieval import evidence
from agents.ports.graph import GraphReader
from agents.ports.models import Clock, TokenCounter
from agents.ports.passages import PassageIndex
from agents.retrievers.base import RetrievalRequest, RetrievalResult, Retriever, access_of, irrelevant
from schemas.items import Item
from schemas.retrieval import MemoryClass

COLLECTION = "semantic"
CANDIDATES, NAMED = 10, 20


class ProceduralRetriever(Retriever):
    memory = MemoryClass.PROCEDURAL
    budget = timedelta(milliseconds=300)

    def __init__(self, tokens: TokenCounter, clock: Clock, index: PassageIndex, graph: GraphReader) -> None:
        super().__init__(tokens, clock)
        self._index = index
        self._graph = graph

    async def fetch(self, ask: RetrievalRequest) -> RetrievalResult:
        """The processes above the relevance threshold, most probable first, each followed by its steps in order."""
        persona = await self._graph.persona(ask.tenant, ask.plan.user_id, ask.plan.as_of)
        access = access_of(persona.person.persona_access if persona else None)
        # A process that shares one word with the question, perhaps a verb, may be another one: the index decides.
        hits, playbooks = await asyncio.gather(
            self._index.search(ask.tenant, COLLECTION, ask.query(CANDIDATES, access_level=access, kinds=("process",))),
            self._graph.playbooks(
                ask.tenant,
                terms=text.content_words(f"{ask.plan.query} {ask.context}", ask.plan.lang),
                access_level=access,
                as_of=ask.plan.as_of,
                limit=NAMED,
            ),
        )
        known = {playbook.process.id: playbook for playbook in playbooks}
        kept, below = evidence.worth_showing(hits, "documents", ask.plan.as_of, ask.source.limit or 2)
        items: list[Item] = []
        for each in kept:
            playbook = known.get(each.hit.passage.id)
            if playbook is not None:
                scored = {"score": each.probability}
                items += [playbook.process.model_copy(update=scored), *playbook.steps]
        return RetrievalResult(items, dropped=irrelevant(self.memory, below))
