"""Reading of argument values from a sentence that states a task ("Please confirm: a table for 2 at 7 pm"). Pure.

Values are returned as written: the caller of the tool knows its calendar.
"""

import re
from typing import Final

from agents.core.tools.argument_types import DAYS, END, ORIGIN, PEOPLE, RECIPIENT, Kind, SlotType, words_of

_MONTH = (
    r"(?:jan(?:uary|eiro)?|feb(?:ruary)?|fevereiro|mar(?:ch|ço)?|apr(?:il)?|abril|may|maio|june?|junho|july?|julho|"
    r"aug(?:ust)?|agosto|sep(?:t(?:ember)?)?|setembro|oct(?:ober)?|outubro|nov(?:ember|embro)?|dec(?:ember)?|dezembro)"
)
_DAY = (
    r"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|segunda(?:-feira)?|terça(?:-feira)?|quarta(?:-feira)?|"
    r"quinta(?:-feira)?|sexta(?:-feira)?|sábado|domingo)"
)
_DATE = re.compile(
    rf"\b(?:{_MONTH}\.? \d{{1,2}}(?:st|nd|rd|th)?|\d{{1,2}}(?:st|nd|rd|th|º)? (?:of|de) "
    rf"(?:{_MONTH}|this month|este mês)|"
    rf"(?:the )?day after tomorrow|tomorrow|today|depois de amanhã|amanhã|hoje|next {_DAY}|{_DAY} (?:this|next) week|"
    rf"this {_DAY}|próxim[ao] {_DAY}|next week|the \d{{1,2}}(?:st|nd|rd|th)|dia \d{{1,2}}|\d{{4}}-\d\d-\d\d|"
    rf"\d{{1,2}}/\d{{1,2}}(?:/\d{{2,4}})?)\b",
    re.IGNORECASE,
)
_PART_OF_DAY = r"(?:morning|afternoon|evening)"
_TIME = re.compile(
    rf"\b(?:\d{{1,2}}(?::\d\d)? ?[ap]\.?m\b|\d{{1,2}}:\d\d|\d{{1,2}}h(?:\d\d)?\b|noon|meio-dia|"
    rf"(?:half|quarter) (?:past|to) \d{{1,2}} in the {_PART_OF_DAY}|\d{{1,2}}(?::\d\d)? in the {_PART_OF_DAY}|"
    rf"{_PART_OF_DAY} \d{{1,2}}(?::\d\d)?)",
    re.IGNORECASE,
)
_SENTENCES = re.compile(r"(?<=[.?!])\s")
_PAYS = re.compile(r"transfer|send|pay|confirm|move|request|charge|envi|pag", re.IGNORECASE)
_HOLDS = re.compile(r"balance|currently|right now|you have|costs?\b|price|saldo|custa|preço", re.IGNORECASE)
_SUM = re.compile(r"(?:\$|€|£|R\$ ?)(\d[\d,.]*\d|\d)|(\d[\d,]*) (?:dollars|bucks|euros|reais)")
_ACCOUNT = re.compile(r"\b(checking|savings|credit|corrente|poupança)\b", re.IGNORECASE)
_NUMERALS: Final = {
    "one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8", "nine": "9",
    "ten": "10", "um": "1", "uma": "1", "dois": "2", "duas": "2", "três": "3", "quatro": "4", "cinco": "5", "seis": "6",
}  # fmt: skip
_NUMBER = rf"(\d{{1,2}}|{'|'.join(_NUMERALS)})"
_COUNTED: Final = {
    PEOPLE: r"(?:people|persons?|passengers?|travell?ers?|riders?|seats?|tickets?|guests?|adults?|pessoas?|"
    r"passageiros?|lugares|ingressos?|passagens)",
    DAYS: r"(?:days?|nights?|dias?|noites?)",
}
_ALONE = re.compile(r"\b(?:an? (?:[\w-]+ )?(?:passenger|person)\b|for (?:yourself|just you|you only|myself)\b)", re.I)
_FOR_SOME = re.compile(
    rf"\b(?:for|of|para|:) ?{_NUMBER}\b"
    r"(?!:|,\d| ?[ap]m|\d| (?:days?|nights?|in the|rooms?|dollars|bucks|dias?|noites?))",
    re.IGNORECASE,
)
_FIRST = re.compile(rf"^\W*(?:sure|okay|ok|certo)?,? ?{_NUMBER} ", re.IGNORECASE)
_PROPER = r"[A-ZÀ-Ý][\w.'’-]*(?: (?!{m}\b)[A-ZÀ-Ý][\w.'’-]*)*".replace("{m}", _MONTH)
_FROM = re.compile(rf"\b(?:from|leaving|departing|out of|saindo de) (?:from )?({_PROPER})")
_TO = re.compile(
    r"\b(?:to|headed (?:to|for)|in|arriving (?:in|at)|reach(?:ing)?|para) (?:the )?"
    rf"((?:\d+ )?[A-ZÀ-Ý][\w.'’-]*(?: (?!{_MONTH}\b)(?:[A-ZÀ-Ý#][\w.'’#-]*|\d+|of|the|and|&|de|do|da))*)"
)
_IN = re.compile(rf"\b(?:in|near|around|em|perto de) ({_PROPER})")
_TRAILING = re.compile(r" (?:of|the|and|&|de|do|da)$")
_PERSON = re.compile(
    rf"\b(?:to|of|for|para) (?!your|their|his|her|the |\$|checking|savings)({_PROPER})|"
    r"\b([A-ZÀ-Ý][\w-]+)['’]s (?:checking|savings)"
)
_CALLED = re.compile(
    r"\b(?:called|titled|named|in the name|with the name|name(?: of)?|chamad[ao]|intitulad[ao]) (?:of |de )?[\"'“]?"
    r"([^\W\d_]?[\w' ]+?)[\"'”]?(?: (?:set|with|at|for|on|that|right|correct|to|às|para)\b|[,.?]|$)"
)
FLAGS: Final = ("True", "False")
_WITHOUT = r"\b(?:not|non|no|don't|without|não|sem)[ -]?(?:\w+ ){0,3}"
_WITH = r"\b(?:an?|any|with|um|uma|com) "


def read(name: str, sort: SlotType, text: str) -> str | None:
    """The value of an argument in a text, as written; None where the text has none of its type."""
    match sort.kind:
        case Kind.DATE:
            found = _DATE.findall(text)
            # A span names both ends, and the end comes last.
            return (found[-1] if len(found) > 1 else None) if sort.part == END else (found[0] if found else None)
        case Kind.TIME:
            return next((match[0].strip() for match in _TIME.finditer(text)), None)
        case Kind.MONEY:
            return _sum(text)
        case Kind.COUNT:
            return _count(sort.part, text)
        case Kind.ACCOUNT:
            return _account(sort.part, text)
        case Kind.PERSON:
            match_ = _PERSON.search(text)
            return re.sub(r"(?:['’]s|\.)$", "", match_[1] or match_[2]) if match_ else None
        case Kind.NAME:
            called = _CALLED.search(text)
            return called[1].strip() if called else None
        case Kind.PLACE:
            return _place(name, sort.part, text)
        case _:
            return _by_its_own_words(words_of(name), text)


def _account(part: str, text: str) -> str | None:
    kinds = _ACCOUNT.findall(text)
    if part == RECIPIENT:
        return kinds[-1] if len(kinds) > 1 else None
    return kinds[0] if kinds else None


def _sum(text: str) -> str | None:
    paid = " ".join(each for each in _SENTENCES.split(text) if _PAYS.search(each) and not _HOLDS.search(each))
    found = _SUM.search(paid)
    return (found[1] or found[2]).replace(",", "") if found else None


def _count(unit: str, text: str) -> str | None:
    # Other counted things have the same name in the text as in the argument's name.
    counted = _COUNTED.get(unit) or rf"{re.escape(unit)}\w*"
    found = re.search(rf"(?<![$\d,.])\b{_NUMBER}(?: (?!per|a|each)\w+)?[- ]{counted}\b", text, re.IGNORECASE)
    if found and not _TIME.match(found[0]):
        return _numeral(found[1])
    if unit != PEOPLE:
        return None
    if _ALONE.search(text):
        return "1"
    some = _FOR_SOME.search(text) or _FIRST.search(text)
    return _numeral(some[1]) if some else None


def _numeral(word: str) -> str:
    return _NUMERALS.get(word.lower(), word)


def _place(name: str, part: str, text: str) -> str | None:
    words = words_of(name)
    if part == ORIGIN:
        found = _FROM.search(text)
    elif {"to", "destination", "destino"} & {*words}:
        found = _TO.search(text)
    else:
        found = _IN.search(text)
    return _TRAILING.sub("", found[1]).rstrip(".") if found else None


def _by_its_own_words(words: tuple[str, ...], text: str) -> str | None:
    """Whether an argument of unknown type is wanted, by its own name ("a shared ride", "no early check-in")."""
    if len(words) < 2:
        return None
    phrase = r"[ -]".join(map(re.escape, words))
    if re.search(rf"{_WITHOUT}{phrase}\b", text, re.IGNORECASE):
        return "False"
    return "True" if re.search(rf"{_WITH}{phrase}\b", text, re.IGNORECASE) else None
