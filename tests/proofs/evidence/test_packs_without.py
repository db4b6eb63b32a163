"""Each mechanism of packs is needed: without it they are worse."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from agents.core.assessment import question
from agents.core.language import text
from agents.core.packs import planning
from agents.core.retrieval import relevance, turn_currency
from agents.stages import indexer
from streams.stores.passages.vectors import UseEmbedder
from tests.evidence.test_packs import (
    DOCUMENTS,
    FOLLOW_UPS,
    MARKED,
    NOTHING,
    TALKED,
    TALKS,
    UNANSWERABLE,
    Bound,
    EverydayMemory,
    Patch,
    filled_anew,
    no_spelling,
    of_kinds,
)


def _no_floor(patch: Patch) -> None:
    tables = {kind: replace(table, floor=-1e9) for kind, table in relevance.tables().items()}
    patch.setattr(relevance, "tables", lambda: tables)


def _no_completed_question(patch: Patch) -> None:
    patch.setattr(question, "context_of", lambda *_: None)


def _nothing_needs_nothing(patch: Patch) -> None:
    patch.setattr(question, "needs_nothing", lambda *_, **__: False)


def _no_look_up(patch: Patch) -> None:
    wanted = planning._is_wanted
    patch.setattr(planning, "_is_wanted", lambda want, of, limits: wanted(want, of, replace(limits, look_up=False)))


def _no_marks(patch: Patch) -> None:
    patch.setattr(turn_currency, "marks", lambda *_: {})


@pytest.mark.parametrize(
    ("take_out", "bound"),
    [
        (_no_floor, UNANSWERABLE),
        (_no_completed_question, FOLLOW_UPS),
        (_nothing_needs_nothing, NOTHING),
        (_no_look_up, DOCUMENTS),
        (_no_marks, MARKED),
    ],
)
def test_packs_are_worse_without(
    memory: EverydayMemory, monkeypatch: Patch, take_out: Callable[[Patch], None], bound: Bound
) -> None:
    take_out(monkeypatch)
    assert not bound.holds(memory.ask(of_kinds(*bound.kinds)))


def test_packs_are_worse_without_the_turns_around_a_turn(embedder: UseEmbedder, monkeypatch: Patch) -> None:
    made = indexer._passages
    monkeypatch.setattr(indexer, "_passages", lambda *turns: [replace(p, context="", lead="") for p in made(*turns)])
    assert not TALKED.holds(filled_anew(embedder, *TALKS, documents=False))


def test_packs_are_worse_without_stems(embedder: UseEmbedder, monkeypatch: Patch) -> None:
    monkeypatch.setattr(text, "stem", lambda word, _: text.fold(word))
    # Other forms of a word are read as mistyped ones.
    no_spelling(monkeypatch)
    text.content_set.cache_clear()
    try:
        assert not MARKED.holds(filled_anew(embedder, "updated", documents=False))
    finally:
        text.content_set.cache_clear()
