"""The acts, provisions and rulings that a claim names, and whether the passage it cites names them too.

An article without an act is one of the passage's own act, which its title or its citation says (`deste Código`).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from agents.core.caching.texts import text_cache
from agents.core.language.text import fold
from agents.legal import acts
from agents.legal.case_numbers import UNIFIED, unified
from agents.legal.citations import citation
from agents.legal.fragments import fragment
from agents.legal.references import LegalReference, legal_references
from schemas.cognition import EvidencePassage

_ROMAN = r"[IVXLC]{1,7}(?:-[A-Z])?"
_NUMBER = r"\d{1,4}(?:\.\d{3})?(?:\s?[º°ª]|o\b)?(?:-[A-Z]\b)?"
_ARTICLE = re.compile(
    rf"(?<!\w)(?i:artigos?|articles?|arts?\.?|sections?|sects?\.|ss?\.|clauses?|rules?)\s{{0,2}}"
    rf"(?P<numbers>{_NUMBER}(?:\s?(?:,|;|e|and|ou|or)\s{_NUMBER}(?!\w))*)(?P<inside>(?:\(\w{{1,4}}\))*)"
)
_PART = re.compile(
    rf"(?P<par>§{{1,2}}\s?(?:único|\d{{1,3}}(?:\s?[º°ª]|o\b)?(?:-[A-Z]\b)?)|(?i:par[áa]grafo)\s+(?:(?i:único|primeiro|"
    rf"segundo|terceiro|quarto|quinto)|\d{{1,3}}))|(?P<inc>(?i:incisos?|incs?\.)\s+{_ROMAN}\b)|^[^\S\n]*(?P<line>{_ROMAN})\s?[-–—]"
    r"|(?P<ali>(?i:al[íi]neas?)\s+[\"“'‘]?[a-z][\"”'’]?(?!\w))|^[^\S\n]*(?P<point>[a-z])\)",
    re.MULTILINE,
)
_ENGLISH_ACT = re.compile(
    r"\b(?:[A-Z][a-z]+\s)+(?:Act|Code|Regulations?|Constitution|Treaty|Directive|Ordinance)(?:\s\d{4})?\b"
)
_CITED = re.compile(r"(?P<kind>[a-z-]+):(?P<name>[^\s\]]+)")
_CASE = re.compile(rf"(?<![\d.-]){UNIFIED}(?![\d-])")
_UNBOUND = ""


@dataclass(frozen=True, slots=True)
class NamedLaw:
    """What a text names: acts and rulings by normal form; articles as (act or nothing, number); parts as (number of
    the article or nothing, LexML part)."""

    acts: frozenset[str]
    rulings: frozenset[str]
    articles: frozenset[tuple[str, str]]
    parts: frozenset[tuple[str, str]]

    @property
    def empty(self) -> bool:
        """Whether it names nothing."""
        return not (self.acts or self.rulings or self.articles or self.parts)


@text_cache(1_024)
def named(text: str) -> NamedLaw:
    """What a text names, each part under the article before it."""
    references = legal_references(text)
    bound = [each for each in references if each.kind == "dispositivo" and each.article]
    articles = {(_act(each.law, each.issuer), _digits(each.article)) for each in bound}
    mentions = sorted((match.start(), number) for match in _ARTICLE.finditer(text) for number in _numbers(match))
    taken = [(each.start, each.end) for each in bound]
    articles |= {(_UNBOUND, number) for at, number in mentions if not any(a <= at < b for a, b in taken)}
    parts = {(_digits(each.article), part) for each in bound for part in _fragment_parts(each)}
    parts |= set(_parts(text, mentions))
    return NamedLaw(
        frozenset({_act(each.name, each.issuer) for each in acts.found(text)} | _english_acts(text)),
        frozenset(citation(each).strip("[]") for each in references if each.kind != "dispositivo"),
        frozenset(articles),
        frozenset(parts),
    )


def missing(claim: str, passage: EvidencePassage) -> tuple[str, ...]:
    """What the claim names and the cited passage, its title and its citation do not, in words."""
    said, known = named(claim), named(source(passage))
    heading = named(f"{passage.title}\n{spelled(passage.cite)}")
    own = heading.acts or (known.acts if len(known.acts) == 1 else frozenset())
    held = {(act, number) for act, number in known.articles if act}
    held |= {(act, number) for bare, number in known.articles if not bare for act in own}
    numbers = {number for _, number in known.articles}
    lone = next(iter(heading.articles))[1] if len({number for _, number in heading.articles}) == 1 else ""
    out = [each for each in sorted(said.acts) if not any(_same_act(each, act) for act in known.acts)]
    for act, number in sorted(said.articles):
        fits = number in numbers if not act else any(n == number and _same_act(act, a) for a, n in held)
        if not fits:
            out.append(f"{act}-art{number}" if act else f"art. {number}")
    for number, part in sorted(said.parts):
        owners = {article or lone for article, each in known.parts if each == part}
        if not owners or (number and owners and number not in owners):
            out.append(f"art{number}_{part}" if number else part)
    out += [each for each in sorted(said.rulings) if not _ruled(each, known.rulings, source(passage))]
    return tuple(out)


def source(passage: EvidencePassage) -> str:
    """All that a passage says of itself: its title, its citation and its text."""
    return f"{passage.title}\n{spelled(passage.cite)}\n{passage.text}"


def spelled(cite: str) -> str:
    """A citation in the words of a text: `lei:CLT-art468` as `art. 468 da CLT`."""
    match = _CITED.fullmatch(cite)
    if match is None:
        return cite
    kind, name = match["kind"], match["name"]
    act, _, article = name.partition("-art")
    if re.fullmatch(r"(?:[A-Z]+-)?\d+(?:-\d{4})?", act) and kind in (
        "lei",
        "lei-complementar",
        "decreto",
        "decreto-lei",
    ):
        act = f"{kind.replace('-complementar', ' complementar')} nº {act.replace('-', '/')}"
    if kind in ("sumula", "sumula-vinculante", "tema"):
        court, _, number = name.partition("-")
        return f"{kind.replace('-', ' ').replace('sumula', 'Súmula').replace('tema', 'Tema')} {number} do {court}"
    return f"art. {article} da {act}" if article else f"{act}"


def case_numbers_in(text: str) -> frozenset[str]:
    """The unified case numbers of a text, in their full form."""
    return frozenset(unified(each) for each in _CASE.findall(text))


def _act(law: str, issuer: str = "") -> str:
    found = citation(LegalReference("dispositivo", law, 0, 0, law=law, issuer=issuer)).strip("[]")
    return found.partition(":")[2] if found.startswith("lei:") and not found[4:5].isdigit() else found


def _english_acts(text: str) -> set[str]:
    return {fold(match).removeprefix("the ") for match in _ENGLISH_ACT.findall(text)}


def _same_act(one: str, other: str) -> bool:
    """`lei:13467` is `lei:13467-2017` where one leaves the year out; so is `harbour act` the `harbour act 1987`."""
    short, long = sorted((one, other), key=len)
    return short == long or (
        re.fullmatch(r"[- ]\d{4}", long.removeprefix(short)) is not None and long.startswith(short)
    )


def _numbers(match: re.Match[str]) -> Iterator[str]:
    yield from (_digits(each) for each in re.findall(_NUMBER, match["numbers"]))


def _digits(article: str) -> str:
    whole, _, letter = article.partition("-")
    return re.sub(r"\D", "", whole) + (f"-{letter}" if letter else "")


def _fragment_parts(reference: LegalReference) -> Iterator[str]:
    yield from (each for each in reference.fragment.split("_")[1:] if each != "cpt")


def _parts(text: str, mentions: list[tuple[int, str]]) -> Iterator[tuple[str, str]]:
    for match in _ARTICLE.finditer(text):
        for inside in re.findall(r"\w+", match["inside"]):
            yield _digits(match["numbers"]), f"({inside})"
    for match in _PART.finditer(text):
        written = match[0].strip()
        if match["line"]:
            written = f"inciso {match['line']}"
        elif match["point"]:
            written = f"alínea {match['point']}"
        if part := fragment("1", ((written, ""),)).split("_")[1:]:
            yield _owner(text, match, mentions), part[-1]


def _owner(text: str, match: re.Match[str], mentions: list[tuple[int, str]]) -> str:
    """The article of a part: `§ 1º do art. 5º` names it after, else it is the nearest before."""
    after = re.search(r"\A\s?,?\s?(?:do|of|of the)\s", text[match.end() : match.end() + 8])
    if after:
        at = match.end() + after.end()
        return next((number for start, number in mentions if start == at), "")
    return next((number for start, number in reversed(mentions) if start < match.start()), "")


def _ruled(claimed: str, known: frozenset[str], text: str) -> bool:
    """Whether a ruling is among those known; a court that one side does not say must be said in the text."""
    if claimed in known:
        return True
    kind, _, name = claimed.partition(":")
    court, _, rest = name.partition("-")
    if court == "?":
        return any(each.startswith(f"{kind}:") and each.partition("-")[2] == rest for each in known)
    return f"{kind}:?-{rest}" in known and court in text
