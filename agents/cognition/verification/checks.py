"""The twelve checks of one claim of an answer against the passage it cites, by rules alone.

| number | fails when | number | fails when |
|---|---|---|---|
| 1 | there is no evidence | 7 | a case number is invalid and the source does not have it |
| 2 | the citation is invented or of another sub-question | 8 | the claim and its source deny each other |
| 3 | the text is not the passage from `start` to `end` | 9 | the passage covers too little of the claim |
| 4 | a normative sentence cites nothing | 10 | a conflict is open and one side is cited |
| 5 | an act, article, part or ruling is not in the passage | 11 | weak support is not said |
| 6 | an amount or a date is not in the passage | 12 | the court does not judge the matter: a warning |
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from agents.cognition.verification import competence, quantities
from agents.cognition.verification.polarity import SentencePolarity, opposed, polarity
from agents.cognition.verification.provision_binding import case_numbers_in, missing, named, source
from agents.cognition.verification.sentence_spans import sentence_spans
from agents.core.language import text
from agents.core.language.lexicons import framed
from agents.legal import case_numbers
from schemas.cognition import Check, Claim, ClaimVerdict, EvidenceConflict, EvidencePassage, Verdict

# The least share of a claim's words that the passage must have, and the share below which the support is weak.
COVERED, STRONG = 0.55, 0.75
# Below this share of its words no sentence of the source is the claim's.
ALIGNED = 0.3
# A claim is supported only if all of these pass, or warn: they are conditions, never terms of a score.
HARD = range(1, 9)
_CITATION = re.compile(r"\s?\[(?P<cite>[a-z-]+:[^\]\s]+)\]")
Finding = tuple[Verdict, str, str]


@dataclass(frozen=True, slots=True)
class CheckedClaim:
    """A claim beside what it is checked against; `passage` is the cited one, None where it is not of this question.

    `said` is the text of the claim without its citations, `sliced` whether the passage has it at its place.
    """

    claim: Claim
    question: str
    own: Mapping[str, EvidencePassage]
    conflicts: Sequence[EvidenceConflict]
    cited: Collection[str]
    lang: str

    @property
    def passage(self) -> EvidencePassage | None:
        return self.own.get(self.claim.chunk_uid)

    @property
    def said(self) -> str:
        return without_cites(self.claim.text)

    @property
    def sliced(self) -> bool:
        passage, claim = self.passage, self.claim
        return passage is not None and bool(self.said) and passage.text[claim.start : claim.end] == self.said


def checked(
    claim: Claim,
    question: str,
    own: Mapping[str, EvidencePassage],
    conflicts: Sequence[EvidenceConflict],
    cited: Collection[str],
    lang: str,
) -> ClaimVerdict:
    """The verdict of each check, and the support 0-1: the coverage, or 0 unless every hard check passes or warns.

    `own` are the passages of this sub-question by id: those of another one or another tenant must not be among them.
    `cited` are the ids that the whole answer cites. A check that raises or cannot decide is `unverified`, which
    approves nothing. Total: never raises.
    """
    case = CheckedClaim(claim, question, own, conflicts, cited, lang)
    checks = tuple(_run(number, check, case) for number, check in enumerate(CHECKS, 1))
    firm = all(each.verdict in ("pass", "warn") for each in checks if each.number in HARD)
    support = _support(case) if firm and checks[8].verdict != "unverified" else 0.0
    return ClaimVerdict(text=claim.text, cite=claim.cite, checks=checks, support=support)


def cites_of(said: str) -> tuple[str, ...]:
    """The citations written in a text, without brackets."""
    return tuple(_CITATION.findall(said))


def without_cites(said: str) -> str:
    """A text without the citations written in it."""
    return _CITATION.sub("", said)


def _run(number: int, check: Callable[[CheckedClaim], Finding], case: CheckedClaim) -> Check:
    try:
        verdict, expected, found = check(case)
    except Exception as error:  # noqa: BLE001 - a fault of a check must never approve the claim, nor stop the run
        return Check(number=number, verdict="unverified", found=type(error).__name__)
    return Check(number=number, verdict=verdict, expected=expected, found=found)


def _support(case: CheckedClaim) -> float:
    return round(coverage(case), 4)


def coverage(case: CheckedClaim) -> float:
    """The share of the claim's distinct stems that the whole cited passage has, 0-1."""
    if case.passage is None:
        return 0.0
    lang = case.passage.lang
    words = frozenset(text.content_words(case.said, lang))
    return len(words & text.content_set(source(case.passage), lang)) / len(words) if words else 0.0


def evidence_present(case: CheckedClaim) -> Finding:
    """Whether the sub-question has any evidence."""
    return ("pass" if any(each.text.strip() for each in case.own.values()) else "fail"), "", f"{len(case.own)}"


def citation_known(case: CheckedClaim) -> Finding:
    """Whether every citation, that of the claim and those in its text, is of a passage of this sub-question."""
    passage = case.passage
    if passage is None:
        return "fail", case.claim.cite, ""
    if case.claim.cite and case.claim.cite != passage.cite:
        return "fail", case.claim.cite, passage.cite
    known = {each.cite for each in case.own.values()}
    for cite in cites_of(case.claim.text):
        if cite not in known:
            return "fail", cite, ""
    return "pass", case.claim.cite, passage.cite


def span_proved(case: CheckedClaim) -> Finding:
    """Whether the passage, cut again at the claim's place, is the claim's text."""
    again = case.passage.text[case.claim.start : case.claim.end] if case.passage else ""
    return ("pass" if case.sliced else "fail"), case.said, again


def normative_cited(case: CheckedClaim) -> Finding:
    """Whether a normative sentence cites something; a plain one without a citation is a warning."""
    if case.claim.cite.strip():
        return "pass", "", case.claim.cite
    rule = framed("verification", r"\b(?:<<normative>>)\b").search(text.fold(case.said))
    names = named(case.said)
    return ("fail" if rule or not names.empty else "warn"), rule[0] if rule else case.said, ""


def provisions_bound(case: CheckedClaim) -> Finding:
    """Whether the cited passage names every act, article, part and ruling of the claim."""
    if case.passage is None:
        return "unverified", "", ""
    absent = missing(case.said, case.passage)
    return ("fail" if absent else "pass"), ", ".join(absent), "" if absent else case.passage.cite


def amounts_known(case: CheckedClaim) -> Finding:
    """Whether the passage has every amount, date and multiple of the claim; the sum of its amounts may be stated."""
    if case.passage is None:
        return "unverified", "", ""
    lang, whole = case.passage.lang, source(case.passage)
    known = quantities.quantities(whole, lang)
    said = quantities.quantities(case.said, lang)
    if wrong := quantities.wrong_sums(case.said, lang):
        return "fail", wrong[0], ""
    held = [each for each in said if _held(each, known)]
    may_sum = quantities.states_a_sum(case.said)
    for each in sorted(said.difference(held), key=str):
        if not (may_sum and quantities.summed(each, held)):
            same = sorted(str(other) for other in known if other.unit == each.unit)
            return "fail", f"{each.bound} {each}".strip(), ", ".join(same)
    for date in quantities.dates(case.said, lang):
        if not quantities.within(date, quantities.dates(whole, lang)):
            return "fail", "-".join(str(each) for each in (date.year, date.month, date.day) if each), ""
    if new := quantities.multiples(case.said) - quantities.multiples(whole):
        return "fail", ", ".join(sorted(new)), ""
    return "pass", ", ".join(sorted(map(str, said))), ""


def _held(each: quantities.Quantity, known: Collection[quantities.Quantity]) -> bool:
    """Whether an amount is known; `ao menos 10` is not `no máximo 10`, but either may be a plain `10`."""
    same = [other for other in known if (other.unit, other.amount) == (each.unit, each.amount)]
    return any(not each.bound or other.bound in ("", each.bound) for other in same)


def case_numbers_known(case: CheckedClaim) -> Finding:
    """Whether the case numbers are valid; an invalid one that the source has is a warning."""
    if case.passage is None:
        return "unverified", "", ""
    bad = sorted(each for each in case_numbers_in(case.said) if not case_numbers.valid(each))
    literal = case_numbers_in(source(case.passage))
    if invented := [each for each in bad if each not in literal]:
        return "fail", ", ".join(invented), ""
    return ("warn" if bad else "pass"), "", ", ".join(bad)


def polarity_kept(case: CheckedClaim) -> Finding:
    """Whether the claim and the sentence of its source that it states affirm and deny the same."""
    if case.passage is None:
        return "unverified", "", ""
    lang = case.passage.lang
    said = polarity(case.said, lang)
    beside = _aligned(case, said, lang)
    if beside is None or not said.content:
        return "unverified", case.said, ""
    sentence, other = beside
    if found := opposed(said, other, lacking=True):
        return "fail", found, sentence
    # Part of a sentence may leave the negation of its other part out.
    if not case.sliced and said.negated != other.negated:
        return "fail", ", ".join(sorted(said.heads | other.heads)), sentence
    return "pass", "", ""


def _aligned(case: CheckedClaim, said: SentencePolarity, lang: str) -> tuple[str, SentencePolarity] | None:
    """The sentences that the claim was cut from, else the sentence of the passage most like it."""
    passage = case.passage
    if passage is None:
        return None
    spans = sentence_spans(passage.text, lang)
    if case.sliced:
        over = [(a, b) for a, b in spans if a < case.claim.end and case.claim.start < b]
        whole = passage.text[over[0][0] : over[-1][1]] if over else case.said
        return whole, polarity(whole, lang)
    written = [passage.text[a:b] for a, b in spans]
    read = [(sentence, polarity(sentence, lang)) for sentence in written]
    shares = [len(said.content & other.content) / len(said.content or {""}) for _, other in read]
    best = max(range(len(read)), key=lambda at: shares[at], default=None)
    return read[best] if best is not None and shares[best] >= ALIGNED else None


def covered(case: CheckedClaim) -> Finding:
    """Whether the whole cited passage has enough of the claim's words."""
    if case.passage is None or not text.content_words(case.said, case.passage.lang):
        return "unverified", f"{COVERED}", ""
    share = coverage(case)
    return ("pass" if share >= COVERED else "fail"), f"{COVERED}", f"{share:.2f}"


def both_sides_cited(case: CheckedClaim) -> Finding:
    """Whether the answer cites the other side too, where the claim is one side of a conflict.

    A claim from elsewhere in a passage with an open conflict is a warning; so is a winning side cited alone.
    """
    worst: Finding = ("pass", "", "")
    for each in case.conflicts:
        if case.claim.chunk_uid not in (each.a, each.b):
            continue
        side, other = (0, each.b) if case.claim.chunk_uid == each.a else (1, each.a)
        if other in case.cited:
            continue
        start, end = each.spans[side]
        wins = each.resolution == ("a" if side == 0 else "b")
        if not wins and start < case.claim.end and case.claim.start < end:
            return "fail", other, case.claim.chunk_uid
        worst = ("warn", other, case.claim.chunk_uid)
    return worst


def hedged(case: CheckedClaim) -> Finding:
    """Whether the claim says that its support is weak: little coverage, or a source that is itself not sure."""
    if case.passage is None:
        return "unverified", "", ""
    hedge = framed("verification", r"\b(?:<<hedges>>)\b")
    if hedge.search(text.fold(case.said)):
        return "pass", "", ""
    beside = _aligned(case, polarity(case.said, case.passage.lang), case.passage.lang)
    unsure = hedge.search(text.fold(beside[0])) if beside else None
    if unsure:
        return "fail", unsure[0], ""
    share = coverage(case)
    return ("pass" if share >= STRONG else "fail"), f"{STRONG}", f"{share:.2f}"


def competent(case: CheckedClaim) -> Finding:
    """Whether the court of the passage judges the matter of the question; a mismatch is only a warning."""
    if case.passage is None:
        return "unverified", "", ""
    wrong = competence.mismatch(f"{case.question} {case.said}", case.passage)
    return ("warn", *wrong) if wrong else ("pass", "", "")


CHECKS: tuple[Callable[[CheckedClaim], Finding], ...] = (
    evidence_present,
    citation_known,
    span_proved,
    normative_cited,
    provisions_bound,
    amounts_known,
    case_numbers_known,
    polarity_kept,
    covered,
    both_sides_cited,
    hedged,
    competent,
)
