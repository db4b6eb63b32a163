"""A passage that has what the question names exactly is offered, though many others are more alike."""

from collections.abc import Iterator

import pytest

from streams.testing.pipeline import Pipeline

ALIKE = "A diretoria aprova o orçamento da fase {n} da obra {n} e paga {n} vezes o frete número {n}."
NAMED = "O fornecedor rel_456 garante o equipamento da obra 7."


@pytest.fixture
def fathom() -> Iterator[Pipeline]:
    with Pipeline() as pipeline:
        yield pipeline


def test_a_passage_is_found_by_the_code_that_only_it_has(fathom: Pipeline) -> None:
    for n in range(1, 31):
        fathom.document(f"d{n}", f"Ata {n}", ALIKE.format(n=n))
    fathom.document("named", "Garantias", NAMED)
    pack = fathom.ask("Explica melhor o que diz o rel_456?")
    assert pack.semantic is not None
    assert pack.semantic.knowledge_chunks[0].text == NAMED


def test_a_turn_is_found_by_the_code_that_only_it_has(fathom: Pipeline) -> None:
    for n in range(1, 31):
        fathom.say(ALIKE.format(n=n), conversation=f"c{n}")
    fathom.say(NAMED, conversation="named")
    pack = fathom.ask("Explica melhor o que diz o rel_456?", conversation="later")
    assert pack.episodic is not None
    best = max(pack.episodic.relevant_events, key=lambda event: event.score)
    assert NAMED in best.label
    assert "'rel_456'" in best.reason
