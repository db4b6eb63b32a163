"""What `fathom eval packs` makes of packs: evidence held or not, beside plain search, and why it was lost."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bench import judgement
from streams.evaluation import held_packs, pack_figures, pack_pages, questions, resampling
from streams.evaluation.held_packs import Content
from streams.evaluation.pack_figures import PackAnswer
from streams.evaluation.plain_search import PlainSearch
from streams.evaluation.questions import Evidence, Material, PackQuestion, Utterable
from streams.evaluation.words import within
from streams.stores.passages.vectors import HashingEmbedder
from streams.testing.pipeline import Pipeline
from tests.checkout import ROOT

SET = ROOT / "bench" / "everyday"
KETTLE = "The kettle holds 1.7 litres and is filled through the spout."
LAMP = "The lamp is fixed to the wall with two screws and a bracket."
MATERIAL = Material("t", "own", "en", documents=(("Kettle", KETTLE), ("Lamp", LAMP)), units=(KETTLE, LAMP))
QUESTION = PackQuestion(
    "q", "own", "t", "g", "en", "How is the kettle filled?", evidence=(Evidence("through the spout"),)
)


def item(**fields: Any) -> dict[str, Any]:
    return {"id": "i", "provenance": {"store": "s", "id": "i"}, "score": 1.0, "reason": "through the spout", **fields}


def pack(*chunks: dict[str, Any], parts: tuple[str, ...] = ("semantic",), **fields: Any) -> dict[str, Any]:
    return {
        "pack_id": "p1",
        "query": "How is the kettle filled?",
        "depth_level": "D2",
        "total_tokens_estimated": 100,
        "degraded": False,
        "parts": [{"memory_class": each, "status": "ok"} for each in parts],
        "semantic": {"knowledge_chunks": list(chunks)},
        **fields,
    }


def figures(*answers: PackAnswer, material: Material = MATERIAL) -> dict[str, Any]:
    rows = pack_figures.judged(answers, {})
    return pack_figures.dataset(rows, {material.tenant: PlainSearch(material, HashingEmbedder())})


# --- what a pack holds


def test_evidence_is_looked_for_in_texts_and_not_in_what_is_said_about_them() -> None:
    assert held_packs.content(pack(item(text=KETTLE)), {}).holds_all(QUESTION)
    assert not held_packs.content(pack(item(text=LAMP)), {}).holds_any(QUESTION)
    only_named = pack(item(text=LAMP), query="through the spout", dropped=[{"id": KETTLE, "reason": KETTLE}])
    assert not held_packs.content(only_named, {}).holds_any(QUESTION)


def test_what_the_pack_before_it_carried_counts_where_it_is_named_again() -> None:
    before = pack(item(text=KETTLE), item(id="j", text=LAMP))
    after = pack(already_in_context=[{"id": "i", "pack_id": "p1"}])
    assert held_packs.content(after, {"p1": before}).holds_all(QUESTION)
    other = pack(already_in_context=[{"id": "j", "pack_id": "p1"}])
    assert not held_packs.content(other, {"p1": before}).holds_any(QUESTION)


def test_a_passage_is_held_with_most_of_its_wording_and_a_phrase_only_whole() -> None:
    part = Content.of([KETTLE.removesuffix("the spout.")])
    assert part.holds(Evidence(KETTLE, passage=True))
    assert not part.holds(Evidence(KETTLE))
    assert not Content.of(["The kettle holds 1.7 litres"]).holds(Evidence(KETTLE, passage=True))


def test_all_evidence_is_wanted_for_all() -> None:
    both = replace(QUESTION, evidence=(Evidence("1.7 litres"), Evidence("two screws")))
    held = held_packs.content(pack(item(text=KETTLE)), {})
    assert (held.holds_any(both), held.holds_all(both)) == (True, False)


def test_the_item_of_the_highest_score_is_the_first() -> None:
    right, wrong = item(text=KETTLE, score=0.2), item(id="j", text=LAMP, score=0.9)
    assert not held_packs.first_right(pack(right, wrong), QUESTION)
    assert held_packs.first_right(pack({**right, "score": 0.95}, wrong), QUESTION)


def test_only_a_look_beyond_the_conversation_is_one() -> None:
    assert held_packs.looked(pack(parts=("working_set", "claims")))
    assert not held_packs.looked(pack(parts=("working_set", "persona")))
    assert not held_packs.looked({**pack(), "parts": [{"memory_class": "semantic", "status": "skipped"}]})


CLAIMS = [item(text="It opens on Monday", claim_id="a"), item(id="j", text="It opens on Friday", claim_id="b")]


@pytest.mark.parametrize(
    ("claims", "marked"),
    [
        (CLAIMS, False),
        (CLAIMS[1:], True),
        (CLAIMS[:1], False),
        ([{**CLAIMS[0], "status": "superseded"}, CLAIMS[1]], True),
        ([CLAIMS[0], {**CLAIMS[1], "status": "superseded"}], False),
        ([*CLAIMS, item(id="k", explanation="two days", current="b")], True),
        ([*CLAIMS, item(id="k", explanation="two days", current="a")], False),
    ],
)
def test_a_newer_value_is_marked_where_the_older_one_is_gone_or_over(claims: list[Any], marked: bool) -> None:
    asked = replace(QUESTION, holds="Friday", was="Monday")
    made = pack(*claims)
    assert held_packs.newer_marked(made, held_packs.content(made, {}), asked) is marked


# --- the figures


def test_packs_are_set_against_plain_search_in_as_many_tokens() -> None:
    made = figures(PackAnswer(QUESTION, pack(item(text=LAMP))))
    assert made["any"]["value"] == 0.0
    assert made["baselines"]["bm25"]["any"]["value"] == 1.0
    assert made["baselines"]["bm25"]["difference_any"]["value"] == -1.0
    assert made["baselines"]["last_turns"]["any"]["value"] == 0.0
    cheap = figures(PackAnswer(QUESTION, pack(total_tokens_estimated=3)))
    assert cheap["baselines"]["bm25"]["any"]["value"] == 0.0


def test_a_pack_that_never_came_holds_nothing_and_is_counted() -> None:
    made = figures(PackAnswer(QUESTION, None), PackAnswer(QUESTION, pack(item(text=KETTLE))))
    assert (made["missing"], made["any"]["value"], made["looked"]["value"]) == (1, 0.5, 0.5)
    assert made["tokens"] == {"value": 100.0, "n": 1, "ci95": None}
    assert made["errors"]["no pack"]["count"] == 1


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (PackAnswer(QUESTION, pack(parts=("working_set",))), "no look-up"),
        (PackAnswer(QUESTION, pack(parts=("episodic",))), "looked elsewhere"),
        (PackAnswer(QUESTION, pack(), ({"items": [item(text=KETTLE)]},)), "found but dropped"),
        (PackAnswer(QUESTION, pack(), ({"items": [item(text=LAMP)]},)), "ranked behind"),
    ],
)
def test_the_reason_for_lacking_evidence_is_told(answer: PackAnswer, reason: str) -> None:
    made = figures(answer)["errors"]
    assert list(made) == [reason]
    assert made[reason]["examples"][0]["text"] == QUESTION.text


def test_evidence_that_no_plain_search_finds_is_no_candidate() -> None:
    many = tuple(f"Kettle {number}: filled with water, how else." for number in range(30))
    material = replace(MATERIAL, units=(*many, "Via nozzle, obviously."))
    asked = replace(QUESTION, evidence=(Evidence("via nozzle"),))
    made = figures(PackAnswer(asked, pack()), material=replace(material, documents=(("K", "via nozzle"),)))
    assert list(made["errors"]) == ["not a candidate"]


def test_kinds_have_figures_of_their_own() -> None:
    near = replace(QUESTION, kind="document", avoid=("two screws",))
    bare = replace(QUESTION, evidence=())
    made = figures(
        PackAnswer(near, pack(item(text=KETTLE))),
        PackAnswer(near, pack(item(text=KETTLE), item(text=LAMP))),
        PackAnswer(replace(bare, kind="unanswerable"), pack(item(text=LAMP))),
        PackAnswer(replace(bare, kind="nothing"), pack(parts=("working_set",), total_tokens_estimated=7)),
    )
    assert made["answerable"] == 2
    assert made["kinds"]["document"]["near_copy_avoided"]["value"] == 0.5
    assert made["kinds"]["unanswerable"]["brought"]["value"] == 1.0
    assert made["kinds"]["nothing"]["looked"]["value"] == 0.0
    assert made["kinds"]["nothing"]["tokens"]["value"] == 7.0


# --- plain search


def test_plain_search_ranks_and_the_last_turns_begin_with_the_newest() -> None:
    search = PlainSearch(
        replace(MATERIAL, talks=(("s", (Utterable("user", "one"), Utterable("user", "two"))),)), HashingEmbedder()
    )
    assert search.bm25(QUESTION) == [KETTLE, LAMP]
    assert search.bm25(replace(QUESTION, text="Which screws?")) == [LAMP]
    assert search.dense(QUESTION)[0] == KETTLE
    assert search.hybrid(QUESTION)[0] == KETTLE
    assert search.last_turns(replace(QUESTION, turns=(Utterable("user", "three"),))) == ["three", "two", "one"]


def test_a_budget_ends_with_the_first_that_does_not_fit() -> None:
    assert within(["a" * 40, "b" * 80, "c" * 4], 12) == ["a" * 40]
    assert within(["a" * 40, "b" * 80, "c" * 4], 31) == ["a" * 40, "b" * 80, "c" * 4]


# --- intervals


def test_intervals_resample_groups_together() -> None:
    spread = resampling.share([(str(number), float(number % 2)) for number in range(40)])
    low, high = spread["ci95"]  # type: ignore[misc]
    assert low < 0.5 < high
    assert high - low < 0.4
    together = resampling.share([(str(number % 4), float(number % 2)) for number in range(40)])
    wide_low, wide_high = together["ci95"]  # type: ignore[misc]
    assert wide_high - wide_low > high - low
    assert resampling.share([("one", 1.0)])["ci95"] is None


# --- files


def test_a_retrieval_file_is_given_or_said(tmp_path: Path) -> None:
    spoken = {"id": "c", "source": "s", "lang": "en", "group": "g"}
    turns = [{"id": "1", "text": "Hi", "speaker": "Ana", "session": "a"}, {"id": "2", "text": "Yo", "speaker": "Rui"}]
    query = {"id": "q", "text": "Who?", "relevant": ["2"], "answer": 7}
    given = {
        **spoken,
        "dataset": "given",
        "documents": [{"id": "1", "text": "T"}],
        "queries": [{**query, "relevant": ["1"]}],
    }
    path = tmp_path / "f.jsonl"
    path.write_text("\n".join(map(json.dumps, [{**spoken, "documents": turns, "queries": [query]}, given])))
    (said, document), (first, second) = questions.of_retrieval(path)
    assert [(name, [turn.role for turn in each]) for name, each in said.talks] == [
        ("a", ["user"]),
        ("0", ["assistant"]),
    ]
    assert (document.documents, document.dataset) == ((("1", "T"),), "given")
    assert (first.evidence, first.answers) == ((Evidence("Yo", passage=True),), ("7",))
    assert questions.of_retrieval(path, ["given"])[1] == [second]
    [put] = questions.foreign([said], [first, second], 5)
    assert (put.tenant, put.foreign, put.evidence) == (said.tenant, "given", ())


def test_greetings_of_a_labelled_file_need_nothing(tmp_path: Path) -> None:
    path = tmp_path / "f.jsonl"
    rows = [
        {"id": str(number), "label": label, "lang": "en", "text": f"t{number}"}
        for number, label in enumerate(["greeting", "other", "greeting"])
    ]
    path.write_text("\n".join(map(json.dumps, rows)))
    assert [each.text for each in questions.of_chat(path, "t", 200)] == ["t0", "t2"]


# --- packs as the pipeline makes them


@pytest.fixture(scope="module")
def answers() -> Iterator[dict[str, PackAnswer]]:
    """A question that is looked up, and one that is not, on a document of its tenant."""
    with Pipeline(tenant="t") as fathom:
        fathom.document("kettle", "Kettle", KETTLE)
        found = {}
        for name, text in (("explained", "Explain how the kettle is filled"), ("thanked", "Thank you very much!")):
            message_id = fathom.say(text, conversation=name)
            made = fathom.pack_of(message_id)
            parts = [part for part in fathom.parts() if part.message_id == message_id]
            question = replace(QUESTION, id=name, text=text)
            dumped = tuple(part.model_dump(mode="json") for part in parts)
            found[name] = PackAnswer(question, made.model_dump(mode="json"), dumped)
        yield found


def test_packs_of_the_pipeline_are_read(answers: dict[str, PackAnswer]) -> None:
    made = figures(answers["explained"])
    assert (made["all"]["value"], made["looked"]["value"], made["errors"]) == (1.0, 1.0, {})
    assert made["tokens"]["value"] > 0
    thanked = figures(answers["thanked"])
    assert (thanked["all"]["value"], thanked["looked"]["value"]) == (0.0, 0.0)


def test_the_report_says_every_data_set_with_its_intervals(answers: dict[str, PackAnswer]) -> None:
    rows = [replace(answers["explained"], question=replace(QUESTION, id=str(n), group=str(n))) for n in range(4)]
    lost = PackAnswer(replace(QUESTION, text="<b>?"), answers["thanked"].pack)
    brought = pack_figures.brought(pack_figures.judged([answers["explained"]], {}))
    report = {"datasets": {"own": figures(*rows, lost)}, "foreign": {"own": brought}}
    text = pack_pages.text(report)
    assert "own: questions 5, answerable 5" in text
    assert "any        0.800 [" in text
    assert "lost: no look-up 1" in text
    page = pack_pages.page(report)
    assert page.startswith("<!doctype html>")
    assert page.count("<svg") == 2
    assert "&lt;b&gt;?" in page
    assert "<b>?" not in page
    assert "http" not in page


def test_the_page_of_figures_is_filled_between_its_marks(answers: dict[str, PackAnswer]) -> None:
    lost = PackAnswer(replace(QUESTION, kind="document"), answers["thanked"].pack)
    report = {"datasets": {"everyday": figures(answers["explained"], lost)}, "chat": {"questions": 3}}
    tables = ("<!-- packs -->\nold", "<!-- end -->\nprose\n<!-- kinds -->", "<!-- end -->\n<!-- decisions -->\nkept")
    page = "\n".join((*tables, "<!-- end -->\n"))
    made = judgement.filled(page, None, report)
    assert "old" not in made
    assert "prose\n" in made
    assert "<!-- decisions -->\nkept\n<!-- end -->" in made
    assert "| everyday | 2 | 0.500 |" in made
    assert "| document | 1 | 0.000 |" in made
    assert judgement.filled(made, None, report) == made
    decided = {
        "task": "t",
        "datasets": {"d": [{"part": "p", "measure": "f1", "value": 0.5, "floor": 0.25, "rule": "r"}]},
    }
    assert "| t | d | p: f1 | 0.500 | 0.250 (r) |" in judgement.filled(page, {"tasks": [decided]}, None)


def test_every_table_of_the_page_has_its_marks() -> None:
    page = judgement.PAGE.read_text()
    assert tuple(re.findall(r"<!-- (?!end)(\w+) -->", page)) == judgement.TABLES
    assert page.count("<!-- end -->") == len(judgement.TABLES)
