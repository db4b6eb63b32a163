"""A question as the rules of decomposition read it: protected parts replaced by letters of no language (R1)."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from agents.core.language.interrogatives import ASKED_CHARS
from agents.core.language.lexicons import framed, lexicon
from agents.core.language.sentences import composed, flatten
from agents.legal.mentions import mentions
from agents.legal.references import legal_references

Span = tuple[int, int]
# One letter for one character: a position in the mask is the same in the question.
ENTITY, FIGURE = "Ж", "ж"
_QUOTED = re.compile(r"\"[^\"\n]{2,200}\"|“[^”\n]{2,200}”|«[^»\n]{2,200}»")
_FIGURES = re.compile(r"(?:R\$|US\$|[$€£])\s?\d[\d.,]*|\d{1,2}º? de [^\W\d]{3,9}(?: de \d{4})?|\d{1,2}/\d{1,2}/\d{2,4}")
_CAPITAL = r"[A-ZÀ-ÝЖ][\w'.&/-]*"
# Of ten words at most: a name without end would be read anew from each of its words.
_MORE = r" (?:(?:of|the|de|da|do|dos|das|von|van|del|la|&) ){0,2}[A-ZÀ-ÝЖ0-9][\w'.&/-]*"
NAME = rf"(?:[Tt]he )?{_CAPITAL}(?:{_MORE}){{0,9}}"
_NAME = re.compile(NAME)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question: as written, with its protected parts masked, and that folded; three texts of one length."""

    text: str
    masked: str
    flat: str
    lang: str


def asked(question: str, lang: str) -> Asked:
    """The beginning of a question, at most `ASKED_CHARS` characters, read in Portuguese or else in English."""
    text = " ".join(composed(question[:ASKED_CHARS]).split())
    masked = list(text)
    read = "pt" if lang == "pt" else "en"
    for start, end in _protected(text, read):
        masked[start:end] = (ENTITY if masked[start] != FIGURE else FIGURE) * (end - start)
    for found in _FIGURES.finditer("".join(masked)):
        masked[found.start() : found.end()] = FIGURE * (found.end() - found.start())
    # The dot of `Roe v. Wade` ends no sentence.
    hidden = re.sub(r"(?<= [vV])\.(?= )", FIGURE, "".join(masked))
    return Asked(text, hidden, flatten(hidden), read)


def pattern(lang: str, frame: str) -> re.Pattern[str]:
    """A regular expression in which `<<section>>` is any phrase of the lexicon of decomposition in one language."""
    return _pattern("pt" if lang == "pt" else "en", frame)


@cache
def _pattern(lang: str, frame: str) -> re.Pattern[str]:
    return framed("decomposition", re.sub(r"<<(~?\w+)>>", rf"<<\1.{lang}>>", frame))


@cache
def rows(section: str, lang: str) -> dict[str, str]:
    """The rows of a section of the lexicon of decomposition."""
    return lexicon("decomposition").rows(section, lang)


def form(name: str, thing: str, lang: str) -> str:
    """A sub-question of a known form about a thing."""
    return rows("forms", lang)[name].replace("{}", thing)


def _protected(text: str, lang: str) -> Iterator[Span]:
    yield from ((each.start, each.end) for each in legal_references(text))
    if lang == "pt":
        # The name of a law holds conjunctions: `Lei de Diretrizes e Bases`. With numbers the rules know where one ends.
        named = ((each.start, each.end) for each in mentions(text))
        yield from ((start, end) for start, end in named if not any(map(str.isdecimal, text[start:end])))
    yield from (found.span() for found in _QUOTED.finditer(text))
    flat = flatten(text)
    wholes = lexicon("decomposition").pattern("wholes")
    yield from (found.span() for found in re.finditer(rf"\b(?:{wholes})\b", flat))
    ends = lexicon("decomposition").pattern("company_ends")
    for found in re.finditer(
        rf"(?<![\w'-])[\w'-]+(?: [\w'-]+)? (?:e|and|&) [\w'-]+(?: [\w'-]+)? (?:{ends})(?![\w])", flat
    ):
        if text[found.start()].isupper():
            yield found.span()
    yield from (found.span() for found in re.finditer(r"(?<![\w'])[\w']+(?: & [\w']+)+", text))


def are_apart(*sides: str) -> bool:
    """Whether joined names are certainly several: `Marks and Spencer` may be one."""
    return len(sides) > 2 or all(_is_whole(each.removeprefix("the ").removeprefix("The ")) for each in sides)


def _is_whole(name: str) -> bool:
    """Whether a name is a legal reference or a quotation, an acronym, or of two words without `of`."""
    of = re.search(r" (?:of|de|da|do|dos|das) ", name)
    return name.startswith(ENTITY) or (name.isupper() and len(name) > 1) or (" " in name and of is None)


def names(asked_: Asked) -> tuple[Span, ...]:
    """The places of names, quotations and legal references; a capital at the beginning of the question is none."""
    found = [each.span() for each in _NAME.finditer(asked_.masked)]
    return tuple(span for span in found if span[0] or asked_.masked[0] == ENTITY or " " in asked_.masked[slice(*span)])
