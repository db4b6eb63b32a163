"""Articles of laws in a text: lists and ranges expanded, the law found on either side, paragraphs and items inside."""

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass

from agents.core.legal import acts
from agents.core.legal.acts import Act

_GAP = r"\s{0,3}"
_NUMBER = r"\d{1,4}(?:\.\d{3})?(?:\s?[º°ª]|o\b)?(?:-[A-Z]\b)?"
_ORDINAL = r"\d{1,3}(?:\s?[º°ª]|o\b)(?:-[A-Z]\b)?"
_ROMAN = r"(?=[IVXL])(?:XL|L?X{0,4})(?:IX|IV|V?I{0,4})(?:-[A-Z])?\b"
_LETTER = r"(?:[\"“'‘][A-Za-z][\"”'’])"
_AND = rf"{_GAP}(?:,|e|ou|a){_GAP}"
_PART = (
    rf"(?:§{{1,2}}{_GAP}(?:único|(?:\d{{1,3}}(?:\s?[º°ª]|o\b)?(?:-[A-Z]\b)?)(?:{_AND}(?:§{_GAP})?{_ORDINAL})*)"
    rf"|(?i:par[áa]grafos?)\s+(?:(?i:único|primeiro|segundo|terceiro|quarto|quinto)|\d{{1,3}}(?:\s?[º°ª]|o\b)?)"
    rf"|[\"“']?(?i:caput)\b[\"”']?"
    rf"|(?i:incisos?|incs?\.?){_GAP}{_ROMAN}(?:{_AND}{_ROMAN})*"
    rf"|(?i:al[íi]neas?|letras?){_GAP}(?:{_LETTER}|[a-z]\b)(?:{_AND}(?:{_LETTER}|[a-d]\b(?!\s+\w)))*"
    rf"|(?i:item|itens)\s+(?:\d{{1,2}}|{_ROMAN})"
    rf"|\b{_ROMAN}|{_LETTER}|\b[a-z](?=,))"
)
_PARTS = rf"(?:{_GAP}[,;–-]?{_GAP}(?:(?:e|ou|c/c|d[aeo]s?)\s{{1,3}})?{_PART})"
# A number that is counted is no article: `arts. 3º e 5 dias`.
_COUNTED = r"(?!\s{0,3}(?:%|dias?\b|meses\b|m[êe]s\b|anos?\b|horas?\b|vezes\b|reais\b|por\s+cento\b|sal[áa]rios\b))"
_WORD = r"(?i:artigos?|arts?\.?)"
_THEN = rf"(?:{_GAP}[,;](?:{_GAP}(?:e|ou|c/c)(?=\s))?|\s{{1,3}}(?:e|ou|a|c/c)(?=\s)|{_GAP}c/c){_GAP}"
_ARTICLES = re.compile(
    rf"(?<!\w){_WORD}{_GAP}(?P<list>{_NUMBER}{_COUNTED}{_PARTS}{{0,12}}"
    rf"(?:{_THEN}{_NUMBER}(?![\w/]){_COUNTED}{_PARTS}{{0,12}}){{0,40}})(?!\w)"
)
# Read backwards from an article within a window: looked for at every place, long runs of items take quadratic time.
_PARTS_BEFORE = re.compile(
    rf"(?<!\w){_PART}{_PARTS}{{0,8}}{_GAP},?{_GAP}(?:(?:todos|ambos)\s+)?(?i:d[aoe]s?)\s{{1,3}}\Z"
)
_BEFORE_CHARS = 80
_ITEM = re.compile(rf"{_PART}|(?P<to>\ba\s)|(?P<number>\d{{1,4}}(?:\.\d{{3}})?)(?:\s?[º°ª]|o\b)?(?P<letter>-[A-Z]\b)?")
_OF_LAW = re.compile(
    rf"{_GAP}[,;]?{_GAP}(?:(?:todos|ambos)\s+)?(?:(?i:d[aoe]s?)\s{{1,3}}|/|\(|[-–])?{_GAP}"
    rf"(?:(?i:atual|nov[oa]|vigente|referid[oa]|citad[oa]|mesm[oa]|própri[oa])\s+)?"
)
_BEFORE = re.compile(rf"{_GAP}[,(–-]?{_GAP}(?:(?:em|no|nos)\s+(?:seus?\s+)?)?")
_JOINED = re.compile(rf"(?:{_GAP}(?:,|;|e|ou|c/c|bem\s+como|combinado\s+com|com|o|os)(?=\s|,)){{0,4}}{_GAP}")
_BETWEEN, _MAX_RANGE = 40, 30


@dataclass(frozen=True, slots=True)
class Provision:
    """An article of a law, or with an empty `article` the law alone, and where the whole citation stands."""

    law: str
    article: str
    start: int
    end: int


def found(text: str) -> Iterator[Provision]:
    """Every article cited with its law, and every law cited alone; an article without a law is passed over."""
    laws = acts.found(text)
    starts = [law.start for law in laws]
    cited = list(_ARTICLES.finditer(text))
    after: dict[int, tuple[Act, int]] = {}
    for place in range(len(cited) - 1, -1, -1):
        here = cited[place]
        if (law := _following(text, here, laws, starts)) is not None:
            after[place] = law, law.end
        elif (
            place + 1 in after
            and _preceding(text, here, laws, starts) is None
            and _JOINED.fullmatch(text, here.end(), cited[place + 1].start())
        ):
            after[place] = after[place + 1][0], here.end()  # both ways: `art. 5º c/c art. 7º da CF`
    used = {law.start for law, _ in after.values()}
    for place, match in enumerate(cited):
        if place in after:
            law, end = after[place]
            for article in _articles(match["list"], listed=True):
                yield Provision(law.name, article, _start(text, match), max(end, match.end()))
        elif (law_before := _preceding(text, match, laws, starts)) is not None:
            used.add(law_before.start)
            closed = text[: match.start()].rstrip().endswith("(") and text[match.end() : match.end() + 1] == ")"
            for article in _articles(match["list"], listed="s" in match[0].casefold().partition(match["list"][0])[0]):
                yield Provision(law_before.name, article, law_before.start, match.end() + closed)
    for law in laws:
        if law.alone and law.start not in used:
            yield Provision(law.name, "", law.start, law.end)


def _start(text: str, cited: "re.Match[str]") -> int:
    """Where a citation begins, with the paragraphs and items named before its article."""
    first = max(0, cited.start() - _BEFORE_CHARS)
    before = _PARTS_BEFORE.search(text[first : cited.start()])
    return first + before.start() if before else cited.start()


def _following(text: str, cited: "re.Match[str]", laws: tuple[Act, ...], starts: list[int]) -> Act | None:
    place = bisect_left(starts, cited.end())
    if place == len(laws) or starts[place] - cited.end() > _BETWEEN:
        return None
    return laws[place] if _OF_LAW.fullmatch(text, cited.end(), starts[place]) else None


def _preceding(text: str, cited: "re.Match[str]", laws: tuple[Act, ...], starts: list[int]) -> Act | None:
    place = bisect_left(starts, cited.start()) - 1
    if place < 0 or not 0 <= cited.start() - laws[place].end <= _BETWEEN:
        return None
    return laws[place] if _BEFORE.fullmatch(text, laws[place].end, cited.start()) else None


def _articles(written: str, *, listed: bool) -> Iterator[str]:
    """The articles of a list, ranges expanded; of one that is not `listed` a bare further number is no article."""
    last, to = 0, False
    for match in _ITEM.finditer(written):
        if match["to"]:
            to = True
        elif match["number"]:
            number = int(match["number"].replace(".", ""))
            if last and not listed:
                return
            if to and not match["letter"] and 0 < number - last <= _MAX_RANGE:
                yield from map(_shown, range(last + 1, number))
            yield f"{number}{match['letter']}" if match["letter"] else _shown(number)
            last, to = number, False


def _shown(number: int) -> str:
    return f"{number}º" if number < 10 else str(number)
