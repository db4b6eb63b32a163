"""Legal references in a text: case numbers (CNJ), provisions of laws, court rulings; by pattern, Brazilian forms."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Kind = Literal["processo", "jurisprudencia", "dispositivo"]


@dataclass(frozen=True, slots=True)
class LegalReference:
    """A reference; `name` is the same for every spelling, `start` and `end` are its position in the text."""

    kind: Kind
    name: str
    start: int
    end: int
    court: str = ""
    number: str = ""
    law: str = ""
    article: str = ""


_CASE = re.compile(r"(?<![\d.-])\d{7}-\d{2}\.\d{4}\.\d\.\d{2}\.\d{4}(?![\d-])")
_NUMBERED = r"(?:n\s?[º°o.]{1,2}\s*)?"
_LAW = re.compile(
    r"\b(?P<kind>Lei\s+Complementar|Lei|LC|Decreto-Lei|Decreto|Medida\s+Provisória|Emenda\s+Constitucional|EC|"
    r"Resolução|Portaria|Instrução\s+Normativa)(?:\s+Federal|\s+Estadual|\s+Municipal)?\s+"
    + _NUMBERED
    + r"(?P<number>\d{1,3}(?:\.\d{3})+|\d{1,6})"
    r"(?:\s*/\s*(?P<short>\d{4}|\d{2})\b|,?\s+de\s+(?:\d{1,2}[º°]?\s+de\s+\w{4,9}\s+de\s+)?(?P<long>\d{4})\b)?"
)
_CODE = re.compile(
    r"\b(?P<code>Constituição(?:\s+Federal|\s+da\s+República)?|CF(?:/88|/1988)?|CLT|CPC|CPP|CDC|CTN|"
    r"Consolidação\s+das\s+Leis\s+do\s+Trabalho|Código\s+de\s+Processo\s+(?:Civil|Penal)|Código\s+de\s+Defesa\s+do\s+"
    r"Consumidor|Código\s+Tributário\s+Nacional|Código\s+Civil|Código\s+Penal)(?!\w)"
)
_ARTICLE = re.compile(r"\b[Aa]rt(?:igo|\.)?s?\s+(?P<number>\d{1,4}(?:\.\d{3})?)\s?[º°o]?(?P<letter>-[A-Z])?(?!\w)")
_RULING = re.compile(
    r"\b(?P<kind>REsp|AREsp|EREsp|RHC|RMS|ARE|RE|ADIn?|ADC|ADPF|HC|MI|AIRR|RR)\s+"
    + _NUMBERED
    + r"(?P<number>\d{1,3}(?:\.\d{3})+|\d{3,7})(?:\s?[/-]\s?(?P<state>[A-Z]{2})\b)?"
)
_SUMMARY = re.compile(
    r"\bSúmula\s+(?P<binding>Vinculante\s+)?" + _NUMBERED + r"(?P<number>\d{1,4})(?:\s+d[oa]\s+(?P<court>[A-Z]{3,4}))?"
)
_COURTS = {
    **dict.fromkeys(("REsp", "AREsp", "EREsp", "RHC", "RMS"), "STJ"),
    **dict.fromkeys(("ARE", "RE", "ADI", "ADC", "ADPF", "MI"), "STF"),
    **dict.fromkeys(("AIRR", "RR"), "TST"),
}
_LAWS = {"lc": "Lei Complementar", "ec": "Emenda Constitucional"}
_CODES = {
    "cf": "Constituição Federal",
    "constituição": "Constituição Federal",
    "constituição da república": "Constituição Federal",
    "clt": "Consolidação das Leis do Trabalho",
    "cpc": "Código de Processo Civil",
    "cpp": "Código de Processo Penal",
    "cdc": "Código de Defesa do Consumidor",
    "ctn": "Código Tributário Nacional",
}
# Between an article and its law: paragraphs, items, and the preposition.
_OF = re.compile(
    r"(?:,|\s|§|\d|[º°“”\"']|\b(?:[IVXLC]+|inciso|inc\.|alínea|[a-z]|parágrafo|único|caput)\b)*\bd[aoe]s?\s+"
)
_THEN = re.compile(r"\s*[,(]?\s*(?:em\s+seu\s+|no\s+seu\s+)?$")
BETWEEN_CHARS = 60
NEAR_CHARS = 100


def legal_references(text: str) -> tuple[LegalReference, ...]:
    """The legal references of a text, in order, every mention."""
    found = [*_cases(text), *_rulings(text), *_provisions(text)]
    return tuple(sorted(found, key=lambda each: (each.start, each.name)))


def _cases(text: str) -> Iterator[LegalReference]:
    for match in _CASE.finditer(text):
        yield LegalReference("processo", match[0], *match.span(), number=match[0])


def _rulings(text: str) -> Iterator[LegalReference]:
    for match in _RULING.finditer(text):
        kind = "ADI" if match["kind"] == "ADIn" else match["kind"]
        number = _dotted(match["number"])
        name = f"{kind} {number}" + (f"/{match['state']}" if match["state"] else "")
        yield LegalReference("jurisprudencia", name, *match.span(), _COURTS.get(kind, ""), name)
    for match in _SUMMARY.finditer(text):
        binding = "Vinculante " if match["binding"] else ""
        court = "STF" if binding else match["court"] or ""
        name = f"Súmula {binding}{match['number']}" + (f" do {court}" if court and not binding else "")
        yield LegalReference("jurisprudencia", name, *match.span(), court, f"Súmula {binding}{match['number']}")


def _provisions(text: str) -> Iterator[LegalReference]:
    """Every law, with the article quoted before or after it; articles without a law are skipped."""
    laws = [(match.start(), match.end(), _law(match)) for match in _LAW.finditer(text)]
    laws += [(match.start(), match.end(), _code(match["code"])) for match in _CODE.finditer(text)]
    articles = list(_ARTICLE.finditer(text))
    places = [match.start() for match in articles]
    for start, end, law in sorted(laws):
        # Only nearby articles: a text of nothing but laws and articles would take quadratic time.
        first, last = bisect_left(places, start - NEAR_CHARS), bisect_right(places, end + NEAR_CHARS)
        quoted = [each for each in articles[first:last] if _belongs(text, each, start, end)]
        for article in quoted:
            number = f"{article['number']}{article['letter'] or ''}"
            shown = f"{number}º" if number.isdigit() and int(number) < 10 else number
            name = f"{law}, art. {shown}"
            first_at, last_at = min(start, article.start()), max(end, article.end("number"), article.end("letter"))
            yield LegalReference("dispositivo", name, first_at, last_at, law=law, article=shown)
        if not quoted:
            yield LegalReference("dispositivo", law, start, end, law=law)


def _belongs(text: str, article: "re.Match[str]", start: int, end: int) -> bool:
    if article.end() <= start and start - article.end() <= BETWEEN_CHARS:
        return _OF.fullmatch(text, article.end(), start) is not None
    return 0 <= article.start() - end <= BETWEEN_CHARS and _THEN.fullmatch(text, end, article.start()) is not None


def _law(match: "re.Match[str]") -> str:
    kind = " ".join(match["kind"].split())
    year = match["short"] or match["long"] or ""
    if len(year) == 2:
        year = f"{'19' if int(year) > 40 else '20'}{year}"
    return f"{_LAWS.get(kind.casefold(), kind)} nº {_dotted(match['number'])}" + (f"/{year}" if year else "")


def _code(written: str) -> str:
    plain = " ".join(written.split())
    return _CODES.get(plain.casefold().partition("/")[0], plain)


def _dotted(number: str) -> str:
    return f"{int(number.replace('.', '')):,}".replace(",", ".")
