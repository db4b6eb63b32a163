"""Questions about time: what happens in a named span, or when a named event is or was."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from agents.core.language import text
from agents.core.language.date_words import DateMatch, scan
from agents.core.language.dates import Span, precision, resolve, span_of
from agents.core.language.interrogatives import is_question
from agents.core.language.sentences import composed, flatten, sentences
from agents.core.retrieval.search_terms import question_terms

# The probability that an event in the asked span helps, and that of one the question also names.
IN_SPAN, NAMED = 0.6, 0.8
WEEK = timedelta(days=7)

_BEFORE = (
    r"^(?:\W*(?:e|mas|and|but|so|entao|then|oi|ola|hi|hey|ok|please|por favor|voce (?:sabe|lembra)|sabe|lembra|"
    r"me (?:diz|diga|fala|lembra|lembre)|tell me|remind me|do you (?:know|remember)|can you tell me)\b)*\W*"
)
_LISTS = re.compile(_BEFORE + r"(?:list[ae]?|mostr[ae]|show)\b")
_WHEN = re.compile(
    _BEFORE + r"(?:(?:de|desde|ate|para|pra|since|until|by|from) )?(?:quando|when)\b(?!.*,)|\b(?:quando|when)\W*$"
    r"|\b(?:que|qual) (?:(?:e|o|a|foi|sera) )*(?:dia|data|mes|horas?|horario)\b"
    r"|\b(?:what|which) (?:(?:is|was|the) )*(?:day|date|month|time)\b"
)
_WHAT = re.compile(
    r"\b(?:o que|que|quais|qual|algo|alguma coisa|what|which|anything|something|agenda|calendari?o?|compromissos?|"
    r"appointments?|eventos?|events?|list[ae]?)\b"
)
_SAID = re.compile(
    r"\b(?:tell|told|say|said|talk(?:ed)?|speak|spoke|discuss(?:ed)?|mention(?:ed)?|chat(?:ted)?|disse|dissemos|contei|"
    r"contamos|falei|falamos|conversei|conversamos|mencionei|mencionamos)\b"
)
_RANGE = re.compile(r"\b(?:entre|between|from)\b")
_PAST = re.compile(r"\b(?:aconteceu|houve|teve|foi|foram|fiz|fizemos|decidimos|rolou|happened|was|were|did|had|went)\b")
_HAPPENING = (
    "acontece aconteceu acontecer acontecendo acontecerá ficou ficaram marcado marcada marcamos agendado agendada "
    "agenda combinado combinada combinamos previsto prevista planejado programado programada compromisso evento "
    "calendário rolou rola tem temos tenho teve houve há lembra mostre liste happen happened happening schedule "
    "scheduled planned plan agenda calendar event appointment going coming up on booked set list show tell remind "
    "know remember"
)
_OF_WHEN = "quando dia data mês hora horário when day date month time"
_UNSAID = frozenset(text.stem(word, lang) for word in f"{_HAPPENING} {_OF_WHEN}".split() for lang in ("pt", "en"))


@dataclass(frozen=True, slots=True)
class AskedTime:
    """The time spans asked about (none: any time), the terms of the event, and the names among them."""

    spans: tuple[Span, ...]
    about: frozenset[str]
    names: tuple[tuple[str, ...], ...]

    @property
    def bounds(self) -> Span | None:
        """The interval from the first span to the last."""
        if not self.spans:
            return None
        return Span(min(span.start for span in self.spans), max(span.end for span in self.spans))


def asked_time(query: str, lang: str, as_of: datetime) -> AskedTime | None:
    """The time question of a message's first sentence that has one; None where none has."""
    for sentence in sentences(composed(text.clip(query)), lang):
        found = _asked(sentence, lang, as_of)
        if found is not None:
            return found
    return None


def said_between(query: str, lang: str, as_of: datetime) -> Span | None:
    """The time in which something was said that a question asks for: `what did I tell you on 11 May?`."""
    asked = composed(text.clip(query))
    if not is_question(asked) or _SAID.search(flatten(asked)) is None:
        return None
    places = [(place, at) for place in scan(flatten(asked), lang) if (at := resolve(place.words, as_of)) is not None]
    spans = list(_spans(places, flatten(asked)))
    return Span(min(spans).start, max(span.end for span in spans)) if spans else None


def likelihood(asked: AskedTime, label: str, at: datetime, kind: str) -> float | None:
    """The probability that an event is asked for; None for another time or another event."""
    if asked.spans and not any(_within(span_of(at, kind), span) for span in asked.spans):
        return None
    said = {word for lang in ("pt", "en") for word in text.content_words(label, lang)}
    shared = len(asked.about & said)
    # A named time is strong evidence; without one all terms of the event must match.
    enough = 2 * shared >= len(asked.about) if asked.spans else 2 * shared > len(asked.about)
    if not enough or any(said.isdisjoint(keys) for keys in asked.names):
        return None
    return NAMED if asked.about and shared == len(asked.about) else IN_SPAN


def _asked(sentence: str, lang: str, as_of: datetime) -> AskedTime | None:
    flat = flatten(sentence)
    if not (is_question(sentence) or _LISTS.match(flatten(composed(sentence)))):
        return None
    places = [(place, at) for place in scan(flat, lang) if (at := resolve(place.words, as_of)) is not None]
    rest = _without([place for place, _ in places], sentence)
    about = frozenset(text.content_words(rest, lang)) - _UNSAID
    names = tuple(term.keys for term in question_terms(rest, lang) if term.name)
    when = _WHEN.search(flat) is not None
    if not about and (when or not places or not _WHAT.search(flat)):
        return None
    if not when and not places:
        return None
    return AskedTime(tuple(_spans(places, flat)), about, names)


def _spans(places: Sequence[tuple[DateMatch, datetime]], flat: str) -> Iterator[Span]:
    spans = [_span(place, at, flat) for place, at in places]
    if len(spans) == 2 and _RANGE.search(flat):
        return iter([Span(min(spans).start, max(spans).end)])
    return iter(spans)


def _span(place: DateMatch, at: datetime, flat: str) -> Span:
    kind = precision(place.words)
    # `What happened on Friday?` is about the last Friday.
    if place.words.weekday is not None and place.words.toward == 0 and _PAST.search(flat):
        at -= WEEK
    # A named hour asks about that day: few events match the very minute.
    return span_of(at.replace(hour=0, minute=0), "day") if kind == "minute" else span_of(at, kind)


def _within(inner: Span, outer: Span) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end


def _without(places: Sequence[DateMatch], sentence: str) -> str:
    kept, position = [], 0
    for place in places:
        kept.append(sentence[position : place.start])
        position = place.end
    return " ".join([*kept, sentence[position:]])
