"""The checker of chaos finds every seeded fault in what becomes of complex questions."""

import random
from collections.abc import Callable
from dataclasses import replace

import pytest

from schemas.topics import ANSWERS_OUT, COGNITION_STEPS
from streams.topology import SPLIT
from tests.builders.examples import few
from tests.chaos.checker import check
from tests.chaos.entries import Entry, Evidence
from tests.chaos.findings import DOUBLED, LOST
from tests.chaos.making import added, behind, clean

Fault = Callable[[Evidence, random.Random], Evidence]


@pytest.fixture(scope="module")
def evidence() -> Evidence:
    return clean(few(90, 50), among=8, seed=11, stages=SPLIT)


def lose_a_step(evidence: Evidence, choose: random.Random) -> Evidence:
    gone = choose.choice(_later_steps(evidence))
    return replace(evidence, log=tuple(entry for entry in evidence.log if entry is not gone))


def _later_steps(evidence: Evidence) -> list[Entry]:
    """Those that are made once whatever dies; the first is made again with its plan, the same."""
    return [entry for entry in evidence.log if entry.topic == COGNITION_STEPS.name and entry.event["step"] != 1]


def lose_a_job(evidence: Evidence, choose: random.Random) -> Evidence:
    gone = choose.choice(_later_steps(evidence)).key
    kept = (entry for entry in evidence.log if entry.topic != COGNITION_STEPS.name or entry.key != gone)
    return replace(evidence, log=tuple(kept))


def lose_an_answer(evidence: Evidence, choose: random.Random) -> Evidence:
    gone = choose.choice(_answers(evidence))
    return replace(evidence, log=tuple(entry for entry in evidence.log if entry is not gone))


def _answers(evidence: Evidence) -> list[Entry]:
    answers = [entry for entry in evidence.log if entry.topic == ANSWERS_OUT.name]
    return [entry for entry in answers if entry.whole()["meta"].get("intent") == "deep"]


def answer_a_question_twice(evidence: Evidence, choose: random.Random) -> Evidence:
    twin = choose.choice(_answers(evidence))
    return added(evidence, behind(evidence, twin, headers={**twin.headers, "ce_id": f"another-{choose.random()}"}))


def make_a_step_again(evidence: Evidence, choose: random.Random) -> Evidence:
    return added(evidence, behind(evidence, choose.choice(_later_steps(evidence))))


FAULTS: tuple[tuple[Fault, str], ...] = (
    (lose_a_step, LOST),
    (lose_a_job, LOST),
    (lose_an_answer, LOST),
    (answer_a_question_twice, DOUBLED),
    (make_a_step_again, DOUBLED),
)


@pytest.mark.covers("CF-67", "AC-29", "AC-35")
@pytest.mark.parametrize(("fault", "kind"), FAULTS, ids=lambda given: getattr(given, "__name__", None))
def test_every_seeded_fault_is_found(evidence: Evidence, fault: Fault, kind: str) -> None:
    missed = [seed for seed in range(few(100, 2)) if not check(fault(evidence, random.Random(seed))).count(kind)]
    assert missed == []
