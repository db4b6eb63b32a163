"""Deep answers quote what answers and little else: the whole pipeline in memory, with the real encoder.

A change that lowers a figure below its bound is a loss. Each mechanism is taken out once, and a figure has to fall.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from statistics import fmean

import pytest

from bench.evaluation import questions
from bench.evaluation.deep.figures import DeepAsked, JudgedAnswer, judged
from bench.evaluation.questions import Material, PackQuestion
from schemas.base import JsonObject
from schemas.topics import ANSWERS_OUT
from streams.stores.passages.memory import MemoryPassageIndex
from streams.stores.passages.vectors import UseEmbedder
from streams.testing.pipeline import Pipeline
from tests.evidence.test_packs import BY_OTHERS, LEGAL, SET

Rows = list[JudgedAnswer]
Measure = Callable[[Rows], float]
SETS = {"everyday": SET, "by_others": BY_OTHERS, "legal": LEGAL}
FLAGS = ("rag_enable_cograg", "rag_cograg_verification_enabled", "rag_cograg_evidence_refinement_enabled")


class DeepMemory:
    """A pipeline with the documents of a set, to be asked its questions with `deep`."""

    def __init__(self, fathom: Pipeline, materials: list[Material], asked: list[PackQuestion]) -> None:
        self._fathom, self._materials = fathom, materials
        self._asked = [each for each in asked if each.kind in ("document", "unanswerable")]
        self._times = 0
        for material in materials:
            for number, (title, said) in enumerate(material.documents):
                fathom.document(f"{material.tenant}-{number}", title, said, tenant=material.tenant)

    def ask(self) -> Rows:
        """Every question's answer, judged."""
        self._times += 1
        sent = {self._say(each): each for each in self._asked}
        given = {each.event.meta.answers: each.event for each in self._fathom.events(ANSWERS_OUT)}
        found = [DeepAsked(each, _read(given[said].model_dump(mode="json"))) for said, each in sent.items()]
        return judged(found, self._materials)

    def _say(self, asked: PackQuestion) -> str:
        conversation = f"{asked.id}-{self._times}"
        return self._fathom.say(
            asked.text, tenant=asked.tenant, conversation=conversation, headers={"user_id": conversation}, deep=True
        )


def _read(answer: JsonObject) -> JsonObject:
    return {**answer["results"], "status": answer["status"]}


@pytest.fixture(scope="module")
def memories(embedder: UseEmbedder) -> Iterator[dict[str, DeepMemory]]:
    on = dict.fromkeys(FLAGS, True)
    with ExitStack() as stack:
        yield {
            name: DeepMemory(
                stack.enter_context(Pipeline(replace={"index": MemoryPassageIndex(embedder)}, **on)),
                *questions.of_everyday(folder),
            )
            for name, folder in SETS.items()
        }


@pytest.fixture(scope="module")
def answers(memories: dict[str, DeepMemory]) -> dict[str, Rows]:
    return {name: memory.ask() for name, memory in memories.items()}


def right(rows: Rows) -> float:
    """The share of the questions that documents answer whose answer quotes all that is asked for."""
    return fmean(row.outcome == "right" for row in rows if row.answerable)


def silent(rows: Rows) -> float:
    """The share of the questions that nothing answers that are not answered."""
    return fmean(row.outcome == "right" for row in rows if not row.answerable)


def telling(rows: Rows) -> float:
    """The share of the words of an answer that are in sentences with evidence, of those that quote any."""
    return fmean(row.telling for row in rows if row.answerable and row.answered)


# Measured, with two in a hundred to spare.
@pytest.mark.parametrize(
    ("name", "measure", "least"),
    [
        ("everyday", right, 0.807), ("by_others", right, 0.56), ("legal", right, 0.808),
        ("everyday", telling, 0.55), ("by_others", telling, 0.295), ("legal", telling, 0.53),
        ("everyday", silent, 0.91), ("by_others", silent, 0.83), ("legal", silent, 0.5),
    ],
)  # fmt: skip
def test_answers_are_as_good_as_was_measured(
    answers: dict[str, Rows], name: str, measure: Measure, least: float
) -> None:
    assert measure(answers[name]) >= least


def test_no_sentence_is_in_no_document(answers: dict[str, Rows]) -> None:
    assert sum(row.claims for rows in answers.values() for row in rows) >= 400
    assert sum(row.unproven for rows in answers.values() for row in rows) == 0
