"""Laws in a text: named ones (codes, the Constitution) and numbered ones, each with one name for all its spellings."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

NUMBERED = r"(?:[Nn](?:úmeros?|\.?\s?[º°ªo]s?\.?|s?\.)\s{0,3})?"
SLASH = r"\s?[/⁄]\s?"
FEDERAL = "Constituição Federal"
LABOUR = "Consolidação das Leis do Trabalho"
CIVIL, CIVIL_PROCEDURE = "Código Civil", "Código de Processo Civil"

_LONG = {
    FEDERAL: r"Constituição(?:\s+(?:Federal|d[ae]\s+(?:República(?:\s+Federativa\s+do\s+Brasil)?|1988)))*"
    r"(?:\s+de\s+1988|[/⁄](?:19)?88)?|Carta\s+(?:Magna|Federal|da\s+República)|Lei\s+Maior",
    LABOUR: r"Consolidação\s+das\s+Leis\s+do\s+Trabalho",
    "Código Civil de 1916": r"Código\s+Civil\s+de\s+1916",
    CIVIL: r"Código\s+Civil(?:\s+(?:Brasileiro|de\s+2002))?",
    "Código de Processo Civil de 1973": r"Código\s+de\s+Processo\s+Civil\s+de\s+1973",
    CIVIL_PROCEDURE: r"(?:Novo\s+)?Código\s+de\s+Processo\s+Civil(?:\s+de\s+2015)?",
    "Código Penal Militar": r"Código\s+Penal\s+Militar",
    "Código Penal": r"Código\s+Penal(?:\s+Brasileiro)?",
    "Código de Processo Penal Militar": r"Código\s+de\s+Processo\s+Penal\s+Militar",
    "Código de Processo Penal": r"Código\s+de\s+Processo\s+Penal",
    "Código de Defesa do Consumidor": r"Código\s+de\s+(?:Defesa|Proteção(?:\s+e\s+Defesa)?)\s+do\s+Consumidor",
    "Código Tributário Nacional": r"Código\s+Tributário\s+Nacional",
    "Código de Trânsito Brasileiro": r"Código\s+de\s+Trânsito(?:\s+Brasileiro)?",
    "Código Eleitoral": r"Código\s+Eleitoral",
    "Código Florestal": r"Código\s+Florestal",
    "Estatuto da Criança e do Adolescente": r"Estatuto\s+da\s+Criança\s+e\s+do\s+Adolescente",
    "Estatuto do Idoso": r"Estatuto\s+d[ao]\s+(?:Pessoa\s+Idosa|Idoso)",
    "Estatuto do Desarmamento": r"Estatuto\s+do\s+Desarmamento",
    "Lei de Execução Penal": r"Lei\s+de\s+Execução\s+Penal|Lei\s+de\s+Execuções\s+Penais",
    "Lei de Introdução às Normas do Direito Brasileiro": r"Lei\s+de\s+Introdução\s+às\s+Normas\s+do\s+Direito"
    r"\s+Brasileiro",
    "Lei de Improbidade Administrativa": r"Lei\s+de\s+Improbidade(?:\s+Administrativa)?",
    "Lei Maria da Penha": r"Lei\s+Maria\s+da\s+Penha",
    "Lei Orgânica do Distrito Federal": r"Lei\s+Orgânica\s+do\s+Distrito\s+Federal",
    "Lei de Inelegibilidades": r"Lei\s+d[ae]s?\s+Inelegibilidades?",
    "Lei das Eleições": r"Lei\s+das\s+Eleições",
    "Ato das Disposições Constitucionais Transitórias": r"Ato\s+das\s+Disposições\s+Constitucionais\s+Transitórias",
}
_SHORT = {
    FEDERAL: r"CRFB(?:[/⁄](?:19)?88)?|CF(?:RB)?(?:[/⁄](?:19)?88)?",
    LABOUR: "CLT",
    "Código Civil de 1916": r"CC[/⁄](?:19)?16",
    CIVIL: r"CCB?(?:[/⁄](?:20)?02)?",
    "Código de Processo Civil de 1973": r"CPC[/⁄](?:19)?73",
    CIVIL_PROCEDURE: r"NCPC|CPC(?:[/⁄](?:20)?15)?",
    "Código Penal Militar": "CPM",
    "Código Penal": r"CPB?",
    "Código de Processo Penal Militar": "CPPM",
    "Código de Processo Penal": "CPP",
    "Código de Defesa do Consumidor": "CDC",
    "Código Tributário Nacional": "CTN",
    "Código de Trânsito Brasileiro": "CTB",
    "Estatuto da Criança e do Adolescente": "ECA",
    "Lei de Execução Penal": "LEP",
    "Lei de Introdução às Normas do Direito Brasileiro": "LINDB",
    "Lei de Improbidade Administrativa": "LIA",
    "Ato das Disposições Constitucionais Transitórias": "ADCT",
    "Lei Orgânica do Distrito Federal": "LODF",
    "Regimento Interno do STF": "RISTF",
    "Regimento Interno do STJ": "RISTJ",
}
# These letters have other meanings (case classes, forms of payment, names): alone they are no law.
_AMBIGUOUS = {"CC", "CP", "CPB", "CCB", "CF", "ECA", "LIA", "CPM", "LEP"}
_NAMED = re.compile(
    r"(?<![\w/-])(?:"
    + "|".join(f"(?P<l{n}>(?i:{pattern}))" for n, pattern in enumerate(_LONG.values()))
    + "|"
    + "|".join(f"(?P<s{n}>{pattern})" for n, pattern in enumerate(_SHORT.values()))
    + r")(?![\w])"
)
_NAMES = {f"l{n}": name for n, name in enumerate(_LONG)} | {f"s{n}": name for n, name in enumerate(_SHORT)}

_KINDS = {
    "lei complementar": "Lei Complementar",
    "lc": "Lei Complementar",
    "lei delegada": "Lei Delegada",
    "decreto-lei": "Decreto-Lei",
    "dl": "Decreto-Lei",
    "decreto legislativo": "Decreto Legislativo",
    "decreto": "Decreto",
    "medida provisória": "Medida Provisória",
    "mp": "Medida Provisória",
    "emenda constitucional": "Emenda Constitucional",
    "ec": "Emenda Constitucional",
    "resolução": "Resolução",
    "res.": "Resolução",
    "portaria": "Portaria",
    "instrução normativa": "Instrução Normativa",
    "in": "Instrução Normativa",
    "lei": "Lei",
}
_PLURALS = {
    "leis complementares": "lei complementar",
    "decretos-leis": "decreto-lei",
    "medidas provisórias": "medida provisória",
    "emendas constitucionais": "emenda constitucional",
    "resoluções": "resolução",
    "leis": "lei",
    "decretos": "decreto",
}
_YEAR = (
    rf"(?:{SLASH}(?P<short>\d{{4}}|\d{{2}})(?!\d)|,?\s+de\s+"
    r"(?:\d{1,2}[º°]?[\s./]+(?:de\s+)?\w{1,9}[\s./]+(?:de\s+)?)?(?P<long>\d{4})\b)"
)
_NUMBER = r"\d{1,3}(?:\.\d{3})+(?:-\d{1,2})?|\d{1,6}(?:-\d{1,2})?"
_LAW = re.compile(
    r"(?<![\w-])(?P<kind>(?i:leis\s+complementares|lei\s+complementar|lei\s+delegada|leis|lei|decretos-leis|"
    r"decreto-lei|decreto\s+legislativo|decretos|decreto|medidas\s+provisórias|medida\s+provisória|"
    r"emendas\s+constitucionais|emenda\s+constitucional|resoluções|resolução|res\.|portaria|instrução\s+normativa)"
    r"|LC|EC|MP|DL|IN)"
    r"(?:[\s-]{1,3}(?P<issuer>(?i:federal|estadual|distrital|municipal|federais|estaduais|distritais|municipais|"
    r"conjunta|CNJ|TSE|STJ|STF|TST|INSS)))?[\s-]\s{0,2}"
    rf"{NUMBERED}(?P<number>{_NUMBER})(?!\d){_YEAR}?"
)
_NEXT = re.compile(rf"\s{{0,3}}(?:,|e|;)\s{{0,3}}{NUMBERED}(?P<number>{_NUMBER}){_YEAR}")
_SAME = re.compile(r"\s{0,3}[-–(,]?\s{0,3}")


@dataclass(frozen=True, slots=True)
class Act:
    """A law in a text; one that does not stand `alone` is a law only beside an article.

    `issuer` is the body or the level of government it says it is of, empty for a federal one and where none is said.
    """

    name: str
    start: int
    end: int
    alone: bool = True
    issuer: str = ""


def found(text: str) -> tuple[Act, ...]:
    """The laws of a text, in order; a name beside its own abbreviation is one mention."""
    numbered = [act for match in _LAW.finditer(text) for act in _numbered(text, match)]
    taken = {place for act in numbered for place in (act.start, act.end)}
    # `a constituição do processo` is a common noun.
    names = (match for match in _NAMED.finditer(text) if not match[0][0].islower())
    named = [_named(match) for match in names if match.start() not in taken]
    out: list[Act] = []
    for act in sorted([*numbered, *named], key=lambda each: (each.start, -each.end)):
        if out and act.start < out[-1].end:
            continue
        if out and out[-1].name == act.name and _SAME.fullmatch(text, out[-1].end, act.start):
            closed = text[act.start - 1] == "(" and text[act.end : act.end + 1] == ")"
            out[-1] = replace(out[-1], end=act.end + closed, alone=True)
        else:
            out.append(act)
    return tuple(out)


def _named(match: "re.Match[str]") -> Act:
    return Act(_NAMES[str(match.lastgroup)], *match.span(), alone=match[0] not in _AMBIGUOUS)


def _numbered(text: str, match: "re.Match[str]") -> Iterator[Act]:
    kind = " ".join(match["kind"].casefold().split())
    several = kind in _PLURALS
    kind = _KINDS[_PLURALS.get(kind, kind)]
    # Capitals alone ("MP 20", "IN 5") say little: such a law needs its year.
    if len(match["kind"]) == 2 and match["kind"] != "LC" and match["kind"] != "EC" and not _year_of(match):
        return
    issuer = _issuer(match["issuer"] or "")
    yield Act(_law(kind, match), *match.span(), issuer=issuer)
    end = match.end()
    while several and (further := _NEXT.match(text, end)):
        yield Act(_law(kind, further), further.start("number"), further.end(), issuer=issuer)
        end = further.end()


def _issuer(written: str) -> str:
    plain = written.casefold().replace("ais", "al")
    if plain in ("federal", "conjunta", ""):
        return ""
    return plain if plain.endswith("al") else written.upper()


def _year_of(match: "re.Match[str]") -> str:
    year = match["short"] or match["long"] or ""
    return f"{'19' if int(year) > 40 else '20'}{year}" if len(year) == 2 else year


def _law(kind: str, match: "re.Match[str]") -> str:
    year = _year_of(match)
    whole, _, reissue = match["number"].partition("-")
    return f"{kind} nº {dotted(whole)}{f'-{reissue}' if reissue else ''}" + (f"/{year}" if year else "")


def dotted(number: str) -> str:
    """A number with its thousands parted by dots, as Brazilian texts print it."""
    return f"{int(number.replace('.', '')):,}".replace(",", ".")
