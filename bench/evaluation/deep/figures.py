"""Figures of deep answers by data set: right, wrong, missing, hallucinated; risk by coverage; plain sentences."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from agents.core.language.sentences import sentences
from bench.evaluation.held_packs import Content
from bench.evaluation.plain_search import PlainSearch
from bench.evaluation.questions import Material, PackQuestion
from bench.evaluation.resampling import rounded, share
from bench.evaluation.words import spelled_all, within
from schemas.base import JsonObject
from streams.edges.cli.demo.plain_search import spelled, words

Figure = dict[str, object]
EXAMPLES = 3


@dataclass(frozen=True, slots=True)
class DeepAsked:
    """A question and the answer to it as JSON (None: none came)."""

    question: PackQuestion
    answer: JsonObject | None


@dataclass(frozen=True, slots=True)
class JudgedAnswer:
    """A judged answer.

    `holds`: all that is asked for is in it; `cited`: it cites evidence; `unproven`: claims that are not literally in
    the passage they cite, or whose passage is in no document or talk of the tenant; `words`: its length; `telling`: the
    share of its words in sentences that tell what is asked for.
    """

    question: PackQuestion
    status: str
    holds: bool
    cited: bool
    unproven: int
    claims: int
    words: int
    telling: float
    confidence: float

    @property
    def answerable(self) -> bool:
        return bool(self.question.evidence)

    @property
    def answered(self) -> bool:
        return self.status in ("answered", "partial")

    @property
    def outcome(self) -> str:
        """`right`, `wrong` or `missing`; of what nothing answers, silence is right."""
        if not self.answerable:
            return "wrong" if self.answered else "right"
        if not self.answered:
            return "missing"
        return "right" if self.holds else "wrong"


def judged(asked: Iterable[DeepAsked], materials: Sequence[Material]) -> list[JudgedAnswer]:
    """Judge answers against their questions and against the documents and talks of their tenants."""
    known = {each.tenant: _spelled_of(each) for each in materials}
    return [_judged(each, known[each.question.tenant]) for each in asked]


def _spelled_of(material: Material) -> tuple[str, str]:
    return spelled_all(text for _, text in material.documents), spelled_all(material.said())


def _judged(asked: DeepAsked, known: tuple[str, str]) -> JudgedAnswer:
    question, answer = asked.question, asked.answer or {}
    claims = {
        (claim["chunk_uid"], claim["start"]): claim
        for each in answer.get("sub_answers", ())
        for claim in each["claims"]
    }
    sources = {each["chunk_uid"]: each for each in answer.get("sources", ())}
    texts = [claim["text"] for claim in claims.values()]
    own = spelled_all(turn.text for turn in question.turns)
    return JudgedAnswer(
        question=question,
        status=answer.get("status", "none"),
        holds=holds(question, texts),
        cited=any(map(_in_evidence(question), texts)),
        unproven=sum(not _is_proven(claim, sources.get(claim["chunk_uid"]), *known, own) for claim in claims.values()),
        claims=len(claims),
        words=sum(len(words(text)) for text in texts),
        telling=telling(question, texts),
        confidence=answer.get("confidence", 0.0),
    )


def holds(question: PackQuestion, texts: Sequence[str]) -> bool:
    """Whether texts hold what is asked for: the labelled answer, else all phrases of evidence, else a passage of it."""
    if any(map(words, question.answers)):
        return any(map(Content.of(texts).says, question.answers))
    if any(each.passage for each in question.evidence):
        return any(map(_in_evidence(question), texts))
    return Content.of(texts).holds_all(question)


def telling(question: PackQuestion, texts: Sequence[str]) -> float:
    """The share of the words of sentences, 0-1, that are in those with a labelled answer, else with evidence."""
    labelled = any(map(words, question.answers))
    tells = (lambda text: holds(question, [text])) if labelled else _in_evidence(question)
    return sum(len(words(text)) for text in texts if tells(text)) / max(1, sum(len(words(text)) for text in texts))


def _in_evidence(question: PackQuestion) -> Callable[[str], bool]:
    """Whether a sentence is of a passage that is evidence, or has a phrase of it."""

    def inside(text: str) -> bool:
        said = spelled(text)
        return any(said in spelled(e.text) if e.passage else spelled(e.text) in said for e in question.evidence)

    return inside


def _is_proven(claim: JsonObject, source: JsonObject | None, documents: str, talks: str, own: str) -> bool:
    """Whether a claim is the sentence of the passage that it cites, and that is of a document, or of a talk.

    `talks` are those of the tenant, `own` is the conversation of the question.
    """
    if source is None or claim["cite"] != source["cite"]:
        return False
    if source["text"][claim["start"] : claim["end"]] != claim["text"]:
        return False
    # A passage may join paragraphs of its document; a sentence is of one.
    said = spelled(claim["text"]).strip()
    return said in talks or said in own if source.get("turn") else said in documents


def dataset(rows: Sequence[JudgedAnswer], plain: Mapping[str, "PlainSentences"]) -> Figure:
    """All figures of one data set."""
    asked = [row for row in rows if row.answerable]
    answered = [row for row in asked if row.answered]
    size = sum(row.words for row in answered) / max(1, len(answered))
    found: Figure = {"questions": len(rows), "answerable": len(asked)}
    for outcome in ("right", "wrong", "missing"):
        found[outcome] = _share(asked, lambda row, outcome=outcome: row.outcome == outcome)  # type: ignore[misc]
    found["cited"] = _share(asked, lambda row: row.cited)
    found["precision"] = _share(answered, lambda row: row.holds)
    found["partial"] = _share(asked, lambda row: row.status == "partial")
    found["hallucinated"] = {"claims": sum(row.claims for row in rows), "unproven": sum(row.unproven for row in rows)}
    found["words"] = round(size, 1)
    found["none"] = sum(row.status == "none" for row in rows)
    found["telling"] = _share(answered, lambda row: row.telling)
    best = {row.question.id: plain[row.question.tenant].best(row.question, size) for row in asked}
    found["plain"] = _share(asked, lambda row: holds(row.question, best[row.question.id]))
    found["plain_telling"] = _share(asked, lambda row: telling(row.question, best[row.question.id]))
    if silent := [row for row in rows if not row.answerable]:
        found["rightly_silent"] = _share(silent, lambda row: row.outcome == "right")
    found["curve"] = risk_by_coverage(rows)
    found["area"] = rounded(_area(rows))
    found["wrong_examples"] = [row.question.text for row in asked if row.outcome == "wrong"][:EXAMPLES]
    return found


def _share(rows: Sequence[JudgedAnswer], value: Callable[[JudgedAnswer], float]) -> dict[str, object]:
    return share([(row.question.group, float(value(row))) for row in rows])


def risk_by_coverage(rows: Sequence[JudgedAnswer]) -> list[tuple[float, float]]:
    """Points (coverage, risk): of the surest share of all questions that were answered, how many answers are wrong."""
    answered = sorted((row for row in rows if row.answered), key=lambda row: -row.confidence)
    wrong, points = 0, []
    for number, row in enumerate(answered, 1):
        wrong += row.outcome == "wrong"
        last = number == len(answered) or answered[number].confidence < row.confidence
        if last:
            points.append((round(number / len(rows), 4), round(wrong / number, 4)))
    return points


def _area(rows: Sequence[JudgedAnswer]) -> float | None:
    """The mean risk over the coverages reached."""
    points = risk_by_coverage(rows)
    if not points:
        return None
    before, total = 0.0, 0.0
    for coverage, risk in points:
        total += (coverage - before) * risk
        before = coverage
    return total / before


class PlainSentences:
    """The sentences of a tenant's documents by BM25, as many as fit into a number of words."""

    def __init__(self, material: Material) -> None:
        said = [each for unit in material.units for each in sentences(unit, material.lang or "pt")]
        self._search = PlainSearch(replace(material, units=tuple(dict.fromkeys(said))), None)

    def best(self, question: PackQuestion, size: float) -> list[str]:
        """The best sentences of at most `size` words together, at least one."""
        ranked = self._search.bm25(question)
        return within(ranked, size, lambda text: len(words(text))) or ranked[:1]


def by_dataset(rows: Sequence[JudgedAnswer], materials: Sequence[Material]) -> dict[str, Figure]:
    """The figures of each data set; those of two are never pooled."""
    plain = {each.tenant: PlainSentences(each) for each in materials}
    counts = Counter(row.question.dataset for row in rows)
    return {name: dataset([row for row in rows if row.question.dataset == name], plain) for name in counts}
