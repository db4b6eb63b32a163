"""Rulings in a text: cases by class and number, súmulas, orientações, temas and acórdãos, each with its court.

The court is part of a series: `Súmula 7` of the STJ is not that of the STF. One that is not said is not guessed.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from agents.legal.acts import NUMBERED, dotted
from agents.legal.case_numbers import UNIFIED, unified

_COURTS = {
    "Supremo Tribunal Federal": "STF",
    "Superior Tribunal de Justiça": "STJ",
    "Tribunal Superior do Trabalho": "TST",
    "Tribunal Superior Eleitoral": "TSE",
    "Superior Tribunal Militar": "STM",
    "Tribunal de Contas da União": "TCU",
    "Turma Nacional de Uniformização": "TNU",
}
_OF_COURT = (
    r"(?:,?\s{0,3}(?:(?:ambas|todas|ambos|todos)\s+)?(?:(?i:d[ao])\s+(?:C\.\s+|Colendo\s+|Egrégio\s+|Eg\.\s+|E\.\s+)?|[-/⁄–(]\s?)?"
    r"(?P<court>(?i:" + "|".join(name.replace(" ", r"\s+") for name in _COURTS) + r")|"
    r"STF|STJ|TST|TSE|STM|TCU|TNU|TR[FT][-\s]?\d{1,2}|TJ[A-Z]{2,3})(?!\w)\)?)"
)
_CLASSES = {
    "STF": ("RE", "ARE", "ADI", "ADC", "ADPF", "ADO", "MI", "ACO", "Rcl", "RCL", "Inq", "STA"),
    "STJ": ("REsp", "RESP", "Resp", "AREsp", "ARESP", "EREsp", "ERESP", "EAREsp", "RHC", "RMS", "PUIL"),
    "TST": ("RR", "AIRR", "ARR", "ROT", "ROAR", "ROMS", "RODC"),
    "TSE": ("REspe", "RESPE", "REspEl", "AREspe", "Cta"),
    "": ("HC", "MS", "CC", "Pet", "MC", "AI", "AR", "AC", "RO", "SS", "SL", "SLS", "AP", "Ext"),
}
_WORDS = {
    "recurso especial eleitoral": "REspe",
    "agravo em recurso especial": "AREsp",
    "recurso especial": "REsp",
    "agravo em recurso extraordinário": "ARE",
    "recurso extraordinário": "RE",
    "agravo de instrumento em recurso de revista": "AIRR",
    "recurso de revista": "RR",
    "habeas corpus": "HC",
    "mandado de segurança": "MS",
    "ação direta de inconstitucionalidade": "ADI",
    "ação declaratória de constitucionalidade": "ADC",
    "mandado de injunção": "MI",
    "ação cível originária": "ACO",
    "conflito de competência": "CC",
    "reclamação": "Rcl",
    "recurso em sentido estrito": "RSE",
    "apelação criminal": "Apelação Criminal",
    "apelação cível": "Apelação Cível",
    "apelação": "Apelação",
}
_SPELLED = {
    "ADIn": "ADI",
    "RESP": "REsp",
    "Resp": "REsp",
    "ARESP": "AREsp",
    "ERESP": "EREsp",
    "RESPE": "REspe",
    "RCL": "Rcl",
}
_COURT_OF = {name: court for court, names in _CLASSES.items() for name in names}
_ACRONYMS = "|".join(sorted([*_COURT_OF, "ADIn"], key=len, reverse=True))
_INCIDENT = r"(?:(?:AgInt|AgRg|AgR|Ag|EDcl|EDv|ED|EmbDiv|E|QO|MC|TP|RE)(?:\s+n[oa]s?\s+|-|\s)){0,4}"
_LATER = r"(?:[\s-]?(?:AgR|MC|ED|QO)(?:-(?:AgR|MC|ED|QO))?(?![A-Za-z]))?"
_STATE = r"(?:\s?[-/⁄]\s?(?P<state>A[CLMP]|BA|CE|DF|ES|GO|M[AGST]|P[ABEIR]|R[JNORS]|S[CEP]|TO)(?![A-Za-z]{2}))?"
_CASE = re.compile(
    rf"(?<![\w-])(?P<incident>{_INCIDENT})(?:(?P<class>{_ACRONYMS})|(?P<words>(?i:"
    + "|".join(name.replace(" ", r"\s+") for name in _WORDS)
    + rf")))(?:\s{{1,3}}|-)(?P<marked>{NUMBERED})"
    rf"(?:(?P<unified>{UNIFIED})|(?P<brief>\d{{1,6}}-\d{{2}}(?![\d.-]))|(?P<number>\d{{1,3}}(?:\.\d{{3}})+|\d{{2,7}})(?![\d.]*\d[-.]))(?!\d){_LATER}{_STATE}"
)
_NUMBER = r"\d{1,3}(?:\.\d{3})?"
_ITEMS = r"(?:,?\s{0,3}(?:(?:item|itens|inciso)\s+)?[IVX]{1,5}\b(?:\s+e\s+[IVX]{1,5}\b)?)?"
_MORE = re.compile(rf"\s{{0,3}}(?:,|e)\s{{0,3}}{NUMBERED}(?P<number>{_NUMBER})(?!\d|[./]\d){_ITEMS}")
_SERIES = re.compile(
    r"(?<!\w)(?:(?P<binding>(?i:s[úu]mulas?\s+vinculantes?)|SV)|(?P<summary>(?i:s[úu]mulas?))"
    r"|(?P<statement>Enunciados?)(?:\s+da\s+Súmula)?|(?P<notice>Informativos?))"
    rf"(?:\s{{1,3}}|-)(?:(?P<lead>STF|STJ|TST|TSE)\s+)?{NUMBERED}(?P<number>{_NUMBER})(?!\d|/\d){_ITEMS}"
)
_SECTION = r"(?:SB?DI\s?-?\s?(?P<division>[12I]{1,2})|(?P<collective>SDC))"
_GUIDANCE = re.compile(
    rf"(?<!\w)(?:OJ|(?i:orientaç(?:ão|ões)\s+jurisprudencia(?:l|is)))(?:s)?(?:\s{{1,3}}|-){NUMBERED}(?P<number>{_NUMBER})"
    rf"(?!\d)(?:,?\s{{1,3}}(?:ambas\s+)?d[ao]\s+{_SECTION})?(?:[\s/-]+(?:d[ao]\s+)?TST\b)?"
    r"|(?<!\w)OJ-SB?DI-?(?P<before>[12])-(?P<after>\d{1,3})(?!\d)"
)
_THEME = re.compile(
    rf"(?<!\w)(?:Tema|Tese)(?:\s+(?P<repeated>Repetitivo)|\s+de\s+(?P<general>Repercussão\s+Geral))?\s{{1,3}}{NUMBERED}(?P<number>\d{{1,3}}(?:\.\d{{3}})?|\d{{4}})(?!\d|/\d)"
    rf"(?:{_OF_COURT}|,?\s+(?:d[ao]s?|em)\s+(?P<kind>(?i:repercussão\s+geral|recursos?\s+repetitivos?|repetitivos)))?"
)
_AUDIT = re.compile(
    rf"(?<!\w)(?i:Acórdão)\s{{1,3}}{NUMBERED}(?P<number>{_NUMBER}|\d{{4,5}})/(?P<year>\d{{4}})"
    r"\s?[-–]?\s?(?P<court>TCU)?[-\s–]{0,3}(?P<body>Plenário|(?:1ª|2ª|Primeira|Segunda)\s+Câmara)?"
)
_BODIES = {"1ª Câmara": "Primeira Câmara", "2ª Câmara": "Segunda Câmara"}
_COURT = re.compile(_OF_COURT)
_YEARS = range(1900, 2051)


@dataclass(frozen=True, slots=True)
class Ruling:
    """A ruling; `number` is its name without the court, which is empty where the text does not say it."""

    name: str
    number: str
    court: str
    start: int
    end: int


def found(text: str) -> Iterator[Ruling]:
    """Every ruling cited in a text, lists expanded."""
    for match in _CASE.finditer(text):
        yield from _case(match)
    for match in _SERIES.finditer(text):
        yield from _series(text, match)
    for match in _GUIDANCE.finditer(text):
        division = (match["division"] or match["before"] or "").replace("II", "2").replace("I", "1")
        section = f"SDI-{division}" if division else match["collective"] or ""
        number = f"OJ {match['number'] or match['after']}" + (f" da {section}" if section else "")
        yield Ruling(f"{number} do TST", number, "TST", *match.span())
    for match in _THEME.finditer(text):
        yield from _theme(match)
    for match in _AUDIT.finditer(text):
        if match["court"] or match["body"]:
            body = " ".join((match["body"] or "").split())
            number = f"Acórdão {dotted(match['number'])}/{match['year']}" + (
                f"-{_BODIES.get(body, body)}" if body else ""
            )
            yield Ruling(f"{number} do TCU", number, "TCU", *match.span())


def _case(match: "re.Match[str]") -> Iterator[Ruling]:
    written = match["class"] or _WORDS[" ".join(match["words"].casefold().split())]
    known = _SPELLED.get(written, written)
    if match["unified"]:
        number = unified(match["unified"])
    elif match["brief"]:
        number = match["brief"]  # the electoral courts' short form: sequence and check digits
    else:
        bare = match["number"]
        # `HC 2020` is a year, not a case.
        if "." not in bare and int(bare) in _YEARS and not (match["marked"] or match["state"]):
            return
        if len(bare) < 3 and not (match["marked"] or match["state"]):
            return
        number = dotted(bare)
    incident = " ".join(match["incident"].split())
    incident = incident if incident.endswith("-") or not incident else f"{incident} "
    name = f"{incident}{known} {number}" + (f"/{match['state']}" if match["state"] else "")
    yield Ruling(name, name, _COURT_OF.get(written, _COURT_OF.get(known, "")), *match.span())


def _series(text: str, first: "re.Match[str]") -> Iterator[Ruling]:
    """The rulings of one series: a list has one court, said after its last number."""
    numbers, end = [first["number"]], first.end()
    while further := _MORE.match(text, end):
        numbers.append(further["number"])
        end = further.end()
    court = _COURT.match(text, end)
    said = _court(court["court"]) if court else first["lead"] or ""
    end = court.end() if court else end
    kind = next(
        name
        for group, name in (
            ("binding", "Súmula Vinculante"),
            ("summary", "Súmula"),
            ("statement", "Enunciado"),
            ("notice", "Informativo"),
        )
        if first[group]
    )
    if kind in ("Enunciado", "Informativo") and not said:
        return
    for number in numbers:
        of = "STF" if kind == "Súmula Vinculante" else said
        shown = f"{kind} {dotted(number)}"
        yield Ruling(shown + (f" do {of}" if of and kind != "Súmula Vinculante" else ""), shown, of, first.start(), end)


def _theme(match: "re.Match[str]") -> Iterator[Ruling]:
    kind = (match["kind"] or "").casefold()
    court = _court(match["court"]) if match["court"] else ""
    if match["general"] or kind.startswith("repercussão"):
        court = "STF"
    elif not court and (match["repeated"] or kind):
        court = "STJ"
    if not court:
        return
    number = f"Tema {dotted(match['number'])}"
    yield Ruling(f"{number} do {court}", number, court, *match.span())


def _court(written: str) -> str:
    plain = " ".join(written.split())
    return next((short for name, short in _COURTS.items() if name.casefold() == plain.casefold()), plain)
