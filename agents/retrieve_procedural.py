"""How things are done: processes and their steps, for how-to questions (S0-38, S0-56).

reads   retrieval.plans  key conversation
writes  packs.partial    class procedural
state   the graph (read)
"""

from datetime import timedelta

from agents.core import text
from agents.parts import Ask, Found, Retriever, access_of
from agents.ports import Clock, MemoryGraph, TokenCounter
from schemas.items import Item
from schemas.retrieval import MemoryClass


class ProceduralRetriever(Retriever):
    memory = MemoryClass.PROCEDURAL
    budget = timedelta(milliseconds=300)

    def __init__(self, tokens: TokenCounter, clock: Clock, graph: MemoryGraph) -> None:
        super().__init__(tokens, clock)
        self._graph = graph

    async def fetch(self, ask: Ask) -> Found:
        """The processes whose terms the question names, each followed by its steps in order."""
        persona = await self._graph.persona(ask.tenant, ask.plan.user_id, ask.plan.as_of)
        playbooks = await self._graph.playbooks(
            ask.tenant,
            terms=text.content_words(ask.plan.query, ask.plan.lang),
            access_level=access_of(persona.person.persona_access if persona else None),
            as_of=ask.plan.as_of,
            limit=ask.source.limit or 2,
        )
        items: list[Item] = []
        for playbook in playbooks:
            items += [playbook.process, *playbook.steps]
        return Found(items)
