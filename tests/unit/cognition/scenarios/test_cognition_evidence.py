"""The evidence of complex questions: its sources, how near it must be, and that the pack has it, too."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from schemas.cognition import CognitiveState, DeepAnswer, Node
from schemas.topics import ANSWERS_OUT
from streams.stores.graph.embedded.engine import EmbeddedGraph
from tests.unit.cognition.scenarios.test_cognition_recall import after, asked, pipeline, taught

NOTICES = {
    "Garagem": "# Garagem\n\nO portão da garagem fecha às dez da noite.\n",
    "Rede": "# Rede\n\nA senha da rede sem fio muda toda segunda.\n",
    "Café": "# Café\n\nA máquina de café aceita moedas.\n",
    "Biblioteca": "# Biblioteca\n\nLivros voltam em quinze dias.\n",
}
NAMED = "O que diz a Súmula 376 do TST e quanto dura o intervalo de almoço?"
BY_NAME = "Em que data a CLT dá folga e quanto dura o intervalo de almoço?"
REST = "# Descanso\n\nSegundo a Consolidação das Leis do Trabalho, o domingo é livre.\n"
GATE, PASSWORD = "O portão da garagem fecha às dez da noite.", "A senha da rede sem fio muda toda segunda."


@pytest.mark.covers("CF-25", "S2-46")
@pytest.mark.parametrize(
    ("question", "found", "missing"),
    [
        ("Quando fecha a garagem e quando muda a senha da rede?", {GATE, PASSWORD}, ""),
        # As one question nothing answers it.
        (
            "Como se chama a diretora financeira da filial de Lisboa que assina o balanço anual perante o conselho "
            "fiscal e quando muda a senha?",
            {PASSWORD},
            "Lisboa",
        ),
    ],
)
def test_what_answers_each_sub_question_is_in_the_pack_and_in_the_answer(
    question: str, found: set[str], missing: str
) -> None:
    with pipeline() as fathom:
        for title, said in NOTICES.items():
            fathom.document(title, title, said)
        fathom.document("copy", "Garagem", NOTICES["Garagem"])
        pack = fathom.ask(question)
        assert pack.semantic is not None
        shown = [chunk.text for chunk in pack.semantic.knowledge_chunks]
        assert found <= set(shown)
        assert len(set(shown)) == len(shown)
        [given] = [each.event for each in fathom.events(ANSWERS_OUT)]
        answer = DeepAnswer.model_validate(given.results)
        assert {claim.text for each in answer.sub_answers for claim in each.claims} == found
        assert missing in " ".join(answer.missing)


def evidence(state: CognitiveState, *, of: str) -> set[str]:
    """The titles of the evidence that one source brought, alone or with others."""
    every = (one for listed in state.evidence_map.values() for one in listed)
    return {state.passages[one.chunk_uid].title for one in every if of in one.sources}


@pytest.mark.covers("S2-19", "CF-37")
def test_the_evidence_of_a_leaf_says_whether_the_graph_words_or_meaning_brought_it() -> None:
    with pipeline() as fathom:
        taught(fathom)
        state = after(asked(fathom, NAMED), Node.DUAL_RETRIEVER)
        ruling, lunch = (leaf.node_id for leaf in state.sub_questions)
        titles = {
            leaf: {state.passages[one.chunk_uid].title for one in state.evidence_map[leaf] if "lexical" in one.sources}
            for leaf in (ruling, lunch)
        }
        assert "CLT › Horas extras" in titles[ruling]
        assert "CLT › Intervalo de almoço" in titles[lunch]
        assert evidence(state, of="local") == {"CLT › Horas extras", "Julgados › Frigorífico"}
        counts = {(each.node_id, each.source): each.found for each in state.sources}
        for (leaf, source), count in counts.items():
            if source in ("lexical", "vector"):
                assert count == sum(source in one.sources for one in state.evidence_map[leaf])


@pytest.mark.covers("S2-44", "CF-81")
def test_what_only_its_vector_brings_must_be_near_and_what_words_or_links_bring_need_not() -> None:
    found: list[CognitiveState] = []
    for threshold in (0.0, 1.0):
        with pipeline(rag_cograg_similarity_threshold=threshold, rag_cograg_theme_retrieval_enabled=False) as fathom:
            taught(fathom)
            fathom.document("garagem", "Garagem", NOTICES["Garagem"])
            fathom.document("descanso", "Descanso", REST)
            found.append(after(asked(fathom, BY_NAME), Node.DUAL_RETRIEVER))
    every, near = ([one for listed in state.evidence_map.values() for one in listed] for state in found)
    assert ("vector",) in {one.sources for one in every}
    assert ("vector",) not in {one.sources for one in near}
    for state in found:
        assert "CLT › Intervalo de almoço" in evidence(state, of="lexical")
        # It has no word of the question: only the law that both name by different names.
        assert evidence(state, of="local") - evidence(state, of="lexical") == {"Descanso"}


class Meeting(EmbeddedGraph):
    """A graph that answers a search by name only once another is waiting, too."""

    def __init__(self) -> None:
        super().__init__()
        self.waiting: set[str] = set()
        self.met = asyncio.Event()

    async def passages_naming(self, *arguments: Any, **named: Any) -> Sequence[Any]:
        self.waiting.add(str(named["names"]))
        if len(self.waiting) == 2:
            self.met.set()
        await self.met.wait()
        return await super().passages_naming(*arguments, **named)


@pytest.mark.covers("S2-07")
def test_the_sub_questions_are_searched_at_the_same_time() -> None:
    graph = Meeting()
    with pipeline(replace={"graph": graph, "writer": graph}) as fathom:
        taught(fathom)
        question = "Quando vale a Súmula 376 do TST e quem aplica o art. 59 da CLT?"
        state = after(asked(fathom, question), Node.DUAL_RETRIEVER)
        assert [each.status for each in state.sources if each.source == "local"] == ["ok", "empty"]
