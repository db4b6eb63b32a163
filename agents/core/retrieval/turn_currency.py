"""Superseded values: which retrieved turns state a value that a later turn replaced.

Precision first: the later turn must announce a change, state another value of the same kind, and be about the same
thing without naming a different one. In doubt neither is marked.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from itertools import combinations, pairwise

from agents.core.caching.texts import text_cache
from agents.core.claims.markers import announces_change
from agents.core.conversation.stated_values import restated
from agents.core.language import text
from agents.core.language.lexicons import framed, lexicon
from agents.core.language.sentences import composed, lower, sentences
from agents.core.language.values import TypedValue, exclude, same, singular, value_at
from agents.core.retrieval.search_terms import question_terms
from agents.core.retrieval.turn_things import another, names_in, persons_in

KINDS = frozenset({"date", "money", "number", "percent", "duration", "version", "contact"})
MAX_CHARS = 2_000

_WORD_START = re.compile(r"(?<![\w.,/$-])[^\W_]|R\$|US\$|[$€£]")
_RATE = re.compile(r"\s*(?:/|(?:por|per|each|cada|an?)\s)\s*([^\W\d_]+)")
_LEAD = re.compile(r"(?:no dia|dia|n[oa]|em|on|at|by|the|o|a)\s+", re.IGNORECASE)
_FRAMES = {
    "state": r"(?:<<state>>)\s*$",
    "replacing": r"(?<!\w)(?:<<replacing>>|<<moving>>(?= ))(?!\w)",
    "joining": r"(?<!\w)<<joining>>(?!\w)",
    "adding": r"(?<!\w)<<adding>>(?!\w)",
    "new": r"(?<!\w)<<new>>(?!\w)",
    # Behind a name: `Joaquim has left`, `Joaquim's leaving`.
    "over": r"(?: [\w']+)??(?: |(?='))<<over>>(?!\w)",
}
_PLACE = re.compile(r"(?<!\w)(?:in|at|from|em|no|na)\s+[A-ZÀ-Ý][\w'-]+")
_NAME = re.compile(r"(?<![\w'])(?!(?:Mrs?|Ms|Dra?|Sra?|Dona|Seu|Prof(?:a|essora?)?)(?!\w))[A-ZÀ-Ý][\w'-]{2,30}")
# The start of another clause, whose names do not belong to the value.
_CLAUSE = re.compile(
    r"[,;:]\s+(?=(?:which|so|and|but|because|since|as|e|mas|então|porque|pois|que|o que)\s)|"
    r"(?<!\s)\s+(?:so|because|porque|então)\s+(?=\w+ )|"
    r"(?<!\s)\s+(?:and|but|e|mas)\s+(?=(?:the|an?|my|our|i|we|he|she|it|they|o|a|os|as|meu|minha|eu|ele|ela|eles|elas)\s)",
    re.IGNORECASE,
)


@cache
def _pattern(name: str) -> re.Pattern[str]:
    return framed("replacing", _FRAMES[name])


@cache
def _asked_kinds() -> Sequence[tuple[re.Pattern[str], frozenset[str]]]:
    """The kinds of value that a question asks for by its words."""
    parts = lexicon("replacing").pattern_of_parts("asks")
    return [(re.compile(rf"(?<!\w)(?:{words})(?!\w)"), frozenset(kinds.split())) for kinds, words in parts.items()]


@cache
def _generic(lang: str) -> frozenset[str]:
    """Generic words: no evidence that two turns are about the same thing; none for another language."""
    return frozenset(text.stem(word, lang) for word in lexicon("replacing").words("generic", lang))


@dataclass(frozen=True, slots=True)
class PastTurn:
    """A retrieved turn: author, text and time, and the conversation where it is known."""

    id: str
    role: str
    text: str
    lang: str
    at: datetime
    talk: str = ""


@dataclass(frozen=True, slots=True)
class Mark:
    """Whether a turn's value is current; the other turn's value and its time."""

    holds: bool
    value: str
    at: datetime

    def reason(self) -> str:
        """The mark for people."""
        return f"{'instead of' if self.holds else 'replaced later by'} {self.value} ({self.at:%Y-%m-%d})"


@dataclass(frozen=True, slots=True)
class ValueQuestion:
    """A question's terms and the kinds of value it asks for; no kinds where its words do not say."""

    terms: frozenset[str]
    kinds: frozenset[str]

    @classmethod
    def of(cls, question: str, lang: str, context: str = "") -> "ValueQuestion":
        terms = frozenset(key for term in question_terms(question, lang, context) for key in term.keys)
        low = lower(composed(question[:MAX_CHARS]))
        kinds = frozenset(kind for asking, found in _asked_kinds() for kind in found if asking.search(low))
        return cls(terms, kinds)

    def by(self, was: "Stated", shared: Collection[str], old_lang: str) -> bool:
        """Whether a value is asked for: of a kind asked for or, without such a kind, about a term of the question."""
        if not self.kinds:
            return not self.terms.isdisjoint(shared)
        return was.value.kind in self.kinds and not self.terms.isdisjoint(
            {*shared, *text.content_words(f"{was.before} {was.sentence}", old_lang)}
        )


@dataclass(frozen=True, slots=True)
class Stated:
    """A value with its sentence and the one before, which often names the thing it belongs to."""

    value: TypedValue
    words: str
    rate: str
    of_state: bool
    sentence: str
    before: str
    clause: str

    def things(self, lang: str, *, wide: bool) -> frozenset[str]:
        """The candidates for what a value belongs to: content words around it, without values and generic words."""
        around = f"{self.before} {_without_values(self.sentence, lang)}" if wide else _without_values(
            self.sentence, lang
        )  # fmt: skip
        return _specific(around, lang)


def marks(question: str, lang: str, turns: Sequence[PastTurn], context: str = "") -> dict[str, Mark]:
    """Marks of replacing and replaced turns, by id; users' turns only, since an assistant's turn replaces none."""
    asked = ValueQuestion.of(question, lang, context)
    said = sorted((turn for turn in turns if turn.role == "user"), key=lambda turn: (turn.at, turn.id))
    pairs = [(old, new, pair) for old, new in combinations(said, 2) if (pair := replaced(old, new, asked)) is not None]
    found: dict[str, Mark] = {}
    for old, new, pair in pairs:
        # After the budget of a bike and that of a trip, `my budget is now 1,200` is about the last, and in another
        # talk about either.
        others = [each for each, later, _ in pairs if later is new and _of_another(old, each)]
        if not others or (old.talk == new.talk and old.at > max(each.at for each in others)):
            found[old.id] = Mark(False, pair[1], new.at)
            found[new.id] = Mark(True, pair[0], old.at)
    return found


def _of_another(old: PastTurn, later: PastTurn) -> bool:
    """Whether the values of two turns that a newer one may replace are those of different things of the same word."""
    known = text.content_set(old.text, old.lang) | _generic(later.lang)
    return any(
        another(
            was.things(old.lang, wide=False) & now.things(later.lang, wide=False),
            lower(was.sentence),
            lower(now.sentence),
            later.lang,
            known,
        )
        for was in stated(old.text, old.lang)
        for now in stated(later.text, later.lang)
        if was.value.kind == now.value.kind
    )


def replaced(old: PastTurn, new: PastTurn, asked: ValueQuestion) -> tuple[str, str] | None:
    """The value that a later turn replaces and its new value; None where the values may belong to different things.

    None also for a value not asked for: a turn may state several values, and the others may still be current.
    """
    if old.at >= new.at or old.lang != new.lang or not _generic(new.lang):
        return None
    return (
        _by_value(old, new, asked)
        or _in_the_same_words(old, new)
        or (_by_name(old, new, asked.terms) if not asked.kinds or "person" in asked.kinds else None)
    )


def _in_the_same_words(old: PastTurn, new: PastTurn) -> tuple[str, str] | None:
    found = restated(old.text[:MAX_CHARS], old.at, new.text[:MAX_CHARS], new.at, new.lang)
    return (found[0].words, found[1].words) if found else None


def _by_value(old: PastTurn, new: PastTurn, asked: ValueQuestion) -> tuple[str, str] | None:
    announced, joined = _changes(new.text)
    if not announced and not joined:
        return None
    ours, theirs = stated(new.text, new.lang), stated(old.text, old.lang)
    for was in theirs:
        if any(same(was.value, old.at, now.value, new.at) for now in ours):
            continue
        for now in ours:
            is_change = announced or (joined and _counts(was, now))
            if is_change and _excludes(was, old.at, now, new.at) and _same_thing(was, now, old, new, asked):
                return was.words, now.words
    return None


@text_cache(4_096)
def _changes(said: str) -> tuple[bool, bool]:
    """Whether a turn announces a change of a value, and whether one of a count."""
    low = lower(composed(said[:MAX_CHARS]))
    announced = _pattern("replacing").search(low) is not None or announces_change(_pattern("new").sub(" ", low))
    return announced, _pattern("joining").search(low) is not None


def _excludes(was: Stated, was_at: datetime, now: Stated, now_at: datetime) -> bool:
    if was.value.kind != now.value.kind or was.rate != now.rate:
        return False
    if was.value.kind == "number" and not dict(now.value.parts).get("unit"):
        # `two joined, we are 36`: of what the sentence counts.
        unit = str(dict(was.value.parts).get("unit") or "")
        counted = {singular(text.fold(word)) for word in text.words(now.sentence)}
        amounts = dict(was.value.parts)["amount"], dict(now.value.parts)["amount"]
        return bool(unit) and unit in counted and now.of_state and was.of_state and amounts[0] != amounts[1]
    return exclude(was.value, was_at, now.value, now_at)


def _same_thing(was: Stated, now: Stated, old: PastTurn, new: PastTurn, asked: ValueQuestion) -> bool:
    """Whether two values belong to one thing: a shared word, and no name or qualifier that only the newer one has."""
    known = text.content_set(old.text, old.lang) | asked.terms
    about = _without_values(now.clause, new.lang)
    if now.clause == now.sentence:
        about = f"{now.before} {about}"
    if not names_in(about, new.lang, _pattern("replacing")) <= known or persons_in(about) != persons_in(was.clause):
        return False
    shared = was.things(old.lang, wide=False) & now.things(new.lang, wide=True)
    if _counts(was, now):
        shared |= _specific(was.words, old.lang)
        about = f"{now.before} {now.sentence}"
    known |= _generic(new.lang)
    if _pattern("adding").search(lower(now.clause)) or another(
        shared, lower(was.sentence), lower(about), new.lang, known
    ):
        return False
    rate = _specific(was.rate, old.lang)
    if shared <= rate and _specific(_pattern("replacing").sub(" ", lower(about)), new.lang) - rate:
        return False
    return bool(shared) and asked.by(was, shared - rate, old.lang)


def _counts(was: Stated, now: Stated) -> bool:
    """Whether both values count the same kind of thing."""
    return was.value.kind == "number" and was.of_state and now.of_state


def _by_name(old: PastTurn, new: PastTurn, asked: Collection[str]) -> tuple[str, str] | None:
    """A person who left and the successor: `Joaquim left, so the key is with Ana`."""
    low = lower(composed(new.text[:MAX_CHARS]))
    for name in _capitalised(old.text):
        named = re.finditer(rf"(?<!\w){re.escape(name.lower())}", low)
        over = next(filter(None, (_pattern("over").match(low, each.end()) for each in named)), None)
        if over is None or text.stem(name, new.lang) in asked:
            continue
        behind = _PLACE.sub(" ", new.text[over.end() :])
        others = [other for other in _capitalised(behind) if other.lower() not in old.text.lower()]
        rest = _specific(new.text[over.end() :], new.lang) - {text.stem(name, new.lang)}
        shared = rest & _specific(old.text, old.lang)
        known = text.content_set(" ".join([old.text, *others]), old.lang) | frozenset(asked) | _generic(new.lang)
        theirs = re.sub(rf"(?<!\w){re.escape(name.lower())}(?!\w)", " ", lower(old.text))
        if others and shared & frozenset(asked) and not another(shared, theirs, low[over.end() :], new.lang, known):
            return name, others[0]
    return None


def _capitalised(said: str) -> list[str]:
    """Capitalised names, within sentences and at their start."""
    return [word for word in _NAME.findall(said) if text.content_words(word, "en")]


@text_cache(4_096)
def stated(said: str, lang: str) -> tuple[Stated, ...]:
    """The typed values of a turn, in order; none for a question."""
    found: list[Stated] = []
    before = ""
    for sentence in sentences(composed(said[:MAX_CHARS]), lang):
        if not sentence.rstrip().endswith("?"):
            found += (_stated(value, sentence, before) for value in _values(sentence, lang))
        before = sentence
    return tuple(found)


def _stated(value: TypedValue, sentence: str, before: str) -> Stated:
    rate = _RATE.match(sentence, value.end)
    of_state = _pattern("state").search(lower(sentence[: value.start])) is not None
    words = _LEAD.sub("", sentence[value.start : value.end], count=1).strip()
    cuts = [0, *(cut.start() for cut in _CLAUSE.finditer(sentence)), len(sentence)]
    clause = next(sentence[at:end] for at, end in pairwise(cuts) if value.start < end)
    return Stated(value, words, singular(text.fold(rate[1])) if rate else "", of_state, sentence, before, clause)


@text_cache(8_192)
def _values(sentence: str, lang: str) -> tuple[TypedValue, ...]:
    return tuple(_scan(sentence, lang))


def _scan(sentence: str, lang: str) -> Iterator[TypedValue]:
    position = 0
    while (start := _WORD_START.search(sentence, position)) is not None:
        value = value_at(sentence, start.start(), lang)
        if value is not None and value.kind in KINDS:
            yield value
            position = max(value.end, start.end())
        else:
            position = start.end()


def _without_values(sentence: str, lang: str) -> str:
    for value in reversed(_values(sentence, lang)):
        sentence = f"{sentence[: value.start]} {sentence[value.end :]}"
    return sentence


def _specific(said: str, lang: str) -> frozenset[str]:
    return text.content_set(said, lang) - _generic(lang)
