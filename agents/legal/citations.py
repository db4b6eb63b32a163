"""The normal form of a legal reference, one for all its spellings, and the LexML name of a provision.

`[lei:CLT-art468]`, `[processo:0001234-56.2024.5.02.0000]`, `[sumula:TST-331]`, `[tema:STF-1046]`; a court or a body
that the text does not say is `?`. A law known by a name is that name also where it is cited by its number.
"""

import re
import unicodedata

from agents.legal.case_numbers import is_unified
from agents.legal.references import LegalReference, legal_references

_UNKNOWN = "?"
# Short name, empty where none is usual; kind, date and number of the act. Sources: planalto.gov.br, lexml.gov.br.
_ACTS = {
    "Constituição Federal": ("CF", "constituicao", "1988-10-05", "1988"),
    "Consolidação das Leis do Trabalho": ("CLT", "decreto-lei", "1943-05-01", "5452"),
    "Código Civil de 1916": ("CC1916", "lei", "1916-01-01", "3071"),
    "Código Civil": ("CC", "lei", "2002-01-10", "10406"),
    "Código de Processo Civil de 1973": ("CPC1973", "lei", "1973-01-11", "5869"),
    "Código de Processo Civil": ("CPC", "lei", "2015-03-16", "13105"),
    "Código Penal Militar": ("CPM", "decreto-lei", "1969-10-21", "1001"),
    "Código Penal": ("CP", "decreto-lei", "1940-12-07", "2848"),
    "Código de Processo Penal Militar": ("CPPM", "decreto-lei", "1969-10-21", "1002"),
    "Código de Processo Penal": ("CPP", "decreto-lei", "1941-10-03", "3689"),
    "Código de Defesa do Consumidor": ("CDC", "lei", "1990-09-11", "8078"),
    "Código Tributário Nacional": ("CTN", "lei", "1966-10-25", "5172"),
    "Código de Trânsito Brasileiro": ("CTB", "lei", "1997-09-23", "9503"),
    "Código Eleitoral": ("CE", "lei", "1965-07-15", "4737"),
    "Código Florestal": ("", "lei", "2012-05-25", "12651"),
    "Estatuto da Criança e do Adolescente": ("ECA", "lei", "1990-07-13", "8069"),
    "Estatuto do Idoso": ("", "lei", "2003-10-01", "10741"),
    "Estatuto do Desarmamento": ("", "lei", "2003-12-22", "10826"),
    "Lei de Execução Penal": ("LEP", "lei", "1984-07-11", "7210"),
    "Lei de Introdução às Normas do Direito Brasileiro": ("LINDB", "decreto-lei", "1942-09-04", "4657"),
    "Lei de Improbidade Administrativa": ("LIA", "lei", "1992-06-02", "8429"),
    "Lei Maria da Penha": ("", "lei", "2006-08-07", "11340"),
    "Lei de Inelegibilidades": ("", "lei-complementar", "1990-05-18", "64"),
    "Lei das Eleições": ("", "lei", "1997-09-30", "9504"),
    "Ato das Disposições Constitucionais Transitórias": ("ADCT", "", "", ""),
    "Lei Orgânica do Distrito Federal": ("LODF", "", "", ""),
    "Regimento Interno do STF": ("RISTF", "", "", ""),
    "Regimento Interno do STJ": ("RISTJ", "", "", ""),
}
_BY_NUMBER = {(kind, number): (short, date) for short, kind, date, number in _ACTS.values() if kind}
# Bodies number these acts each on its own.
_OF_A_BODY = {"resolucao", "portaria", "instrucao-normativa"}
_NUMBERED = re.compile(r"(?P<kind>.+) nº (?P<number>[\d.]+(?:-\d+)?)(?:/(?P<year>\d{4}))?")
_GUIDANCE = re.compile(r"OJ (?P<number>\d+)(?: da (?P<section>\S+))?")
_AUDIT = re.compile(r"Acórdão (?P<number>[\d.]+)/(?P<year>\d{4})(?:-(?P<body>.+))?")


def citation(reference: LegalReference) -> str:
    """The normal form of a reference, with brackets; incidents and the state of a case are no part of it."""
    if reference.kind == "processo":
        return f"[processo:{reference.number}]"
    if reference.kind == "jurisprudencia":
        return f"[{_ruling(reference)}]"
    kind, name, _ = _act(reference)
    return f"[{kind}:{name}{'-art' + _plain(reference.article) if reference.article else ''}]"


def citations(text: str) -> tuple[str, ...]:
    """The normal forms of the references of a text, in order, each once."""
    return tuple(dict.fromkeys(citation(each) for each in legal_references(text)))


def urn(reference: LegalReference) -> str:
    """The LexML name of a federal provision, empty where the date or the authority is not known.

    Rulings are named by LexML with the date of their judgment, which a citation does not say: theirs is empty.
    """
    if reference.kind != "dispositivo":
        return ""
    act = _act(reference)[2]
    if not act:
        return ""
    return f"urn:lex:br:federal:{act}" + (f"!{reference.fragment}" if reference.fragment else "")


def _act(reference: LegalReference) -> tuple[str, str, str]:
    """The kind, the name and the LexML act of a provision."""
    if reference.law in _ACTS:
        short, kind, date, number = _ACTS[reference.law]
        return _federal(short, kind, date, number)
    match = _NUMBERED.fullmatch(reference.law)
    if match is None:
        return "lei", _slug(reference.law), ""
    kind, number, year = _slug(match["kind"]), match["number"].replace(".", ""), match["year"] or ""
    issuer = reference.issuer or (_UNKNOWN if kind in _OF_A_BODY else "")
    if issuer:
        return kind, "-".join(filter(None, (issuer, number, year))), ""
    short, date = _BY_NUMBER.get((kind, number), ("", ""))
    if date and year in ("", date[:4]):
        return _federal(short, kind, date, number)
    return kind, "-".join(filter(None, (number, year))), f"{kind.replace('-', '.')}:{year};{number}" if year else ""


def _federal(short: str, kind: str, date: str, number: str) -> tuple[str, str, str]:
    act = f"{kind.replace('-', '.')}:{date};{number}" if kind else ""
    return ("lei", short, act) if short else (kind, f"{number}-{date[:4]}", act)


def _ruling(reference: LegalReference) -> str:
    court, written = reference.court or _UNKNOWN, reference.number
    if match := _GUIDANCE.fullmatch(written):
        section = (match["section"] or _UNKNOWN).replace("-", "")
        return f"oj:{court}-{section}-{match['number']}"
    if match := _AUDIT.fullmatch(written):
        body = f"-{_slug(match['body'])}" if match["body"] else ""
        return f"acordao:{court}-{_plain(match['number'])}-{match['year']}{body}"
    series, _, number = written.rpartition(" ")
    if series in ("Súmula", "Súmula Vinculante", "Tema", "Enunciado", "Informativo"):
        return f"{_slug(series)}:{court}-{_plain(number)}"
    number = number.partition("/")[0]
    if is_unified(number):
        return f"processo:{number}"
    return f"processo:{court}-{_class(series)}-{_plain(number)}"


def _class(series: str) -> str:
    """The class of a case without the incidents before it: `AgInt no AREsp` is a step of the AREsp."""
    _, spelled, rest = series.partition("Apelação")
    return _slug(spelled + rest) if spelled else series.split()[-1].rsplit("-", 1)[-1]


def _plain(number: str) -> str:
    """A number without its dots and ordinal signs; `75-B` keeps its letter."""
    return re.sub(r"[^\dA-Z-]", "", number)


def _slug(written: str) -> str:
    folded = unicodedata.normalize("NFKD", written.casefold())
    return "-".join("".join(each for each in folded if not unicodedata.combining(each)).split())
