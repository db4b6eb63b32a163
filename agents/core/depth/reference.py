"""Signals that a message depends on earlier turns (anaphora, openers, ellipsis, answers), and the entity it names."""

import re
from collections.abc import Iterator

from agents.core.depth.questions import LOOKUPS, AnswerKind, asks, is_named, is_self_contained
from agents.core.depth.reading import Reading, word_class
from agents.core.language.phrases import BOUNDS, NOWHERE, PAUSE, START, Sentence, evidence
from agents.core.language.text import stem
from schemas.depth import DepthLevel, Signal, SignalName

SHORT_MESSAGE = 5
OPENED, REFERRED, ANSWERED, LOOSE, SHARED, INSIDE = 0.75, 0.75, 0.7, 0.6, 0.55, 0.5


def _sign(name: SignalName, shown: str, weight: float) -> Signal:
    return Signal(name=name, evidence=shown, level=DepthLevel.D1, weight=weight)


def anaphora(reading: Reading) -> Iterator[Signal]:
    """Signals of pronouns and demonstratives whose antecedent lies outside the message."""
    blind = _covered(reading, "pleonastic", "temporal", "now", "greeting")
    named = joined = False
    for sentence in reading.sentences:
        for at, word in enumerate(sentence.words):
            joined = joined or (named and (word == PAUSE or word in word_class("CLAUSE_JOINTS")))
            if word in BOUNDS:
                continue
            if (id(sentence), at) not in blind and _refers(sentence, at):
                weight = _weight(reading, word, named, joined)
                if weight:
                    yield _sign("anaphora", evidence(reading.text, sentence, at, at + 1), weight)
            named = named or word in reading.nouns
        joined = named
    for sentence, match in reading.places("meaning"):
        yield _sign("anaphora", reading.quote(sentence, match), REFERRED)


def _weight(reading: Reading, word: str, named: bool, joined: bool) -> float:
    """The weight of a pronoun: full without a possible antecedent inside the message, low or zero with one.

    "Why did Musk start it?" points outside; "what is deflation and why is it bad?" does not.
    """
    if not named or word in word_class("DEICTIC"):
        return REFERRED
    if not joined:
        return LOOSE
    return INSIDE if reading.past.exists else 0.0


def _covered(reading: Reading, *groups: str) -> set[tuple[int, int]]:
    return {(id(sentence), at) for sentence, match in reading.places(*groups) for at in range(match.start, match.end)}


def _refers(sentence: Sentence, at: int) -> bool:
    words = sentence.words
    word, before, after = words[at], words[at - 1], words[at + 1]
    if word in word_class("PRONOUNS"):
        return not (before == "por" and word == "isso") and before != "alem"
    if word in word_class("DETERMINERS"):
        return after not in BOUNDS
    if word == "this":
        return True
    if word == "that":
        return _points(before, after)
    if word in word_class("PLACES"):
        return _is_place(word, before, after)
    return (word == "mesmo" or word == "mesma" or word == "same") and before in {"o", "a", "the"}


def _points(before: str, after: str) -> bool:
    if after in BOUNDS or after in word_class("AFTER_POINTING_THAT"):
        return True
    return before in word_class("BEFORE_POINTING_THAT") or before == START


def _is_place(word: str, before: str, after: str) -> bool:
    if word == "there":
        expletive = word_class("EXPLETIVE")
        return before not in expletive and after not in expletive and before != START
    return after in BOUNDS or word == "ali"


def follow_up(reading: Reading) -> Iterator[Signal]:
    """Signals of openers, elliptical and short messages, answers, words shared with earlier turns."""
    for sentence, match in reading.places("opener"):
        if reading.past.exists or match.start > 0:
            yield _sign("follow_up", reading.quote(sentence, match), OPENED)
    if not reading.past.exists:
        return
    yield from _answer(reading)
    yield from _part(reading)
    if _is_short(reading):
        yield _sign("follow_up", reading.text.strip(), LOOSE)
    if reading.past.shared:
        both = [t for t in reading.terms if stem(t, reading.lang) in reading.past.shared]
        yield _sign("follow_up", ", ".join(both[:8]), SHARED)


def _answer(reading: Reading) -> Iterator[Signal]:
    pending = reading.past.pending
    if pending not in {"question", "confirmation"} and not reading.affirms:
        return
    if reading.affirms and pending:
        yield _sign("follow_up", reading.courtesies[0], ANSWERED)
    elif reading.sentences and not any(asking(sentence) for sentence in reading.sentences):
        yield _sign("follow_up", reading.text.strip()[:80], ANSWERED)


def asking(sentence: Sentence) -> bool:
    """Whether the sentence is a question or a request."""
    if sentence.question or asks(sentence) in LOOKUPS:
        return True
    refused = sentence.words[1] in word_class("NEGATIONS")
    return not refused and not word_class("REQUESTS").isdisjoint(sentence.words[:5])


def _part(reading: Reading) -> Iterator[Signal]:
    """Signals of a part named without its whole, which belongs to the current topic: `o cronograma`, `the scope`."""
    for sentence in reading.sentences:
        if _looks_up_alone(reading, sentence):
            continue
        for at, word in enumerate(sentence.words[2:-1], 2):
            definite = sentence.words[at - 1] in _articles(reading.lang)
            if definite and _is_part(reading, word, sentence.words[at + 1]):
                shown = evidence(reading.text, sentence, at - 1, at + 1)
                yield _sign("follow_up", shown, LOOSE)


def _articles(lang: str) -> frozenset[str]:
    return word_class("ARTICLES_EN" if lang == "en" else "ARTICLES_PT")


def _is_part(reading: Reading, word: str, following: str) -> bool:
    if _has_whole(reading, following):
        return False
    if word in word_class("PARTS") or word in word_class("ATTRIBUTES"):
        return True
    # English keeps its article for what both sides know; Portuguese also says "o reembolso" of any.
    known = reading.lang == "en" and following in BOUNDS
    return word in reading.nouns and (known or stem(word, reading.lang) in reading.past.shared)


def _has_whole(reading: Reading, following: str) -> bool:
    # English builds compounds (the project scope), Portuguese says de (o escopo do projeto).
    compound = reading.lang == "en" and following in reading.nouns
    return compound or following in word_class("OWNERSHIP")


def _looks_up_alone(reading: Reading, sentence: Sentence) -> bool:
    return asks(sentence) in LOOKUPS and is_self_contained(sentence, reading.text)


def _is_short(reading: Reading) -> bool:
    if not reading.sentences or reading.length > SHORT_MESSAGE or reading.says("now"):
        return False
    return not any(
        asks(sentence) is AnswerKind.DEFINITION or is_named(sentence, reading.text) for sentence in reading.sentences
    )


_IDENTIFIER = re.compile(r"\b(?:[A-Za-z]{2,8}_\d[\w-]{0,20}|[A-Z]{2,6}[.-]\d{1,8}(?:/\d{2,4})?|[A-Z]{2,6}-?\d{3,10})\b")
_QUOTED = re.compile(r"[\"\u201c\u00ab]([^\"\u201d\u00bb\n]{1,80})[\"\u201d\u00bb]")
_JOINING = frozenset(("de", "da", "do", "dos", "das", "e", "of", "the"))


def identifiers(text: str) -> Iterator[str]:
    """Codes such as rel_456 or DMD.0001/26, in order."""
    return (found[0] for found in _IDENTIFIER.finditer(text))


def entity(reading: Reading) -> str | None:
    """The entity named, most specific first; None when the message leaves it to the context."""
    quoted = _QUOTED.search(reading.text)
    if quoted:
        return quoted[1].strip()
    for code in identifiers(reading.text):
        return code
    for sentence in reading.sentences:
        found = _of_a_kind(reading.text, sentence) or _proper_name(reading.text, sentence)
        if found:
            return found
    return None


def _of_a_kind(text: str, sentence: Sentence) -> str | None:
    words = sentence.words
    for at in range(1, len(words) - 2):
        if words[at] in word_class("KINDS") and _is_capital(text, sentence, at + 1):
            end = _name_end(text, sentence, at + 1)
            return evidence(text, sentence, at, end)
    return None


def _proper_name(text: str, sentence: Sentence) -> str | None:
    for at in range(1, len(sentence.words) - 1):
        if not _is_capital(text, sentence, at):
            continue
        end = _name_end(text, sentence, at)
        # The first word of a sentence is always capitalised: alone it names nothing.
        if at > 1 or (end > at + 1 and sentence.words[at] not in word_class("WH_WORDS")):
            return evidence(text, sentence, at, end)
    return None


def _name_end(text: str, sentence: Sentence, start: int) -> int:
    end = start + 1
    while _is_capital(text, sentence, end) or (
        sentence.words[end] in _JOINING and _is_capital(text, sentence, end + 1)
    ):
        end += 1
    return end


def _is_capital(text: str, sentence: Sentence, at: int) -> bool:
    if at >= len(sentence.spans) or sentence.spans[at] == NOWHERE:
        return False
    start, end = sentence.spans[at]
    written = text[start:end]
    return (written[0].isupper() and written.rstrip("'s") != "I") or (
        written.isdigit() and at > 1 and _is_capital(text, sentence, at - 1)
    )
