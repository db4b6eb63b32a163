"""What an answer must show of evidence that disagrees, of answers that were not verified, and of what is missing."""

import asyncio
from typing import Any

import pytest

from agents.cognition.core import integrator, reasoner
from agents.cognition.core.evidence_refiner import refined
from agents.cognition.core.integrator import deep_answer
from agents.cognition.core.passages import sentences_of
from agents.cognition.model import CognitionModel
from schemas.cognition import CognitiveState, EvidenceConflict, LeafEvidence, Node, SubAnswer, Verification
from tests.unit.cognition.core.runs import NOON, Run, opened, passage

ASKED = "A venda de horas extras por dia é permitida no comércio?"
# Three sentences that answer as well as the contrary one, so that no room is left for it.
ALIKE = [
    ("one", "A venda de horas extras por dia é permitida no comércio.", 0.9),
    ("two", "No comércio a venda de horas extras por dia é permitida, diz o sindicato.", 0.89),
    ("three", "É permitida por dia a venda de horas extras no comércio de bairro.", 0.88),
]
CONTRARY = ("no", "É vedada a venda.", 0.4)


def single(*found: tuple[str, str, float]) -> CognitiveState:
    """A run of a question that is not divided, with passages `(id, text, score)` found for it, refined."""
    state = Run().of(opened(ASKED))[0].state
    assert state.mind_map is not None
    [leaf] = state.mind_map.nodes
    evidence = tuple(LeafEvidence(chunk_uid=uid, score=score, similar=(score,)) for uid, _, score in found)
    passages = {uid: passage(f"doc:{uid}", said, uid=uid) for uid, said, _ in found}
    return refined(
        state.model_copy(update={"passages": passages, "evidence_map": {leaf: evidence}, "answerable": {leaf: 0.9}})
    )


def conflicting(a: str, b: str) -> CognitiveState:
    state = single(*ALIKE, CONTRARY)
    spans = [next(iter(sentences_of(state.passages[each]))) for each in (a, b)]
    conflict = EvidenceConflict(
        node_id="0", a=a, b=b, motivo="", type="polarity", spans=tuple((each.start, each.end) for each in spans)
    )
    return state.model_copy(update={"conflicts": (conflict,)})


@pytest.mark.covers("S2-110", "S2-130")
@pytest.mark.parametrize(("a", "b"), [("one", "no"), ("no", "one")])
def test_the_other_side_of_a_conflict_is_cited_beside_as_many_claims_as_there_may_be(a: str, b: str) -> None:
    without = reasoner.reasoned(conflicting(a, b).model_copy(update={"conflicts": ()})).sub_answers["0"]
    assert {each.chunk_uid for each in without.claims} == {"one", "two", "three"}
    answer = reasoner.reasoned(conflicting(a, b)).sub_answers["0"]
    assert {each.chunk_uid for each in answer.claims} == {"one", "two", "three", "no"}


@pytest.mark.covers("S2-61", "S2-68", "S2-91")
def test_all_passages_of_a_question_are_compared_with_each_other() -> None:
    apart = (("x", "O almoço no comércio dura uma hora.", 0.9), ("y", "O comércio fecha aos domingos.", 0.85))
    yes, no = ("yes", "A venda de horas extras é permitida.", 0.8), ("no", "É vedada a venda de horas extras.", 0.7)
    found = single(*apart, yes, no)
    assert [{each.a, each.b} for each in found.conflicts] == [{"yes", "no"}]
    off = found.model_copy(update={"flags": found.flags.model_copy(update={"refinement": False})})
    assert refined(off).conflicts == ()


def verified() -> CognitiveState:
    """A run of two parts right after its verifier, which approved both."""
    state = next(each.state for each in Run().of(opened()) if each.node is Node.VERIFIER)
    assert {each.status for each in state.verifications.values()} == {"approved"}
    return state


def with_verdict(state: CognitiveState, name: str, status: str) -> CognitiveState:
    verdict = Verification.model_validate({"node_id": name, "status": status})
    return state.model_copy(update={"verifications": {**state.verifications, name: verdict}})


@pytest.mark.covers("S2-125", "S2-162")
@pytest.mark.parametrize("status", ["abstain", "rejected"])
def test_only_an_approved_answer_is_delivered(status: str) -> None:
    state = integrator.integrated(with_verdict(verified(), "2", status))
    assert [each.node_id for each in deep_answer(state).sub_answers if each.node_id in ("1", "2")] == ["1"]
    assert "sessenta minutos" not in (state.integrated_response or "")


@pytest.mark.covers("S2-71", "S2-106")
def test_a_rejected_answer_lacks_all_that_its_question_asks_for() -> None:
    state = with_verdict(verified(), "2", "rejected")
    assert state.sub_answers["2"].missing == ()
    info = integrator.integrated(state).abstain_info
    assert info is not None
    assert info.missing == ("Quanto dura o intervalo de almoço",)


@pytest.mark.covers("S2-71", "S2-106")
def test_an_answer_without_a_claim_and_without_a_gap_of_its_own_lacks_its_question() -> None:
    state = verified()
    empty = state.sub_answers["2"].model_copy(update={"claims": (), "text": ""})
    told = {**state.sub_answers, "2": empty}
    flags = state.flags.model_copy(update={"abstain": False})
    made = integrator.integrated(state.model_copy(update={"sub_answers": told, "flags": flags}))
    assert made.abstain_info is not None
    assert made.abstain_info.missing == ("Quanto dura o intervalo de almoço",)
    assert made.sections[-1].text.endswith("Quanto dura o intervalo de almoço.")


class Silent:
    """A model that nobody may ask."""

    async def complete(self, *_: Any, **__: Any) -> str:
        raise AssertionError("asked without a call left")


@pytest.mark.covers("S2-162", "AC-79")
def test_an_answer_that_no_call_was_left_to_verify_abstains() -> None:
    state = verified()
    spent = state.model_copy(
        update={"spent": state.spent.model_copy(update={"llm_calls": state.limits.max_llm_calls}), "todo": None}
    )
    roles: Any = {"decomposition": Silent(), "response": Silent(), "verification": Silent()}
    made = asyncio.run(CognitionModel(roles, "advanced").improved(Node.VERIFIER, spent, NOON))
    assert {each.status for each in made.verifications.values()} == {"abstain"}


def sure(state: CognitiveState, **of: float) -> dict[str, SubAnswer]:
    return {
        name: each.model_copy(update={"confidence": of[f"n{name}"]}) if f"n{name}" in of else each
        for name, each in state.sub_answers.items()
    }


@pytest.mark.covers("S2-69")
def test_a_result_is_as_sure_as_its_least_sure_answer() -> None:
    state = integrator.integrated(verified())
    state = state.model_copy(update={"sub_answers": sure(state, n1=0.9, n2=0.4)})
    assert deep_answer(state).confidence == 0.4


@pytest.mark.covers("S2-102")
def test_a_parent_is_as_sure_as_its_least_sure_child() -> None:
    state = next(each.state for each in Run().of(opened()) if each.next is Node.REASONER)
    assert state.mind_map is not None
    [root] = [each for each in state.mind_map.nodes.values() if each.children]
    answers = reasoner.reasoned(state).sub_answers
    unlike = {
        name: each.model_copy(update={"confidence": 0.4 if name == root.children[0] else 0.9})
        for name, each in answers.items()
    }
    assert reasoner._composed(state, root, unlike).confidence == 0.4
