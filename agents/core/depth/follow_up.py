"""Whether a message needs earlier turns to be understood, regardless of its level, and whether it opens a segment.

The segment is published only; no decision uses it.
"""

from collections.abc import Iterator, Sequence

from agents.core.depth.questions import AnswerKind, asks, lacks_its_whole
from agents.core.depth.reading import Reading, word_class
from agents.core.depth.reference import asking
from agents.core.depth.shift import in_passing
from agents.core.language.linear_models import table
from agents.core.language.phrases import BOUNDS, NOWHERE, Sentence, evidence
from agents.core.language.text import stem, words
from schemas.depth import DepthLevel, Signal

LENGTHS = (3, 5, 7, 9, 12)
STRENGTHS = ((0.7, "strong"), (0.6, "clear"), (0.0, "weak"))
SEGMENT_LENGTHS = (3, 6, 10, 16, 24)
SEGMENT_STRENGTHS = ((0.85, "strong"), (0.6, "clear"), (0.0, "weak"))
SEGMENT_SHARES = (0.01, 0.34, 0.67, 1.0)
AHEAD = 3
LEANS, CLEAR, INSIDE, ALONE = 0.5, 0.6, 0.5, 0.75


def needs_context(reading: Reading, signals: Sequence[Signal]) -> float:
    """The probability that a message needs the turns before it, 0-1; 0 without earlier turns."""
    if not reading.past.exists or not reading.sentences:
        return 0.0
    return table("follow_up").probability(follow_up_features(reading, signals))


def weighed(reading: Reading, signals: Sequence[Signal], sure: float) -> tuple[Signal, ...]:
    """The signals with a follow-up signal of their combined weight, and without unsupported ones."""
    if not reading.past.exists or not reading.sentences:
        return tuple(signals)
    if sure < LEANS:
        return tuple(_doubted(sign) for sign in signals)
    # A look-up with a complement stands alone.
    if any(sign.name == "direct_question" and sign.weight >= ALONE for sign in signals):
        return tuple(signals)
    if any(sign.level is DepthLevel.D1 and sign.weight >= CLEAR for sign in signals):
        return tuple(signals)
    shown = evidence(reading.text, reading.sentences[0], 0, len(reading.sentences[0].words))[:80]
    lean = Signal(name="follow_up", evidence=shown, level=DepthLevel.D1, weight=round(max(CLEAR, sure), 2))
    return (*signals, lean)


def _doubted(sign: Signal) -> Signal:
    """Whether a signal is too weak alone: shortness or a loose pronoun, where all else shows a standalone message."""
    if sign.level is DepthLevel.D1 and sign.name in ("follow_up", "anaphora") and INSIDE < sign.weight <= CLEAR:
        return sign.model_copy(update={"weight": INSIDE})
    return sign


def follow_up_features(reading: Reading, signals: Sequence[Signal]) -> Iterator[str]:
    """Features of a follow-up: references, names, shared and new words."""
    counted = [sign for sign in signals if sign.name not in ("topic_shift", "doubt")]
    yield from dict.fromkeys(_named(sign) for sign in counted if sign.level is not DepthLevel.D0)
    yield f"length<{next((most for most in LENGTHS if reading.length < most), 99)}"
    yield from dict.fromkeys(_shared(reading))
    for sentence in reading.sentences[-2:]:
        yield f"asks:{asks(sentence).name.lower()}"
        yield from dict.fromkeys(_leaning(reading, sentence))
        yield from dict.fromkeys(_names(reading, sentence))


def _named(sign: Signal) -> str:
    strength = next(name for least, name in STRENGTHS if sign.weight >= least)
    return f"{sign.name}:{strength}"


def _shared(reading: Reading) -> Iterator[str]:
    """Features of the content words shared with earlier turns, and with which."""
    mine, past = reading.content, reading.past
    new = len(set(mine) - past.shared)
    yield f"content {min(len(mine), 4)}"
    yield f"new {min(new, 4)}"
    if mine and not new:
        yield "all known"
    if mine and new == len(set(mine)):
        yield "all new"
    if past.topic:
        yield "names the topic"
    if past.recent:
        yield "shares with the last exchange"
    elif past.shared:
        yield "shares with older turns"


def _leaning(reading: Reading, sentence: Sentence) -> Iterator[str]:
    """Features of pronouns, demonstratives, definite and relational nouns without a complement."""
    words = sentence.words
    for at, word in enumerate(words[1:-1], 1):
        after = words[at + 1]
        if word in word_class("PRONOUNS"):
            yield "pronoun"
            yield "pronoun early" if at <= AHEAD else "pronoun late"
        if word in word_class("DETERMINERS") or (word in ("this", "that") and after not in BOUNDS):
            yield "demonstrative"
        if word in word_class("ARTICLES_EN" if reading.lang == "en" else "ARTICLES_PT"):
            yield from _definite(reading, words, at)
        if word in word_class("RELATIONAL"):
            yield "relational with whole" if after in word_class("WHOLE_FOLLOWS") else "relational"
        if word in ("a", "an", "um", "uma"):
            yield "indefinite"
        if word in word_class("ALSO"):
            yield "also"
    if words[-2] in word_class("FINAL"):
        yield "ends in a preposition"


def _definite(reading: Reading, words: tuple[str, ...], at: int) -> Iterator[str]:
    """Features of a definite noun phrase: with or without a complement, mentioned before or not."""
    places = range(at + 1, min(at + 1 + AHEAD, len(words) - 1))
    noun = next((place for place in places if words[place] in reading.nouns), 0)
    if not noun:
        return
    closed = words[noun + 1] in word_class("WHOLE_FOLLOWS") or words[noun + 1] in reading.nouns
    known = stem(words[noun], reading.lang) in reading.past.shared
    yield f"the {'known' if known else 'new'} noun{' of something' if closed else ''}"


def _names(reading: Reading, sentence: Sentence) -> Iterator[str]:
    """Features of names: mentioned before, or new."""
    for at in range(2, len(sentence.words) - 1):
        span = sentence.spans[at]
        if span == NOWHERE or not reading.text[span[0]].isupper() or sentence.words[at] in ("i", "am"):
            continue
        known = stem(sentence.words[at], reading.lang) in reading.past.shared
        yield "known name" if known else "new name"
    if asks(sentence) is AnswerKind.DEFINITION:
        yield "definition"


def opens_segment(reading: Reading, signals: Sequence[Signal]) -> float:
    """The probability that a turn opens a segment, 0-1; 0 for the first turn."""
    if not reading.past.exists:
        return 0.0
    return table("segments").probability(segment_features(reading, signals))


def segment_features(reading: Reading, signals: Sequence[Signal]) -> Iterator[str]:
    """Features of a turn: its signals, words shared with earlier turns, speaker order, opening."""
    if reading.past.talk == "errand":
        yield "errand"
        yield from (f"errand: {name}" for name in dict.fromkeys(_steps(reading, signals)))
        return
    yield from dict.fromkeys(_segment_signal(sign) for sign in signals)
    yield f"length<{next((most for most in SEGMENT_LENGTHS if reading.length < most), 99)}"
    yield from _after_turn(reading)
    yield from _shared_words(reading)
    if reading.courtesies:
        yield "courtesy" if reading.sentences else "courtesy only"
    for sentence in reading.sentences[:1]:
        yield f"opens:{sentence.words[1]}" if sentence.words[1] in word_class("OPENERS") else "opens otherwise"
    for sentence in reading.sentences[-1:]:
        yield f"asks:{asks(sentence).name.lower()}"
    yield f"sentences {min(len(reading.sentences), 3)}"
    if reading.past.talk == "chat":
        yield from _among_people(reading)


def _among_people(reading: Reading) -> Iterator[str]:
    """Features of a turn where both sides tell of themselves."""
    speaker = "user" if reading.past.addressed else "assistant"
    asks_back = any(one.question for one in reading.sentences)
    answers = "?" in reading.past.exchange[-1].content
    does, new = "asks" if asks_back else "tells", len(set(reading.content) - reading.past.shared)
    yield f"among people: {speaker}"
    yield f"among people: {does} after {'a question' if answers else 'a statement'}"
    yield f"among people: {does}, {min(new, 4)} new"


def _steps(reading: Reading, signals: Sequence[Signal]) -> Iterator[str]:
    """Features that tell another errand from the next step of the same one."""
    past, asked = reading.past, [one for one in reading.sentences if asking(one)]
    said = {word for one in reading.sentences for word in one.plain}
    pending = past.pending or "a statement"
    yield f"{'asks' if asked else 'tells'} after {pending}"
    yield f"new {min(len(set(reading.content) - past.shared), 3)}"
    yield f"shares {min(len(past.recent), 2)}"
    if reading.courtesies and reading.sentences:
        agrees = not word_class("YES").isdisjoint(words(reading.courtesies[0])[:1])
        yield f"{'agrees' if agrees else 'thanks'} after {pending}"
    if asked and all(map(in_passing, asked)):
        yield "in passing"
    if any(map(lacks_its_whole, reading.sentences)):
        yield "lacks its whole"
    if any(sign.name == "anaphora" for sign in signals):
        yield "anaphora"
    for name in ("NEEDS", "REQUESTS", "ADDING", "ALTERNATIVES"):
        if not word_class(name).isdisjoint(said):
            yield name.lower()


def _segment_signal(sign: Signal) -> str:
    strength = next(name for least, name in SEGMENT_STRENGTHS if sign.weight >= least)
    return f"{sign.name}:{sign.level.value}:{strength}"


def _after_turn(reading: Reading) -> Iterator[str]:
    """Features of the speaker and of the pending act of the turn before."""
    past = reading.past
    speaker = "user" if past.addressed else "assistant"
    questions = any(asking(sentence) for sentence in reading.sentences)
    yield f"{speaker} {'asks' if questions else 'tells'} after {past.pending or 'a statement'}"
    yield f"{speaker} speaks"
    if past.answered:
        yield f"after an answer {'asks' if questions else 'tells'}"
    if speaker == "assistant":
        yield f"answers {'a question' if '?' in past.exchange[-1].content else 'a statement'}"
    yield f"turns {min(past.turns, 6) // 2}"
    yield f"last turn length {min(len(past.exchange[-1].content) // 60, 4)}"


def _shared_words(reading: Reading) -> Iterator[str]:
    """Features of the share of words known from the last turn, the last exchange, all earlier turns."""
    mine, past = set(reading.content), reading.past
    yield f"content {min(len(mine), 5)}"
    for name, known in (("last turn", past.shared_last), ("exchange", past.recent), ("talk", past.shared)):
        part = _share(len(known) / len(mine)) if mine else "no words"
        yield f"{name} {part}"
        yield f"{name} {part}, {'asks' if any(map(asking, reading.sentences)) else 'tells'}"


def _share(share: float) -> str:
    return next((f"<{most}" for most in SEGMENT_SHARES if share < most), "all")
