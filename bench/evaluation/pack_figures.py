"""Figures of packs by data set and kind, never pooled, compared with plain search within the same tokens."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from bench.evaluation.held_packs import (
    Content,
    asked_of,
    content,
    first_right,
    items,
    looked,
    needless,
    newer_marked,
    source_tokens,
    strings,
)
from bench.evaluation.plain_search import BASELINES, NEEDING, PlainSearch
from bench.evaluation.questions import UNANSWERABLE, PackQuestion
from bench.evaluation.resampling import share, shares
from bench.evaluation.words import within
from schemas.base import JsonObject
from streams.edges.cli.demo.plain_search import words

EXAMPLES = 4
# The memory classes that hold documents, and those that hold conversations.
OF_DOCUMENTS = frozenset({"semantic", "procedural"})
OF_TALKS = frozenset({"episodic", "claims"})
AGAINST = ("any", "all", "difference_any", "difference_all")
Figure = dict[str, object]


@dataclass(frozen=True, slots=True)
class PackAnswer:
    """A question, its pack as JSON (None: missing), and the parts of every retrieval stage."""

    question: PackQuestion
    pack: JsonObject | None
    parts: tuple[JsonObject, ...] = ()


@dataclass(frozen=True, slots=True)
class JudgedPack:
    """A question with its judged pack."""

    question: PackQuestion
    pack: JsonObject
    parts: tuple[JsonObject, ...]
    content: Content

    @property
    def any(self) -> bool:
        return self.content.holds_any(self.question)

    @property
    def all(self) -> bool:
        return self.content.holds_all(self.question)


EMPTY: JsonObject = {"query": "", "total_tokens_estimated": 0, "depth_level": "none", "degraded": False}


def judged(answers: Iterable[PackAnswer], earlier: Mapping[str, JsonObject]) -> list[JudgedPack]:
    """Judge packs against their questions; a missing pack is empty."""
    return [
        JudgedPack(each.question, each.pack or EMPTY, each.parts, content(each.pack or EMPTY, earlier))
        for each in answers
    ]


MEASURES: Mapping[str, Callable[[JudgedPack], float]] = {
    "any": lambda row: row.any,
    "all": lambda row: row.all,
    "answer": lambda row: _says_any(row, row.question.answers),
    "looked": lambda row: looked(row.pack),
    "tokens": lambda row: row.pack["total_tokens_estimated"],
    "brought": lambda row: bool(items(row.pack)),
    "items": lambda row: len(items(row.pack)),
    "source_tokens": lambda row: sum(map(source_tokens, items(row.pack))),
    "pieces": lambda row: sum(map(row.content.holds, row.question.evidence)) / len(row.question.evidence),
    "kept_out": lambda row: not _says_any(row, row.question.avoid),
    "first_right": lambda row: first_right(row.pack, row.question),
    "near_copy_avoided": lambda row: row.all and not _says_any(row, row.question.avoid),
    "newer_marked": lambda row: newer_marked(row.pack, row.content, row.question),
}


def _shares(rows: Sequence[JudgedPack], *names: str) -> Figure:
    return {name: share([(row.question.group, float(MEASURES[name](row))) for row in rows]) for name in names}


def dataset(rows: Sequence[JudgedPack], searches: Mapping[str, PlainSearch]) -> Figure:
    """All figures of one data set."""
    asked = [row for row in rows if row.question.evidence]
    budget = sum(float(row.pack["total_tokens_estimated"]) for row in asked) / max(1, len(asked))
    kinds = filter(None, dict.fromkeys(row.question.kind for row in rows))
    return {
        "questions": len(rows),
        "answerable": len(asked),
        **_shares(asked, "any", "all"),
        **_shares([row for row in asked if any(map(words, row.question.answers))], "answer"),
        **traffic(rows),
        "budget": round(budget),
        "baselines": {name: _against(asked, searches, name, budget) for name in BASELINES},
        "same_recall": {name: same_recall(asked, searches, name) for name in NEEDING},
        **needless_share(asked),
        "unanswerable": brought([row for row in rows if row.question.kind == UNANSWERABLE]),
        "beliefs": beliefs([row for row in rows if row.question.beliefs and len(row.question.evidence) <= 1]),
        "kinds": {name: kind(name, [row for row in rows if row.question.kind == name]) for name in kinds},
        "errors": errors([row for row in asked if not row.all], searches),
    }


def traffic(rows: Sequence[JudgedPack]) -> Figure:
    """Figures of searching and delivery, independent of the questions."""
    came = [row for row in rows if row.pack is not EMPTY]
    return {
        **_shares(rows, "looked"),
        **_shares(came, "tokens"),
        "levels": dict(sorted(Counter(row.pack["depth_level"] for row in came).items())),
        "degraded": sum(bool(row.pack["degraded"]) for row in came),
        "missing": len(rows) - len(came),
    }


def brought(rows: Sequence[JudgedPack]) -> Figure:
    """Figures of unanswerable questions: how many packs contain items nevertheless, how many, and their tokens."""
    return {"questions": len(rows), **_shares(rows, "brought", "items", "source_tokens", "tokens")}


def same_recall(rows: Sequence[JudgedPack], searches: Mapping[str, PlainSearch], name: str) -> Figure:
    """The budget that a ranking needs for as many questions with any, with all of their evidence as the packs have.

    `ratio`: the packs' average tokens by that budget; `most`: the share that the ranking reaches without a budget.
    A budget that no tokens meet is None, and so is its ratio.
    """
    spent = [searches[row.question.tenant].spent(name, row.question) for row in rows]
    ours = sum(float(row.pack["total_tokens_estimated"]) for row in rows) / max(1, len(rows))
    found: Figure = {}
    for measure, which in (("any", min), ("all", max)):
        budgets = sorted(map(which, spent))
        held = sum(bool(MEASURES[measure](row)) for row in rows)
        needed = budgets[held - 1] if held else 0
        reached = sum(map(math.isfinite, budgets)) / max(1, len(rows))
        found[f"tokens_{measure}"] = round(needed) if math.isfinite(needed) else None
        found[f"ratio_{measure}"] = round(ours / needed, 3) if needed and math.isfinite(needed) else None
        found[f"most_{measure}"] = round(reached, 3)
    return found


def needless_share(rows: Sequence[JudgedPack]) -> Figure:
    """Of the tokens of sources, the share in sources that hold no content word of the answer or evidence.

    Left out where neither an answer nor a phrase is labelled: nearly every source shares a word with a whole passage.
    """
    sums = []
    for row in rows:
        if not row.question.answers and all(each.passage for each in row.question.evidence):
            continue
        lost = sum(map(source_tokens, needless(row.pack, row.question)))
        sums.append((row.question.group, (lost, MEASURES["source_tokens"](row))))
    return shares(sums, lambda totals: {"needless": totals[0] / totals[1] if totals[1] else None})


def beliefs(rows: Sequence[JudgedPack]) -> Figure:
    """Precision and recall of the single beliefs that packs deliver, and how often exactly the needed ones came.

    `silent`: packs without a belief, of the questions that need none.
    """
    asking = [(row, _delivered(row), {each.text for each in row.question.evidence}) for row in rows]
    sums = [(row.question.group, (len(came & right), len(came), len(right))) for row, came, right in asking if right]
    found = shares(
        sums,
        lambda totals: {
            "precision": totals[0] / totals[1] if totals[1] else None,
            "recall": totals[0] / totals[2] if totals[2] else None,
        },
    )
    exact = [(row.question.group, float(came == right)) for row, came, right in asking if right]
    silent = [(row.question.group, float(not came)) for row, came, right in asking if not right]
    return {"questions": len(rows), **found, "exact": share(exact), "silent": share(silent)}


def _delivered(row: JudgedPack) -> set[str]:
    """The beliefs that a pack tells, without those of the question and an older value beside the marked newer one."""
    own = Content.of([row.question.text])
    came = {each for each in row.question.beliefs if row.content.says(each) and not own.says(each)}
    return came - {row.question.was} if newer_marked(row.pack, row.content, row.question) else came


def kind(name: str, rows: Sequence[JudgedPack]) -> Figure:
    """The figures of one kind of question."""
    if name == UNANSWERABLE:
        return brought(rows)
    if not any(row.question.evidence for row in rows):
        kept = _shares(rows, "kept_out") if any(row.question.avoid for row in rows) else {}
        return {"questions": len(rows), **kept, **traffic(rows)}
    figures: Figure = {"questions": len(rows), **_shares(rows, "all", "first_right", "looked", "tokens")}
    if several := [row for row in rows if len(row.question.evidence) > 1]:
        figures |= _shares(several, "pieces")
    if near := [row for row in rows if row.question.avoid]:
        figures |= _shares(near, "near_copy_avoided")
    if newer := [row for row in rows if row.question.holds]:
        figures |= _shares(newer, "newer_marked")
    return figures


def _says_any(row: JudgedPack, phrases: Iterable[str]) -> bool:
    return any(map(row.content.says, phrases))


def _against(rows: Sequence[JudgedPack], searches: Mapping[str, PlainSearch], name: str, budget: float) -> Figure:
    """The figures of a baseline within the packs' average tokens, and the paired differences."""
    values: dict[str, list[tuple[str, float]]] = {each: [] for each in AGAINST}
    for row in rows:
        question = row.question
        held = Content.of(within(searches[question.tenant].ranked(name, question), budget))
        found = (float(held.holds_any(question)), float(held.holds_all(question)))
        for measure, value in zip(AGAINST, (*found, row.any - found[0], row.all - found[1]), strict=True):
            values[measure].append((question.group, value))
    return {measure: share(each) for measure, each in values.items()}


def errors(rows: Sequence[JudgedPack], searches: Mapping[str, PlainSearch]) -> Figure:
    """The reasons for missing evidence: the count of each, with a few examples."""
    found: dict[str, list[JudgedPack]] = {}
    for row in rows:
        found.setdefault(_reason(row, searches), []).append(row)
    return {
        name: {"count": len(each), "examples": list(map(_example, each[:EXAMPLES]))} for name, each in found.items()
    }


def _reason(row: JudgedPack, searches: Mapping[str, PlainSearch]) -> str:
    if row.pack is EMPTY:
        return "no pack"
    if not looked(row.pack):
        return "no look-up"
    lacking = tuple(each for each in row.question.evidence if not row.content.holds(each))
    question = replace(row.question, evidence=lacking)
    retrieved = Content.of(text for part in row.parts for item in part.get("items") or () for text in strings(item))
    if retrieved.holds_any(question):
        return "found but dropped"
    search = searches[question.tenant]
    if asked_of(row.pack).isdisjoint(OF_DOCUMENTS if search.was_given(question) else OF_TALKS):
        return "looked elsewhere"
    return "ranked behind" if search.is_candidate(question) else "not a candidate"


def _example(row: JudgedPack) -> Figure:
    wanted = [evidence.text[:200] for evidence in row.question.evidence][:2]
    level = row.pack["depth_level"]
    return {"id": row.question.id, "text": row.question.text, "level": level, "evidence": wanted}
