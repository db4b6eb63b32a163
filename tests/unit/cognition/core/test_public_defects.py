"""Fourteen defects of a public implementation of cognitive retrieval, and that none of them recurs here."""

import pytest

from agents.cognition.core import query_rewriter, reasoner, verifier
from agents.cognition.core.integrator import deep_answer
from agents.cognition.core.memory_store import consultation
from agents.cognition.core.missing import phrase
from agents.cognition.decomposition.complexity import is_complex
from agents.cognition.decomposition.tree import decompose
from agents.cognition.verification.conflicts import conflicts
from agents.core.language import text
from agents.legal.citations import citation
from agents.legal.references import legal_references
from schemas.cognition import Claim, CognitionLimits, CognitionStep, CognitiveState, Node, SubAnswer
from tests.unit.cognition.core.runs import LAW, NOON, QUESTION, Run, opened, passage


def after(steps: list[CognitionStep], node: Node) -> CognitiveState:
    """The last state after a node."""
    return [each.state for each in steps if each.node is node][-1]


def judged(said: str, claimed: str, cite: str, *, own_cite: str = "", evidence: bool = True) -> CognitiveState:
    """The state after the verifier, where the one leaf was answered by a claim about one passage."""
    found = passage(own_cite or cite, said, uid="p")
    state = Run({}).of(opened("O que vale?"))[0].state
    [leaf] = state.sub_questions
    start = max(said.find(claimed), 0)
    claim = Claim(text=claimed, chunk_uid="p", start=start, end=len(said), cite=cite)
    answer = SubAnswer(node_id=leaf.node_id, status="answered", text=claimed, claims=(claim,), confidence=0.9)
    update = {
        "passages": {"p": found} if evidence else {},
        "sub_answers": {leaf.node_id: answer},
        "refined_evidence": {leaf.node_id: ({"chunk_uid": "p", "score": 1.0},)} if evidence else {},
    }
    state = CognitiveState.model_validate({**state.model_dump(by_alias=False), **update})
    return verifier.verified(state, NOON)


def failed(state: CognitiveState) -> set[int]:
    [found] = state.verifications.values()
    return {check.number for claim in found.claims for check in claim.checks if check.verdict == "fail"}


@pytest.mark.parametrize("extra", ["", " " + "Responda com todo o detalhe possível. " * 20])
def test_01_no_evidence_scores_nothing_and_length_never_raises_confidence(extra: str) -> None:
    state = Run({}).of(opened(QUESTION + extra))[-1].state
    assert {each.confidence for each in state.sub_answers.values()} == {0.0}
    assert deep_answer(state).confidence == 0.0
    assert state.verification_status == "abstain"


def test_01_more_words_of_the_same_weight_are_no_surer() -> None:
    short, long = (Run({"lei:X-art1": said}).of(opened("Quanto dura o intervalo de almoço?"))[-1].state for said in (
        LAW["lei:CLT-art71"], f"{LAW['lei:CLT-art71']} {'O relatório descreve o andamento da obra. ' * 40}",
    ))  # fmt: skip
    assert deep_answer(long).confidence <= deep_answer(short).confidence


def test_02_a_verifier_that_rejects_for_ever_ends_the_run() -> None:
    def rejects(state: CognitiveState, now: object) -> CognitiveState:
        found = {
            each: {"node_id": each, "status": "rejected", "needs_search": True} for each in state.mind_map.nodes
        } if state.mind_map else {}  # fmt: skip
        update = {"verifications": found, "verification_status": "rejected", "requires_new_search": True}
        return CognitiveState.model_validate({**state.model_dump(by_alias=False), **update})

    for most in (0, 1, 2):
        steps = Run(verify=rejects).of(opened(limits=CognitionLimits(max_rethink=most)))
        assert steps[-1].next is Node.END
        assert sum(each.node is Node.VERIFIER for each in steps) == 1 + min(most, 1)
        assert len(steps) <= 9 + 6 * most


def test_04_on_empty_evidence_every_citation_is_invalid() -> None:
    state = judged("Cabe recurso.", "Cabe recurso.", "lei:CPC-art1", evidence=False)
    assert state.verification_status == "rejected"
    assert {1, 2} <= failed(state)


@pytest.mark.parametrize(
    ("said", "claimed", "cite", "number"),
    [
        ("O art. 468 da CLT veda a alteração.", "O art. 468 da CF veda a alteração.", "lei:CLT-art468", 5),
        ("A multa é de 40% do saldo.", "A multa é de 50% do saldo.", "lei:CLT-art477", 6),
        ("O aviso não é exigido.", "O aviso é exigido.", "lei:CLT-art487", 8),
        ("O aviso é devido em 15 dias.", "O aviso é devido em 15 dias.", "", 4),
    ],
)
def test_05_act_number_negation_and_citation_are_each_refused(said: str, claimed: str, cite: str, number: int) -> None:
    state = judged(said, claimed, cite, own_cite="lei:CLT-art1")
    assert state.verification_status == "rejected"
    assert number in failed(state)
    assert any(f"check {number} fail" in each for each in state.verification_issues)


def test_06_the_end_of_a_long_passage_counts_and_article_1022_is_not_1() -> None:
    last = "Cabem embargos de declaração contra obscuridade, diz o art. 1.022 do CPC."
    said = f"{'O relatório descreve a origem. ' * 60}{last}"
    assert len(said) > 900
    assert judged(said, last, "lei:CPC-art1022").verification_status == "approved"
    assert 5 in failed(judged(said, last.replace("1.022", "1"), "lei:CPC-art1022"))


@pytest.mark.covers("S2-125", "S2-157")
def test_07_no_rejected_claim_stands_outside_the_limits() -> None:
    law = {**LAW, "lei:CLT-art59": "A duração poderá ser acrescida de horas extras, em número não excedente de duas."}

    def spoiled(state: CognitiveState, now: object) -> CognitiveState:
        """The hours of the first answer changed behind the verifier's back: one claim in two is false."""
        answers = {
            name: each.model_copy(
                update={
                    "text": each.text.replace("duas", "nove"),
                    "claims": tuple(
                        claim.model_copy(update={"text": claim.text.replace("duas", "nove")}) for claim in each.claims
                    ),
                }
            )
            for name, each in state.sub_answers.items()
        }
        return verifier.verified(state.model_copy(update={"sub_answers": answers}), NOON)

    state = Run(law, spoiled).of(opened(limits=CognitionLimits(max_rethink=0)))[-1].state
    told = {each.title: each.text for each in state.sections}
    assert "nove" not in "".join(text for title, text in told.items() if title != "Limitações")
    assert "sessenta minutos" in told["Conclusão"]
    assert "horas extras" in told["Limitações"]
    assert not any("nove" in claim.text for each in deep_answer(state).sub_answers for claim in each.claims)


def test_08_a_query_is_never_made_of_the_words_of_an_error() -> None:
    run = Run({})
    steps = run.of(opened(limits=CognitionLimits(max_rethink=2)))
    state = after(steps, Node.QUERY_REWRITER)
    poisoned = state.model_copy(update={"verification_issues": ("0: check 9 fail: timeout exception expected",)})
    allowed = text.content_set(QUESTION, "pt")
    for query in (*query_rewriter.rewritten(poisoned).queries.values(), *(each.query for each in run.searched)):
        assert text.content_set(query, "pt") <= allowed


@pytest.mark.parametrize(
    "word", ["salvo acordo coletivo", "exceto em caso de força maior", "vedado o trabalho noturno"]
)
def test_09_words_of_exception_alone_never_conflict(word: str) -> None:
    one = passage("doc:a", f"O salário do vigia é irredutível, {word}.", uid="a")
    other = passage("doc:b", "O salário do professor é pago por hora.", uid="b")
    assert conflicts("n", (one, other), "") == ()
    same = passage("doc:c", "O salário do vigia é irredutível.", uid="c")
    assert word.startswith("vedado") or conflicts("n", (one, same), "") == ()


@pytest.mark.parametrize(
    "question",
    [
        "Qual é o prazo para apelação e qual é o prazo para embargos?",
        "Qual e o prazo para apelacao e qual e o prazo para embargos?",
        "Quais as diferenças entre apelação e agravo de instrumento?",
        "Quais as diferencas entre apelacao e agravo de instrumento?",
    ],
)
def test_10_two_questions_and_comparisons_are_complex_with_accents_or_without(question: str) -> None:
    assert is_complex(question, "pt", 0.5)
    assert len(decompose(question, "pt", CognitionLimits()).leaves()) == 2


def test_11_no_two_tenants_cases_or_scopes_share_a_consultation() -> None:
    state = Run().of(opened())[-1].state
    variants = [
        state,
        state.model_copy(update={"tenant_id": "other"}),
        state.model_copy(update={"case_id": "case"}),
        state.model_copy(update={"scope": "case"}),
        state.model_copy(update={"job_id": "job-2"}),
    ]
    found = [consultation(each) for each in variants]
    assert len({each.consultation_id for each in found if each}) == len(variants)


def test_12_negation_provision_and_period_survive_in_questions_and_queries() -> None:
    question = "O recurso não cabe no prazo de 15 dias do art. 5 da CLT e quem não recorre em 15 dias paga a multa?"
    run = Run({})
    run.of(opened(question, limits=CognitionLimits(max_rethink=2)))
    first, second = decompose(question, "pt", CognitionLimits()).leaves()
    assert all(word in first.question for word in ("não", "15 dias", "art. 5"))
    assert all(word in second.question for word in ("não", "15 dias"))
    again = [each.query for each in run.searched if each.attempt]
    assert again
    assert all("não" in query.split() for query in again)
    assert any("15" in query and "5" in query.replace("15", "") for query in again)
    assert phrase("Quem não recorre em 15 dias?", "pt") == "não recorre em 15 dias"


@pytest.mark.parametrize(
    ("said", "named"),
    [
        ("Súmula Vinculante 10", ["[sumula-vinculante:STF-10]"]),
        ("Decreto-Lei 5.452/43", ["[lei:CLT]"]),
        ("arts. 186 e 927 do Código Civil", ["[lei:CC-art186]", "[lei:CC-art927]"]),
        ("HC 2020", []),
        ("Súmula 331", ["[sumula:?-331]"]),
    ],
)
def test_13_each_reference_has_its_own_normal_form(said: str, named: list[str]) -> None:
    assert [citation(each) for each in legal_references(said)] == named


@pytest.mark.covers("S2-100", "S2-102", "S2-157")
def test_14_inner_nodes_are_answered_after_their_children_and_each_is_verified() -> None:
    steps = Run().of(opened())
    state = after(steps, Node.VERIFIER)
    assert state.mind_map is not None
    order = [each.node_id for each in reasoner.post_order(state)]
    for node in state.mind_map.nodes.values():
        assert all(order.index(child) < order.index(node.node_id) for child in node.children)
        assert all(order.index(used) < order.index(node.node_id) for used in node.uses)
    assert set(state.verifications) == set(state.sub_answers) == set(state.mind_map.nodes)
    root = state.sub_answers[state.mind_map.root().node_id]
    assert "não excedente de duas" in root.text
    assert "sessenta minutos" in root.text
