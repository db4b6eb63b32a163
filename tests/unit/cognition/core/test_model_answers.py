"""What a model's sub-questions, answers and choices are taken for: sentences of the evidence, and nothing beside it."""

import json

import pytest

from agents.cognition.core import verifier
from agents.cognition.core.prompts import decomposing, integrating, reasoning, refining, verifying
from schemas.cognition import CognitiveState, SubAnswer
from tests.unit.cognition.core.runs import NOON, Run, opened, passage
from tests.unit.cognition.core.test_prompts import DONE, HOURS, LUNCH, PLAN, REASON, REFINE, VERIFY, leaf

# --- the answer


def told(resposta: str, *, sure: str = "alto", gaps: str = "", used: tuple[str, ...] = ()) -> str:
    fields = {"resposta": resposta, "citacoes_usadas": used, "grau_confianca": sure, "lacunas": gaps}
    return f"Passo 1: leio.\n{json.dumps(fields, ensure_ascii=False)}"


def answered(reply: str) -> SubAnswer | None:
    return reasoning.read(reply, REASON, leaf(REASON), VERIFY.sub_answers["2"])


@pytest.mark.covers("S2-112", "CF-30")
@pytest.mark.parametrize(
    ("sure", "used", "confidence"),
    [("alto", (), 0.9), ("MÉDIO", (), 0.6), ("medio", ("lei:CLT-art71",), 0.6), ("alto", ("lei:CLT-art999",), 0.5)],
)
def test_sentences_of_the_evidence_become_claims_as_sure_as_the_word_and_the_citations(
    sure: str, used: tuple[str, ...], confidence: float
) -> None:
    for said in (f"{LUNCH} [lei:CLT-art71]", f"{LUNCH[:-1]} [lei:CLT-art71].", f"  {LUNCH}\n[lei:CLT-art71]"):
        found = answered(told(said, sure=sure, used=used))
        assert found is not None
        [claim] = found.claims
        assert (claim.text, claim.start, claim.end, claim.cite) == (LUNCH, 0, len(LUNCH), "lei:CLT-art71")
        assert found.confidence == confidence
        assert found.text == f"{LUNCH} [lei:CLT-art71]"


@pytest.mark.covers("S2-105", "S2-108", "CF-30")
def test_a_model_that_is_unsure_or_finds_nothing_abstains_with_the_gap_only_if_it_names_one() -> None:
    unsure = answered(told(f"{LUNCH} [lei:CLT-art71]", sure="baixo", gaps="contrato de trabalho"))
    nothing = answered(told("Não encontrei evidência suficiente. Necessário: CCT.", gaps="mais informações"))
    assert unsure is not None
    assert nothing is not None
    assert (unsure.status, unsure.missing) == ("abstained", ("contrato de trabalho",))
    assert nothing.status == "abstained"
    own_words = answered(told("O almoço leva uma hora, talvez. [lei:CLT-art71]", sure="baixo"))
    assert own_words is not None
    assert own_words.status == "abstained"
    assert nothing.missing == ("Quanto dura o intervalo de almoço",)


def test_citations_that_are_listed_but_not_there_make_an_answer_unsure_until_it_abstains() -> None:
    used = tuple(f"lei:CLT-art{number}" for number in range(900, 904))
    found = answered(told(f"{LUNCH} [lei:CLT-art71]", used=used))
    assert found is not None
    assert (found.status, found.claims) == ("abstained", ())


def test_evidence_about_other_things_is_no_answer_however_sure_a_model_is() -> None:
    state = Run().of(opened("Qual é o intervalo de almoço da Zeta Mineração?"))[5].state
    [node] = state.sub_questions
    assert state.refined_evidence[node.node_id]
    given = state.sub_answers[node.node_id]
    assert given.status == "abstained"
    assert reasoning.read(told(f"{LUNCH} [lei:CLT-art71]"), state, node, given) is None


@pytest.mark.parametrize(
    "reply",
    ["", "Dura sessenta minutos.", told("", sure="alto"), told(f"{LUNCH} [lei:CLT-art71]", sure="certeza"),
     told("O intervalo para o almoço deve ter ao menos sessenta minutos. [lei:CLT-art71]"), "{}"],
)  # fmt: skip
def test_what_cannot_be_read_or_proved_leaves_the_answer_of_the_rules(reply: str) -> None:
    assert answered(reply) is None


@pytest.mark.covers("S2-109", "S2-115", "S2-127")
@pytest.mark.parametrize(
    ("said", "number"),
    [
        (f"{LUNCH} [lei:CLT-art999]", 2),
        (f"{LUNCH} [lei:CLT-art71] [lei:CLT-art999]", 2),
        (LUNCH, 2),
        (f"{LUNCH.replace('sessenta', 'noventa')} [lei:CLT-art71]", 6),
        (f"{LUNCH.replace('é de', 'não é de')} [lei:CLT-art71]", 8),
        (f"{LUNCH} [lei:CLT-art71] O art. 62 da CF o garante. [lei:CLT-art71]", 5),
        (f"{HOURS} [lei:CLT-art59]", 2),
    ],
)
def test_what_a_model_invents_or_changes_is_refused_by_the_check_of_it(said: str, number: int) -> None:
    found = answered(told(said))
    assert found is not None
    state = VERIFY.model_copy(update={"sub_answers": {**VERIFY.sub_answers, "2": found}})
    judged = verifier.verified(state, NOON).verifications["2"]
    assert judged.status == "rejected"
    assert number in {c.number for claim in judged.claims for c in claim.checks if c.verdict == "fail"}


@pytest.mark.covers("S2-110", "S2-117", "S2-130")
def test_a_model_that_tells_one_side_of_a_conflict_is_made_to_tell_the_other() -> None:
    yes, no = "O adicional é devido ao vigia do turno.", "O adicional não é devido ao vigia do turno."
    state = Run({"processo:1": yes, "processo:2": no}).of(opened("O adicional é devido ao vigia do turno?"))[5].state
    assert state.conflicts
    [node] = state.sub_questions
    found = reasoning.read(told(f"{yes} [processo:1]"), state, node, state.sub_answers[node.node_id])
    assert found is not None
    assert [each.text for each in found.claims] == [yes, no]
    assert "entendimento não pacificado" in found.text


@pytest.mark.parametrize("odd", ["\\ud800", "\ud800", "\\u0000", "\x00", "\\u001f", "\U0001f600"])
def test_no_character_of_a_reply_makes_a_record_that_cannot_be_written(odd: str) -> None:
    reply = told(f"{LUNCH} X. [lei:CLT-art999] Y.", gaps="contrato de trabalho X").replace("X", odd).replace("Y", odd)
    found = answered(reply)
    assert found is not None
    refused = verifying.read(f'{{"status": "reprovar", "motivo": "a{odd}"}}', found)
    state = verifier.lowered(verifier.verified(VERIFY, NOON), {"2": refused}, NOON)
    written = state.model_copy(update={"sub_answers": {"2": found}}).model_dump_json().encode()
    assert CognitiveState.model_validate_json(written).sub_answers == {"2": found}


def test_replies_made_to_be_slow_are_read_at_once() -> None:
    # Quadratic reading of them would take minutes.
    for unit in ("<resposta>", '{"', '"', "[{", '\\"', ". [lei:a", "<status>", '{"a":', ",", "True", "[lei:x] "):
        for reply in (unit * 40_000, f'{{"resposta": "{unit * 9_000}", "grau_confianca": "alto"}}'):
            answered(reply)
            verifying.read(reply, VERIFY.sub_answers["2"])
            assert decomposing.read_level(reply, PLAN, None) is None


# --- the tree


def level(*said: str, state: str = "End") -> str:
    return json.dumps([{"pergunta": each, "estado": state} for each in said], ensure_ascii=False)


@pytest.mark.covers("S2-29", "S2-33")
def test_a_tree_is_made_level_by_level_and_pointers_name_its_nodes() -> None:
    first = decomposing.read_level(
        level("Quantas horas extras são permitidas?", "Quanto dura o almoço?", state="Continue"), PLAN, None
    )
    assert first is not None
    assert decomposing.ask_level(PLAN, first) is not None
    deeper = json.dumps(
        [
            {"pergunta": "Qual artigo trata das horas extras?", "estado": "End", "de": "1"},
            {"pergunta": "Quantas horas o #1 permite?", "estado": "End", "de": "1"},
            {"pergunta": "Perdida?", "estado": "End", "de": "9"},
        ]
    )
    tree = decomposing.read_level(deeper, PLAN, first)
    assert tree is not None
    assert list(tree.nodes) == ["0", "1", "2", "1.1", "1.2"]
    assert (tree.nodes["1.2"].question, tree.nodes["1.2"].uses) == ("Quantas horas o #1.1 permite?", ("1.1",))
    assert (tree.nodes["1"].kind, tree.nodes["0"].kind) == ("bridge", "list")
    whole = decomposing.closed(tree, ("se for noturno",))
    assert {each.state.value for each in whole.leaves()} == {"End"}
    assert whole.conditions == ("se for noturno",)


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "[]",
        level("Só uma?"),
        level("Quanto dura o intervalo de almoço?"),
        level("Quantas horas extras?", "O que diz a Lei Maria da Penha?"),
        level("Quanto dura o almoço?", "Quanto dura o almoço?"),
        level("Quantas horas extras?", "Quanto ele dura?"),
        level("Quantas horas extras?", "O que diz o art. 7º da CF?"),
        level("Quantas horas extras?", "Quanto valem 15 dias?"),
        level("Quantas horas o #2 permite?", "Quanto dura o almoço?"),
        level("Quantas horas extras?", "E?"),
        level(*(f"Quanto dura o almoço {word}?" for word in ("cedo", "tarde", "longo", "curto", "frio"))),
        '{"pergunta": "x"}',
    ],
)
def test_sub_questions_that_do_not_stand_alone_or_add_anything_leave_the_tree_of_the_rules(reply: str) -> None:
    assert decomposing.read_level(reply, PLAN, None) is None


def test_a_number_sign_of_the_question_is_no_pointer_in_a_models_division() -> None:
    state = PLAN.model_copy(update={"query": "Quem abriu o chamado #7 e quem aprovou o chamado #1?"})
    tree = decomposing.read_level(level("Quem abriu o chamado #7?", "Quem aprovou o chamado #1?"), state, None)
    assert tree is not None
    assert [(each.question, each.uses) for each in tree.leaves()] == [
        ("Quem abriu o chamado #7?", ()),
        ("Quem aprovou o chamado #1?", ()),
    ]


@pytest.mark.covers("S2-32")
def test_a_condition_is_taken_only_in_the_words_of_the_question() -> None:
    state = PLAN.model_copy(update={"query": "Se o turno for noturno, quanto dura o intervalo de almoço?"})
    reply = '{"condicoes": ["se o turno for noturno", "se for menor de idade"]}'
    assert decomposing.read_conditions(reply, state) == ("se o turno for noturno",)
    assert decomposing.read_conditions("nenhuma", state) is None


# --- evidence and conclusion


def test_a_model_takes_evidence_away_but_neither_the_best_nor_a_contrary_one() -> None:
    found = dict.fromkeys(("1", "2"), REFINE.evidence_map["1"])
    best, worst = "lei:CLT-art59", "doc:other"
    other = passage(worst, "Outro assunto.")
    low = found["1"][0].model_copy(update={"chunk_uid": worst, "score": 0.01})
    state = REFINE.model_copy(
        update={"passages": {**REFINE.passages, worst: other}, "refined_evidence": {"1": (*found["1"], low)}}
    )
    assert refining.ask(state) is not None
    reply = json.dumps({"irrelevantes": {"1": [best, worst], "9": [best]}})
    made = refining.read(reply, state)
    assert made is not None
    assert [each.chunk_uid for each in made.refined_evidence["1"]] == [best]
    assert worst in made.discarded
    assert refining.read("{}", state) is None
    contrary = {"node_id": "1", "a": best, "b": worst, "motivo": "", "type": "polarity", "spans": ((0, 1), (0, 1))}
    state = CognitiveState.model_validate({**state.model_dump(by_alias=False), "conflicts": (contrary,)})
    made = refining.read(reply, state)
    assert made is not None
    assert [each.chunk_uid for each in made.refined_evidence["1"]] == [best, worst]


def test_the_conclusion_is_chosen_among_verified_sentences_and_adds_no_word() -> None:
    good = f"{LUNCH} [lei:CLT-art71] {HOURS} [lei:CLT-art59]"
    made = integrating.read(json.dumps({"conclusao": good}), DONE)
    assert made is not None
    assert {each.title: each.text for each in made.sections}["Conclusão"] == good.replace("] A", "]\nA")
    assert "## Conclusão\n" in (made.integrated_response or "")
    for bad in (f"{LUNCH} [lei:CLT-art71]", f"Portanto, {good}", f"{good} Sim.", "", "Sim"):
        assert integrating.read(json.dumps({"conclusao": bad}), DONE) is None
