"""Signs that a message contests without a word of disagreement: another value, a source, a repair of what was asked."""

from collections.abc import Iterator

from agents.core import depth_values
from agents.core.depth_phrases import Sentence
from agents.core.depth_questions import Asks, asks, is_wh_question
from agents.core.depth_reading import Place, Reading, word_class
from agents.core.text import stem
from schemas.depth import DepthLevel, Signal

COPULAS = frozenset(("é", "sao", "está", "era", "eram", "seria", "is", "was", "are", "were"))
SOURCES = frozenset(("no", "na", "nos", "nas", "in", "on", "per", "pela", "pelo"))
VALUE, CLAIM, SOURCE, WAY, REPAIR = 0.75, 0.8, 0.7, 0.8, 0.75
# Longer, a message that gives a value is about more than that value.
LONGEST = 24
# "I work 60 hours": told of oneself, or asked further.
OWN = frozenset(("my", "our", "meu", "minha", "nosso", "nossa"))
TELLING = OWN | {"i", "we", "eu", "nos", "e", "and"}


def contests(reading: Reading) -> Iterator[Signal]:
    """What is said against the last turn of the assistant; what answers an open question contests nothing."""
    past = reading.past
    if not past.addressed or past.pending in ("question", "offer") or not reading.sentences:
        return
    yield from _in_words(reading)
    if past.answered:
        yield from _marked(reading, "repair_answered", REPAIR)
    if reading.length <= LONGEST:
        yield from _by_value(reading)


def _sign(shown: str, weight: float) -> Signal:
    return Signal(name="disagreement", evidence=shown[:80], level=DepthLevel.D3, weight=weight)


def _marked(reading: Reading, group: str, weight: float) -> Iterator[Signal]:
    for sentence, match in _told(reading, group):
        yield _sign(reading.quote(sentence, match), weight)


def _told(reading: Reading, *groups: str) -> Iterator[Place]:
    return (place for place in reading.places(*groups) if not place[0].question and not is_wh_question(place[0]))


def _in_words(reading: Reading) -> Iterator[Signal]:
    yield from _marked(reading, "contested_way", WAY)
    if reading.past.shared_last:
        yield from _marked(reading, "amended", SOURCE)
        yield from _marked(reading, "source_yours", SOURCE)
    elif any(not word_class("PRONOUNS").isdisjoint(sentence.words) for sentence in reading.sentences):
        yield from _marked(reading, "source_yours", SOURCE)


def _by_value(reading: Reading) -> Iterator[Signal]:
    said = reading.past.exchange[-1]
    stated = [sentence for sentence in reading.sentences if _states(sentence)]
    if not stated:
        return
    if depth_values.another_value(reading.text, said, reading.lang):
        marks = [reading.quote(sentence, match) for sentence, match in _told(reading, "report", "change")]
        if marks:
            yield _sign(marks[0], VALUE)
        elif _elliptic(reading) or any(_equates(reading, sentence) for sentence in stated):
            yield _sign(reading.text.strip(), VALUE)
    elif reading.past.shared_last and depth_values.contradicts_claim(reading.text, reading.past.exchange, reading.lang):
        yield _sign(reading.text.strip(), CLAIM)


def _states(sentence: Sentence) -> bool:
    """Does a sentence say something, or doubt it: `isn't it 150?`."""
    if not sentence.question:
        return asks(sentence) is Asks.NOTHING
    return not {"not", "nao"}.isdisjoint(sentence.words[:4])


def _equates(reading: Reading, sentence: Sentence) -> bool:
    """`o aluguel é R$ 2.500`, `no cartão está 15h10`: what was spoken of, or a source, has the value."""
    words = sentence.words
    at = next((at for at in range(1, len(words) - 2) if words[at] in COPULAS and _is_figure(words[at + 1])), None)
    if at is None or words[1] in OWN:
        return False
    if words[1] in SOURCES:
        return True
    about = [word for word in words[1:at] if word in reading.nouns and word not in word_class("AROUND_VALUES")]
    return all(stem(word, reading.lang) in reading.past.shared_last for word in about)


def _is_figure(word: str) -> bool:
    return any(map(str.isdigit, word)) or word in word_class("BEFORE_FIGURES")


def _elliptic(reading: Reading) -> bool:
    """Is the value all that the message is about: `agora é dia 20`, `I thought it was 150k`."""
    first = reading.sentences[0].words
    about = [word for word in reading.terms if not any(map(str.isdigit, word))]
    return all(word in word_class("AROUND_VALUES") for word in about) and first[1] not in TELLING
