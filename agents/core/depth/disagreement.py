"""Signals that a message contests or corrects earlier turns: strong, weak, and by form."""

from collections.abc import Iterator
from itertools import pairwise

from agents.core.depth.questions import AUXILIARIES, is_wh_question
from agents.core.depth.reading import Place, Reading, word_class
from agents.core.language.phrases import END, PAUSE, Sentence, cut, evidence, find
from schemas.depth import DepthLevel, Signal

STRONG, REPAIRED, INITIAL_NO, WEAK, FORM, DOUBTED = 0.95, 0.85, 0.8, 0.75, 0.7, 0.65
COPULAS = frozenset(("é", "e", "era", "foi", "foram", "sao", "eram", "seria", "esta", "está"))
DENIED = frozenset((("is", "not"), ("was", "not"), ("are", "not"), ("were", "not")))
TAG_LENGTH = 3
CONTRAST_LENGTH = 4


def disagreement(reading: Reading) -> Iterator[Signal]:
    """All signals of disagreement; weak ones do not count inside a question with a question word."""
    yield from _strong(reading)
    yield from _weak(reading)
    for sentence in reading.sentences:
        if is_wh_question(sentence):
            continue
        yield from _initial_no(reading, sentence)
        if reading.past.exists:
            yield from _contrast(reading, sentence)
            yield from _denial(reading, sentence)
    if reading.past.exists:
        yield from _repair(reading)


def _sign(reading: Reading, sentence: Sentence, start: int, end: int, weight: float) -> Signal:
    return Signal(
        name="disagreement",
        evidence=evidence(reading.text, sentence, start, end),
        level=DepthLevel.D3,
        weight=weight,
    )


def _sign_at(reading: Reading, place: Place, weight: float) -> Signal:
    sentence, match = place
    return _sign(reading, sentence, match.start, match.end, weight)


def _strong(reading: Reading) -> Iterator[Signal]:
    for place in reading.places("disagreement_strong"):
        if not _is_tag(place) and not _supposed(place):
            yield _sign_at(reading, place, STRONG)


def _supposed(place: Place) -> bool:
    """Whether the phrase is hypothetical: `What if I disagree?`."""
    sentence, match = place
    return not {"if", "caso"}.isdisjoint(sentence.words[: match.start])


def _is_tag(place: Place) -> bool:
    # "O prazo é dia 15, não é isso?" asks for confirmation.
    sentence, match = place
    closes = sentence.question and sentence.words[match.end : match.end + 1] == (END,)
    return closes and match.start > 1 and match.end - match.start <= TAG_LENGTH


def _weak(reading: Reading) -> Iterator[Signal]:
    for place in reading.places("disagreement_weak"):
        if not is_wh_question(place[0]) and not _supposed(place):
            yield _sign_at(reading, place, DOUBTED if place[0].question else WEAK)
    for place in reading.places("disagreement_actually"):
        if not is_wh_question(place[0]) and not _actually_requests(reading, place[0]):
            yield _sign_at(reading, place, DOUBTED if place[0].question else WEAK)
    if reading.past.exists:
        for place in reading.places("update"):
            if not place[0].question and reading.past.shared:
                yield _sign_at(reading, place, FORM)


def _actually_requests(reading: Reading, sentence: Sentence) -> bool:
    """Whether `actually` opens a request or an answer (`Actually, find me a cheaper one`), not a correction."""
    if reading.past.pending == "confirmation":
        return False
    wishes = not (word_class("REQUESTS") - {"can", "pode"}).isdisjoint(sentence.words[:6])
    return wishes or reading.past.pending in ("question", "offer")


def _initial_no(reading: Reading, sentence: Sentence) -> Iterator[Signal]:
    words = sentence.words
    if words[1] not in word_class("NEGATIONS"):
        return
    after = _asserted(reading, sentence)
    # "Nope, are you?" only asks back; "não, 20" asserts a figure.
    if sentence.question and after[:1] and after[0] in AUXILIARIES:
        return
    if len(after) < (1 if _has_figure(after) else 2) or _refuses(reading, sentence, after) or _answers(reading):
        return
    yield _sign(reading, sentence, 1, 2, INITIAL_NO)


def _refuses(reading: Reading, sentence: Sentence, after: tuple[str, ...]) -> bool:
    """Whether an initial no refuses without asserting anything: `Não, não sei`, `No, that will be all`."""
    harmless = word_class("NO_CONTRADICTION")
    if reading.past.pending != "confirmation" and after[0] in harmless:
        return True
    if after[0] in {"nao", "i", "eu"} and not harmless.isdisjoint(after[1:4]):
        return reading.past.pending != "confirmation" or "nao" in after[:2] or "not" in after[:3]
    return any(_dismisses(cut(sentence, first)) for first in (2, 3))


def _dismisses(rest: Sentence | None) -> bool:
    return rest is not None and any(found.group == "dismissal" and found.start == 0 for found in find(rest))


def _asserted(reading: Reading, sentence: Sentence) -> tuple[str, ...]:
    words = sentence.words
    if words[2] == PAUSE:
        return tuple(word for word in words[3:-1] if word != PAUSE)
    if words[2] == END:
        later = reading.sentences[reading.sentences.index(sentence) + 1 :]
        return later[0].plain if later and not is_wh_question(later[0]) else ()
    if words[1] != "nao" and words[2] in word_class("AFTER_ENGLISH_NO"):
        return words[2:-1]
    return ()


def _answers(reading: Reading) -> bool:
    # "Would you like to book it?" / "No, I want to see the weather": a refusal corrects nothing.
    # Nor does the answer to an open question: "Are your parents retired?" / "No, they are not".
    return reading.past.pending in ("question", "offer") and not reading.says("update")


def _contrast(reading: Reading, sentence: Sentence) -> Iterator[Signal]:
    words = sentence.words
    if sentence.question:
        if "nao" in words and words[words.index("nao") + 1] in {"era", "seria", "eram"}:
            at = words.index("nao")
            yield _sign(reading, sentence, at, at + 2, DOUBTED)
        return
    if words[1] == "nao" and words[2] in COPULAS:
        yield _sign(reading, sentence, 1, 3, FORM)
    for at in range(2, len(words) - 2):
        if words[at] == PAUSE and words[at + 1] in {"nao", "not"} and _replaces(words[at + 2 : at + 8]):
            yield _sign(reading, sentence, at + 1, len(words) - 1, FORM)
        elif words[at : at + 2] == ("is", "not") and _restates(words[at + 2 : at + 16]):
            yield _sign(reading, sentence, at - 1, at + 2, FORM)


def _denial(reading: Reading, sentence: Sentence) -> Iterator[Signal]:
    """Signals that the message negates the assistant's last turn: `O prazo não é dia 15`."""
    if not reading.past.shared_last or reading.past.pending == "question":
        return
    words = sentence.words
    for at in range(1, len(words) - 2):
        if words[at - 1] in word_class("RELATIVES_EN") or not {"if", "se", "caso"}.isdisjoint(words[:at]):
            continue
        pair = words[at : at + 2]
        denies = (pair[0] == "nao" and pair[1] in COPULAS) or pair in DENIED
        # A negative question contests when it gives another figure; at the end of a sentence it asks for confirmation.
        if denies and words[at + 2] != END and (not sentence.question or _has_figure(words[at + 2 :])):
            weight = DOUBTED if sentence.question else FORM
            yield _sign(reading, sentence, at, at + 2, weight)


def _has_figure(words: tuple[str, ...]) -> bool:
    return any(char.isdigit() for word in words for char in word)


def _replaces(tail: tuple[str, ...]) -> bool:
    rest = [word for word in tail if word != END]
    harmless = word_class("NO_CONTRADICTION") | word_class("AFTER_VAGUE_NOT") | COPULAS
    return 0 < len(rest) <= CONTRAST_LENGTH and PAUSE not in rest and rest[0] not in harmless


def _restates(tail: tuple[str, ...]) -> bool:
    for at, word in enumerate(tail[:-2]):
        if word == PAUSE or word == "but":
            return tail[at + 1] in {"it", "that", "they", "he", "she"} and tail[at + 2] == "is"
    return False


def _repair(reading: Reading) -> Iterator[Signal]:
    # An answer to an open question is no repair.
    if reading.past.pending == "question":
        return
    confirming = reading.past.pending == "confirmation"
    if confirming and _changes(reading):
        yield _sign(reading, reading.sentences[0], 0, len(reading.sentences[0].words), FORM)
    groups = ("repair", "repair_if_confirming") if confirming else ("repair",)
    for place in reading.places(*groups):
        if not is_wh_question(place[0]) and not _supposed(place):
            yield _sign_at(reading, place, REPAIRED if confirming else FORM)


def _asks_further(sentence: Sentence) -> bool:
    """Whether a question asks for more (`Is it furnished?`), not for something else instead."""
    asked_of = {second for first, second in pairwise(sentence.words[:5]) if first in word_class("ASKING_OTHERWISE")}
    return sentence.question and asked_of.isdisjoint({"you", "voce", "me"})


def _changes(reading: Reading) -> bool:
    """Whether a reply to "is this right?" does not agree and adds something new."""
    if not reading.sentences or reading.courtesies or any(map(_asks_further, reading.sentences)):
        return False
    if is_wh_question(reading.sentences[0]):
        return False
    plain = {word for sentence in reading.sentences for word in sentence.plain}
    agrees = not word_class("AGREEMENT").isdisjoint(plain)
    return not agrees and bool(set(reading.content) - reading.past.shared_last)
