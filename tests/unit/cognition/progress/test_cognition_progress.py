"""The events of a cognitive run: their order, their numbers, the verdicts in them, and its one end."""

from collections.abc import Callable, Iterable
from functools import cache
from itertools import pairwise
from typing import Any

import pytest

from agents.cognition.progress.cognition_progress import cognition_events
from agents.cognition.progress.tree_nodes import CHECK_NAMES
from agents.cognition.verification.checks import CHECKS
from agents.core.progress.reduction import reduced
from schemas.cognition import Check, CognitionStep, Node
from schemas.progress import TERMINAL, ProgressMade
from schemas.topics import COGNITION_STEPS
from streams.testing.pipeline import Pipeline
from tests.builders.progress_job import LAW, ON, QUESTION, RULINGS

Run = Callable[[], list[CognitionStep]]
PLAIN = "O adicional de insalubridade é devido ao empregado do frigorífico e quanto dura o intervalo de almoço?"
EMPTY = "Qual é a alíquota do ITBI e qual é o prazo do IPTU?"
HANDBOOK = "# Handbook\n\n## Overtime\nOvertime is limited to two hours per day.\n"


def steps(question: str, *documents: tuple[str, str, str], **settings: object) -> list[CognitionStep]:
    with Pipeline(**{**ON, **settings}) as fathom:
        for document in documents:
            fathom.document(*document)
        fathom.say(question)
        return [each.event for each in fathom.events(COGNITION_STEPS)]


def told(of: Iterable[CognitionStep]) -> list[ProgressMade]:
    return [event for step in of for event in cognition_events(step)]


BOTH = (("clt", "CLT", LAW), ("julgados", "Julgados", RULINGS))


@cache
def answered() -> list[CognitionStep]:
    return steps(PLAIN, *BOTH)


@cache
def rethought() -> list[CognitionStep]:
    return steps(QUESTION, *BOTH)


@cache
def abstained() -> list[CognitionStep]:
    return steps(EMPTY, rag_cograg_hallucination_loop=False)


@cache
def only_evidence() -> list[CognitionStep]:
    return steps(PLAIN, *BOTH, rag_cograg_verification_enabled=False)


each_run = pytest.mark.parametrize("run", [answered, rethought, abstained, only_evidence])
SEED = [
    "COGRAG_DECOMPOSE_START", "COGRAG_DECOMPOSE_NODE", "COGRAG_DECOMPOSE_COMPLETE",
    "COGRAG_RETRIEVAL_START", "COGRAG_RETRIEVAL_NODE", "COGRAG_RETRIEVAL_COMPLETE",
    "COGRAG_REFINE_START", "COGRAG_REFINE_COMPLETE",
    "COGRAG_VERIFY_START", "COGRAG_VERIFY_NODE", "COGRAG_VERIFY_COMPLETE",
]  # fmt: skip


def types(events: Iterable[ProgressMade]) -> list[str]:
    return [event.type for event in events]


@pytest.mark.covers("S2-135", "S2-136", "S2-137", "S2-138", "AC-80")
def test_the_events_of_the_seed_come_in_their_order() -> None:
    found = [kind for kind in types(told(answered())) if kind in SEED]
    assert list(dict.fromkeys(found)) == SEED
    assert found.count("COGRAG_DECOMPOSE_NODE") == found.count("COGRAG_VERIFY_NODE") == 3
    assert found.count("COGRAG_RETRIEVAL_NODE") == 2
    assert all(found[n] == found[n + 1] or found.count(found[n]) == 1 or found[n].endswith("NODE") for n in range(10))


@pytest.mark.covers("AC-80")
@each_run
def test_numbers_grow_and_each_event_names_the_one_before(run: Run) -> None:
    events = told(run())
    assert events[0].prev_seq == 0
    assert all(one.seq < other.seq and other.prev_seq == one.seq for one, other in pairwise(events))
    assert {event.seq // 1000 for event in events} == {step.step for step in run()}


@each_run
def test_a_run_has_one_end_and_it_comes_last(run: Run) -> None:
    events = told(run())
    assert [event.type for event in events if event.type in TERMINAL] == [events[-1].type]
    assert events[-1].cograg_status in ("complete", "abstain")


@each_run
def test_a_step_read_again_makes_the_same_events(run: Run) -> None:
    again = [CognitionStep.model_validate_json(step.model_dump_json()) for step in run()]
    assert told(again) == told(run())


@pytest.mark.covers("S2-139", "S2-144", "AC-75")
def test_without_evidence_it_says_what_is_missing() -> None:
    last = told(abstained())[-1]
    assert (last.type, last.cograg_status) == ("COGRAG_ABSTAIN", "abstain")
    assert last.data["message"] == "Não encontrei evidência suficiente para responder."
    assert last.data["missing"] == ["ITBI", "IPTU"]
    assert [each["title"] for each in last.data["sections"]][-1] == "Limitações"
    state = reduced(told(abstained())).document
    assert (state["status"], state["answer_status"], state["missing"]) == ("abstain", "abstained", ["ITBI", "IPTU"])
    assert {node["state"] for node in state["nodes"].values()} == {"abstain"}
    assert state["passages"] == {}


def test_the_rulings_that_disagree_are_marked_with_their_sentences() -> None:
    state = reduced(told(answered())).document
    marked = [name for name, node in state["nodes"].items() if node["conflict"]]
    assert "1" in marked
    assert "0" not in marked
    [conflict] = [each for each in state["conflicts"].values() if each["node_id"] == "1"]
    assert conflict["type"] == "polarity"
    texts = [state["passages"][conflict[side]]["text"] for side in "ab"]
    shown = [text[begin:end] for text, (begin, end) in zip(texts, conflict["spans"], strict=True)]
    assert ["não é devido" in text for text in sorted(shown, key=len)] == [False, True]


@pytest.mark.covers("AC-80")
def test_each_claim_has_its_verdicts_with_what_was_expected_and_found() -> None:
    [judged] = [event for event in told(answered()) if event.type == "COGRAG_VERIFY_NODE" and event.node_id == "2"]
    node: Any = judged.patch[0].value
    [claim] = [claim for claim in node["claims"] if "mínimo uma hora" in claim["text"]]
    assert [check["number"] for check in claim["checks"]] == list(range(1, 13))
    assert [check["name"] for check in claim["checks"]] == list(CHECK_NAMES)
    [span] = [check for check in claim["checks"] if check["name"] == "span_proved"]
    assert (span["verdict"], span["found"]) == ("pass", claim["text"])
    passage = answered()[-1].state.passages[claim["chunk_uid"]]
    assert passage.text[claim["start"] : claim["end"]] == claim["text"]
    assert judged.data["failed_checks"] == []
    assert len(CHECK_NAMES) == len(CHECKS)


def test_a_claim_that_failed_a_check_says_what_was_found_instead() -> None:
    step = next(each for each in answered() if each.node is Node.VERIFIER)
    judged = step.state.verifications["2"]
    wrong = Check(number=6, verdict="fail", expected="uma hora", found="duas horas")
    claims = tuple(claim.model_copy(update={"checks": (wrong,), "support": 0.0}) for claim in judged.claims)
    failed = judged.model_copy(update={"status": "rejected", "claims": claims})
    state = step.state.model_copy(update={"verifications": {**step.state.verifications, "2": failed}})
    [event] = [
        each
        for each in cognition_events(step.model_copy(update={"state": state}))
        if (each.type, each.node_id) == ("COGRAG_VERIFY_NODE", "2")
    ]
    assert (event.data["state"], event.data["failed_checks"]) == ("failed", [6])
    claim = event.patch[0].value["claims"][0]
    assert claim["support"] == 0.0
    assert claim["checks"] == [
        {"number": 6, "name": "amounts_known", "verdict": "fail", "expected": "uma hora", "found": "duas horas"}
    ]


def test_a_round_sent_back_shows_who_is_tried_again_and_what_is_searched() -> None:
    events = told(rethought())
    [again] = [event for event in events if event.type == "COGRAG_RETHINK"]
    assert again.data == {"round": 1, "nodes": ["0", "2"], "searched": ["2"]}
    state = reduced(event for event in events if event.seq <= again.seq).document
    assert {name: node["state"] for name, node in state["nodes"].items()} == {
        "0": "pending", "1": "verified", "2": "pending",
    }  # fmt: skip
    [rewritten] = [event for event in events if event.type == "COGRAG_REWRITE"]
    assert rewritten.node_id == "2"
    assert rewritten.data["query"] != rewritten.data["question"]
    searched = [event.node_id for event in events if event.type == "COGRAG_RETRIEVAL_NODE"]
    assert searched == ["1", "2", "2"]
    judged = [event.node_id for event in events if event.type == "COGRAG_VERIFY_NODE"]
    assert judged == ["0", "1", "2", "0", "2"]
    assert reduced(events).document["budget"]["rethinks"] == 1


def test_without_verification_nothing_is_said_of_answers() -> None:
    found = set(types(told(only_evidence())))
    assert not any(word in kind for kind in found for word in ("VERIFY", "REASON", "INTEGRATE"))
    assert told(only_evidence())[-1].data["answer_status"] is None


@pytest.mark.covers("S2-161")
def test_a_question_that_is_not_divided_ends_with_its_planner() -> None:
    first = answered()[0]
    state = first.state.model_copy(update={"fallback": True})
    events = cognition_events(first.model_copy(update={"next": Node.END, "state": state}))
    assert types(events)[-1] == "COGRAG_COMPLETE"
    assert events[-1].data == {"fallback": True}
    assert [kind for kind in types(events) if kind in SEED][-1] == "COGRAG_DECOMPOSE_COMPLETE"


def test_a_step_that_could_not_be_run_ends_its_run_and_leaves_its_numbers_to_another_try() -> None:
    before, after = answered()[2:4]
    failed = before.model_copy(update={"step": 4, "node": after.node, "next": Node.END, "failed": "too long"})
    [event] = cognition_events(failed)
    assert (event.type, event.cograg_status) == ("COGRAG_FAILED", "abstain")
    assert event.data == {"why": "evidence_refiner could not be run: too long", "node": "evidence_refiner"}
    assert told([before])[-1].seq == event.prev_seq < event.seq < told([after])[0].seq
    assert reduced([*told(answered()[:3]), event]).document["failed"] == event.data["why"]
    assert reduced([*told(answered()[:3]), event, *told(answered()[3:])]).document["failed"] is None


def test_consulted_before_is_said_with_the_sub_questions_that_are_reused() -> None:
    step = next(each for each in answered() if each.node is Node.MEMORY_CHECK)
    answers = next(each for each in answered() if each.node is Node.REASONER).state.sub_answers
    reused = {"1": answers["1"].model_copy(update={"reused_from": "k1"})}
    state = step.state.model_copy(update={"similar_consultation": "k1", "sub_answers": reused})
    hit, *_ = cognition_events(step.model_copy(update={"state": state}))
    assert hit.type == "COGRAG_MEMORY_HIT"
    assert hit.data == {"consultation_id": "k1", "nodes": ["1"]}
    shown = reduced([hit]).document
    assert shown["reuse"] == "k1"
    assert shown["nodes"]["1"]["reused"]


def test_only_cited_passages_are_shown() -> None:
    state = reduced(told(answered())).document
    cited = {claim["chunk_uid"] for node in state["nodes"].values() for claim in node["claims"]}
    assert state["passages"].keys() == cited
    assert len(answered()[-1].state.passages) == len(cited)
    more = steps(PLAIN, *BOTH, ("handbook", "Handbook", HANDBOOK))
    assert reduced(told(more)).document["passages"].keys() == cited
