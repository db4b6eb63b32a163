"""Passages about one sub-question that disagree: by what they deny, by an amount or a date, by how a case ended.

The higher court wins (`rank`), or the later ruling of the same court, the later version of a provision, or what
supersedes the other (`temporal`); else the conflict is open and both sides are to be cited. A word of exception
(`salvo`, `exceto`) only narrows a sentence, and what follows it is left out of the comparison.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from agents.cognition.language.messages import message
from agents.cognition.verification import competence
from agents.cognition.verification.polarity import SentencePolarity, opposed, polarity
from agents.cognition.verification.provision_binding import named, source
from agents.cognition.verification.quantities import Quantity, dates, quantities
from agents.cognition.verification.sentence_spans import sentence_spans
from agents.core.caching.texts import text_cache
from agents.core.language import text
from agents.core.language.date_words import DateWords
from agents.core.language.lexicons import framed, lexicon
from schemas.cognition import ConflictType, EvidenceConflict, EvidencePassage

MAX_PASSAGES, MAX_SENTENCES = 5, 12
# The least share of the smaller sentence's stems that the other has: to speak of the same, to deny it by a negation
# alone, to give it another amount.
SAME_TOPIC, DENIED, SAME_EVENT = 0.5, 0.65, 0.65
# Two words in common are a topic; fewer are chance.
_SHARED, _SHARED_EVENT = 2, 3
_YEAR = re.compile(r"(?<![\d./-])(?:19|20)\d{2}(?![\d/-])")
Span = tuple[int, int]
_PAST_VERDICT = 3


@dataclass(frozen=True, slots=True)
class ComparedSentence:
    """A sentence of a passage as it is compared: without what follows a word of exception."""

    span: Span
    written: str
    read: SentencePolarity
    topic: frozenset[str]
    amounts: frozenset[Quantity]
    dates: frozenset[DateWords]
    outcome: str
    named: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Sign:
    """What two sentences disagree in, and the words of the message for it."""

    type: ConflictType
    spans: tuple[Span, Span]
    told: tuple[tuple[str, str], ...]


def conflicts(node_id: str, passages: Sequence[EvidencePassage], question: str) -> tuple[EvidenceConflict, ...]:
    """The conflicts among the first five passages of a sub-question, at most one for each pair.

    Of a long passage the twelve sentences nearest to the question are compared. Two passages in different languages
    are not.
    """
    asked = {lang: frozenset(text.content_words(question, lang)) for lang in {each.lang for each in passages}}
    read = [(each, _chosen(each, asked[each.lang])) for each in passages[:MAX_PASSAGES]]
    found = (_between(node_id, one, other) for one, other in combinations(read, 2))
    return tuple(each for each in found if each is not None)


_Read = tuple[EvidencePassage, tuple[ComparedSentence, ...]]


def _chosen(passage: EvidencePassage, asked: frozenset[str]) -> tuple[ComparedSentence, ...]:
    """The sentences of a passage nearest to the question, in their order."""
    all_of_them = _sentences(passage.text, passage.lang)
    nearest = sorted(
        range(len(all_of_them)), key=lambda at: (-len(all_of_them[at].topic & asked), not all_of_them[at].outcome, at)
    )
    return tuple(all_of_them[at] for at in sorted(nearest[:MAX_SENTENCES]))


@text_cache(256)
def _sentences(said: str, lang: str) -> tuple[ComparedSentence, ...]:
    return tuple(_compared(said[start:end], (start, end), lang) for start, end in sentence_spans(said, lang))


def _compared(written: str, span: Span, lang: str) -> ComparedSentence:
    flat = re.split(framed("verification", r"\b(?:<<exceptions>>)\b"), text.fold(written), maxsplit=1)[0]
    read = polarity(flat, lang)
    law = named(written)
    numbers = {word for word in read.content if any(char.isdigit() for char in word)}
    return ComparedSentence(
        span,
        written,
        read,
        read.content - numbers,
        quantities(flat, lang),
        dates(written, lang),
        _outcome(flat),
        frozenset({f"{act}-{number}" for act, number in law.articles if act} | law.rulings),
    )


def _outcome(flat: str) -> str:
    """`+` where a sentence says that an appeal or a claim succeeded, `-` that it did not; empty where neither."""
    known, turns = lexicon("verification").rows("outcome"), lexicon("verification").words("turns_outcome")
    words = text.words(flat)
    denies = lexicon("contradiction").words("negations") | turns
    signs = set()
    for at, word in enumerate(words):
        if sign := known.get(word):
            turned = any(each in denies for each in words[max(0, at - _PAST_VERDICT) : at])
            signs.add({"+": "-", "-": "+"}[sign] if turned else sign)
    return signs.pop() if len(signs) == 1 else ""


def _between(node_id: str, one: _Read, other: _Read) -> EvidenceConflict | None:
    (a, _), (b, _) = one, other
    if a.lang != b.lang or a.chunk_uid == b.chunk_uid or a.text == b.text:
        return None
    superseding = _superseding(one, other)
    sign = superseding or _sign(one, other)
    if sign is None:
        return None
    why = message(a.lang, f"conflict.evidence_{sign.type}", **dict(sign.told))
    kind, resolution = sign.type, "open"
    if superseding is not None:
        resolution = dict(sign.told)["newer"]
    elif first := _ranked(a, b) or _ranked(b, a):
        kind, resolution = "rank", "a" if first == competence.court(a) else "b"
        why = message(a.lang, "conflict.evidence_rank", why=why, court=first)
    elif later := _later(a, b):
        kind, resolution = "temporal", later
        why = message(a.lang, "conflict.evidence_later", why=why)
    return EvidenceConflict.model_validate(
        {"node_id": node_id, "a": a.chunk_uid, "b": b.chunk_uid, "motivo": why, "type": kind}
        | {"resolution": resolution, "spans": sign.spans}
    )


def _sign(one: _Read, other: _Read) -> _Sign | None:
    """The first disagreement of two passages, the surest kind first."""
    pairs = [(s, t) for s in one[1] for t in other[1] if _of_one_topic(s, t)]
    for find in (_polarity, _amount, _date):
        for s, t in pairs:
            if (told := find(s, t)) is not None:
                kind, values = told
                return _Sign(kind, (s.span, t.span), values)
    return _outcomes(one, other)


def _share(s: ComparedSentence, t: ComparedSentence) -> float:
    return text.overlap(s.topic, t.topic)


def _of_one_topic(s: ComparedSentence, t: ComparedSentence) -> bool:
    shared = s.topic & t.topic
    if s.named & t.named and (s.read.laws.keys() & t.read.laws.keys() or len(shared) >= _SHARED):
        return True
    return len(shared) >= _SHARED and _share(s, t) >= SAME_TOPIC


_Told = tuple[ConflictType, tuple[tuple[str, str], ...]]


def _polarity(s: ComparedSentence, t: ComparedSentence) -> _Told | None:
    """A verb of law against its opposite, or a negation of what the other sentence affirms."""
    found = opposed(s.read, t.read)
    if not found or s.outcome or t.outcome:
        return None
    by_law = found in s.read.laws or found in t.read.laws
    alone = s.read.negated != t.read.negated and _share(s, t) >= DENIED
    return ("polarity", ()) if by_law or alone else None


def _amount(s: ComparedSentence, t: ComparedSentence) -> _Told | None:
    """Other amounts of one unit for one event: none in common, and neither within the bound of the other."""
    if _share(s, t) < SAME_EVENT or len(s.topic & t.topic) < _SHARED_EVENT - 1 or s.read.negated != t.read.negated:
        return None
    for unit in sorted({each.unit for each in s.amounts} & {each.unit for each in t.amounts} - {""}):
        ours = [each for each in s.amounts if each.unit == unit]
        theirs = [each for each in t.amounts if each.unit == unit]
        if not any(_agree(x, y) for x in ours for y in theirs):
            return "number", ()
    return None


def _agree(one: Quantity, other: Quantity) -> bool:
    """Whether both amounts may hold: `ao menos 10` and 20 do."""
    if one.amount == other.amount:
        return True
    low, high = (one, other) if one.amount < other.amount else (other, one)
    if low.bound == high.bound:
        return False
    return low.bound == "least" or high.bound == "most"


def _date(s: ComparedSentence, t: ComparedSentence) -> _Told | None:
    """Other dates of one event: each a date with a day or a month, and no two that may be the same."""
    if _share(s, t) < SAME_EVENT or not (s.dates and t.dates):
        return None
    if any(_may_be_one(x, y) for x in s.dates for y in t.dates):
        return None
    return "date", ()


def _may_be_one(one: DateWords, other: DateWords) -> bool:
    both = ((one.year, other.year), (one.month, other.month), (one.day, other.day))
    return all(x is None or y is None or x == y for x, y in both)


def _outcomes(one: _Read, other: _Read) -> _Sign | None:
    """Another outcome of the same issue, unless the appeals are of the two parties."""
    mine = [each for each in one[1] if each.outcome]
    theirs = [each for each in other[1] if each.outcome]
    if not mine or not theirs or mine[-1].outcome == theirs[-1].outcome:
        return None
    issue = [frozenset[str]().union(*(each.topic for each in read[1] if not each.outcome)) for read in (one, other)]
    if len(issue[0] & issue[1]) < _SHARED_EVENT or text.overlap(*issue) < SAME_EVENT:
        return None
    sides = [_party(each) for each in (mine[-1], theirs[-1])]
    if all(sides) and not sides[0] & sides[1]:
        return None
    return _Sign("outcome", (mine[-1].span, theirs[-1].span), ())


def _party(sentence: ComparedSentence) -> frozenset[str]:
    known = lexicon("verification").rows("parties")
    return frozenset(known[word] for word in text.words(sentence.written) if word in known)


def _superseding(one: _Read, other: _Read) -> _Sign | None:
    """A sentence that says of a provision or a ruling of the other passage that it is revoked or overruled."""
    past = framed("verification", r"\b(?:<<superseding>>)\b")
    for (mine, theirs), side in (((one, other), "a"), ((other, one), "b")):
        law = named(f"{source(theirs[0])[: len(source(theirs[0])) - len(theirs[0].text)]}")
        known = {f"{act}-{number}" for act, number in law.articles if act} | law.rulings
        for sentence in mine[1]:
            if sentence.named & known and past.search(text.fold(sentence.written)) and theirs[1]:
                spans = (sentence.span, theirs[1][0].span)
                return _Sign("temporal", spans if side == "a" else (spans[1], spans[0]), (("newer", side),))
    return None


def _ranked(one: EvidencePassage, other: EvidencePassage) -> str:
    """The court of a passage, where it stands above that of the other."""
    mine = competence.court(one)
    return mine if mine and competence.above(mine, competence.court(other)) else ""


def _later(a: EvidencePassage, b: EvidencePassage) -> str:
    """The side that is newer: of two rulings of one court by year, of two versions of one provision by its record."""
    court = competence.court(a)
    years = [_year(each) for each in (a, b)]
    if court and court == competence.court(b) and years[0] and years[1] and years[0] != years[1]:
        return "a" if years[0] > years[1] else "b"
    if a.cite and a.cite == b.cite and a.recorded_at != b.recorded_at and not court:
        return "a" if a.recorded_at > b.recorded_at else "b"
    return ""


def _year(passage: EvidencePassage) -> int:
    """The year of a ruling as its title or its first line says it; 0 where they say none or several.

    That of a case number is the year in which the case began.
    """
    first = passage.text.split("\n", 1)[0]
    for said in (passage.title, first):
        found: set[str] = set(_YEAR.findall(said))
        if len(found) == 1:
            return int(found.pop())
    return 0
