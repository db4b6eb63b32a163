"""Signals of a topic shift: announced, or no content word shared with the last exchange."""

from collections.abc import Iterator, Sequence

from agents.core.depth.questions import AUXILIARIES, AnswerKind, asks, lacks_its_whole, requests_attribute
from agents.core.depth.reading import Reading, word_class
from agents.core.depth.reference import LOOSE, SHARED, asking
from agents.core.language.phrases import Sentence
from schemas.depth import DepthLevel, Signal

SAID, ANNOUNCED, HINTED, UNCONNECTED, DOUBTFUL = 0.95, 0.9, 0.1, 0.65, 0.6
PER_WORD, FRAGMENT, STATEMENT, YES_NO = 0.05, 0.2, 0.25, 0.15
FRAGMENT_LENGTH = 4
# Above this probability of needing earlier turns, a lack of shared words is no topic shift.
LEANING = 0.66
# A message with one of these depends on the topic or looks something up in passing.
IN_PASSING = frozenset((AnswerKind.ATTRIBUTE, AnswerKind.FACT))
KEEPING = frozenset(("anaphora", "temporal", "command"))


def shift(reading: Reading, others: Sequence[Signal], follows: float = 0.0) -> Iterator[Signal]:
    """Signals of a new topic; none without earlier turns.

    `follows` is the probability that the message needs the turns before it.
    """
    if not reading.past.exists:
        return
    for sentence, match in reading.places("shift"):
        yield _sign(reading.quote(sentence, match), SAID)
    if not reading.past.recent and not _points_back(others):
        for sentence, match in reading.places("shift_announced"):
            if asking(sentence) or _wanted(others):
                yield _sign(reading.quote(sentence, match), ANNOUNCED)
    own = _has_own_topic(reading, others)
    if (follows < LEANING or own) and _unconnected(reading) and not _kept(reading, others):
        sure = own and not reading.past.shared
        yield _sign(", ".join(reading.terms[:8]), ANNOUNCED if sure else round(_weight(reading, others), 2))


def _has_own_topic(reading: Reading, others: Sequence[Signal]) -> bool:
    """Whether the message names a whole rule or procedure: `how do I claim travel costs?`."""
    if any(sign.name == "how_to" and sign.weight >= ANNOUNCED for sign in others):
        return True
    return any(
        not word_class("CONCEPTS").isdisjoint(sentence.words) and asks(sentence) is not AnswerKind.YES_NO
        for sentence in reading.sentences
    )


def is_sure(sign: Signal) -> bool:
    """Whether a signal announces the shift explicitly, or names a whole topic not mentioned before."""
    return sign.level is DepthLevel.D4 and sign.weight >= ANNOUNCED


def _sign(shown: str, weight: float) -> Signal:
    return Signal(name="topic_shift", evidence=shown, level=DepthLevel.D4, weight=weight)


def _wanted(others: Sequence[Signal]) -> bool:
    return any(sign.level is DepthLevel.D2 for sign in others)


def _points_back(others: Sequence[Signal]) -> bool:
    return any(sign.name == "anaphora" and sign.weight >= DOUBTFUL for sign in others)


def _unconnected(reading: Reading) -> bool:
    # Turns in another language share no word with anything: nothing can be said.
    past = reading.past
    enough = 1 if reading.says("shift_hint", "shift_announced") or _closes(reading) else 2
    if not past.comparable or _topical(reading) < enough or past.recent:
        return False
    if _answers(reading) or any(lacks_its_whole(sentence) for sentence in reading.sentences):
        return False
    # Two statements in a row by the same speaker are one thought.
    return past.addressed or any(asking(sentence) for sentence in reading.sentences)


def _topical(reading: Reading) -> int:
    """The number of words that name a topic; numbers and single letters (`artigo 477`, `P/L`) do not."""
    return sum(len(word) > 1 and not any(map(str.isdigit, word)) for word in reading.content)


def _answers(reading: Reading) -> bool:
    """Whether the message answers the assistant's question: `I need one in Los Gatos` after `in which city?`."""
    asks_back = any(sentence.question for sentence in reading.sentences)
    return reading.past.pending == "question" and not _puts_off(reading) and not asks_back


def _puts_off(reading: Reading) -> bool:
    return bool(reading.courtesies) or reading.says("dismissal", "shift_hint", "shift_announced")


def _closes(reading: Reading) -> bool:
    """Whether a courtesy closes the previous topic (`Thanks. I also need a room`) rather than answering a question."""
    answers = reading.past.pending in {"question", "confirmation"}
    return bool(reading.courtesies and reading.sentences) and not answers


def _kept(reading: Reading, others: Sequence[Signal]) -> bool:
    if any(sign.name in KEEPING and sign.weight >= DOUBTFUL for sign in others):
        return True
    if any(sign.name == "follow_up" and _leans(reading, sign) for sign in others):
        return True
    return any(in_passing(sentence) for sentence in reading.sentences)


def in_passing(sentence: Sentence) -> bool:
    """Whether the sentence asks for a detail of the current topic."""
    kind = asks(sentence)
    if kind in IN_PASSING or requests_attribute(sentence):
        return True
    # "Qual o dividendo?" asks about the current topic.
    return kind is AnswerKind.SINGULAR and word_class("OWNERSHIP").isdisjoint(sentence.words)


def _leans(reading: Reading, sign: Signal) -> bool:
    # Shortness alone is no dependence ("Políticas de férias?" may open a topic), nor are words of older turns.
    return sign.weight > LOOSE or (sign.weight > SHARED and sign.evidence != reading.text.strip())


def _weight(reading: Reading, others: Sequence[Signal]) -> float:
    weight = UNCONNECTED + PER_WORD * min(max(len(reading.content) - 2, 0), 3)
    asked = _wanted(others) or any(asking(sentence) for sentence in reading.sentences)
    if not asked:
        # A statement mostly continues the topic.
        weight -= STATEMENT
        weight -= FRAGMENT if reading.length <= FRAGMENT_LENGTH else 0.0
    elif _only_confirms(reading) or (_only_needs(reading) and not _wanted(others)):
        weight -= YES_NO
    if reading.says("shift_hint") or reading.past.pending == "offer" or _closes(reading):
        weight += HINTED
    return max(weight, 0.1)


def _only_confirms(reading: Reading) -> bool:
    """Whether the message is a yes-no question about the current topic without a request: `Existe alguma exceção?`."""
    return all(
        asks(sentence) is AnswerKind.YES_NO and not _requests(sentence)
        for sentence in reading.sentences
        if asking(sentence)
    )


def _only_needs(reading: Reading) -> bool:
    """Whether the message states a need without a request: `Precisamos de mais dois desenvolvedores`."""
    return not _puts_off(reading) and all(
        asks(sentence) is AnswerKind.NOTHING and not word_class("NEEDS").isdisjoint(sentence.words[:3])
        for sentence in reading.sentences
        if asking(sentence)
    )


def _requests(sentence: Sentence) -> bool:
    return not (word_class("REQUESTS") - AUXILIARIES - word_class("ABILITY")).isdisjoint(sentence.words[:5])


def is_doubtful(weight: float) -> bool:
    """Whether the evidence of a new topic is too weak to drop the old context."""
    return weight < DOUBTFUL
