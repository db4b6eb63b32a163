"""What a question names exactly is found among documents that say nearly the same, with the model's own vectors."""

from streams.stores.memory import MemoryPassageIndex
from streams.stores.vectors import UseEmbedder
from streams.testing import Pipeline

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
    with Pipeline(replace={"index": MemoryPassageIndex(UseEmbedder())}) as fathom:
        for mark in marks:
            fathom.document(mark, f"Manual {mark}", manual(mark))
        for mark in marks:
            question = f"Explica melhor o equipamento da página 9 do fornecedor {mark}?"
            found = fathom.ask(question, conversation=mark).semantic
            assert found is not None
            said = " ".join(chunk.text for chunk in found.knowledge_chunks)
            assert f"{mark} garante o equipamento da página 9" in said, mark
