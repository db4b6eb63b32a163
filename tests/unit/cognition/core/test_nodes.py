"""The nodes of cognition and the ways between them."""

from collections.abc import Callable
from datetime import datetime, timedelta
from inspect import signature
from typing import Any

import pytest

from agents.cognition.core import (
    dual_retriever,
    integrator,
    memory_check,
    memory_store,
    opening,
    planner,
    theme_activator,
    verifier,
)
from agents.cognition.core.dual_retriever import LeafFound
from agents.cognition.core.evidence_refiner import MAX_PASSAGES, refined
from agents.cognition.core.integrator import deep_answer
from agents.cognition.core.route import LINEAR, route, step_after
from agents.cognition.stage import ANSWERING, RULES
from agents.ports.cognition import CognitionOptions
from schemas.cognition import (
    CognitionFlags,
    CognitionLimits,
    CognitiveState,
    LeafEvidence,
    Node,
    SourceAnswer,
    Verification,
)
from tests.builders.events import plan
from tests.unit.cognition.core.runs import FLAGS, LAW, NOON, QUESTION, Run, opened, passage

COURT = {
    "lei:CLT-art59": LAW["lei:CLT-art59"],
    "processo:0000111-45.2023.5.02.0001": "O adicional de insalubridade é devido ao empregado do frigorífico.",
}


# --- the router


@pytest.mark.covers("S2-09", "S2-13", "S2-152", "CF-23")
def test_the_nodes_follow_each_other_as_the_table_says() -> None:
    chain = [Node.PLANNER]
    while chain[-1] in LINEAR:
        chain.append(LINEAR[chain[-1]])
    assert [each.value for each in chain] == [
        "planner", "theme_activator", "dual_retriever", "evidence_refiner", "memory_check", "reasoner", "verifier",
    ]  # fmt: skip
    assert LINEAR[Node.QUERY_REWRITER] is Node.DUAL_RETRIEVER
    assert (LINEAR[Node.INTEGRATOR], LINEAR[Node.MEMORY_STORE]) == (Node.MEMORY_STORE, Node.END)


@pytest.mark.covers("S2-15", "CF-39")
def test_each_node_is_a_file_of_its_own_that_the_stage_takes_its_rule_from() -> None:
    rules: dict[Node, Callable[..., object]] = {
        Node.PLANNER: planner.planned,
        Node.THEME_ACTIVATOR: theme_activator.activated,
        Node.DUAL_RETRIEVER: dual_retriever.merged,
        Node.EVIDENCE_REFINER: RULES[Node.EVIDENCE_REFINER],
        Node.MEMORY_CHECK: memory_check.checked,
        Node.REASONER: ANSWERING[Node.REASONER],
        Node.VERIFIER: verifier.verified,
        Node.QUERY_REWRITER: RULES[Node.QUERY_REWRITER],
        Node.INTEGRATOR: ANSWERING[Node.INTEGRATOR],
        Node.MEMORY_STORE: memory_store.consultation,
    }
    assert {*rules, Node.END} == set(Node)
    found = {node: rule.__module__ for node, rule in rules.items()}
    assert found == {node: f"agents.cognition.core.{node}" for node in rules}
    assert all(next(iter(signature(rule).parameters)) == "state" for rule in rules.values())


def judged(status: str, *, search: bool, rounds: int, most: int) -> CognitiveState:
    """A run after its verifier rejected its first leaf."""
    state = Run().of(opened(limits=CognitionLimits(max_rethink=most)))[0].state
    found = {"1": Verification.model_validate({"node_id": "1", "status": status, "needs_search": search})}
    update = {"verifications": found, "verification_status": status, "requires_new_search": search}
    return state.model_copy(update={**update, "rethink_count": rounds})


@pytest.mark.covers("S2-10", "S2-11", "S2-12", "CF-23", "CF-28")
@pytest.mark.parametrize(
    ("status", "search", "rounds", "most", "following"),
    [
        ("rejected", True, 0, 1, Node.QUERY_REWRITER),
        ("rejected", False, 0, 1, Node.REASONER),
        ("rejected", True, 1, 1, Node.INTEGRATOR),
        ("rejected", True, 1, 2, Node.QUERY_REWRITER),
        ("rejected", False, 0, 0, Node.INTEGRATOR),
        ("approved", True, 0, 1, Node.INTEGRATOR),
        ("abstain", True, 0, 1, Node.INTEGRATOR),
    ],
)
def test_the_verifier_sends_back_while_rounds_are_left(
    status: str, search: bool, rounds: int, most: int, following: Node
) -> None:
    state = judged(status, search=search, rounds=rounds, most=most)
    assert route(state, NOON) is following
    made = step_after(state, Node.VERIFIER, 7, NOON)
    assert made.next is following
    back = following is not Node.INTEGRATOR
    assert made.state.rethink_count == rounds + back
    assert (made.state.rethinks | made.state.searches_again) == ({"1": 1} if back else {})


@pytest.mark.covers("S2-162")
def test_a_run_without_a_call_left_is_not_sent_back() -> None:
    state = judged("rejected", search=True, rounds=0, most=1)
    for calls, following in ((19, Node.QUERY_REWRITER), (20, Node.INTEGRATOR)):
        spent = state.model_copy(update={"spent": state.spent.model_copy(update={"llm_calls": calls})})
        assert route(spent, NOON) is following


# --- the planner


@pytest.mark.covers("CF-24")
def test_a_run_has_two_minutes_from_when_its_message_was_accepted() -> None:
    asked = plan()
    made = opening.opened(asked, "acme", CognitionOptions(enabled=True))
    assert made.deadline_at - asked.accepted_at == timedelta(seconds=120)


@pytest.mark.covers("S2-37", "S2-64", "AC-69")
def test_a_question_of_one_leaf_ends_at_the_planner_unless_asked_for() -> None:
    question = "Quando cabe a multa da CLT?"
    [made] = Run().of(opened(question), asked=False)
    assert (made.node, made.next, made.state.fallback) == (Node.PLANNER, Node.END, True)
    assert len(made.state.sub_questions) == 1
    assert Run().of(opened(question))[-1].state.sections
    assert not planner.planned(opened(QUESTION), asked=False).fallback


# --- the retriever


@pytest.mark.covers("S2-39", "S2-45")
def test_each_leaf_is_searched_and_a_passage_is_kept_once() -> None:
    shared = {"lei:X-art1": "As horas extras e o intervalo de almoço constam do acordo coletivo."}
    run = Run(shared)
    state = next(each.state for each in run.of(opened()) if each.node is Node.DUAL_RETRIEVER)
    assert [each.node_id for each in run.searched] == [each.node_id for each in state.sub_questions] == ["1", "2"]
    assert [each.query for each in run.searched] == [each.question for each in state.sub_questions]
    assert list(state.passages) == ["lei:X-art1"]
    assert {name: [each.chunk_uid for each in found] for name, found in state.evidence_map.items()} == {
        "1": ["lei:X-art1"],
        "2": ["lei:X-art1"],
    }


@pytest.mark.covers("S2-122")
def test_what_another_search_finds_joins_the_evidence_and_replaces_none() -> None:
    state = Run().of(opened())[2].state
    again = state.model_copy(update={"rethink_count": 1})
    [search] = [each for each in dual_retriever.searches(Run().of(opened())[0].state) if each.node_id == "1"]
    new = passage("doc:new", "As horas extras são pagas com adicional.")
    told = SourceAnswer(node_id="1", source="lexical", query="x", status="ok", found=1, attempt=1)
    found = LeafFound(search, 0.5, [(new, LeafEvidence(chunk_uid="doc:new", score=0.99))], (told,))
    merged = dual_retriever.merged(again, [found])
    before, after = ({e.chunk_uid for e in each.evidence_map["1"]} for each in (again, merged))
    assert after == before | {"doc:new"}
    assert merged.answerable["1"] == again.answerable["1"]
    assert merged.spent.searches == again.spent.searches + 1


@pytest.mark.covers("S2-45", "S2-46")
def test_a_passage_that_is_found_again_has_its_better_score_and_all_its_sources() -> None:
    first, planned = Run().of(opened())[2].state, Run().of(opened())[0].state
    [search] = [each for each in dual_retriever.searches(planned) if each.node_id == "1"]
    known = first.evidence_map["1"][0]
    worse = known.model_copy(update={"score": known.score / 2, "sources": ("vector",)})
    best = LeafEvidence(chunk_uid="doc:new", score=0.99)
    new = passage("doc:new", "As horas extras são pagas com adicional.", uid="doc:new")
    found = LeafFound(search, 0.5, [(first.passages[known.chunk_uid], worse), (new, best)], ())
    merged = dual_retriever.merged(first, [found])
    [kept] = [each for each in merged.evidence_map["1"] if each.chunk_uid == known.chunk_uid]
    assert (kept.score, kept.sources) == (known.score, ("lexical", "vector"))
    assert merged.evidence_map["1"][0] == best


# --- the refiner


def listed(state: CognitiveState, *scores: tuple[str, str, float]) -> CognitiveState:
    """The state with passages `(id, text, score)` as the evidence of the first leaf."""
    evidence = tuple(LeafEvidence(chunk_uid=uid, score=score) for uid, _, score in scores)
    passages = {uid: passage(f"doc:{uid}", said, uid=uid) for uid, said, _ in scores}
    return state.model_copy(update={"passages": passages, "evidence_map": {"1": evidence}})


@pytest.mark.covers("S2-88", "S2-89", "S2-92", "S2-129", "S2-156")
def test_only_evidence_that_neither_words_nor_meaning_speak_for_is_discarded() -> None:
    found = (
        ("near", "As horas extras são pagas.", 0.9),
        ("words", "Sem horas extras.", 0.01),
        ("meaning", "O labor em sobrejornada.", 0.5),
        ("neither", "A receita do bolo leva ovos.", 0.01),
    )
    state = listed(Run().of(opened())[0].state, *found)
    made = refined(state)
    assert [each.chunk_uid for each in made.refined_evidence["1"]] == ["near", "words", "meaning"]
    assert made.discarded == ("neither",)
    plain = refined(state.model_copy(update={"flags": CognitionFlags(verification=True)}))
    assert len(plain.refined_evidence["1"]) == 4
    assert plain.discarded == ()
    assert plain.conflicts == ()


@pytest.mark.covers("S2-91")
def test_at_most_five_passages_are_read_and_their_conflicts_are_told() -> None:
    found = [(f"p{n}", f"As horas extras do turno {n} são pagas.", 0.9 - n / 100) for n in range(8)]
    assert len(refined(listed(Run().of(opened())[0].state, *found)).refined_evidence["1"]) == MAX_PASSAGES
    yes, no = "A venda de horas extras é permitida.", "É vedada a venda de horas extras."
    made = refined(listed(Run().of(opened())[0].state, ("yes", yes, 0.9), ("no", no, 0.8)))
    [conflict] = made.conflicts
    assert (conflict.node_id, {conflict.a, conflict.b}, conflict.type) == ("1", {"yes", "no"}, "polarity")


# --- what is answered


@pytest.mark.covers("S2-105", "S2-128", "CF-41")
def test_an_answer_less_sure_than_the_threshold_abstains_and_names_what_it_lacks() -> None:
    sure = Run().of(opened(limits=CognitionLimits(abstain_threshold=0.3)))[-1].state
    unsure = Run().of(opened(limits=CognitionLimits(abstain_threshold=0.95)))[-1].state
    assert {each.status for each in sure.sub_answers.values()} == {"answered"}
    assert {each.status for each in unsure.sub_answers.values()} == {"abstained"}
    assert unsure.abstain_info is not None
    assert unsure.abstain_info.message == "Não encontrei evidência suficiente para responder."
    assert unsure.sub_answers["1"].text.startswith("Não encontrei evidência suficiente. Necessário: ")


@pytest.mark.covers("S2-98")
def test_the_verdict_on_a_node_says_of_which_answer_it_is_why_and_in_which_attempt() -> None:
    def tampered(state: CognitiveState, now: datetime) -> CognitiveState:
        """The verdicts; in the first round on an answer whose second leaf says another time than its source."""
        if not state.rethink_count:
            answer = state.sub_answers["2"]
            claim = answer.claims[0].model_copy(update={"text": answer.claims[0].text.replace("sessenta", "noventa")})
            wrong = answer.model_copy(update={"claims": (claim,), "text": claim.text})
            state = state.model_copy(update={"sub_answers": {**state.sub_answers, "2": wrong}})
        return verifier.verified(state, now)

    first, last = (each.state for each in Run(verify=tampered).of(opened()) if each.node is Node.VERIFIER)
    assert first.mind_map is not None
    asked, answer, found = first.mind_map.nodes["2"], first.sub_answers["2"], first.verifications["2"]
    assert {each.node_id for each in (asked, answer, found)} == {"2"}
    assert asked.question == "Quanto dura o intervalo de almoço?"
    assert "noventa minutos" in answer.text
    assert (found.status, found.claims[0].support, first.verifications["1"].status) == ("rejected", 0.0, "approved")
    issues = [each for each in first.verification_issues if each.startswith("2: ")]
    assert any("noventa" in each and "sessenta" in each for each in issues)
    assert [each.cite for each in found.claims] == ["lei:CLT-art71"]
    assert first.rethinks == last.rethinks == {"2": 1}
    assert "noventa" not in last.sub_answers["2"].text
    sure = first.verifications["1"].claims[0].support
    assert 0 < first.sub_answers["1"].confidence <= sure <= 1


@pytest.mark.parametrize(
    ("question", "lang", "known", "missing"),
    [
        ("Qual é a alíquota do ITBI em São Paulo?", "pt", "", ("ITBI", "São Paulo")),
        ("O que diz o art. 7º da Lei Maria da Penha?", "pt", "", ("art. 7º da Lei Maria da Penha",)),
        ("What does the Data Protection Act say of Maria O'Neill?", "en", "", ("Data Protection Act", "Maria O'Neill")),
        ("Who signed the contract with Atlas Beans?", "en", "Atlas signed a contract.", ("Beans",)),
        ("Quando a Café Sertão comprou a iFood do João's Bar?", "pt", "", ("Café Sertão", "iFood", "João's Bar")),
        ("Is Lisbon's port open?", "en", "", ("Lisbon",)),
    ],
)
def test_what_is_missing_is_named_as_the_question_writes_it(
    question: str, lang: str, known: str, missing: tuple[str, ...]
) -> None:
    law = {"doc:a": known} if known else {}
    found = Run(law).of(opened(question, lang))[-1].state.abstain_info
    assert found is not None
    assert found.missing == missing


@pytest.mark.covers("S2-71", "S2-99", "S2-106")
def test_a_part_that_is_answered_is_kept_beside_what_is_missing() -> None:
    state = Run().of(opened("Qual é a alíquota do ITBI e quanto dura o intervalo de almoço?"))[-1].state
    assert state.abstain_info is not None
    assert any("ITBI" in each.upper() for each in state.abstain_info.missing)
    assert "sessenta minutos" in (state.abstain_info.partial_answer or "")
    assert deep_answer(state).missing == state.abstain_info.missing


@pytest.mark.covers("S2-123", "S2-124", "S2-144")
@pytest.mark.parametrize(
    ("question", "titles"),
    [
        (
            "Quantas horas extras são permitidas, o adicional de insalubridade é devido e qual é a alíquota do ITBI?",
            ["Fundamento Legal", "Jurisprudência Aplicável", "Análise", "Conclusão", "Limitações"],
        ),
        (
            "Quantas horas extras por dia são permitidas e o adicional de insalubridade é devido?",
            ["Fundamento Legal", "Jurisprudência Aplicável", "Análise", "Conclusão"],
        ),
        ("Qual é a alíquota do ITBI e qual é o prazo do IPTU?", ["Conclusão", "Limitações"]),
    ],
)
def test_the_sections_come_in_order_and_limits_only_with_gaps(question: str, titles: list[str]) -> None:
    state = Run(COURT).of(opened(question))[-1].state
    assert [each.title for each in state.sections] == titles
    for section in state.sections[:2]:
        if section.title in ("Fundamento Legal", "Jurisprudência Aplicável"):
            assert all(line.endswith("]") for line in section.text.splitlines())


@pytest.mark.covers("S2-126", "S2-134")
def test_nothing_is_inferred_every_claim_is_a_sentence_of_its_source() -> None:
    state = (
        Run(COURT).of(opened("O adicional de insalubridade é devido e quantas horas extras são permitidas?"))[-1].state
    )
    claims = [claim for each in deep_answer(state).sub_answers for claim in each.claims]
    assert claims
    for claim in claims:
        assert state.passages[claim.chunk_uid].text[claim.start : claim.end] == claim.text
        assert f"{claim.text} [{claim.cite}]" in (state.integrated_response or "")


@pytest.mark.covers("S2-121", "S2-131", "CF-28")
@pytest.mark.parametrize(("loop", "nodes"), [(True, ["query_rewriter", "dual_retriever"]), (False, [])])
def test_only_with_the_loop_another_search_is_made_for_what_lacks_evidence(loop: bool, nodes: list[str]) -> None:
    flags = FLAGS.model_copy(update={"hallucination_loop": loop})
    question = "Qual é a alíquota do ITBI e quanto dura o intervalo de almoço?"
    steps = Run().of(opened(question, flags=flags))
    made = [each.node.value for each in steps]
    assert made[7:9] == (nodes or ["integrator", "memory_store"])
    assert steps[-1].state.searches_again == ({"1": 1} if loop else {})


def test_a_state_without_a_tree_passes_every_node() -> None:
    state = opened()
    rules: list[Any] = [refined, integrator.integrated]
    assert [rule(state).mind_map for rule in rules] == [None, None]
