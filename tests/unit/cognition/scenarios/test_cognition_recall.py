"""Complex questions by themes, by four sources, and by what was answered and corrected before."""

import asyncio
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from agents.cognition import evidence_sources
from agents.core.progress.reduction import reduced
from agents.errors import Unavailable
from schemas.cognition import CognitionStep, CognitiveState, DeepAnswer, Node
from schemas.progress import ProgressMade
from schemas.topics import ANSWERS_OUT, COGNITION_STEPS, CORRECTIONS_IN, MEMORY_CONSULTATIONS
from streams.stores.graph.embedded.engine import EmbeddedGraph
from streams.testing.pipeline import Pipeline
from tests.builders.progress_job import events

LAW = """# CLT

## Horas extras

A duração diária do trabalho poderá ser acrescida de horas extras, em número não excedente de duas, conforme a Súmula
376 do TST.

## Intervalo de almoço

Em qualquer trabalho contínuo de mais de seis horas é obrigatório um intervalo para almoço de no mínimo uma hora.
"""
RULINGS = """# Julgados

## Frigorífico

O adicional é devido ao empregado do frigorífico, segundo a Súmula 376 do TST.

## Aeroporto

O adicional não alcança quem trabalha no aeroporto, decidiu a Aurora Linhas em reunião.
"""
QUESTION = "Quantas horas extras por dia são permitidas e quanto dura o intervalo de almoço?"
REWORDED = "Quantas horas extras por dia são permitidas, e quanto dura o intervalo de almoço?"
OTHER = "Quantas horas extras por dia não são permitidas e quanto dura o intervalo de almoço?"
ON: dict[str, Any] = {
    "rag_enable_cograg": True,
    "rag_cograg_verification_enabled": True,
    "rag_cograg_evidence_refinement_enabled": True,
    "rag_cograg_memory_enabled": True,
    "rag_cograg_theme_retrieval_enabled": True,
}


class DeadGraph(EmbeddedGraph):
    """A graph whose reads for complex questions fail; it counts them."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = 0

    async def passages_naming(self, *_: Any, **__: Any) -> Any:
        self.asked += 1
        raise Unavailable("graph", "it is away")

    passages_connected = passages_about = themes = passages_naming


def pipeline(**settings: Any) -> Pipeline:
    return Pipeline(**{**ON, **settings})


@pytest.fixture
def fathom() -> Iterator[Pipeline]:
    with pipeline() as made:
        taught(made)
        yield made


def taught(fathom: Pipeline) -> None:
    fathom.document("clt", "CLT", LAW)
    fathom.document("julgados", "Julgados", RULINGS)


def asked(fathom: Pipeline, question: str = QUESTION, **fields: Any) -> list[CognitionStep]:
    """The steps of a question, asked in a conversation of its own."""
    before = len(fathom.events(COGNITION_STEPS))
    fathom.say(question, conversation=f"c{before}", **fields)
    jobs = [each.event for each in fathom.events(COGNITION_STEPS)]
    newest = max({each.job_id for each in jobs}, key=lambda job: max(e.state.as_of for e in jobs if e.job_id == job))
    return sorted((each for each in jobs if each.job_id == newest), key=lambda each: each.step)


def after(steps: Sequence[CognitionStep], node: Node) -> CognitiveState:
    return next(each.state for each in steps if each.node is node)


def claims(state: CognitiveState) -> set[str]:
    return {claim.text for answer in state.sub_answers.values() for claim in answer.claims}


def correct(fathom: Pipeline, consultation_id: str, kind: str) -> None:
    value = {"texto": "Não é assim.", "usuario_id": "lia", "tipo": kind, "consulta_id": consultation_id}
    fathom.clock.advance(1)
    fathom.publish(CORRECTIONS_IN, value, {"tenant": fathom.tenant}, b"k")
    fathom.clock.advance(1)


@pytest.mark.covers("S2-38", "S2-150", "AC-71")
def test_themes_come_before_the_search_and_bring_what_they_lead_to(fathom: Pipeline) -> None:
    steps = asked(fathom)
    assert [each.node for each in steps[:3]] == [Node.PLANNER, Node.THEME_ACTIVATOR, Node.DUAL_RETRIEVER]
    assert steps[0].state.themes == ()
    themes = after(steps, Node.THEME_ACTIVATOR).themes
    assert {each.name for each in themes} >= {"Horas extras", "Intervalo de almoço"}
    assert {each.name: each.weight for each in themes}["CLT"] == 0.5
    found = after(steps, Node.DUAL_RETRIEVER)
    by_theme = {
        found.passages[one.chunk_uid].title
        for listed in found.evidence_map.values()
        for one in listed
        if "theme" in one.sources
    }
    assert "CLT › Horas extras" in by_theme
    # The ruling that the section on overtime is about leads to who else mentions it.
    assert "Julgados › Frigorífico" in {
        found.passages[one.chunk_uid].title
        for listed in found.evidence_map.values()
        for one in listed
        if {"theme", "global"} & {*one.sources}
    }


@pytest.mark.covers("AC-71", "AC-81")
@pytest.mark.parametrize("question", ["Qual é o prazo da garantia da geladeira e quem paga o frete dela?", QUESTION])
def test_themes_change_nothing_where_there_are_none(question: str) -> None:
    known: list[CognitiveState] = []
    for on in (True, False):
        with pipeline(rag_cograg_theme_retrieval_enabled=on) as fathom:
            fathom.document("plain", "Notas", "A loja vende geladeiras e fogões. O frete é grátis no bairro.")
            known.append(asked(fathom, question)[-1].state)
    with_themes, without = known
    assert with_themes.themes == without.themes == ()
    assert with_themes.evidence_map == without.evidence_map
    assert with_themes.integrated_response == without.integrated_response


@pytest.mark.covers("S2-42")
def test_the_best_passage_leads_on_to_what_it_shares_a_name_with(
    fathom: Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evidence_sources, "SEEDS", 1)
    question = "Qual é a duração diária do trabalho com horas extras e quanto dura o intervalo de almoço?"
    found = after(asked(fathom, question), Node.DUAL_RETRIEVER)
    [told] = [each for each in found.sources if (each.node_id, each.source) == ("1", "global")]
    assert (told.status, told.found) == ("ok", 1)


@pytest.mark.covers("S2-61", "AC-81", "CF-34")
def test_without_their_flag_no_themes_are_looked_for() -> None:
    for on in (True, False):
        with pipeline(rag_cograg_theme_retrieval_enabled=on) as fathom:
            taught(fathom)
            assert bool(after(asked(fathom), Node.THEME_ACTIVATOR).themes) is on


@pytest.mark.covers("S2-39", "S2-41", "S2-42", "S2-43", "S2-45", "AC-70")
def test_every_sub_question_has_an_answer_of_every_source(fathom: Pipeline) -> None:
    found = after(asked(fathom), Node.DUAL_RETRIEVER)
    leaves = [leaf.node_id for leaf in found.sub_questions]
    assert len(leaves) == 2
    for leaf in leaves:
        told = [each.source for each in found.sources if each.node_id == leaf]
        assert sorted(told) == ["conversations", "global", "lexical", "local", "theme", "vector"]
        uids = [one.chunk_uid for one in found.evidence_map[leaf]]
        assert len(uids) == len(set(uids)) > 0
    assert {each.status for each in found.sources} <= {"ok", "empty"}


@pytest.mark.covers("S2-40", "S2-149")
def test_what_a_question_names_exactly_is_found_by_its_name(fathom: Pipeline) -> None:
    found = after(
        asked(fathom, "O que diz a Súmula 376 do TST e quanto dura o intervalo de almoço?"), Node.DUAL_RETRIEVER
    )
    by_name = {
        found.passages[one.chunk_uid].title
        for listed in found.evidence_map.values()
        for one in listed
        if "local" in one.sources
    }
    assert by_name == {"CLT › Horas extras", "Julgados › Frigorífico"}


@pytest.mark.covers("S2-03", "S2-07")
def test_a_graph_that_stalls_costs_its_time_limit_and_the_others_evidence_counts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Stalled(EmbeddedGraph):
        async def passages_naming(self, *_: Any, **__: Any) -> Any:
            await asyncio.sleep(60)

    stalled = Stalled()
    with pipeline(replace={"graph": stalled, "writer": stalled}) as fathom:
        taught(fathom)
        monkeypatch.setattr(evidence_sources, "SOURCE_S", 0.3)
        found = after(asked(fathom, "O que diz a Súmula 376 do TST e o que dura duas horas?"), Node.DUAL_RETRIEVER)
        of = {each.source: each.status for each in found.sources if each.node_id == "1"}
        assert (of["local"], of["lexical"]) == ("timeout", "ok")


@pytest.mark.covers("S2-03")
def test_a_dead_graph_costs_its_status_and_after_some_failures_nothing() -> None:
    dead = DeadGraph()
    with pipeline(replace={"graph": dead, "writer": dead}) as fathom:
        taught(fathom)
        steps = asked(fathom, f"{QUESTION} E a Súmula 376 do TST?")
        found = after(steps, Node.DUAL_RETRIEVER)
        of = {each.source: each.status for each in found.sources}
        assert (of["local"], of["global"], of["lexical"], of["vector"]) == ("error", "error", "ok", "ok")
        assert "em número não excedente de duas" in (steps[-1].state.integrated_response or "")
        for number in range(3):
            asked(fathom, f"{QUESTION} E a Súmula 376 do TST? {number}")
        before = dead.asked
        asked(fathom, f"{QUESTION} E a Súmula 376 do TST? Hoje")
        assert dead.asked == before
        fathom.clock.advance(60)
        asked(fathom, f"{QUESTION} E a Súmula 376 do TST? Amanhã")
        assert 0 < dead.asked - before <= 4


@pytest.mark.covers("S2-93", "S2-96", "S2-158", "S2-164", "AC-77", "CF-33")
def test_a_question_asked_again_in_other_words_is_answered_as_before(fathom: Pipeline) -> None:
    first = asked(fathom)[-1].state
    [past] = [each.event for each in fathom.events(MEMORY_CONSULTATIONS)]
    fathom.clock.advance(60)
    steps = asked(fathom, REWORDED)
    state = after(steps, Node.MEMORY_CHECK)
    assert state.similar_consultation == past.consultation_id
    assert {each.reused_from for each in state.sub_answers.values()} == {past.consultation_id}
    assert set(state.sub_answers) == {leaf.node_id for leaf in state.sub_questions}
    last = steps[-1].state
    assert claims(last) == claims(first)
    assert last.verification_status == "approved"
    [again] = [e.event for e in fathom.events(MEMORY_CONSULTATIONS) if e.event.consultation_id != past.consultation_id]
    assert again.reused == (past.consultation_id,)
    assert [edge[:2] for edge in fathom.edges("REUSED")] == [
        (f"acme|{again.consultation_id}", f"acme|{past.consultation_id}")
    ]


@pytest.mark.covers("AC-77")
def test_an_opposite_question_is_answered_anew(fathom: Pipeline) -> None:
    asked(fathom)
    fathom.clock.advance(60)
    assert after(asked(fathom, OTHER), Node.MEMORY_CHECK).similar_consultation is None


@pytest.mark.covers("AC-77", "AC-36")
def test_another_tenant_and_a_run_that_abstained_are_never_reused(fathom: Pipeline) -> None:
    asked(fathom)
    fathom.document("clt", "CLT", LAW, tenant="beta")
    state = after(asked(fathom, tenant="beta"), Node.MEMORY_CHECK)
    assert state.tenant_id == "beta"
    assert state.similar_consultation is None
    empty = "Qual é a alíquota do ITBI e qual é o prazo do IPTU?"
    asked(fathom, empty)
    fathom.clock.advance(60)
    state = after(asked(fathom, empty), Node.MEMORY_CHECK)
    assert state.similar_consultation is None
    assert [each.reason for each in state.near_misses] == ["status"]


@pytest.mark.covers("AC-81")
def test_without_memory_nothing_is_recalled() -> None:
    with pipeline(rag_cograg_memory_enabled=False) as fathom:
        taught(fathom)
        asked(fathom)
        fathom.clock.advance(60)
        state = after(asked(fathom, REWORDED), Node.MEMORY_CHECK)
        assert (state.similar_consultation, state.sub_answers, state.penalties) == (None, {}, {})


def test_what_is_known_better_since_is_not_answered_from_memory(fathom: Pipeline) -> None:
    asked(fathom)
    fathom.clock.advance(60)
    newer = "# Norma\n\n## Horas extras\n\nHoras extras permitidas por dia: quantas horas extras, três por dia."
    fathom.document("norma", "Norma", newer)
    fathom.clock.advance(60)
    state = after(asked(fathom, REWORDED), Node.MEMORY_CHECK)
    overtime = next(leaf.node_id for leaf in state.sub_questions if "extras" in leaf.question)
    assert overtime not in state.sub_answers


@pytest.mark.covers("S2-132")
def test_what_corrections_did_to_an_answer_is_told(fathom: Pipeline) -> None:
    first = asked(fathom)[-1].state
    cited = {claim.chunk_uid for answer in first.sub_answers.values() for claim in answer.claims}
    [past] = [each.event.consultation_id for each in fathom.events(MEMORY_CONSULTATIONS)]
    fathom.clock.advance(60)
    correct(fathom, past, "formatacao")
    job = asked(fathom, REWORDED)[0].job_id
    assert told(fathom, "COGRAG_CORRECTION") == []
    assert [each.job_id for each in told(fathom, "COGRAG_MEMORY_HIT")] == [job]
    correct(fathom, past, "factual")
    job = asked(fathom, REWORDED)[0].job_id
    [event] = told(fathom, "COGRAG_CORRECTION")
    assert event.job_id == job
    assert past in event.data["consultations"]
    assert event.data["passages"].keys() == cited
    assert {each["factor"] for each in event.data["passages"].values()} == {0.5}
    assert {each["cite"] for each in event.data["passages"].values()} == {
        claim.cite for answer in first.sub_answers.values() for claim in answer.claims
    }
    run = [each for each in events(fathom) if each.job_id == job]
    assert reduced(run).document["corrections"] == event.data
    assert run[-1].type == "COGRAG_COMPLETE"


def told(fathom: Pipeline, kind: str) -> list[ProgressMade]:
    return [each for each in events(fathom) if each.type == kind]


@pytest.mark.covers("S2-95", "S2-132", "S2-133", "S2-165", "AC-78")
@pytest.mark.parametrize("kind", ["factual", "juridico"])
def test_a_corrected_answer_is_not_given_again_and_what_it_cites_counts_half(fathom: Pipeline, kind: str) -> None:
    first = asked(fathom)[-1].state
    [past] = [each.event for each in fathom.events(MEMORY_CONSULTATIONS)]
    cited = {claim.chunk_uid for answer in first.sub_answers.values() for claim in answer.claims}
    correct(fathom, past.consultation_id, kind)
    steps = asked(fathom, REWORDED)
    state = after(steps, Node.DUAL_RETRIEVER)
    assert {uid: state.penalties[uid] for uid in cited} == dict.fromkeys(cited, 0.5)
    scores = [
        {one.chunk_uid: one.score for one in listed}
        for listed in after(steps, Node.DUAL_RETRIEVER).evidence_map.values()
    ]
    before = [{one.chunk_uid: one.score for one in listed} for listed in first.evidence_map.values()]
    assert scores[0].keys() & cited
    for uid in scores[0].keys() & cited:
        assert scores[0][uid] == pytest.approx(before[0][uid] / 2, rel=0.05)
    checked = after(steps, Node.MEMORY_CHECK)
    assert checked.similar_consultation is None
    assert [each.reason for each in checked.near_misses] == ["corrected"]


@pytest.mark.covers("AC-78")
def test_a_correction_of_form_speaks_against_nothing(fathom: Pipeline) -> None:
    asked(fathom)
    [past] = [each.event for each in fathom.events(MEMORY_CONSULTATIONS)]
    correct(fathom, past.consultation_id, "formatacao")
    steps = asked(fathom, REWORDED)
    state = after(steps, Node.MEMORY_CHECK)
    assert set(state.penalties.values()) == {1.15}
    assert state.similar_consultation == past.consultation_id


@pytest.mark.covers("S2-70", "CF-80")
def test_what_was_verified_before_counts_more_and_never_beyond_certainty(fathom: Pipeline) -> None:
    asked(fathom)
    fathom.clock.advance(60)
    state = after(asked(fathom, REWORDED), Node.DUAL_RETRIEVER)
    assert set(state.penalties.values()) == {1.15}
    assert all(one.score <= 1 for listed in state.evidence_map.values() for one in listed)


def test_an_answer_given_again_says_what_it_was_made_of(fathom: Pipeline) -> None:
    asked(fathom)
    fathom.clock.advance(60)
    asked(fathom, REWORDED)
    given = [DeepAnswer.model_validate(each.event.results) for each in fathom.events(ANSWERS_OUT)]
    assert given[0].citations == given[1].citations
    assert any(each.reused_from for answer in given for each in answer.sub_answers)
