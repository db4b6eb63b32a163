"""Articles of laws in a text: lists and ranges expanded, the law found on either side, paragraphs and items inside."""

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass

from agents.legal import acts
from agents.legal.acts import Act
from agents.legal.fragments import fragment

_GAP = r"\s{0,3}"
_NUMBER = r"\d{1,4}(?:\.\d{3})?(?:[\s.]?[º°ª]|o\b)?(?:-[A-Z]\b)?"
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
# Beside these an article has an owner, law or not: it inherits none.
_OWNER = re.compile(r"[\s,;(]{0,4}(?:d[aeo]s?\b|/|[-–]\s?[A-Z])", re.IGNORECASE)
_BETWEEN, _MAX_RANGE = 40, 30


@dataclass(frozen=True, slots=True)
class Provision:
    """An article of a law, or with an empty `article` the law alone, and where the whole citation stands.

    `issuer` is that of the law (`acts.Act`), `fragment` the place inside the law as LexML writes it.
    """

    law: str
    article: str
    start: int
    end: int
    issuer: str = ""
    fragment: str = ""


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
    _inherit(text, cited, after, laws, starts)
    used = {law.start for law, _ in after.values()}
    for place, match in enumerate(cited):
        if place in after:
            law, end = after[place]
            start, rising = _before(text, match)
            span = start, max(end, match.end())
            yield from _of(law, _articles(match["list"], rising, listed=True), *span)
        elif (law_before := _preceding(text, match, laws, starts)) is not None:
            used.add(law_before.start)
            closed = text[: match.start()].rstrip().endswith("(") and text[match.end() : match.end() + 1] == ")"
            listed = "s" in match[0].casefold().partition(match["list"][0])[0]
            span = law_before.start, match.end() + closed
            yield from _of(law_before, _articles(match["list"], (), listed=listed), *span)
    for law in laws:
        if law.alone and law.start not in used:
            yield Provision(law.name, "", law.start, law.end, law.issuer)


def _of(law: Act, articles: Iterator[tuple[str, str]], start: int, end: int) -> Iterator[Provision]:
    for article, inside in articles:
        yield Provision(law.name, article, start, end, law.issuer, inside)


def _inherit(
    text: str,
    cited: "list[re.Match[str]]",
    after: dict[int, tuple[Act, int]],
    laws: tuple[Act, ...],
    starts: list[int],
) -> None:
    """Give an article joined to the one before its law: `art. 186 do CC c/c art. 927`, not `e art. 3º do contrato`."""
    for place in range(1, len(cited)):
        if place in after or place - 1 not in after or _OWNER.match(text, cited[place].end()):
            continue
        end = max(after[place - 1][1], cited[place - 1].end())
        joined = _JOINED.fullmatch(text, end, cited[place].start())
        if joined and joined[0].strip() and _preceding(text, cited[place], laws, starts) is None:
            after[place] = after[place - 1][0], cited[place].end()


def _before(text: str, cited: "re.Match[str]") -> tuple[int, tuple[tuple[str, str], ...]]:
    """Where a citation begins, with the paragraphs and items named before its article, the deepest first."""
    first = max(0, cited.start() - _BEFORE_CHARS)
    before = _PARTS_BEFORE.search(text[first : cited.start()])
    if before is None:
        return cited.start(), ()
    return first + before.start(), tuple(_parts(before[0]))


def _parts(written: str) -> Iterator[tuple[str, str]]:
    """Each part of a run of parts, with what stands between it and the one before."""
    end = 0
    for match in re.finditer(_PART, written):
        yield match[0], written[end : match.start()]
        end = match.end()


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


def _articles(written: str, rising: tuple[tuple[str, str], ...], *, listed: bool) -> Iterator[tuple[str, str]]:
    """The articles of a list with their fragments, ranges expanded; those `rising` before it are of the first.

    Of a list that is not `listed` a bare further number is no article.
    """
    items = list(_ITEM.finditer(written))
    last, to = 0, False
    for place, match in enumerate(items):
        if match["to"]:
            to = True
        elif match["number"]:
            number = int(match["number"].replace(".", ""))
            if last and not listed:
                return
            if to and not match["letter"] and 0 < number - last <= _MAX_RANGE:
                yield from ((_shown(each), f"art{each}") for each in range(last + 1, number))
            article = f"{number}{match['letter']}" if match["letter"] else _shown(number)
            inside = tuple(_inside(written, items, place))
            upward = bool(rising) and not last and not inside
            yield article, fragment(article, rising if upward else inside, rising=upward)
            last, to = number, False


def _inside(written: str, items: "list[re.Match[str]]", place: int) -> Iterator[tuple[str, str]]:
    """The parts after an article and before the next one, each with what stands before it."""
    end = items[place].end()
    for match in items[place + 1 :]:
        if match["to"] or match["number"]:
            return
        yield match[0], written[end : match.start()]
        end = match.end()


def _shown(number: int) -> str:
    return f"{number}º" if number < 10 else str(number)
