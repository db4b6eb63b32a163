"""A graph that does not answer one read takes from a pack only what that read would have brought."""

from typing import Any

import pytest

from agents.errors import Unavailable
from streams.stores.graph import queries
from streams.stores.graph.memory import MemoryEngine
from streams.testing.pipeline import Pipeline
from tests.builders.pack_items import passages

NAMED_READS = (queries.CONCEPTS, queries.DEFINITIONS, queries.CLAIMS_ABOUT)


class Without(MemoryEngine):
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
