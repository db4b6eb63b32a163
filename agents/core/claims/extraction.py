"""The assertions of a text: subject, attribute, value, sentence by sentence. In doubt, none.

Questions, hypotheses, reports, requests and quotes assert nothing. A value of a restricted case (`no Brasil`, `para o
grupo A`) is stored, but excludes no other value.
"""

import heapq
import re
from dataclasses import dataclass, replace
from typing import Literal

from agents.core.caching.texts import text_cache
from agents.core.claims import events, grammar
from agents.core.claims.attributes import Slot, slot_of
from agents.core.claims.first_person import of_oneself
from agents.core.claims.first_person_facts import told
from agents.core.claims.subjects import Subject, named_of, part_of, subject_of
from agents.core.language.claim_lexicon import words
from agents.core.language.interrogatives import told as told_in
from agents.core.language.interrogatives import wants_an_answer
from agents.core.language.quotes import own_words
from agents.core.language.sentences import composed, flatten, lower, sentences
from agents.core.language.text import clip
from agents.core.language.values import TypedValue, value_at

Author = Literal["user", "system"]
MAX_CLAIMS = 40
MAX_SENTENCE_CHARS = 600
MAX_TEXT_CHARS = 400
# A bracket would separate the number from its area code.
_PHONE = re.compile(r"\((\d{2,3})\)\s?(?=\d{3,5}[\s-]\d)")


@dataclass(frozen=True, slots=True)
class Assertion:
    """One assertion; `text` is its sentence, with the marker sentence before it (`Não. O prazo é …`)."""

    subject: str
    attribute: str
    value: str
    functional: bool
    confidence: float
    text: str
    negated: bool = False


@dataclass(slots=True)
class _Reading:
    """The state of reading a message: the referent of `it`, the topic, and the restriction of the sentence."""

    author: Author
    lang: str
    subject: Subject | None = None
    kind: str = ""
    restricted: bool = False
    about: str = ""

    def placed(self, subject: Subject, phrase: str) -> Subject:
        """The subject as a part of the message's topic: after `o orçamento do Boreal`, `o prazo` is Boreal's."""
        if of := named_of(subject, phrase):
            self.about = of
            return subject
        return part_of(subject, self.about)


@text_cache(4_096)
def assertions(text: str, author: Author, lang: str) -> tuple[Assertion, ...]:
    """The assertions of a text in order, at most 40; deterministic."""
    found: list[Assertion] = []
    reading = _Reading(author, lang)
    before = ""
    for sentence in sentences(_without_quotes(composed(text)), lang):
        marker, before = before, sentence if grammar.OPENER_WHOLE.fullmatch(lower(sentence)) else ""
        for assertion in _of_sentence(sentence[:MAX_SENTENCE_CHARS], reading):
            whole = f"{marker} {sentence}".strip()[:MAX_TEXT_CHARS]
            found.append(replace(assertion, text=whole))
        if len(found) >= MAX_CLAIMS:
            break
    return tuple(dict.fromkeys(_without_replaced(found)))[:MAX_CLAIMS]


def only_states(said: str, lang: str) -> bool:
    """Whether a user's message asserts something and asks nothing."""
    told = [sentence for sentence in sentences(clip(said), lang) if " " in sentence.strip()]
    # `My budget is 500. Plan a trip.`: what asserts nothing may ask for something in words that no list has.
    return all(assertions(each, "user", lang) for each in told) and bool(told) and not wants_an_answer(said, lang)


def _without_replaced(found: list[Assertion]) -> list[Assertion]:
    """The assertions without a denial whose value the text replaces: `O prazo não é dia 15, é dia 20`."""
    given = {(one.subject, one.attribute) for one in found if not one.negated}
    return [one for one in found if not (one.negated and (one.subject, one.attribute) in given)]


def _without_quotes(text: str) -> str:
    text = own_words(text).replace("**", "").replace("__", "")
    return grammar.QUOTED.sub(lambda quote: quote[0][1:-1] if quote[0].count(" ") < 4 else " ", text)


def _of_sentence(sentence: str, reading: _Reading) -> list[Assertion]:
    sentence = re.sub(r"^\s*(?:[-*•]|\d{1,2}[.)])\s+", "", sentence)
    sentence = told_in(sentence) or sentence
    sentence = _PHONE.sub(r"\1 ", sentence)
    low = lower(sentence)
    hedged = grammar.HEDGE.search(low)
    leans = grammar.source(low)
    for start, end in filter(None, (hedged and hedged.span(), leans)):
        sentence, low = (f"{each[:start]}{' ' * (end - start)}{each[end:]}" for each in (sentence, low))
    if low.rstrip(" )\"'*").endswith("?") or grammar.QUESTION.match(low) or grammar.NOT_CLAIMED.search(low):
        reading.subject = None
        return []
    reading.restricted = False
    found: list[Assertion] = []
    for start, end, mark in fragments(low):
        _read_fragment(sentence, low, (start, end), mark, reading, found)
    sureness = (0.55 if hedged else 1.0) * (grammar.REPORTED_SURENESS if leans else 1.0)
    return [replace(one, confidence=round(one.confidence * sureness, 2)) for one in found]


def fragments(low: str) -> list[tuple[int, int, str]]:
    """The spans between commas, clauses and similar, each with the mark before it."""
    places, start, mark = [], 0, ""
    for split in heapq.merge(grammar.SPLIT.finditer(low), grammar.next_clauses(low), key=re.Match.start):
        places.append((start, split.start(), mark))
        start, mark = split.end(), split.group().strip()
    return [*places, (start, len(low), mark)]


def _read_fragment(
    text: str, low: str, place: tuple[int, int], mark: str, reading: _Reading, found: list[Assertion]
) -> None:
    start, end = place
    if not low[start:end].strip() or grammar.OPENER_WHOLE.fullmatch(low, start, end):
        return
    while (opener := grammar.OPENER.match(low, start, end)) and opener.end() < end:
        start = opener.end()
    following: int | None = start
    while following is not None and following < end:
        start = following
        if reading.author == "user" and (facts := told(text, low, (start, end), reading.lang)) is not None:
            slots, following = facts
            for slot in slots:
                _add(slot, reading, found)
            continue
        own = of_oneself(text, low, (start, end), reading.author, reading.lang)
        if own is not None:
            slot, following = own
            _add(slot, reading, found)
            continue
        if (changed := _changed(text, low, (start, end), reading)) is not None:
            _add(changed, reading, found)
            return
        there = events.exists(text, low, (start, end), reading.author, reading.lang)
        if there is not None:
            _add(there, reading, found)
            return
        verb = grammar.first_verb(low, start, end)
        if verb is None:
            _read_verbless(text, low, (start, end), mark, reading, found)
            return
        following = _read_clause(text, low, (start, end), verb, reading, found)


def _read_verbless(
    text: str, low: str, place: tuple[int, int], mark: str, reading: _Reading, found: list[Assertion]
) -> None:
    start, end = place
    if mark == ":" and reading.subject is not None and reading.kind == "label":
        value = value_at(text, start, reading.lang)
        if value is not None and not text[value.end : end].strip(" .!*"):
            _add(Slot.read(reading.subject, value, text), reading, found)
        return
    rest = low[start:end]
    if grammar.CONTRAST.match(rest) or grammar.REASON.match(rest) or grammar.HARMLESS.fullmatch(rest):
        return
    if found and mark == ",":
        found[-1] = replace(found[-1], functional=False)
        return
    label = subject_of(text[start:end], reading.author, reading.lang)
    reading.subject, reading.kind = None, ""
    if label and label.definite:
        reading.subject, reading.kind = reading.placed(label, text[start:end]), "label"
    reading.restricted = reading.restricted or " " in rest.strip()


def _read_clause(
    text: str, low: str, place: tuple[int, int], verb: re.Match[str], reading: _Reading, found: list[Assertion]
) -> int | None:
    """Read one subject, verb and value; returns the start of the next clause, None at the end of the fragment."""
    start, end = place
    groups = verb.groupdict()
    form = next((name for name in grammar.FORMS if groups.get(name)), "be")
    negated = bool(groups.get("neg") or groups.get("benot") or groups.get("wasnot"))
    phrase = text[start : verb.start()].strip()
    spoken = "en" if grammar.ENGLISH.match(verb.group()) else "pt"
    named = subject_of(phrase, reading.author, spoken) if phrase else None
    named = named and reading.placed(named, phrase)
    value, approximate = predicate(text, low, verb.end(), end, reading.lang, named)
    inherited = named is None and grammar.IT.fullmatch(low, start, verb.start()) is not None
    if inherited and reading.subject is not None and value is not None and value.kind == reading.kind:
        named = reading.subject
    if named is None:
        return None
    if form == "heads":
        slot = events.led(text, low, (start, end), verb, reading.author, reading.lang)
        if slot is not None:
            _add(slot.denied(reading.lang) if negated else slot, reading, found)
        return None
    reversed_slot = _reversed(text, (start, end), verb, reading) if form == "be" and not negated else None
    if reversed_slot is not None:
        _add(reversed_slot, reading, found)
        return None
    if not inherited:
        reading.subject, reading.kind = named, value.kind if value else ""
    slot, stop = slot_of(named, form, value, text, low, (verb.end(), end))
    event = _event(named, form, verb, text, low, end, reading) if value is None or value.kind == "state" else None
    # `foi aprovado em 3 de maio` has a time; `foi aprovado` is a state.
    if event is not None and (value is None or event.functional):
        slot, stop = event, grammar.clause_after(low, verb.end(), end)
    if slot is None or form == "past":
        return grammar.clause_after(low, value.end if value else verb.end(), end)
    if negated:
        slot = slot.denied(reading.lang)
    if approximate:
        slot = replace(slot, functional=False)
    _add(slot, reading, found)
    return stop


def _event(
    subject: Subject, form: str, verb: re.Match[str], text: str, low: str, end: int, reading: _Reading
) -> Slot | None:
    """The slot of a clause without a typed value: something done, applied, or owned as a part."""
    place = (verb.end(), end)
    if form in ("be", "benot", "became", "wasnot"):
        return events.done(subject, text, low, place, reading.lang, once=form in ("became", "wasnot"))
    if form == "applies":
        return events.applies(subject, text, place, verb["applies"])
    if form in ("have", "does"):
        part = events.part(subject, text, low, place, reading.author, reading.lang) if form == "have" else None
        return part or events.had(subject, text, low, place, verb[form])
    return None


def _changed(text: str, low: str, place: tuple[int, int], reading: _Reading) -> Slot | None:
    """The slot of a change: in `o cliente adiou o prazo para dia 20` the deadline is the 20th."""
    start, end = place
    found = grammar.CHANGES.match(low, start, end)
    if found is None or (found["en"] and not found["who"].strip()) or grammar.NEGATION.search(found["who"]):
        return None
    phrase = text[found.start("what") : found.end("what")].strip()
    named = subject_of(phrase, reading.author, "en" if found["en"] else "pt")
    value = value_at(text[:end], found.end(), reading.lang)
    if named is None or value is None:
        return None
    return slot_of(reading.placed(named, phrase), "change", value, text, low, (found.end(), end))[0]


def predicate(
    text: str, low: str, position: int, end: int, lang: str, subject: Subject | None
) -> tuple[TypedValue | None, bool]:
    """The typed value after a verb and its function words, and whether it is marked as approximate."""
    version = subject is not None and "version" in subject.head
    for _ in range(5):
        rough = grammar.APPROXIMATE.match(low, position, end)
        if rough is not None:
            value = value_at(text[:end], _skip(low, rough.end(), end), lang)
            return value, True
        position = _skip(low, position, end)
        value = value_at(text[:end], position, lang, version=version) if position < end else None
        if value is not None:
            return value, False
        filler = grammar.FILLER.match(low, position, end)
        if filler is None:
            return None, False
        position = filler.end()
    return None, False


def _skip(low: str, position: int, end: int) -> int:
    while position < end and low[position] in " \t*_\"'“«":
        position += 1
    return position


def _reversed(text: str, place: tuple[int, int], verb: re.Match[str], reading: _Reading) -> Slot | None:
    """The slot of a reversed clause: in `A Ana é a responsável pelo projeto X` the role is the subject."""
    start, end = place
    name = value_at(text[:end], start, reading.lang)
    if name is None or name.kind not in ("person", "place") or text[name.end : verb.start()].strip():
        return None
    role = subject_of(text[verb.end() : end].strip(" .!"), reading.author, reading.lang)
    if role is None or not role.definite:
        return None
    heads = set(flatten(role.text).split()[:1]) | set(role.head.split())
    wanted = words("person_heads" if name.kind == "person" else "place_heads")
    return Slot.read(role, name, text) if heads & wanted else None


def _add(slot: Slot, reading: _Reading, found: list[Assertion]) -> None:
    if reading.restricted:
        slot = replace(slot, functional=False)
    found.append(_assertion(slot))


def _assertion(slot: Slot) -> Assertion:
    confidence = 0.9 if slot.functional else 0.8 if slot.typed else 0.6
    return Assertion(slot.subject, slot.attribute, slot.value, slot.functional, confidence, "", slot.negated)
