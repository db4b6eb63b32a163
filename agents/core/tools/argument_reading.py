"""Reading of argument values from a sentence that states a task ("Please confirm: a table for 2 at 7 pm"). Pure.

Values are returned as written: the caller of the tool knows its calendar.
"""

import re
from collections.abc import Mapping
from functools import cache
from typing import Final

from agents.core.language.lexicons import framed, lexicon
from agents.core.tools.argument_types import DAYS, END, ORIGIN, PEOPLE, RECIPIENT, Kind, SlotType, words_of

FLAGS: Final = ("True", "False")
_CAPITAL = r"[A-ZÀ-Ý][\w.'’-]*"
# Frames around the words and phrases of the lexicon.
_FRAMES: Final = {
    "DATE": (
        r"(?i)\b(?:<<months>>\.? \d{1,2}(?:st|nd|rd|th)?|\d{1,2}(?:st|nd|rd|th|º)? (?:of|de) "
        r"(?:<<months>>|this month|este mês)|<<days_away>>|next <<weekdays>>|<<weekdays>> (?:this|next) week|"
        r"this <<weekdays>>|próxim[ao] <<weekdays>>|the \d{1,2}(?:st|nd|rd|th)|dia \d{1,2}|\d{4}-\d\d-\d\d|"
        r"\d{1,2}/\d{1,2}(?:/\d{2,4})?)\b"
    ),
    "TIME": (
        r"(?i)\b(?:\d{1,2}(?::\d\d)? ?[ap]\.?m\b|\d{1,2}:\d\d|\d{1,2}h(?:\d\d)?\b|<<middays>>|"
        r"(?:half|quarter) (?:past|to) \d{1,2} in the <<parts_of_day>>|\d{1,2}(?::\d\d)? in the <<parts_of_day>>|"
        r"<<parts_of_day>> \d{1,2}(?::\d\d)?)"
    ),
    "PAYS": r"(?i)<<pays>>",
    "HOLDS": r"(?i)<<holds>>|<<costs>>\b",
    "SUM": r"(?:\$|€|£) ?(\d[\d,.]*\d|\d)|(\d[\d,.]*\d|\d) <<currencies>>",
    "ACCOUNT": r"(?i)\b(<<accounts>>)\b",
    "COUNTED": r"(?i)(?<![$\d,.])\b<<number>>(?: (?!per|a|each)\w+)?[- ]",
    "ALONE": r"(?i)\b<<alone>>\b",
    "FOR_SOME": r"(?i)\b(?:for|of|para|:) ?<<number>>\b(?!:|,\d| ?[ap]m|\d| <<other_units>>)",
    "FIRST": r"(?i)^\W*<<agrees>>?,? ?<<number>> ",
    "FROM": rf"\b<<from>> (?:from )?({_CAPITAL}(?: (?!(?i:<<months>>)\.? \d){_CAPITAL})*)",
    "TO": (
        rf"\b<<to>> (?:the )?((?:\d+ )?{_CAPITAL}"
        r"(?: (?!(?i:<<months>>)\.? \d)(?:[A-ZÀ-Ý#][\w.'’#-]*|\d+[A-Z]?|&|<<joints>>))*)"
    ),
    "IN": rf"\b<<in>> ({_CAPITAL}(?: (?!(?i:<<months>>)\.? \d){_CAPITAL})*)",
    "TRAILING": r" (?:&|<<joints>>)$",
    "PERSON": (
        rf"\b<<for>> (?!<<no_person>>|the |\$)({_CAPITAL}(?: (?!(?i:<<months>>)\.? \d){_CAPITAL})*)|"
        r"\b([A-ZÀ-Ý][\w-]+)['’]s <<own_accounts>>"
    ),
    "CALLED": (
        r"\b<<called>> (?:of |de )?[\"'“]?([^\W\d_]?[\w' ]+?)[\"'”]?(?: <<ends_name>>\b|[,.?]|$)"
    ),
    "WITHOUT": r"(?i)\b<<without>>[ -]?(?:\w+ ){0,3}",
    "WITH": r"(?i)\b<<with>> ",
}  # fmt: skip
# A word of four letters and more is not abbreviated, nor one before a word that begins a sentence.
_ENDS = re.compile(
    r"(?<=\w{4})(?<!Prof)(?<!Profa)(?<!Capt)(?<!Sgto)\.\s*[A-ZÀ-Ý].*$|(?<=[a-z])\.(?=[A-ZÀ-Ý]).*$|"
    r"\.\s+(?:Is|The|Do|Does|That|It|You|Would|Please|Right|Correct|Ok|Okay|Certo|Correto|Confirma|Confirmo)\b.*$"
)
# What is picked up somewhere has its origin there; a way has it where it is from.
_FETCHED = frozenset({"pickup", "retirada"})
_SENTENCES = re.compile(r"(?<=[.?!])\s")


@cache
def _numerals() -> Mapping[str, str]:
    return lexicon("argument_values").rows("numerals")


@cache
def _pattern(name: str) -> re.Pattern[str]:
    frame = _FRAMES[name].replace("<<number>>", rf"(\d{{1,2}}|{'|'.join(_numerals())})")
    return framed("argument_values", frame)


def _before(name: str, pattern: str, text: str) -> re.Match[str] | None:
    """The first match of a frame followed by a pattern; these are not kept, since callers name arguments at will."""
    return re.search(rf"{_pattern(name).pattern}(?:{pattern})\b", text)


def read(name: str, sort: SlotType, text: str) -> str | None:
    """The value of an argument in a text, as written; None where the text has none of its type."""
    match sort.kind:
        case Kind.DATE:
            found = _pattern("DATE").findall(text)
            # A span names both ends, and the end comes last.
            return (found[-1] if len(found) > 1 else None) if sort.part == END else (found[0] if found else None)
        case Kind.TIME:
            return next((match[0].strip() for match in _pattern("TIME").finditer(text)), None)
        case Kind.MONEY:
            return _sum(text)
        case Kind.COUNT:
            return _count(sort.part, text)
        case Kind.ACCOUNT:
            return _account(sort.part, text)
        case Kind.PERSON:
            match_ = _pattern("PERSON").search(text)
            return re.sub(r"(?:['’]s|\.)$", "", _ended(match_[1] or match_[2])) if match_ else None
        case Kind.NAME:
            called = _pattern("CALLED").search(text)
            return called[1].strip() if called else None
        case Kind.PLACE:
            return _place(name, sort.part, text)
        case _:
            return _by_its_own_words(words_of(name), text)


def _account(part: str, text: str) -> str | None:
    kinds = _pattern("ACCOUNT").findall(text)
    if part == RECIPIENT:
        return kinds[-1] if len(kinds) > 1 else None
    return kinds[0] if kinds else None


def _sum(text: str) -> str | None:
    paid = " ".join(
        each for each in _SENTENCES.split(text) if _pattern("PAYS").search(each) and not _pattern("HOLDS").search(each)
    )
    found = _pattern("SUM").search(paid)
    return _plain_number(found[1] or found[2]) if found else None


def _plain_number(amount: str) -> str:
    """An amount without separators of groups: `1.200,50` and `1,200.50` are 1200.50, `1.200` is 1200."""
    last = re.search(r"[.,](\d{1,2})$", amount)
    whole, cents = (amount[: last.start()], f".{last[1]}") if last else (amount, "")
    return re.sub(r"[.,]", "", whole) + cents


def _count(unit: str, text: str) -> str | None:
    # Other counted things have the same name in the text as in the argument's name.
    known = unit in (PEOPLE, DAYS)
    found = _before("COUNTED", lexicon("argument_values").pattern(unit) if known else rf"{re.escape(unit)}\w*", text)
    if found and not _pattern("TIME").match(found[0]):
        return _numeral(found[1])
    if unit != PEOPLE:
        return None
    if _pattern("ALONE").search(text):
        return "1"
    some = _pattern("FOR_SOME").search(text) or _pattern("FIRST").search(text)
    return _numeral(some[1]) if some else None


def _numeral(word: str) -> str:
    return _numerals().get(word.lower(), word)


def _place(name: str, part: str, text: str) -> str | None:
    words = words_of(name)
    if part == ORIGIN:
        found = _pattern("FROM").search(text) or (_pattern("IN").search(text) if _FETCHED & {*words} else None)
    elif {"to", "destination", "destino"} & {*words}:
        found = _pattern("TO").search(text)
    else:
        found = _pattern("IN").search(text)
    return _ended(_pattern("TRAILING").sub("", found[1])) if found else None


def _ended(value: str) -> str:
    """A value up to the end of its sentence: `Grace. Is` is Grace; a short word with a point is abbreviated."""
    return _ENDS.sub("", value).rstrip(".")


def _by_its_own_words(words: tuple[str, ...], text: str) -> str | None:
    """Whether an argument of unknown type is wanted, by its own name ("a shared ride", "no early check-in")."""
    if len(words) < 2:
        return None
    phrase = r"[ -]".join(map(re.escape, words))
    if _before("WITHOUT", phrase, text):
        return "False"
    return "True" if _before("WITH", phrase, text) else None
