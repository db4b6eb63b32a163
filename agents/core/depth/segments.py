"""The probability that a turn opens a new segment of a conversation; published only, no decision uses it."""

from collections.abc import Iterator, Sequence

from agents.core.depth.questions import asks
from agents.core.depth.reading import Reading, word_class
from agents.core.depth.reference import asking
from agents.core.language.linear_models import table
from schemas.depth import Signal

LENGTHS = (3, 6, 10, 16, 24)
STRENGTHS = ((0.85, "strong"), (0.6, "clear"), (0.0, "weak"))
PARTS = (0.01, 0.34, 0.67, 1.0)


def opens_segment(reading: Reading, signals: Sequence[Signal]) -> float:
    """The probability that a turn opens a segment, 0-1; 0 for the first turn."""
    if not reading.past.exists:
        return 0.0
    return table("segments").probability(segment_features(reading, signals))


def segment_features(reading: Reading, signals: Sequence[Signal]) -> Iterator[str]:
    """Features of a turn: its signals, words shared with earlier turns, speaker order, opening."""
    yield from dict.fromkeys(_named(sign) for sign in signals)
    yield f"length<{next((most for most in LENGTHS if reading.length < most), 99)}"
    yield from _after(reading)
    yield from _shared(reading)
    if reading.courtesies:
        yield "courtesy" if reading.sentences else "courtesy only"
    for sentence in reading.sentences[:1]:
        yield f"opens:{sentence.words[1]}" if sentence.words[1] in word_class("OPENERS") else "opens otherwise"
    for sentence in reading.sentences[-1:]:
        yield f"asks:{asks(sentence).name.lower()}"
    yield f"sentences {min(len(reading.sentences), 3)}"


def _named(sign: Signal) -> str:
    strength = next(name for least, name in STRENGTHS if sign.weight >= least)
    return f"{sign.name}:{sign.level.value}:{strength}"


def _after(reading: Reading) -> Iterator[str]:
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


def _shared(reading: Reading) -> Iterator[str]:
    """Features of the share of words known from the last turn, the last exchange, all earlier turns."""
    mine, past = set(reading.content), reading.past
    yield f"content {min(len(mine), 5)}"
    for name, known in (("last turn", past.shared_last), ("exchange", past.recent), ("talk", past.shared)):
        part = _part(len(known) / len(mine)) if mine else "no words"
        yield f"{name} {part}"
        yield f"{name} {part}, {'asks' if any(map(asking, reading.sentences)) else 'tells'}"


def _part(share: float) -> str:
    return next((f"<{most}" for most in PARTS if share < most), "all")
