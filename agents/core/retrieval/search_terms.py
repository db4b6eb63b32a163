"""Search terms of texts and questions: stems of content words, names and codes unstemmed, dates and amounts whole.

A date is `d:2026-03-05` however it is written, an amount `n:2500`, and an identifier is found by its parts too.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache

from agents.core.caching.texts import text_cache
from agents.core.language import text
from agents.core.language.date_words import DateMatch, scan
from agents.core.language.lexicons import lexicon
from agents.core.language.sentences import composed, flatten
from agents.core.language.values import as_number

LANGUAGES = ("pt", "en")
# The maximum number of terms of a message; an exam question has about sixty.
MAX_TERMS = 48
# A word that the conversation adds to a message counts half as much as one of the message's own, and all of them
# together as much as the message at most.
CONTEXT_WEIGHT = 0.5
# The words of a date or an amount beside its term, and beside a date the verbs that ask what happened.
SPELT_WEIGHT = 0.02

_CAPITALISED = re.compile(r"(?<![.!?:\n])[ (\"'][^\W\d_]*[A-ZÀ-Ý][\w-]*")
_AMOUNT = re.compile(
    r"(?<![\w.,/:-])(?:\d{1,3}(?:[.,\u00a0 ]\d{3})+(?:[.,]\d{1,2})?|\d+[.,]\d{1,2}|\d{4,9})(?![\w/:-]|[.,]\d)"
)
_JOINED = re.compile(
    r"(?<![\w-])[^\W_]{1,40}(?:[_-][^\W_]{1,40}){1,8}|(?<!\w)[^\W_A-ZÀ-Ý]{1,40}(?:[A-ZÀ-Ý][^\W_A-ZÀ-Ý]{0,40}){1,12}"
    r"|(?<!\w)(?:[A-ZÀ-Ý]{1,12}[^\W_A-ZÀ-Ý]{1,40}){2,12}"
)
_CHUNK = re.compile(r"[^\n;!?]+")
_DATELIKE = re.compile(
    r"\d(?:[-/.]\d|[^\n]{0,12}\b(?:jan|fe[bv]|mar|a[bp]r|ma[iy]|jun|jul|ago|aug|se[pt]|o[cu]t|nov|de[cz]))"
    r"|\b(?:jan|fe[bv]|mar|a[bp]r|ma[iy]|jun|jul|ago|aug|se[pt]|o[cu]t|nov|de[cz])[a-z]{0,7}\.? (?:de |of |the )?\d"
)
_EITHER_WAY = re.compile(r"(?:\w+ ){0,2}\d{1,2}([/.-])\d{1,2}(?:\1\d{2,4})?")
# No `mother-in-law`, and no product's `iPhone`.
_IDENTIFIER = re.compile(
    r"(?<!\w)(?:[^\W\d_]{1,40}(?:_[^\W\d_]{1,40}){1,8}|[a-zà-ÿ]{2,40}(?:[A-ZÀ-Ý][a-zà-ÿ]{1,40}){1,12}|"
    r"[a-zà-ÿ]{4,40}(?:-[a-zà-ÿ]{4,40}){2,8})(?!\w)"
)
_PART = re.compile(r"[A-ZÀ-Ý]+(?![^\W\d_A-ZÀ-Ý])|[A-ZÀ-Ý]?[^\W\d_A-ZÀ-Ý]+|\d+")


@dataclass(frozen=True, slots=True)
class QuestionTerm:
    """One word of a question: its spelling, its stems by language, its weight (1, or up to `CONTEXT_WEIGHT`).

    `name`: capitalised within a sentence, as people, products and places are. `exact`: a date, an amount or a code.
    `added`: of the context only.
    """

    word: str
    keys: tuple[str, ...]
    weight: float = 1.0
    name: bool = False
    exact: bool = False
    added: bool = False

    @property
    def counts(self) -> bool:
        """Whether it is a word of the message itself, and not one that only spells a date."""
        return not self.added and self.weight > SPELT_WEIGHT


@dataclass(frozen=True, slots=True)
class _Figure:
    """A date or an amount in a text: where it stands, its terms in a text, and those that a question asks for."""

    start: int
    end: int
    held: tuple[str, ...]
    asked: tuple[str, ...]
    dated: bool


def document_terms(passage: str, lang: str) -> tuple[str, ...]:
    """The terms of a passage in its own language, in order, with repetitions."""
    own = lang if lang in LANGUAGES else "en"
    figures = (key for each in _figures(composed(passage), own) for key in each.held)
    parts = " ".join(
        part
        for found in _JOINED.finditer(passage)
        if not any(map(str.isdigit, found.group()))
        for part in _PART.findall(found.group())
    )
    return (*text.content_words(passage, own), *text.content_words(parts, own), *figures)


# A question is looked at for every item found for it.
@text_cache(512)
def question_terms(question: str, lang: str, context: str = "") -> tuple[QuestionTerm, ...]:
    """The distinct terms of a question, then those of its context only; with stems of both languages.

    A passage has the stems of its own language; a question in the other language still finds names and codes.
    """
    names = _names(question)
    own = _distinct(question, lang, 1.0, names)
    known = {key for term in own for key in term.keys}
    added = [term for term in _distinct(context, lang, CONTEXT_WEIGHT, frozenset()) if known.isdisjoint(term.keys)]
    # A long answer before a short question must not outweigh it.
    share = min(1.0, sum(term.weight for term in own) / sum(term.weight for term in added)) if own and added else 1.0
    added = [replace(term, weight=term.weight * share, added=True) for term in added]
    return tuple([*own, *added][:MAX_TERMS])


def _distinct(said: str, lang: str, weight: float, names: frozenset[str]) -> list[QuestionTerm]:
    terms: dict[tuple[str, ...], QuestionTerm] = {}
    asked = composed(text.clip(said))
    figures = list(_figures(asked, lang))
    spelt = frozenset(word for each in figures for word in text.surface_terms(asked[each.start : each.end], lang))
    for each in figures:
        written = asked[each.start : each.end]
        words = text.surface_terms(written, lang)
        keys = (*each.asked, *(text.stem(word, lang) for word in words if len(words) == 1))
        terms[keys] = QuestionTerm(written.strip(), keys, weight, exact=True)
    dated = any(each.dated for each in figures)
    for word in text.surface_terms(_without_hyphens(asked), lang):
        keys = tuple(dict.fromkeys(text.stem(word, each) for each in LANGUAGES))
        if any(keys[0] in others for others in terms):
            continue
        light = word in spelt or (dated and text.fold(word) in _happening())
        name = not light and text.fold(word) in names
        terms[keys] = QuestionTerm(word, keys, weight * SPELT_WEIGHT if light else weight, name, _is_code(word))
    return list(terms.values())


def _without_hyphens(said: str) -> str:
    """The text with hyphenated words in parts, by which they are found written together too; codes stay whole."""
    return re.sub(r"(?<=[a-zà-ÿ]{2})-(?=[a-zà-ÿ]{2})", " ", said)


def _is_code(word: str) -> bool:
    return any(map(str.isdigit, word)) and any(map(str.isalpha, word))


def spelt_out(said: str) -> str:
    """The text with identifiers in words, as a question has them: `MAX_UPLOAD_SIZE` reads `max upload size`."""
    return _IDENTIFIER.sub(lambda found: " ".join(_PART.findall(found.group())).lower(), said)


@cache
def _happening() -> frozenset[str]:
    return lexicon("dates").words("happening")


def _figures(said: str, lang: str) -> Iterator[_Figure]:
    """The dates and amounts of a composed text, each once."""
    taken: list[tuple[int, int]] = []
    for chunk in _CHUNK.finditer(flatten(said)):
        # To look for dates takes twenty times as long as to look for what they have.
        if _DATELIKE.search(chunk.group()) is None:
            continue
        for place in scan(chunk.group(), lang):
            if (figure := _dated(place, chunk)) is not None:
                taken.append((figure.start, figure.end))
                yield figure
    for found in _AMOUNT.finditer(said):
        if not any(start < found.end() and found.start() < end for start, end in taken):
            written = re.sub(r"[\u00a0 ]", "", found.group())
            keys = tuple(dict.fromkeys(f"n:{as_number(written, each):g}" for each in (lang, *LANGUAGES)))
            yield _Figure(found.start(), found.end(), keys, keys, dated=False)


def _dated(place: DateMatch, chunk: re.Match[str]) -> _Figure | None:
    """A date that names its month and a day or a year, in a part of a text."""
    date = place.words
    if date.month is None or (date.day is None and date.year is None):
        return None
    days = [(date.month, date.day)]
    written = chunk.group()[place.start : place.end]
    # `05/03` is May or March: told by the language where it is asked, by neither where it is written.
    if date.day is not None and date.day <= 12 and _EITHER_WAY.fullmatch(written):
        days.append((date.day, date.month))
    held: list[str] = []
    asked: list[str] = []
    for month, day in days:
        of_year = f"e:{month:02}-{day:02}" if day else ""
        if date.year is None:
            held += [of_year, f"f:{month:02}-{day:02}"]
            asked.append(of_year)
            continue
        held.append(f"m:{date.year}-{month:02}")
        if day:
            held += [f"d:{date.year}-{month:02}-{day:02}", of_year]
            asked += [f"d:{date.year}-{month:02}-{day:02}", f"f:{month:02}-{day:02}"]
        else:
            asked.append(f"m:{date.year}-{month:02}")
    if date.year is not None and not any(map(str.isalpha, written)):
        held.append(str(date.year))
    start = chunk.start() + place.start
    return _Figure(start, start + len(written), tuple(dict.fromkeys(held)), tuple(dict.fromkeys(asked)), dated=True)


def _names(question: str) -> frozenset[str]:
    found = (match.group()[1:] for match in _CAPITALISED.finditer(text.clip(question)))
    return frozenset(text.fold(word) for name in found for word in text.words(name))
