"""What `fathom eval packs` makes of packs: evidence held or not, beside plain search, and why it was lost."""

import json
import math
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bench import judgement
from bench.evaluation import held_packs, pack_figures, pack_pages, questions, resampling
from bench.evaluation.held_packs import Content
from bench.evaluation.pack_figures import PackAnswer
from bench.evaluation.plain_search import PlainSearch
from bench.evaluation.questions import Evidence, Material, PackQuestion, Utterable
from bench.evaluation.words import tokens, within
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
        ([{**CLAIMS[0], "holds": False}, CLAIMS[1]], True),
        ([item(type="time_point", label="On Monday, no, on Friday")], True),
        ([item(type="time_point", label="On Monday, no, on Friday"), *CLAIMS], False),
        ([item(type="chunk", text="On Monday. On Friday.")], False),
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


# --- what the same recall costs, what sources hold in vain


def test_the_budget_for_the_same_recall_ends_with_the_unit_that_completes_the_evidence() -> None:
    search = PlainSearch(MATERIAL, HashingEmbedder())
    both = replace(QUESTION, evidence=(Evidence("two screws"), Evidence("spout"), Evidence("nowhere")))
    kettle, lamp = tokens(KETTLE), tokens(LAMP)
    assert search.spent("bm25", both) == [kettle + lamp, kettle, math.inf]
    assert search.spent("bm25", replace(QUESTION, evidence=(Evidence(KETTLE, passage=True),))) == [kettle]
    halves = replace(QUESTION, evidence=(Evidence(f"{KETTLE} {LAMP}", passage=True),))
    assert search.spent("bm25", halves) == [kettle + lamp]


def test_the_last_two_turns_are_searched_for_and_none_before_them() -> None:
    search = PlainSearch(MATERIAL, HashingEmbedder())
    turns = tuple(Utterable("user", text) for text in ("bracket", "kettle", "Really?"))
    asked = replace(QUESTION, text="How then?", turns=turns)
    assert search.bm25(asked) == []
    assert search.bm25_with_turns(asked) == [KETTLE]
    assert search.bm25_with_turns(replace(asked, turns=turns[:2])) == [KETTLE, LAMP]
    assert search.spent("bm25_with_turns", asked) == [tokens(KETTLE)]


def test_packs_cost_less_or_more_than_plain_search_for_the_same_recall() -> None:
    both = replace(QUESTION, evidence=(Evidence("two screws"),), text="How is the kettle filled, at the wall?")
    lost = replace(QUESTION, evidence=(Evidence("nowhere"),))
    made = pack(item(text=KETTLE), item(text=LAMP), total_tokens_estimated=60)
    need = figures(*(PackAnswer(each, made) for each in (QUESTION, both, lost)))["same_recall"]["bm25"]
    # Two of three packs hold it, and so does plain search at the larger of the two budgets.
    larger = max(PlainSearch(MATERIAL, None).spent("bm25", each)[0] for each in (QUESTION, both))
    assert larger > tokens(KETTLE)
    assert (need["tokens_any"], need["ratio_any"], need["most_any"]) == (larger, round(60 / larger, 3), 0.667)


def test_a_recall_that_plain_search_never_reaches_or_that_costs_nothing_has_no_ratio() -> None:
    asked = replace(QUESTION, text="Zero words in common")
    never = figures(PackAnswer(asked, pack(item(text=KETTLE))))["same_recall"]["bm25"]
    assert (never["tokens_all"], never["ratio_all"], never["most_all"]) == (None, None, 0.0)
    free = figures(PackAnswer(QUESTION, pack(item(text=LAMP))))["same_recall"]["bm25"]
    assert (free["tokens_any"], free["ratio_any"], free["most_any"]) == (0, None, 1.0)


def test_sources_without_a_content_word_of_the_evidence_are_counted_by_their_tokens() -> None:
    right, wrong = item(text=KETTLE, tokens=20), item(id="spout", text="Through the lamp.", tokens=60)
    made = figures(PackAnswer(QUESTION, pack(right, wrong)))
    assert made["needless"]["value"] == 0.75
    # The answer says what is needed, where there is one; its words count in any form.
    answered = replace(QUESTION, answers=("lamps",))
    assert figures(PackAnswer(answered, pack(right, wrong)))["needless"]["value"] == 0.25
    assert figures(PackAnswer(QUESTION, pack()))["needless"]["value"] is None
    # With a whole passage nearly every source shares a word.
    passage = replace(QUESTION, evidence=(Evidence(KETTLE, passage=True),))
    assert "needless" not in figures(PackAnswer(passage, pack(right, wrong)))


def test_tokens_that_a_pack_does_not_count_are_estimated() -> None:
    assert held_packs.source_tokens(item(text=KETTLE)) == tokens(KETTLE)
    assert held_packs.source_tokens(item(text=KETTLE, tokens=7)) == 7


def test_unanswerable_questions_are_told_by_what_they_bring() -> None:
    bare = replace(QUESTION, kind="unanswerable", evidence=())
    made = figures(
        PackAnswer(bare, pack(item(text=LAMP, tokens=30))), PackAnswer(bare, pack()), PackAnswer(QUESTION, pack())
    )
    assert made["unanswerable"]["questions"] == 2
    assert made["unanswerable"]["brought"]["value"] == 0.5
    assert made["unanswerable"]["source_tokens"]["value"] == 15.0


def test_the_evidence_of_several_things_is_counted_piece_by_piece_and_what_was_taken_back_as_kept_out() -> None:
    both = replace(QUESTION, kind="several", evidence=(Evidence("1.7 litres"), Evidence("two screws")))
    back = replace(QUESTION, kind="taken_back", evidence=(), avoid=("1.7 litres",))
    made = figures(
        PackAnswer(both, pack(item(text=KETTLE))),
        PackAnswer(back, pack(item(text=KETTLE))),
        PackAnswer(back, pack(item(text=LAMP))),
    )["kinds"]
    assert (made["several"]["pieces"]["value"], made["several"]["all"]["value"]) == (0.5, 0.0)
    assert made["taken_back"]["kept_out"]["value"] == 0.5


def test_beliefs_have_precision_and_recall_and_silence_where_none_is_needed() -> None:
    known = ("through the spout", "1.7 litres", "two screws", "a bracket")
    asked = replace(QUESTION, kind="fact", beliefs=known)
    nothing = replace(asked, evidence=(), kind="nothing")
    made = figures(
        PackAnswer(asked, pack(item(text="It is filled through the spout."))),
        PackAnswer(asked, pack(item(text=KETTLE))),
        PackAnswer(asked, pack(item(text=LAMP))),
        PackAnswer(nothing, pack(item(text=LAMP))),
        PackAnswer(nothing, pack()),
        # Who asks for several at once says nothing about how well one is picked.
        PackAnswer(replace(asked, kind="several", evidence=tuple(map(Evidence, known))), pack(item(text=LAMP))),
    )["beliefs"]
    assert made["questions"] == 5
    values = {name: made[name]["value"] for name in ("precision", "recall", "exact", "silent")}
    assert values == {"precision": 0.4, "recall": 0.6667, "exact": 0.3333, "silent": 0.5}


def test_a_belief_that_the_question_tells_itself_is_none_that_came() -> None:
    asked = replace(QUESTION, text="Two screws and what else?", beliefs=("two screws", "a bracket"), evidence=())
    assert figures(PackAnswer(asked, pack(item(text="Two screws."))))["beliefs"]["silent"]["value"] == 1.0


def test_an_older_value_is_a_needless_belief_unless_the_newer_one_is_marked() -> None:
    changed = replace(QUESTION, kind="updated", evidence=(Evidence("Friday"),), holds="Friday", was="Monday")
    asked = replace(changed, beliefs=("Monday", "Friday"))
    assert figures(PackAnswer(asked, pack(*CLAIMS)))["beliefs"]["precision"]["value"] == 0.5
    marked = pack({**CLAIMS[0], "status": "superseded"}, CLAIMS[1])
    assert figures(PackAnswer(asked, marked))["beliefs"]["precision"]["value"] == 1.0


def test_the_costs_are_in_every_form_of_the_report() -> None:
    bare = replace(QUESTION, kind="unanswerable", evidence=())
    fact = replace(QUESTION, kind="fact", beliefs=("through the spout",))
    made = figures(
        PackAnswer(fact, pack(item(text=KETTLE, tokens=10))), PackAnswer(bare, pack(item(text=LAMP, tokens=10)))
    )
    report = json.loads(json.dumps({"datasets": {"single_beliefs": made}}))
    text, page = pack_pages.text(report), pack_pages.page(report)
    needed = tokens(KETTLE)
    assert re.search(rf"BM25 +{needed}, {needed}; {100 / needed:.1f}, {100 / needed:.1f}", text)
    assert "source tokens in sources without a needed word: 0.000" in text
    assert "unanswerable, all: questions 1, brought 1.000" in text
    assert "beliefs, all: questions 1, precision 1.000" in text
    for column in ("the same recall by", "source tokens without a needed word", "unanswerable", "precision"):
        assert f"<th>{column}</th>" in page
    filled = judgement.filled("<!-- costs -->\n<!-- end -->\n<!-- harder -->\n<!-- end -->", None, report)
    assert f"| single_beliefs | 100 | {needed}; {needed} |" in filled
    assert "| single_beliefs | fact | 1 | 1.000 |" in filled


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
