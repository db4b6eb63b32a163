"""Cognition as a mode beside packs: its stages in their order, where it begins, and that nothing of it runs unasked."""

from typing import Any, get_args

import pytest

from agents.cognition.model import ModelRole
from schemas.cognition import CognitionStep, DeepAnswer, Node
from schemas.progress import ProgressMade
from schemas.topics import ANSWERS_OUT, COGNITION_STEPS, CONTEXT_PACKS
from streams.models.open import Models
from streams.stores.passages.memory import MemoryPassageIndex
from streams.stores.passages.vectors import HashingEmbedder
from streams.testing.pipeline import Pipeline
from streams.topology import SPLIT, STAGES
from tests.builders.progress_job import events
from tests.unit.cognition.scenarios.test_cognition_model import Scripted
from tests.unit.cognition.scenarios.test_cognition_recall import ON, QUESTION, DeadGraph, after, asked, pipeline, taught

# Complex by its two laws, and not to be divided.
UNDIVIDED = "Quando cabe a multa da CLT e do Código Civil?"
STAGES_OF_RUN = ("DECOMPOSE", "RETRIEVAL", "REFINE", "VERIFY")
GAP = "Quantas horas extras por dia são permitidas e qual é a alíquota do ITBI?"


def steps(fathom: Pipeline) -> list[CognitionStep]:
    return [each.event for each in fathom.events(COGNITION_STEPS)]


def stages_told(fathom: Pipeline) -> list[str]:
    """The beginnings and ends of the stages of a run as progress names them, in their order."""
    told: list[ProgressMade] = events(fathom)
    wanted = [f"COGRAG_{stage}_{end}" for stage in STAGES_OF_RUN for end in ("START", "COMPLETE")]
    return [each.type for each in told if each.type in wanted]


@pytest.mark.covers("S2-62", "S2-66")
def test_a_run_goes_through_its_stages_in_their_order() -> None:
    with pipeline() as fathom:
        taught(fathom)
        made = asked(fathom)
        assert stages_told(fathom) == [
            f"COGRAG_{stage}_{end}" for stage in STAGES_OF_RUN for end in ("START", "COMPLETE")
        ]
        # What a stage finds is not there before it.
        first = {
            name: next(each.node for each in made if getattr(each.state, name))
            for name in ("mind_map", "evidence_map", "refined_evidence", "verifications")
        }
        assert list(first.values()) == [
            Node.PLANNER, Node.DUAL_RETRIEVER, Node.EVIDENCE_REFINER, Node.VERIFIER
        ]  # fmt: skip


@pytest.mark.covers("S2-64", "S2-66")
def test_a_question_with_one_leaf_ends_before_any_search_and_has_its_ordinary_pack() -> None:
    packs: list[str] = []
    for on in (True, False):
        with pipeline(rag_enable_cograg=on) as fathom:
            taught(fathom)
            packs.append(fathom.ask(UNDIVIDED).model_dump_json())
            made = steps(fathom)
            assert [(each.node, each.next, each.state.fallback) for each in made] == (
                [(Node.PLANNER, Node.END, True)] if on else []
            )
            assert all(each.state.sources == () for each in made)
            assert fathom.events(ANSWERS_OUT) == []
    assert packs[0] == packs[1]


@pytest.mark.covers("S2-63")
def test_a_run_begins_with_the_plan_and_waits_for_nothing_of_the_pack() -> None:
    parts = [stage for stage in SPLIT if stage.group_name not in ("retrieval", "assembler")]
    for on in (True, False):
        with pipeline(stages=parts, rag_enable_cograg=on) as fathom:
            taught(fathom)
            fathom.say(QUESTION)
            assert fathom.events(CONTEXT_PACKS) == []
            assert bool(steps(fathom)) == bool(fathom.events(ANSWERS_OUT)) == on


@pytest.mark.covers("S2-63")
def test_what_was_asked_while_it_was_off_is_not_answered_once_it_is_on() -> None:
    with pipeline(rag_enable_cograg=False) as fathom:
        taught(fathom)
        fathom.say(QUESTION)
        fathom.settings = fathom.settings.model_copy(update={"rag_enable_cograg": True})
        fathom.crash("cognition")
        fathom.settle()
        assert steps(fathom) == []
        message = fathom.say(QUESTION)
        assert {each.state.message_id for each in steps(fathom)} == {message}


@pytest.mark.covers("S2-28")
def test_where_no_worker_runs_the_stage_packs_are_as_ever() -> None:
    without = [stage for stage in STAGES if stage.name != "cognition"]
    packs: list[str] = []
    for changed in ({"stages": without}, {"rag_enable_cograg": False}):
        with pipeline(**changed) as fathom:
            taught(fathom)
            packs.append(fathom.ask(QUESTION).model_dump_json())
            assert steps(fathom) == fathom.events(ANSWERS_OUT) == []
    assert packs[0] == packs[1]


class Watched(Scripted):
    """A model that keeps the purposes it was made for."""

    def __init__(self) -> None:
        super().__init__({})
        self.made: list[str] = []

    def of(self, purpose: str) -> Any:
        self.made.append(purpose)
        return super().of(purpose)


class Searched(MemoryPassageIndex):
    """An index that keeps what it was asked."""

    def __init__(self) -> None:
        super().__init__(HashingEmbedder())
        self.asked: list[str] = []

    async def vectors(self, texts: Any) -> Any:
        self.asked += texts
        return await super().vectors(texts)


@pytest.mark.covers("S2-67")
@pytest.mark.parametrize(
    ("on", "question", "runs"), [(False, QUESTION, False), (True, "Obrigado!", False), (True, QUESTION, True)]
)
def test_nothing_of_cognition_is_made_or_asked_before_a_question_needs_it(on: bool, question: str, runs: bool) -> None:
    watched, index, graph = Watched(), Searched(), DeadGraph()
    parts = {"models": Models(model=watched.of), "index": index, "graph": graph, "writer": graph}
    with pipeline(replace=parts, rag_enable_cograg=on, rag_cograg_model_tier="advanced") as fathom:
        taught(fathom)
        before = len(index.asked)
        fathom.say(question)
        assert ({*get_args(ModelRole)} & {*watched.made} != set()) is on
        assert bool(watched.asked) is bool(graph.asked) is (len(index.asked) > before) is runs


@pytest.mark.covers("S2-04")
def test_one_run_divides_looks_at_themes_and_mends_what_it_lacks() -> None:
    settings = {**ON, "rag_cograg_hallucination_loop": True}
    with pipeline(**settings) as fathom:
        taught(fathom)
        made = asked(fathom, GAP)
        nodes = [each.node for each in made]
        last = made[-1].state
        hours, tax = (leaf.node_id for leaf in last.sub_questions)
        # A tree, evidence for each leaf, a verdict on every node.
        assert last.mind_map is not None
        assert {hours, tax} <= set(last.evidence_map)
        assert set(last.verifications) == set(last.mind_map.nodes)
        # From the themes of the question down to what they hold.
        assert nodes.index(Node.THEME_ACTIVATOR) < nodes.index(Node.DUAL_RETRIEVER)
        assert "Horas extras" in {each.name for each in last.themes}
        assert any("theme" in one.sources for one in last.evidence_map[hours])
        # Searched again in other words where something lacks; what is not found is said, and not made up.
        assert nodes.count(Node.DUAL_RETRIEVER) == 2
        assert last.queries_seen[tax][0] != last.queries_seen[tax][-1]
        assert len(last.queries_seen[hours]) == 1
        [given] = [each.event for each in fathom.events(ANSWERS_OUT)]
        answer = DeepAnswer.model_validate(given.results)
        assert any("itbi" in each.lower() for each in answer.missing)
        delivered = {each.node_id: [claim.text for claim in each.claims] for each in answer.sub_answers}
        assert tax not in delivered
        assert any("em número não excedente de duas" in said for said in delivered[hours])
        # What was answered is known the next time.
        fathom.clock.advance(60)
        again = after(asked(fathom, GAP), Node.MEMORY_CHECK)
        assert [each.node_id for each in again.sub_answers.values() if each.reused_from] == [hours]
