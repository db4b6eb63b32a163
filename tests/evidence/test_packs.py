"""Packs hold what everyday messages need: the whole pipeline in memory, with the real encoder.

A change that lowers a figure below its bound is a loss, one that raises it raises the bound. Each mechanism is taken
out once, and a figure has to fall for it: one that nothing would miss has to go.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest

from agents.core.retrieval import spelling
from agents.retrievers import base
from bench.evaluation import pack_figures, questions
from bench.evaluation.held_packs import first_right, items, looked, newer_marked
from bench.evaluation.pack_figures import JudgedPack, PackAnswer
from bench.evaluation.questions import Material, PackQuestion, Utterable
from schemas.topics import CONTEXT_PACKS
from streams.stores.passages.memory import MemoryPassageIndex
from streams.stores.passages.vectors import UseEmbedder
from streams.testing.pipeline import Pipeline, decoded
from tests.checkout import ROOT

BENCH = ROOT / "bench"
SET, BY_OTHERS = BENCH / "everyday", BENCH / "everyday_by_others"
LEGAL = BENCH / "legal_multihop"
TELLER = "someone"
TALKS = ("told", "said", "updated")
Rows = list[JudgedPack]


class EverydayMemory:
    """The whole pipeline with the memory of the everyday set, to be asked its questions."""

    def __init__(self, fathom: Pipeline) -> None:
        self._fathom = fathom
        self._asked = 0

    def fill(self, materials: Sequence[Material], *, documents: bool = True) -> None:
        """Give it every document and every talk."""
        for material in materials:
            for number, (title, said) in enumerate(material.documents if documents else ()):
                self._fathom.document(f"{material.tenant}-{number}", title, said, tenant=material.tenant)
            for name, turns in material.talks:
                for turn in turns:
                    self._say(turn, material.tenant, TELLER, name)

    def ask(self, asked: Sequence[PackQuestion]) -> Rows:
        """The packs of questions, each in a conversation of its own."""
        self._asked += 1
        before = {(record.partition, record.offset) for record in self._fathom.log.of(CONTEXT_PACKS.name)}
        last = {each.id: self._converse(each, f"{each.id}-{self._asked}") for each in asked}
        records = self._fathom.log.of(CONTEXT_PACKS.name)
        made = [decoded(record).event for record in records if (record.partition, record.offset) not in before]
        dumped = {pack.message_id: pack.model_dump(mode="json") for pack in made}
        answers = [PackAnswer(each, dumped.get(last[each.id])) for each in asked]
        return pack_figures.judged(answers, {pack["pack_id"]: pack for pack in dumped.values()})

    def _say(self, turn: Utterable, tenant: str, user: str, conversation: str) -> str:
        stated = {} if turn.at is None else {"created_at": turn.at.isoformat()}
        about: dict[str, Any] = {"tenant": tenant, "headers": {"user_id": user}}
        return self._fathom.say(turn.text, role=turn.role, conversation=conversation, **about, **stated)

    def _converse(self, asked: PackQuestion, conversation: str) -> str:
        turns = (*asked.turns, Utterable("user", asked.text))
        return [self._say(turn, asked.tenant, asked.user, conversation) for turn in turns][-1]


MATERIALS, QUESTIONS = questions.of_everyday(SET)


@pytest.fixture(scope="module")
def memory(embedder: UseEmbedder) -> Iterator[EverydayMemory]:
    """The memory of the whole set."""
    with _pipeline(embedder) as fathom:
        filled = EverydayMemory(fathom)
        filled.fill(MATERIALS)
        yield filled


@pytest.fixture(scope="module")
def packs(memory: EverydayMemory) -> dict[str, Rows]:
    """Every item's pack; by kind."""
    rows = memory.ask(QUESTIONS)
    return {kind: [row for row in rows if row.question.kind == kind] for kind in {each.kind for each in QUESTIONS}}


def _pipeline(embedder: UseEmbedder) -> Pipeline:
    return Pipeline(replace={"index": MemoryPassageIndex(embedder)})


def of_kinds(*kinds: str) -> list[PackQuestion]:
    return [each for each in QUESTIONS if each.kind in kinds]


def _held(rows: Rows) -> float:
    return sum(row.all for row in rows) / len(rows)


def _first(rows: Rows) -> float:
    return sum(first_right(row.pack, row.question) for row in rows) / len(rows)


def _brought(rows: Rows) -> float:
    return sum(bool(items(row.pack)) for row in rows) / len(rows)


def _looked(rows: Rows) -> float:
    return sum(looked(row.pack) for row in rows) / len(rows)


def _newer(rows: Rows) -> float:
    return sum(newer_marked(row.pack, row.content, row.question) for row in rows) / len(rows)


@dataclass(frozen=True, slots=True)
class Bound:
    """What a share of some kinds of items must be: at least `least`, at most `most`."""

    share: Callable[[Rows], float]
    kinds: tuple[str, ...]
    least: float = 0.0
    most: float = 1.0

    def holds(self, rows: Rows) -> bool:
        return self.least <= self.share(rows) <= self.most


# Measured, with three in a hundred to spare, of talks one.
DOCUMENTS = Bound(_held, ("document",), least=0.871)
FIRST = Bound(_first, ("document",), least=0.76)
TALKED = Bound(_held, TALKS, least=0.95)
UPDATED = Bound(_held, ("updated",), least=0.97)
MARKED = Bound(_newer, ("updated",), least=0.886)
FOLLOW_UPS = Bound(_held, ("followup",), least=0.941)
UNANSWERABLE = Bound(_brought, ("unanswerable",), most=0.209)
NOTHING = Bound(_looked, ("nothing",), most=0.069)
BOUNDS = {
    "documents": DOCUMENTS,
    "documents, the first item": FIRST,
    "talks": TALKED,
    "updated": UPDATED,
    "newer marked": MARKED,
    "follow-ups": FOLLOW_UPS,
    "unanswerable": UNANSWERABLE,
    "needs nothing": NOTHING,
}


def test_packs_hold_what_others_ask_for_in_other_words(embedder: UseEmbedder) -> None:
    materials, asked = questions.of_everyday(BY_OTHERS)
    with _pipeline(embedder) as fathom:
        memory = EverydayMemory(fathom)
        memory.fill(materials)
        rows = memory.ask(asked)
        again = memory.ask([each for each in asked if each.kind == "document"])
    of = {kind: [row for row in rows if row.question.kind == kind] for kind in {row.question.kind for row in rows}}
    answerable = [row for row in rows if row.question.evidence]
    assert len(answerable) >= 100
    assert _held(answerable) >= 0.82
    assert _held(of["followup"]) >= 0.92
    assert _newer(of["updated"]) >= 0.6
    assert _brought(of["unanswerable"]) <= 0.45
    # Asked once more, the first time does not stand in for the answer.
    assert _held(again) >= _held(of["document"]) - 0.03


def test_enough_is_asked_and_every_message_has_its_pack(packs: dict[str, Rows]) -> None:
    rows = [row for kind in packs.values() for row in kind]
    assert len(rows) >= 200
    assert all(row.pack["pack_id"] for row in rows)


@pytest.mark.parametrize("name", BOUNDS)
def test_packs_are_as_good_as_was_measured(packs: dict[str, Rows], name: str) -> None:
    bound = BOUNDS[name]
    rows = [row for kind in bound.kinds for row in packs[kind]]
    assert bound.holds(rows), (bound.share(rows), [row.question.text for row in rows if not row.all])


@pytest.mark.parametrize("kind", ["document", "said", "told", "followup", "unanswerable"])
def test_no_past_turn_is_marked_but_for_what_was_asked(packs: dict[str, Rows], kind: str) -> None:
    marked = [
        row.question.text
        for row in packs[kind]
        for item in items(row.pack)
        if item["type"] == "time_point" and "holds" in item
    ]
    assert not marked


Patch = pytest.MonkeyPatch


def no_spelling(patch: Patch) -> None:
    patch.setattr(spelling, "corrected", lambda *_: None)


def _mistyped() -> list[PackQuestion]:
    """What is asked of documents, with two letters of its longest word exchanged."""
    return [replace(each, text=_exchanged(each.text)) for each in of_kinds("document")]


def _exchanged(said: str) -> str:
    word = max((each for each in re.findall(r"[^\W\d_]+", said) if each.islower()), key=len, default="")
    at = len(word) // 2
    return said.replace(word, f"{word[: at - 1]}{word[at]}{word[at - 1]}{word[at + 1 :]}") if len(word) > 3 else said


MISTYPED = Bound(_held, ("document",), least=0.72)


def test_a_mistyped_question_finds_what_the_right_one_does(memory: EverydayMemory, monkeypatch: Patch) -> None:
    asked = _mistyped()
    rows = memory.ask(asked)
    assert MISTYPED.holds(rows), MISTYPED.share(rows)
    no_spelling(monkeypatch)
    assert not MISTYPED.holds(memory.ask(asked))


def filled_anew(embedder: UseEmbedder, *kinds: str, documents: bool = True) -> Rows:
    with _pipeline(embedder) as fathom:
        memory = EverydayMemory(fathom)
        memory.fill(MATERIALS, documents=documents)
        return memory.ask(of_kinds(*kinds))


def test_packs_hold_every_facet_of_questions_that_ask_several_things(embedder: UseEmbedder, monkeypatch: Patch) -> None:
    materials, asked = questions.of_everyday(LEGAL)
    answerable = [each for each in asked if each.evidence]
    with _pipeline(embedder) as fathom:
        memory = EverydayMemory(fathom)
        memory.fill(materials)
        held = _held(memory.ask(answerable))
        monkeypatch.setattr(base, "asked_parts", lambda *_: ())
        without = _held(memory.ask(answerable))
    assert held >= 0.92
    assert without < held
