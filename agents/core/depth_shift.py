"""Signs that a message leaves the topic (S0-22): said so, or sharing no content word with the last exchange."""

from collections.abc import Iterator, Sequence

from agents.core.depth_questions import Asks, asks, requests_attribute
from agents.core.depth_reading import Reading
from agents.core.depth_reference import LOOSE, SHARED, asking
from schemas.depth import DepthLevel, Signal

SAID, HINTED, UNCONNECTED, DOUBTFUL = 0.95, 0.1, 0.65, 0.6
PER_WORD, FRAGMENT, STATEMENT = 0.05, 0.2, 0.15
FRAGMENT_LENGTH = 4
# A message that shows one of these leans on the topic or looks something up in passing (CF-05).
IN_PASSING = frozenset((Asks.ATTRIBUTE, Asks.FACT))
KEEPING = frozenset(("anaphora", "temporal", "command"))


def shift(reading: Reading, others: Sequence[Signal]) -> Iterator[Signal]:
    """Signs of a new topic; none without a past, where there is no topic to leave (CF-21)."""
    if not reading.past.exists:
        return
    for sentence, match in reading.places("shift"):
        yield _sign(reading.quote(sentence, match), SAID)
    if _unconnected(reading) and not _kept(reading, others):
        yield _sign(", ".join(reading.terms[:8]), round(_weight(reading, others), 2))


def _sign(shown: str, weight: float) -> Signal:
    return Signal(name="topic_shift", evidence=shown, level=DepthLevel.D4, weight=weight)


def _unconnected(reading: Reading) -> bool:
    # Turns in another language share no word with anything: nothing can be said.
    past = reading.past
    enough = 1 if reading.says("shift_hint") or _closes(reading) else 2
    if not past.comparable or len(reading.content) < enough or past.recent:
        return False
    if _answers(reading):
        return False
    # Two statements in a row by the same speaker are one thought.
    return past.addressed or any(asking(sentence) for sentence in reading.sentences)


def _answers(reading: Reading) -> bool:
    """`I need one in Los Gatos` after `in which city?`: a request answers what was asked or puts it off."""
    put_off = bool(reading.courtesies) or reading.says("dismissal", "shift_hint")
    asks_back = any(sentence.question for sentence in reading.sentences)
    return reading.past.pending == "question" and not put_off and not asks_back


def _closes(reading: Reading) -> bool:
    """`Thanks. I also need a room`: courtesy settles what went before, unless it answers what was asked."""
    answers = reading.past.pending in {"question", "confirmation"}
    return bool(reading.courtesies and reading.sentences) and not answers


def _kept(reading: Reading, others: Sequence[Signal]) -> bool:
    if any(sign.name in KEEPING and sign.weight >= DOUBTFUL for sign in others):
        return True
    if any(sign.name == "follow_up" and _leans(reading, sign) for sign in others):
        return True
    return any(asks(sentence) in IN_PASSING or requests_attribute(sentence) for sentence in reading.sentences)


def _leans(reading: Reading, sign: Signal) -> bool:
    # Being short alone is no lean: "Políticas de férias?" may open a topic. Nor are words of older turns.
    return sign.weight > LOOSE or (sign.weight > SHARED and sign.evidence != reading.text.strip())


def _weight(reading: Reading, others: Sequence[Signal]) -> float:
    weight = UNCONNECTED + PER_WORD * min(max(len(reading.content) - 2, 0), 3)
    wanted = any(sign.level is DepthLevel.D2 for sign in others)
    asked = wanted or any(asking(sentence) for sentence in reading.sentences)
    if not asked:
        weight -= STATEMENT
        weight -= FRAGMENT if reading.length <= FRAGMENT_LENGTH else 0.0
    if reading.says("shift_hint") or reading.past.pending == "offer" or _closes(reading):
        weight += HINTED
    return max(weight, 0.1)


def is_doubtful(weight: float) -> bool:
    """Too little evidence of a new topic to drop the context of the old one (CF-04)."""
    return weight < DOUBTFUL
