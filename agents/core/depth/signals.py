"""The linguistic signals of a message: one rule per signal, each with its evidence and weight."""

from collections.abc import Iterator, Sequence

from agents.core.depth.contests import contests
from agents.core.depth.disagreement import disagreement
from agents.core.depth.follow_up import needs_context, weighed
from agents.core.depth.lookup import is_note, settled
from agents.core.depth.questions import (
    LOOKUPS,
    AnswerKind,
    asks,
    bare_how,
    is_self_contained,
    lacks_its_whole,
    requests_attribute,
)
from agents.core.depth.reading import Reading, word_class
from agents.core.depth.reference import REFERRED, anaphora, follow_up, identifiers
from agents.core.depth.shift import is_doubtful, shift
from agents.core.depth.tense import dated, events, past
from agents.core.language.phrases import END, Match, Sentence, evidence
from schemas.depth import DepthLevel, Signal, SignalName

D0, D1, D2 = DepthLevel.D0, DepthLevel.D1, DepthLevel.D2
SIMPLE_QUESTION = 14
MIN_WEIGHT = 0.5
LONG_LOOKUP = 20
INFINITIVES = ("ar", "er", "ir")
FIRST_PERSON = ("o", "amos", "emos", "imos")
MAX_ENDING = 3


def detect(reading: Reading) -> tuple[Signal, ...]:
    """Every signal of a message: from the rules, reweighed by tables, with a default where none decides."""
    by_rule = found(reading)
    follows = needs_context(reading, by_rule)
    leaves = tuple(shift(reading, by_rule, follows))
    # A message that leaves the topic does not depend on it, however short it is.
    left = any(not is_doubtful(sign.weight) for sign in leaves)
    signals = (*(by_rule if left else weighed(reading, by_rule, follows)), *leaves)
    return _once(*settled(reading, (*signals, *_doubt(reading, signals))))


def found(reading: Reading) -> tuple[Signal, ...]:
    """The signals that the rules find in the message itself, in rule order."""
    against = (*disagreement(reading), *contests(reading))
    others = (
        *_explanation(reading),
        *_how_to(reading),
        *_marked(reading, "comparison", 0.9),
        *_marked(reading, "comparison", 0.65, "comparison_weak"),
        *_list_summary(reading),
        *_temporal(reading),
        *anaphora(reading),
        *follow_up(reading),
        *_command(reading),
        *_direct_question(reading),
    )
    return _once(*_greeting(reading), *against, *others)


def _once(*signals: Signal) -> tuple[Signal, ...]:
    """Each signal once, at its highest weight."""
    kept: dict[tuple[str, str, DepthLevel], Signal] = {}
    for sign in signals:
        key = sign.name, sign.evidence, sign.level
        if key not in kept or kept[key].weight < sign.weight:
            kept[key] = sign
    return tuple(kept.values())


def _sign(name: SignalName, shown: str, level: DepthLevel, weight: float) -> Signal:
    return Signal(name=name, evidence=shown, level=level, weight=weight)


def _whole(reading: Reading) -> str:
    return reading.text.strip()[:80]


def _shown(reading: Reading, sentence: Sentence) -> str:
    return evidence(reading.text, sentence, 0, len(sentence.words))[:80]


def _marked(reading: Reading, name: SignalName, weight: float, group: str = "") -> Iterator[Signal]:
    for sentence, match in reading.places(group or name):
        yield _sign(name, reading.quote(sentence, match), D2, weight)


def _greeting(reading: Reading) -> Iterator[Signal]:
    # A bare "sim" to a question is an answer, not a courtesy.
    answers = reading.affirms and reading.past.pending
    weight = 0.2 if reading.sentences or answers else 0.95
    for courtesy in reading.courtesies:
        yield _sign("greeting", courtesy, D0, weight)


def _explanation(reading: Reading) -> Iterator[Signal]:
    meant = [(id(sentence), match) for sentence, match in reading.places("meaning")]
    for sentence, match in reading.places("explanation"):
        # "What do you mean?" and "quis dizer" continue the thread: no explanation of a subject.
        if not any(
            where == id(sentence) and other.start < match.end and match.start < other.end for where, other in meant
        ):
            yield _sign("explanation", reading.quote(sentence, match), D2, _asked(sentence, match))
    for sentence, match in reading.places("explanation_weak"):
        yield _sign("explanation", reading.quote(sentence, match), D2, 0.6)
    for sentence in reading.sentences:
        yield from _unmarked_explanation(reading, sentence)


def _asked(sentence: Sentence, match: Match) -> float:
    # "How many counties make up the definition of ...?" counts: its noun asks for nothing.
    why = not {"why", "por"}.isdisjoint(sentence.words[match.start : match.end])
    return 0.9 if why or asks(sentence) is not AnswerKind.FACT else 0.5


def _unmarked_explanation(reading: Reading, sentence: Sentence) -> Iterator[Signal]:
    kind = asks(sentence)
    if kind is AnswerKind.DEFINITION:
        yield _sign("explanation", _shown(reading, sentence), D2, 0.8)
    if kind is not AnswerKind.HOW or _is_status(sentence) or _how_to_word(sentence):
        return
    if bare_how(sentence):
        weight = 0.5 if reading.past.exists else 0.8
        yield _sign("explanation", _shown(reading, sentence), D2, weight)
        if reading.past.exists:
            yield _sign("anaphora", _shown(reading, sentence), D1, 0.85)
    else:
        yield _sign("explanation", _shown(reading, sentence), D2, 0.85)


def _is_status(sentence: Sentence) -> bool:
    if {"going", "doing"} & set(sentence.words) and "how" in sentence.words:
        return True
    following = _after(sentence, "como")
    return following in word_class("STATUS_VERBS")


def _after(sentence: Sentence, word: str) -> str:
    if word not in sentence.words:
        return ""
    rest = sentence.words[sentence.words.index(word) + 1 :]
    skipped = word_class("SKIPPED_AFTER_COMO")
    return next((other for other in rest if other not in skipped), END)


def _how_to_word(sentence: Sentence) -> str:
    """Whether a how-to has an infinitive or first-person verb: `Como solicitar férias`, `como acesso a VPN`."""
    verb = _after(sentence, "como")
    if len(verb) <= MAX_ENDING or verb in word_class("NO_FIRST_PERSON"):
        return ""
    return verb if verb.endswith((*INFINITIVES, *FIRST_PERSON)) else ""


def _how_it_works(sentence: Sentence) -> bool:
    works = {"funciona", "funcionam", "work", "works"}
    return not (bare_how(sentence) or works.isdisjoint(sentence.words))


def _how_to(reading: Reading) -> Iterator[Signal]:
    yield from _marked(reading, "how_to", 0.9)
    for sentence in reading.sentences:
        if asks(sentence) is AnswerKind.HOW and (_how_to_word(sentence) or _how_it_works(sentence)):
            yield _sign("how_to", _shown(reading, sentence), D2, 0.9)


def _list_summary(reading: Reading) -> Iterator[Signal]:
    yield from _marked(reading, "list_summary", 0.85)
    for sentence in reading.sentences:
        if asks(sentence) is AnswerKind.PLURAL:
            yield _sign("list_summary", _shown(reading, sentence), D2, 0.65)


def _temporal(reading: Reading) -> Iterator[Signal]:
    """Signals of past times, events, statements or decisions: D1 on the same topic, else D2."""
    places = (*past(reading), *events(reading), *dated(reading), *reading.places("temporal", "memory"))
    if not places:
        return
    level = D1 if _continues(reading) else D2
    for sentence, match in places:
        yield _sign("temporal", reading.quote(sentence, match), level, 0.75)


def _continues(reading: Reading) -> bool:
    if not reading.past.exists:
        return False
    leans = any(sign.weight >= REFERRED for sign in (*anaphora(reading), *follow_up(reading)))
    return leans or bool(reading.past.shared)


def _command(reading: Reading) -> Iterator[Signal]:
    level = D1 if reading.past.exists else D2
    for sentence, match in reading.places("command"):
        yield _sign("command", reading.quote(sentence, match), level, 0.65)
    for identifier in identifiers(reading.text):
        yield _sign("command", identifier, level, 0.6)


def _direct_question(reading: Reading) -> Iterator[Signal]:
    for sentence, match in reading.places("now"):
        yield _sign("direct_question", reading.quote(sentence, match), D0, 0.95)
    if reading.length > LONG_LOOKUP:
        return
    for sentence in reading.sentences:
        weight = _lookup_weight(reading, sentence)
        if weight:
            yield _sign("direct_question", _shown(reading, sentence), D0, weight)


def _lookup_weight(reading: Reading, sentence: Sentence) -> float:
    kind = asks(sentence)
    alone = is_self_contained(sentence, reading.text) and not (reading.past.exists and lacks_its_whole(sentence))
    if kind in LOOKUPS:
        strength = {AnswerKind.ATTRIBUTE: 0.8, AnswerKind.FACT: 0.75}.get(kind, 0.6)
        return strength if alone or not reading.past.exists else round(strength - 0.2, 2)
    if requests_attribute(sentence):
        return 0.7 if alone or not reading.past.exists else 0.5
    if kind is AnswerKind.YES_NO and not reading.past.exists and reading.length <= SIMPLE_QUESTION:
        return 0.55
    return 0.0


def _decides(reading: Reading, sign: Signal) -> bool:
    """Whether a signal may decide: not a doubtful change of topic, nor a dependence without earlier turns."""
    if sign.name == "topic_shift":
        return not is_doubtful(sign.weight)
    return sign.weight >= MIN_WEIGHT and (sign.level is not D1 or reading.past.exists)


def _doubt(reading: Reading, found: Sequence[Signal]) -> Iterator[Signal]:
    """The default signal: D1 with earlier turns; without them D0 for short or self-contained messages, else D2."""
    if any(_decides(reading, sign) for sign in found):
        return
    if not reading.sentences:
        # A lone question mark asks about what was just said.
        if reading.past.exists and "?" in reading.text:
            yield _sign("doubt", _whole(reading), D1, 0.4)
        return
    if reading.past.exists:
        yield _sign("doubt", _whole(reading), D1, 0.4)
    else:
        short = reading.length <= SIMPLE_QUESTION and (reading.sentences[-1].question or is_note(reading))
        # "O segundo", "this one": the antecedent was never mentioned, and nothing is asked about it.
        leans = any(sign.level is D1 and sign.weight >= MIN_WEIGHT for sign in found)
        yield _sign("doubt", _whole(reading), D0 if short or leans else D2, 0.4)
