"""What a question names exactly is found among documents that say nearly the same, with the model's own vectors."""

import asyncio
from datetime import timedelta

from agents.parts import Ask
from agents.retrieve_semantic import SemanticRetriever
from schemas.items import Chunk
from schemas.retrieval import MemoryClass
from streams.app import SystemClock
from streams.stores.memory import MemoryPassageIndex
from streams.stores.memory_graph import MemoryGraph
from streams.stores.tokens import EstimatedTokens
from streams.stores.vectors import UseEmbedder
from streams.testing import Pipeline
from tests.unit.making import AT, CONVERSATION, plan

DAY = timedelta(days=1)
DOCUMENTS, PAGES, LINES = 14, 10, 42
COMMON = "A diretoria aprova o orçamento da fase {n} do projeto e paga o fornecedor no prazo {p}."


def manual(mark: str) -> str:
    """Ten pages of which only one sentence each differs from other manuals'."""
    pages = []
    for page in range(PAGES):
        lines = [COMMON.format(n=n, p=page * LINES + n) for n in range(LINES)]
        last = f"O fornecedor {mark} garante o equipamento da página {page}."
        pages.append(f"# Capítulo {page}\n\n{' '.join([*lines, last])}")
    return "\n\n".join(pages)


def test_one_page_of_one_manual_among_many_alike_is_found_by_its_name() -> None:
    marks = [f"Zenite{n}a6d34{n}" for n in range(DOCUMENTS)]
    index, graph = MemoryPassageIndex(UseEmbedder()), MemoryGraph()
    with Pipeline(tenant=CONVERSATION.tenant, replace={"index": index, "graph": graph, "writer": graph}) as fathom:
        for mark in marks:
            fathom.document(mark, f"Manual {mark}", manual(mark), created_at=AT)
    # Without the limit of time that a part of a pack has: it is not what is asked here.
    retriever = SemanticRetriever(EstimatedTokens(), SystemClock(), index, graph)
    for mark in marks:
        made = plan(query=f"Explica melhor o equipamento da página 9 do fornecedor {mark}?", as_of=AT + DAY)
        source = made.wants(MemoryClass.SEMANTIC)
        assert source is not None
        found = asyncio.run(retriever.fetch(Ask(made, source, CONVERSATION)))
        said = " ".join(item.text for item in found.items if isinstance(item, Chunk))
        assert f"{mark} garante o equipamento da página 9" in said, mark
