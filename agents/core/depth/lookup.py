"""Look-up or explanation: whether a question asks for a fact (D0) or a rule, a reason or a method (D2)."""

import itertools
import re
from collections.abc import Iterator, Sequence
from functools import cache

from agents.core.depth.questions import AnswerKind, asks, is_named, question_word
from agents.core.depth.reading import Reading, word_class
from agents.core.language.lexicons import lexicon
from agents.core.language.linear_models import table
from agents.core.language.phrases import END, PAUSE, START, Sentence, evidence
from schemas.depth import DepthLevel, Signal, SignalName

STRONG, WEAK = 0.8, 0.6
DECIDED, OVERRULED, RULE = 0.65, 0.5, 0.75
# Signals that decide the level regardless of the form of the question.
STANDING = frozenset(("command", "temporal", "greeting", "disagreement"))
LENGTHS = (3, 5, 8, 12, 16, 24)
MAX_WORDS = 40
# A longer message without a question word or mark is a statement.
MAX_SEARCH_WORDS = 8
MASK, MAX_SKELETON = "X", 12
# "O que" and "por que" are one question word each.
# A label with what it stands for, or a thing with its number.
_NOTE = re.compile(r"[^:?\n]{2,40}: \S[^?\n]{0,80}|[^\W\d][^?\n]{0,60} [#\w.-]{0,12}\d[\w.:-]{0,12}")
JOINED = {("o", "que"): "what", ("por", "que"): "why"}


def settled(reading: Reading, signals: Sequence[Signal]) -> tuple[Signal, ...]:
    """The signals of an opening message, with look-up and explanation weighed against each other."""
    asked = _asked(reading)
    if asked is None or reading.past.exists or any(_stands(sign) for sign in signals):
        return tuple(signals)
    sure = explains(reading, signals)
    if _asks_for_rule(reading, asked, signals):
        sure = max(sure, RULE)
    elif _is_search_phrase(asked):
        sure = min(sure, 1 - RULE)
    level = DepthLevel.D2 if sure >= 0.5 else DepthLevel.D0
    decided = _as_decided(reading, asked, signals, level, round(max(DECIDED, sure, 1 - sure), 2))
    return (*(_weakened(sign, level) for sign in signals if sign is not decided), decided)


def _as_decided(
    reading: Reading, asked: Sentence, signals: Sequence[Signal], level: DepthLevel, weight: float
) -> Signal:
    """The strongest signal of the decided level with the combined weight; a new one where there is none."""
    agreeing = [sign for sign in signals if sign.level is level and sign.name not in ("doubt", "greeting")]
    if agreeing:
        return max(agreeing, key=lambda sign: sign.weight).model_copy(update={"weight": weight})
    name: SignalName = "explanation" if level is DepthLevel.D2 else "direct_question"
    return Signal(name=name, evidence=evidence(reading.text, asked, 0, MAX_WORDS)[:80], level=level, weight=weight)


def _stands(sign: Signal) -> bool:
    return sign.name in STANDING and sign.weight >= WEAK


def _weakened(sign: Signal, level: DepthLevel) -> Signal:
    """The signal, weakened below the deciding weight where it supports the other level."""
    if sign.level in (DepthLevel.D0, DepthLevel.D2) and sign.level is not level and sign.weight > OVERRULED:
        return sign.model_copy(update={"weight": OVERRULED})
    return sign


def _asks_for_rule(reading: Reading, sentence: Sentence, signals: Sequence[Signal]) -> bool:
    """Whether the question asks for a right, duty or coverage: `does the warranty cover it?`."""
    words, kind = frozenset(sentence.words), asks(sentence)
    if kind is AnswerKind.PLURAL:
        return not words.isdisjoint(word_class("CONCEPTS"))
    if kind is not AnswerKind.YES_NO:
        return False
    asked = sentence.question or not words.isdisjoint(word_class("OBLIGING"))
    if asked and not words.isdisjoint(word_class("FIRST_PERSON")):
        return True
    if not sentence.question or is_named(sentence, reading.text):
        return False
    if any(sign.name == "explanation" and sign.weight >= WEAK for sign in signals):
        return True
    return any(not words.isdisjoint(word_class(name)) for name in ("RULES", "PARTS", "CONCEPTS"))


def _is_search_phrase(sentence: Sentence) -> bool:
    """Whether the message is a search phrase for an attribute or superlative: `tallest lighthouse in Portugal`."""
    first = sentence.words[1]
    return asks(sentence) is AnswerKind.NOTHING and (first in word_class("ATTRIBUTES") or first.endswith("est"))


def explains(reading: Reading, signals: Sequence[Signal]) -> float:
    """The probability that a question needs more than a look-up, 0-1."""
    return table("look_up").probability(look_up_features(reading, signals))


def look_up_features(reading: Reading, signals: Sequence[Signal]) -> Iterator[str]:
    """Features of a question: its signals, kind of answer, length, and form with content words masked."""
    yield from dict.fromkeys(_named(sign) for sign in signals if sign.level in (DepthLevel.D0, DepthLevel.D2))
    yield f"length<{next((most for most in LENGTHS if reading.length < most), 99)}"
    asked = _asked(reading)
    if asked is None:
        return
    kind = asks(asked)
    yield f"asks:{kind.name.lower()}"
    if is_named(asked, reading.text):
        yield "named"
    yield from _words(asked, kind)
    if any(reading.text[end - 2 : end] in ("'s", "\u2019s") for _, end in asked.spans[1:-1]):
        yield "owned"
    yield from (f"form:{piece}" for piece in pieces(skeleton(asked, reading.lang)))


def _asked(reading: Reading) -> Sentence | None:
    """The sentence that asks: the first question, else a message that is a search phrase."""
    for sentence in reading.sentences:
        if sentence.question or asks(sentence) is not AnswerKind.NOTHING:
            return sentence
    only = reading.sentences[0] if len(reading.sentences) == 1 else None
    opens = only is not None and skeleton(only, reading.lang)[1] == MASK
    opens = opens and not (is_note(reading) or reading.text.rstrip().endswith((".", "!")))
    return only if only is not None and opens and len(only.plain) <= MAX_SEARCH_WORDS else None


def is_note(reading: Reading) -> bool:
    """Whether a message without a question only notes a value: `gate code: 4417`, `order 18`."""
    asks_it = any(sentence.question or asks(sentence) is not AnswerKind.NOTHING for sentence in reading.sentences)
    return not asks_it and _NOTE.fullmatch(reading.text.strip()) is not None


def _named(sign: Signal) -> str:
    strength = "strong" if sign.weight >= STRONG else "clear" if sign.weight >= WEAK else "weak"
    return f"{sign.name}:{strength}"


def _words(sentence: Sentence, kind: AnswerKind) -> Iterator[str]:
    """Features of the question's words: attributes, concepts, past verbs, and the position of its question word."""
    words = frozenset(sentence.words)
    for name in ("ATTRIBUTES", "CONCEPTS", "RELATIONAL", "PRETERITES_EN", "PRETERITES_PT"):
        if not words.isdisjoint(word_class(name)):
            yield f"word:{name.removesuffix('_EN').removesuffix('_PT').lower()}"
            yield f"word:{name.removesuffix('_EN').removesuffix('_PT').lower()} {kind.name.lower()}"
    head = question_word(sentence)
    if head is not None and sentence.words[head + 1] in word_class("ATTRIBUTES"):
        yield "which attribute"
    if any(word.endswith("est") or word == "most" or word in word_class("SUPERLATIVES") for word in words):
        yield f"superlative {kind.name.lower()}"
    if kind is AnswerKind.YES_NO and not words.isdisjoint(word_class("FIRST_PERSON")):
        yield "may I"


@cache
def _function_words(lang: str) -> dict[str, str]:
    """The skeleton's name of each function word, the same for both languages."""
    rows = lexicon("word_classes").rows("SKELETON", "pt" if lang == "pt" else "en")
    return {word: name for words, name in rows.items() for word in words.split()}


def skeleton(sentence: Sentence, lang: str) -> tuple[str, ...]:
    """The skeleton of a sentence (`what is the X of the X`); adjacent masked words make one mask."""
    names = _function_words(lang)
    shown: list[str] = []
    for before, word in zip(("", *sentence.words), sentence.words, strict=False):
        name = word if word in (START, END) else names.get(word, "" if word == PAUSE else MASK)
        if (before, word) in JOINED:
            shown[-1] = JOINED[before, word]
            continue
        if name and not (name == MASK and shown and shown[-1] == MASK):
            shown.append(name)
    return tuple(shown)


def pieces(shown: tuple[str, ...]) -> Iterator[str]:
    """The features of a skeleton: its words, its bigrams, and its first three words."""
    seen = shown[:MAX_SKELETON]
    yield from dict.fromkeys(seen[1:])
    yield from dict.fromkeys(" ".join(pair) for pair in itertools.pairwise(seen))
    if len(seen) > 3:
        yield " ".join(seen[:4])
