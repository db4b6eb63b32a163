"""Figures of packs by data set and kind, never pooled, compared with plain search within the same tokens."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from schemas.base import JsonObject
from streams.evaluation.held_packs import Content, asked_of, content, first_right, items, looked, newer_marked, strings
from streams.evaluation.plain_search import BASELINES, PlainSearch
from streams.evaluation.questions import PackQuestion
from streams.evaluation.resampling import share
from streams.evaluation.words import within, words

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
    """Figures of unanswerable questions: how many packs contain items nevertheless, and how many."""
    return {"questions": len(rows), **_shares(rows, "brought", "items", "tokens")}


def kind(name: str, rows: Sequence[JudgedPack]) -> Figure:
    """The figures of one kind of question."""
    if name == "unanswerable":
        return brought(rows)
    if not any(row.question.evidence for row in rows):
        return {"questions": len(rows), **traffic(rows)}
    figures: Figure = {"questions": len(rows), **_shares(rows, "all", "first_right", "looked", "tokens")}
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
