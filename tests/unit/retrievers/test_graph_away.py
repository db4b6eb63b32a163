"""A graph that does not answer one read takes from a pack only what that read would have brought."""

import asyncio
import gc
import warnings
from typing import Any

import pytest

from agents.errors import Unavailable
from agents.retrievers.semantic import SemanticRetriever
from schemas.depth import DepthLevel
from schemas.envelope import Received
from schemas.retrieval import RetrievalPlan
from schemas.topics import RETRIEVAL_PLANS
from streams.stores.graph import queries
from streams.stores.graph.embedded.engine import EmbeddedEngine
from streams.testing.pipeline import Pipeline
from tests.builders.pack_items import passages

NAMED_READS = (queries.CONCEPTS, queries.DEFINITIONS, queries.CLAIMS_ABOUT)


class Without(EmbeddedEngine):
    """A graph that does not answer some queries."""

    def __init__(self, *unanswered: str) -> None:
        super().__init__()
        self._unanswered = unanswered

    async def read(self, query: str, parameters: Any) -> Any:
        if query in self._unanswered:
            raise Unavailable("graph")
        return await super().read(query, parameters)


@pytest.mark.parametrize("query", [queries.PERSONA, *NAMED_READS], ids=["persona", "concepts", "definitions", "claims"])
def test_passages_are_in_the_pack_whichever_read_of_the_graph_fails_and_the_part_says_so(query: str) -> None:
    with Pipeline() as fathom:
        fathom.document("d1", "Garantia da Barista", "A garantia da Barista 300 é de 24 meses a partir da compra.")
        fathom.graph._engine = fathom.graph.engine = Without(query)
        pack = fathom.ask("Por que a garantia da Barista 300 é de 24 meses?")
        assert any("24 meses" in each for each in passages(pack))
        [part] = [each for each in fathom.parts() if each.memory_class == "semantic"]
        assert part.error == "graph is unavailable"


@pytest.mark.covers("CF-09", "S0-64")
def test_a_follow_up_has_a_summary_of_its_conversation_though_the_graph_has_none() -> None:
    with Pipeline() as fathom:
        fathom.graph._engine = fathom.graph.engine = Without(queries.SUMMARIES_OF_CONVERSATION)
        asked = fathom.say("Fala do projeto X")
        fathom.say("O projeto X está em execução com 3 fases.", role="assistant", answers=asked)
        pack = fathom.ask("e o orçamento?")
        assert pack.depth_level == DepthLevel.D1
        assert pack.episodic is not None
        [made] = pack.episodic.conversation_summaries
        assert (made.conversation_id, made.origin) == ("c1", "current")
        assert "3 fases" in made.text


def test_a_read_that_ends_before_it_has_begun_warns_of_nothing() -> None:
    async def ended_after(steps: int, plan: Received[RetrievalPlan]) -> bool:
        answering = asyncio.ensure_future(SemanticRetriever(fathom.tokens, fathom.clock, index, graph).handle(plan))
        for _ in range(steps):
            await asyncio.sleep(0)
        answering.cancel()
        await asyncio.wait({answering})
        return answering.cancelled()

    with Pipeline() as fathom:
        fathom.ask("Por que a garantia da Barista 300 é de 24 meses?")
        [plan] = fathom.events(RETRIEVAL_PLANS)
        index, graph = fathom.index, fathom.graph
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            ended = [asyncio.run(ended_after(steps, plan)) for steps in range(20)]
            gc.collect()
    assert (ended[1], ended[-1]) == (True, False), "from the first step to the last"
    assert [str(each.message) for each in told] == []
