"""A complex question through all stages: its steps in the log, its verified answer, what it lacks."""

from collections.abc import Iterator

import pytest

from agents.cognition import stage as cognition
from schemas.cognition import CognitionStep, CognitiveState, DeepAnswer, Node
from schemas.topics import ANSWERS_OUT, COGNITION_STEPS, MEMORY_CONSULTATIONS
from streams.telemetry.metrics import REGISTRY
from streams.testing.pipeline import Pipeline, decoded

LAW = """# CLT: artigos

## Art. 59
A duração diária do trabalho poderá ser acrescida de horas extras, em número não excedente de duas.

## Art. 71
Em qualquer trabalho contínuo de mais de seis horas é obrigatório um intervalo para almoço de no mínimo uma hora.
"""
RULINGS = """# Julgados

## Processo 0000111-45.2023.5.02.0001
O adicional de insalubridade é devido ao empregado do frigorífico.

## Processo 0000222-45.2023.5.15.0002
O adicional de insalubridade não é devido ao empregado do frigorífico.
"""
QUESTION = "Quantas horas extras por dia são permitidas e quanto dura o intervalo de almoço?"
ON = {
    "rag_enable_cograg": True,
    "rag_cograg_verification_enabled": True,
    "rag_cograg_evidence_refinement_enabled": True,
    "rag_cograg_memory_enabled": True,
}
LINEAR = ["planner", "theme_activator", "dual_retriever", "evidence_refiner", "memory_check", "reasoner", "verifier"]


def pipeline(**settings: object) -> Pipeline:
    return Pipeline(**{**ON, **settings})


@pytest.fixture
def fathom() -> Iterator[Pipeline]:
    with pipeline() as made:
        made.document("clt", "CLT", LAW)
        made.document("julgados", "Julgados", RULINGS)
        yield made


def steps(fathom: Pipeline) -> list[CognitionStep]:
    return [each.event for each in fathom.events(COGNITION_STEPS)]


def answer(fathom: Pipeline) -> DeepAnswer:
    [given] = [each.event for each in fathom.events(ANSWERS_OUT)]
    return DeepAnswer.model_validate(given.results)


@pytest.mark.covers("S2-08", "S2-09", "S2-13", "S2-14", "S2-69", "S2-124", "S2-159", "S2-160", "AC-76", "CF-88")
def test_a_complex_question_is_answered_in_sections_with_its_citations(fathom: Pipeline) -> None:
    fathom.ask(QUESTION)
    made = steps(fathom)
    assert [each.node.value for each in made] == [*LINEAR, "integrator", "memory_store"]
    assert [each.step for each in made] == list(range(1, 10))
    assert made[-1].next is Node.END
    [given] = [each.event for each in fathom.events(ANSWERS_OUT)]
    assert given.status == "answered"
    found = DeepAnswer.model_validate(given.results)
    assert [each.title for each in found.sections] == ["Fundamento Legal", "Análise", "Conclusão"]
    assert (found.verification_status, found.confidence > 0.3) == ("approved", True)
    assert {each.state.spent.llm_calls for each in made} == {0}
    assert set(found.citations) == {"[lei:CLT-art59]", "[lei:CLT-art71]"}
    assert "em número não excedente de duas. [lei:CLT-art59]" in given.answer
    assert "no mínimo uma hora. [lei:CLT-art71]" in given.answer


@pytest.mark.covers("S2-05", "S2-65", "S2-159", "AC-84", "CF-24")
def test_the_pack_is_the_same_with_and_without_cognition(fathom: Pipeline) -> None:
    with pipeline(rag_enable_cograg=False) as plain:
        plain.document("clt", "CLT", LAW)
        plain.document("julgados", "Julgados", RULINGS)
        assert plain.ask(QUESTION).model_dump_json() == fathom.ask(QUESTION).model_dump_json()
        assert steps(plain) == []
        assert plain.events(ANSWERS_OUT) == []


@pytest.mark.covers("S2-31", "S2-159", "S2-161", "AC-69")
@pytest.mark.parametrize("text", ["Art. 5 CF", "O que diz o art. 59 da CLT?", "Obrigado!"])
def test_a_simple_question_opens_no_job(fathom: Pipeline, text: str) -> None:
    fathom.ask(text)
    assert steps(fathom) == []


@pytest.mark.covers("S2-22")
def test_a_simple_question_is_answered_where_the_caller_asks_for_it(fathom: Pipeline) -> None:
    fathom.ask("Quanto dura o intervalo de almoço?", deep=True)
    assert answer(fathom).citations == ("[lei:CLT-art71]",)


@pytest.mark.covers("S2-71", "S2-106", "S2-159", "S2-163", "AC-75", "CF-41")
def test_without_evidence_it_abstains_and_says_what_is_missing(fathom: Pipeline) -> None:
    fathom.ask("Qual é a alíquota do ITBI e qual é o prazo do IPTU?")
    [given] = [each.event for each in fathom.events(ANSWERS_OUT)]
    found = DeepAnswer.model_validate(given.results)
    assert given.status == "abstained"
    assert "Não encontrei evidência suficiente para responder." in given.answer
    assert {"ITBI", "IPTU"} <= {word for each in found.missing for word in each.upper().split()}
    assert found.sections[-1].title == "Limitações"
    assert found.citations == ()


@pytest.mark.covers("S2-20", "S2-91", "S2-110", "S2-130", "S2-163", "AC-72")
def test_rulings_that_disagree_are_both_cited_and_the_question_is_not_settled(fathom: Pipeline) -> None:
    fathom.ask("O adicional de insalubridade é devido ao empregado do frigorífico e quanto dura o intervalo de almoço?")
    found = answer(fathom)
    assert {"[processo:0000111-45.2023.5.02.0001]", "[processo:0000222-45.2023.5.15.0002]"} <= set(found.citations)
    assert found.conflicts
    assert "entendimento não pacificado" in "\n".join(each.text for each in found.sections)


@pytest.mark.covers("S2-94")
def test_a_finished_run_is_kept_with_what_each_answer_came_from(fathom: Pipeline) -> None:
    fathom.ask(QUESTION)
    [kept] = [each.event for each in fathom.events(MEMORY_CONSULTATIONS)]
    assert kept.verification_status == "approved"
    assert kept.final_answer
    assert kept.final_answer == steps(fathom)[-1].state.integrated_response
    assert [each.text for each in kept.sub_questions if each.parent_id is not None and each.uses]
    assert fathom.nodes("Consulta")


class KilledError(BaseException):
    """The end of a worker, which nothing in it handles."""


@pytest.mark.covers("AC-82", "S2-07")
def test_a_worker_that_dies_in_mid_job_is_resumed_from_its_last_step(
    fathom: Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    def dies(_: CognitiveState) -> CognitiveState:
        raise KilledError

    with monkeypatch.context() as broken:
        broken.setitem(cognition.ANSWERING, Node.REASONER, dies)
        with pytest.raises(KilledError):
            fathom.say(QUESTION)
    before = [each.model_dump_json() for each in steps(fathom)]
    assert [each.node.value for each in steps(fathom)] == LINEAR[:5]
    fathom.crash("cognition")
    fathom.settle()
    assert [each.model_dump_json() for each in steps(fathom)][:5] == before
    assert [each.node.value for each in steps(fathom)] == [*LINEAR, "integrator", "memory_store"]
    assert len(fathom.events(ANSWERS_OUT)) == 1


def test_the_step_of_a_list_is_told_with_its_number(fathom: Pipeline) -> None:
    fathom.document("manual", "Manual", "# Como abrir um chamado\n\n1. Entre no portal.\n2. Descreva o caso.\n")
    fathom.ask("Como abrir um chamado?", deep=True)
    said = [claim.text for each in answer(fathom).sub_answers for claim in each.claims]
    assert said[0] == "1. Entre no portal."


@pytest.mark.covers("AC-82", "S2-07")
def test_a_step_in_the_log_is_not_made_again_from_what_stores_answer_by_now(fathom: Pipeline) -> None:
    fathom.ask(QUESTION)
    before = [each.model_dump_json() for each in steps(fathom)]
    raw = next(record for record in fathom.log.of(COGNITION_STEPS.name) if decoded(record).event.step == 2)
    fathom.document("clt", "CLT", LAW.replace("duas", "quatro"))
    fathom.crash("cognition")
    fathom.log.append(COGNITION_STEPS.name, raw.key, raw.value, raw.headers, raw.partition)
    fathom.settle()
    assert [each.model_dump_json() for each in steps(fathom) if each.step != 2] == [*before[:1], *before[2:]]


def counted(name: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(f"fathom_cognition_{name}_total", labels) or 0.0


def test_finished_jobs_are_counted_by_what_came_of_them(fathom: Pipeline) -> None:
    names = ("answered", "abstained", "fallback")
    before = [counted("jobs", outcome=name) for name in names]
    empty = counted("sources", source="lexical", status="empty")
    fathom.ask(QUESTION)
    fathom.ask("Qual é a alíquota do ITBI e qual é o prazo do IPTU?")
    assert [counted("jobs", outcome=name) for name in names] == [before[0] + 1, before[1] + 1, before[2]]
    assert counted("sources", source="lexical", status="empty") >= empty + 2


@pytest.mark.covers("S2-14", "S2-16", "S2-17", "S2-18", "S2-21", "S2-22", "S2-23")
def test_every_record_holds_the_whole_state_and_what_was_asked_never_changes(fathom: Pipeline) -> None:
    pack = fathom.ask(QUESTION)
    made = steps(fathom)
    asked = {(each.state.query, each.state.tenant_id, each.state.scope, each.state.job_id) for each in made}
    assert asked == {(QUESTION, "acme", "tenant", made[0].job_id)}
    assert {each.state.pack_id for each in made} == {pack.pack_id}
    assert all(len(each.state.sub_questions) == 2 for each in made)
    written = {name: [each.node.value for each in made if getattr(each.state, name)] for name in (
        "evidence_map", "refined_evidence", "sub_answers", "verification_status", "integrated_response",
        "citations_used",
    )}  # fmt: skip
    assert {name: nodes[0] for name, nodes in written.items()} == {
        "evidence_map": "dual_retriever",
        "refined_evidence": "evidence_refiner",
        "sub_answers": "reasoner",
        "verification_status": "verifier",
        "integrated_response": "integrator",
        "citations_used": "integrator",
    }
    assert made[-1].state.spent.steps == len(made)
    # Nothing that a node wrote is lost on the way.
    assert all(nodes == [each.node.value for each in made][-len(nodes) :] for nodes in written.values())


@pytest.mark.covers("S2-68", "CF-34")
def test_without_verification_there_is_evidence_and_no_answer() -> None:
    with pipeline(rag_cograg_verification_enabled=False) as evidence_only:
        evidence_only.document("clt", "CLT", LAW)
        evidence_only.ask(QUESTION)
        made = steps(evidence_only)
        assert made[-1].next is Node.END
        assert made[-1].state.evidence_map
        assert made[-1].state.sub_answers == {}
        assert evidence_only.events(ANSWERS_OUT) == []


def test_where_cognition_is_off_the_pack_says_that_no_deep_answer_follows() -> None:
    for settings in ({"rag_enable_cograg": False}, {"rag_cograg_verification_enabled": False}):
        with pipeline(**settings) as plain:
            plain.document("clt", "CLT", LAW)
            pack = plain.ask(QUESTION, deep=True)
            assert pack.options is not None
            assert (pack.options.deep, pack.options.clamped) == (None, ("deep",))
            assert plain.events(ANSWERS_OUT) == []
    with pipeline() as on:
        asked = on.ask(QUESTION, deep=True)
        assert asked.options is not None
        assert (asked.options.deep, asked.options.clamped) == (True, ())
