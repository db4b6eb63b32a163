"""A passage that has what the question names exactly is offered, though many others are more alike."""

import asyncio
from datetime import timedelta

import pytest

from agents.parts import Ask, Retriever
from agents.ports import Hit, Passage, PassageQuery
from agents.retrieve_episodic import EpisodicRetriever
from agents.retrieve_semantic import SemanticRetriever
from schemas.depth import DepthLevel
from schemas.policy import DEFAULT_POLICY
from schemas.retrieval import MemoryClass
from streams.clock import SystemClock
from streams.stores.memory import MemoryWorkingSets
from streams.stores.memory_graph import MemoryGraph
from streams.stores.tokens import EstimatedTokens
from tests.unit.making import AT, CONVERSATION, plan

ALIKE = "A diretoria aprova o orçamento da fase {n} da obra {n} e paga {n} vezes o frete número {n}."
NAMED = "O fornecedor rel_456 garante o equipamento."


class Fixed:
    """Finds thirty passages that rank well in both lists, and one that only has the name."""

    async def search(self, tenant: str, collection: str, query: PassageQuery) -> tuple[Hit, ...]:
        assert (tenant, "rel_456" in query.text) == (CONVERSATION.tenant, True), collection
        rows = [(ALIKE.format(n=n), 2 / (60 + n)) for n in range(1, 31)] + [(NAMED, 1 / 61)]
        return tuple(self._hit(n, text, score) for n, (text, score) in enumerate(rows))

    def _hit(self, number: int, text: str, score: float) -> Hit:
        passage = Passage(id=f"p{number}", kind="chunk", text=text, lang="pt", recorded_at=AT)
        return Hit(passage, score, {"bm25": 1.0, "rrf": score})


def semantic() -> Retriever:
    return SemanticRetriever(EstimatedTokens(), SystemClock(), Fixed(), MemoryGraph())  # type: ignore[arg-type]


def episodic() -> Retriever:
    sets = MemoryWorkingSets()
    return EpisodicRetriever(EstimatedTokens(), SystemClock(), MemoryGraph(), Fixed(), sets, DEFAULT_POLICY)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("make", "level", "memory"),
    [(semantic, DepthLevel.D2, MemoryClass.SEMANTIC), (episodic, DepthLevel.D3, MemoryClass.EPISODIC)],
)
def test_what_is_named_exactly_is_among_what_is_offered(make, level, memory) -> None:
    made = plan(level, query="Explica melhor o que diz o rel_456?", as_of=AT + timedelta(days=1))
    source = made.wants(memory)
    assert source is not None
    assert source.limit is not None
    assert source.limit < 30
    found = asyncio.run(make().fetch(Ask(made, source, CONVERSATION)))
    assert any("rel_456" in item.model_dump_json() for item in found.items)
