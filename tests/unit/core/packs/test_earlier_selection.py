"""Packs of before `JoinOpened.selection` are made again as they were: the order in which items leave them (CF-17)."""

from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import orjson
import pytest

from agents.core.packs import packing
from agents.core.packs.draft import ORIGINAL, Draft
from agents.core.packs.earlier_selection import trim
from agents.core.packs.rendering import line
from schemas.depth import DepthLevel
from schemas.items import Item, Process, Step
from schemas.packs import ContextPack
from schemas.retrieval import JoinOpened, MemoryClass, PartFound
from streams.stores.tokens import EstimatedTokens
from tests import builders
from tests.builders.events import AT, chunk, claim, item, message, opened, persona, summary

M = MemoryClass


def no_summary(messages: Sequence[Any], lang: str, max_chars: int) -> str:
    return ""


def sized(each: Item, **fields: Any) -> Item:
    return each.model_copy(update={"tokens": 100, **fields})


def draft() -> Draft:
    """Two items of a hundred tokens of every class that may shrink, and who asks."""
    older = AT - timedelta(days=9)
    steps = [item(Step, f"{n}-step", process_id=n, process_name=n, order=1, text="abrir") for n in ("first", "second")]
    processes = [item(Process, name, name=name) for name in ("first", "second")]
    claims = [claim("original", "dia 15", scores={ORIGINAL: 1.0}, score=0.1), claim("other", "dia 20", score=0.9)]
    found: dict[MemoryClass, list[Item]] = {
        M.SEMANTIC: [chunk("likely", "a", score=0.4), chunk("unlikely", "b", score=0.1)],
        M.EPISODIC: [summary("new", "c", score=0.2), summary("old", "d", score=0.2, recorded_at=older)],
        M.PROCEDURAL: [processes[0], steps[0], processes[1], steps[1]],
        M.WORKING_SET: [message("last", "e", seq=2), message("before", "f", seq=1)],
        M.CLAIMS: claims,
        M.PERSONA: [persona()],
    }
    return Draft({memory: [sized(each) for each in found.get(memory, [])] for memory in M}, partial(line, lang="pt"))


def gone(of: Draft, budget: int) -> list[str]:
    trim(of, budget, opened(DepthLevel.D3), EstimatedTokens(), no_summary)
    return [each.id for each in of.dropped]


@pytest.mark.covers("CF-17")
def test_with_no_room_at_all_what_may_go_goes_in_the_settled_order():
    over = draft()
    assert gone(over, 0) == [
        "unlikely", "likely", "old", "new", "second", "second-step", "first", "first-step", "before", "other",
    ]  # fmt: skip
    assert {memory.value: [each.id for each in kept] for memory, kept in over.kept.items() if kept} == {
        "working_set": ["last"], "claims": ["original"], "persona": [over.kept[M.PERSONA][0].id],
    }  # fmt: skip


@pytest.mark.covers("CF-17")
@pytest.mark.parametrize(("over", "expected"), [(1, ["unlikely"]), (101, ["unlikely", "old"])])
def test_no_more_goes_than_has_to_and_no_source_is_emptied_before_the_next_is_touched(over: int, expected: list[str]):
    kept = draft()
    for memory in (M.SEMANTIC, M.EPISODIC):
        kept.kept[memory][0] = kept.kept[memory][0].model_copy(update={"tokens": 900})
    assert gone(kept, kept.total() - over) == expected


def test_what_hardly_helps_goes_before_what_may_answer_of_another_source():
    short = draft()
    short.kept[M.SEMANTIC] = [sized(chunk("right", "a", score=0.57)), sized(chunk("near", "b", score=0.58))]
    short.kept[M.EPISODIC] = [sized(summary("chat", "c", score=0.07)), sized(summary("older", "d", score=0.01))]
    assert gone(short, short.total() - 150) == ["older", "chat"]
    assert [each.id for each in short.kept[M.SEMANTIC]] == ["right", "near"]


@pytest.mark.covers("CF-17")
def test_what_is_likelier_than_not_to_answer_is_cut_and_not_dropped():
    over = draft()
    answer = chunk("answer", "o ramal é 7731 e a sala é a 12 do segundo andar", score=0.9)
    over.kept[M.SEMANTIC].append(sized(answer))
    assert "answer" not in gone(over, 300)
    assert [each.id for each in over.kept[M.SEMANTIC]] == ["answer"]


@pytest.mark.parametrize("recorded", orjson.loads((Path(builders.__file__).parent / "earlier_packs.json").read_bytes()))
def test_a_recorded_pack_is_made_again_byte_for_byte(recorded: dict[str, Any]):
    terms = JoinOpened.model_validate(recorded["opened"])
    parts = [PartFound.model_validate(each) for each in recorded["parts"]]
    pack = ContextPack.model_validate(recorded["pack"])
    again = packing.pack(
        terms,
        {each.memory_class: each for each in parts},
        pack.parts,
        packing.Settlement(pack.settled_by, pack.assembled_at),
        EstimatedTokens(),
        first_sentences,
    )
    assert orjson.loads(again.model_dump_json()) == recorded["pack"]


def first_sentences(messages: Sequence[Any], lang: str, max_chars: int) -> str:
    return " ".join(m.content for m in messages)[:max_chars]
