"""The attribute of a value, and whether the attribute takes one value at a time.

One vocabulary for both languages: data, início, fim, duração, valor, quantidade de …, contato, pessoa, nome, local,
origem, residência, emprego, idade, estado, preferência, gosta de, é.
"""

import re
from dataclasses import dataclass, replace

from agents.core.claims import grammar
from agents.core.claims.subjects import USER, Subject, subject_key
from agents.core.language.claim_lexicon import words
from agents.core.language.sentences import flatten
from agents.core.language.values import TypedValue

MAX_VALUE_CHARS = 80
MAX_FREE_WORDS = 10
MANY = frozenset({"gosta de", "é"})
_BEFORE_VALUE = re.compile(r"^(?:no|on|at|às|as)\s+(?=\S)", re.IGNORECASE)
_ARTICLE = re.compile(r"^(?:o|a|os|as|the)\s+(?=[A-ZÀ-Ý])", re.IGNORECASE)
# A name proper, each word with a capital, or `the basic one`: with the article of each language.
_PROPER = r"[A-ZÀ-Ý][\wÀ-ÿ.'&]*(?: (?:(?:of|the|and|de|da|do|dos|das|e) )?[A-ZÀ-Ý0-9][\wÀ-ÿ.'&]*)*"
_NAMES = {
    lang: (re.compile(rf"(?:{article} )?{_PROPER}$"), re.compile(rf"{article} [a-zà-ÿ]+(?: one)?$"))
    for lang, article in (("en", "(?:the|The)"), ("pt", "(?:[oa]s?|[OA]s?)"))
}
_FROM = re.compile(r"(?:\bd[eoa]|\bfrom)\s+(?:[oa]\s+|the\s+)?$")
_RATE = re.compile(
    r"\s*(?:por|per|/|ao|a|an)\s?(?:mês|mes|hora|dia|ano|pessoa|month|hour|day|year|person|user|unit|"
    r"unidade)\b"
)
# People write names in small letters, too: up to three words before another clause.
LOW_NAME = re.compile(
    r"\s*(?P<name>(?!not\b|não\b|what\b|the\b|o\b|a\b|um|an?\b)[^\W\d_][\w'-]{1,20}"
    r"(?:\s(?!(?:and|but|e|mas|i|eu|sou|tenho|from|de|na|no|i'm)\b)[^\W\d_][\w'-]{1,20}){0,2})(?=[\s,.!]|$)"
)
# When it holds is not what it is: `my plan is now the premium one`.
_FREE_LEAD = re.compile(r"^(?:now|currently|agora|atualmente)\s+", re.IGNORECASE)
_FREE_END = re.compile(r"[,;:.!?]|\s(?:mas|but|porque|because|pois)\s")


@dataclass(frozen=True, slots=True)
class Slot:
    """A value with its attribute; `functional` when it excludes other values of that attribute."""

    subject: str
    attribute: str
    value: str
    functional: bool
    typed: bool = True
    negated: bool = False

    @classmethod
    def read(cls, subject: Subject, value: TypedValue, text: str) -> "Slot":
        """The slot of a typed value in a plain `X is V`."""
        attribute, single = _attribute(subject, "be", value, text[: value.start].lower())
        return cls(subject.text, attribute, cleaned(text[value.start : value.end], value), single and _binds(subject))

    def denied(self, lang: str) -> "Slot":
        """The slot of a denial, `não V`, which excludes V only."""
        word = "not" if lang == "en" else "não"
        return replace(self, value=f"{word} {self.value}", functional=False, negated=True)


def slot_of(
    subject: Subject, form: str, value: TypedValue | None, text: str, low: str, place: tuple[int, int]
) -> tuple[Slot | None, int | None]:
    """The slot of a clause, and the start of the next clause if any; `place` is the span of the predicate."""
    start, end = place
    if value is None:
        return _free(subject, form, text, low, place), None
    attribute, single = _attribute(subject, form, value, low[start : value.start], low[:start])
    rate = _RATE.match(low, value.end, end)
    stop = value.end
    if rate and value.kind in ("money", "number"):
        attribute, stop = f"{attribute} {rate.group().strip()}", rate.end()
    whole, following = tail_of(low, stop, end)
    shown = text[value.start : stop] if whole else text[value.start : end]
    single = single and whole and (_binds(subject) or form in ("live", "have"))
    return Slot(subject.text, attribute, cleaned(shown, value), single), following


def _binds(subject: Subject) -> bool:
    return subject.definite and words("vague_heads").isdisjoint(
        flatten(subject.text).split()[:1] + subject.head.split()[-1:]
    )


def cleaned(shown: str, value: TypedValue) -> str:
    """A value as stored: without outer marks and without a leading article or preposition."""
    shown = shown.strip(" \t.,;:!)*\"'“”«»")[:MAX_VALUE_CHARS]
    return (_ARTICLE if value.kind in ("person", "place") else _BEFORE_VALUE).sub("", shown)


def tail_of(low: str, position: int, end: int) -> tuple[bool, int | None]:
    """Whether the words after a value leave it unrestricted, and the start of the next clause."""
    if leaves_whole(low[position:end]):
        return True, None
    following = grammar.clause_after(low, position, end)
    return following is not None, following


def name_form(value: str, lang: str) -> int | None:
    """In which form a value names one thing of several: properly (0), or by an article (1); None for a property.

    What is called `Basic` is not called `the best of all` next, and what is `by the door` is also `white`.
    """
    return next((form for form, names in enumerate(_NAMES.get(lang, ())) if names.match(value)), None)


def leaves_whole(rest: str) -> bool:
    """Whether the words after a value do not restrict it: none, `agora`, `not the 15th`, `porque …`."""
    if not rest.strip(" .!)*\"'”»") or grammar.HARMLESS.fullmatch(rest):
        return True
    if grammar.RANGE.match(rest):
        return False
    return bool(grammar.CONTRAST.match(rest) or grammar.REASON.match(rest))


def _attribute(subject: Subject, form: str, value: TypedValue, before: str, ahead: str = "") -> tuple[str, bool]:
    """The name of the attribute, and whether it takes one value at a time."""
    if value.kind == "date":
        return _dated(subject, form, value)
    if value.kind in ("duration", "number"):
        return _counted(subject, form, value)
    if value.kind in ("money", "percent", "version"):
        return "valor", True
    if value.kind in ("contact", "code"):
        return "contato" if value.kind == "contact" else "código", True
    if value.kind == "state":
        return "estado", True
    return _named(subject, form, value, before, ahead)


def _dated(subject: Subject, form: str, value: TypedValue) -> tuple[str, bool]:
    if form in ("start", "end") and subject.head != "deadline":
        return ("início" if form == "start" else "fim"), True
    # A date after a verb of possession or place is not a date of the subject.
    return "data", form not in ("have", "live", "work") and value.words is not None


def _counted(subject: Subject, form: str, value: TypedValue) -> tuple[str, bool]:
    unit = str(dict(value.parts).get("unit", ""))
    if value.kind == "duration":
        if unit == "year" and (form == "have" or subject.head == "age"):
            return "idade", True
        return "duração", form != "have"
    if form == "have":
        return f"quantidade de {unit}" if unit else "valor", unit in words("countable")
    return "valor", True


def _named(subject: Subject, form: str, value: TypedValue, before: str, ahead: str) -> tuple[str, bool]:
    heads = {*subject.head.split(), *flatten(subject.text).split()[:1]}
    if form == "work":
        return ("local de trabalho" if value.kind == "place" else "emprego"), False
    if form == "live":
        return "residência", value.kind == "place"
    several = any(word.removesuffix("'s") in words("several_heads") for word in flatten(subject.text).split())
    if form == "called" or heads & words("name_heads"):
        return "nome", not several
    if heads & words("favourite"):
        return "preferência", True
    if several:
        return "pessoa", False
    if heads & words("person_heads"):
        return "pessoa", True
    if heads & words("place_heads") or form == "place" or (form in ("change", "set") and value.kind == "place"):
        return "local", True
    if value.kind == "place" and _FROM.search(before):
        return "origem", True
    # `está em Lisboa` may change by the hour; `é em Lisboa` may not.
    located = (
        value.kind == "place" and before.strip() in ("em", "in", "no", "na") and not ahead.endswith(("está", "tá"))
    )
    return ("local", True) if located else ("é", False)


def _free(subject: Subject, form: str, text: str, low: str, place: tuple[int, int]) -> Slot | None:
    """A predicate of unknown type: stored verbatim; it excludes other values only as a favourite."""
    start, end = place
    if form == "called" or (subject_key(subject.text).owned and subject.head.split()[-1:] == ["name"]):
        named = LOW_NAME.match(low, start, end)
        several = not words("several_heads").isdisjoint(subject.text.split())
        shown = text[named.start("name") : named.end("name")].strip() if named else ""
        return Slot(subject.text, "nome", shown, subject.definite and not several, typed=False) if shown else None
    cut = _FREE_END.search(low, start, end)
    shown = text[start : cut.start() if cut else end].strip(" \t*\"'“”")
    called = _FREE_LEAD.sub("", shown)
    if any(name_form(called, lang) is not None for lang in _NAMES):
        shown = called
    if form != "be" or not subject.definite or not shown or len(shown.split()) > MAX_FREE_WORDS:
        return None
    if subject_key(subject.text).owned and subject.head.lower() in words("role_heads"):
        user = USER["en" if "user's" in subject.text else "pt"]
        return Slot(user, "cargo", shown[:MAX_VALUE_CHARS], functional=True, typed=False)
    favourite = not words("favourite").isdisjoint(flatten(subject.text).split())
    return Slot(subject.text, "preferência" if favourite else "é", shown[:MAX_VALUE_CHARS], favourite, typed=False)
