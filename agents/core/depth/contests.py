"""Signals of implicit disagreement: a source, a repair of the question, a value that contradicts the last exchange."""

import re
from collections.abc import Iterator, Sequence
from functools import cache

from agents.core.caching.texts import text_cache
from agents.core.claims import lifecycle
from agents.core.conversation.memory import ConversationTurn
from agents.core.conversation.utterances import Utterance
from agents.core.depth.questions import AnswerKind, asks, is_wh_question, question_word
from agents.core.depth.reading import Place, Reading, word_class
from agents.core.language.citations import without_citations
from agents.core.language.date_words import numbers
from agents.core.language.phrases import Sentence, read
from agents.core.language.sentences import composed, flatten
from agents.core.language.text import stem, words
from agents.core.language.values import TypedValue, exclude, value_at
from schemas.base import Conversation, Source
from schemas.depth import DepthLevel, Signal

COPULAS = frozenset(("é", "sao", "está", "era", "eram", "seria", "is", "was", "are", "were"))
SOURCES = frozenset(("no", "na", "nos", "nas", "in", "on", "per", "pela", "pelo"))
VALUE, CLAIM, SOURCE, WAY, REPAIR, BELIEVED, DENIED, DOUBTED = 0.75, 0.8, 0.7, 0.8, 0.75, 0.75, 0.7, 0.65
# A longer message is about more than the value in it.
MAX_WORDS = 24
# "I work 60 hours": a statement about the speaker, or a further question.
MAX_ECHO_WORDS = 4
ECHOING = frozenset(("mesmo", "really", "so", "only", "as", "às", "at", "o", "a", "the", "tem", "certeza"))
SURPRISE = frozenset(("really", "realy", "seriously", "sure", "serio", "sera", "mesmo", "certeza", "verdade"))
DENYING = frozenset(
    ("not", "never", "nobody", "nothing", "nao", "nunca", "nem", "ninguem", "nada", "nenhum", "nenhuma")
)
# Before a negation these make it a condition or a purpose, not a denial.
SUPPOSING = frozenset(("if", "se", "caso", "when", "quando", "unless", "para", "pra", "so", "to"))
SPEAKING = frozenset(("i", "we"))
STILL = frozenset(("am", "are", "will", "can", "could", "would", "do", "have"))
OWN_VERBS = frozenset(
    ("vou", "estou", "to", "sou", "posso", "consigo", "gosto", "como", "uso", "moro", "trabalho", "bebo", "pretendo")
)
NO_FAULT = frozenset(("erro", "engano", "duvida", "problema", "doubt", "mistake", "problem", "question"))
OWN = frozenset(("my", "our", "meu", "minha", "nosso", "nossa"))
TELLING = OWN | {"i", "we", "eu", "nos", "e", "and"}


def contests(reading: Reading) -> Iterator[Signal]:
    """Signals against the assistant's last turn; an answer to an open question contests nothing."""
    past = reading.past
    if not past.addressed or not reading.sentences:
        return
    # `You said ...` is about an earlier turn, even while a question is open.
    yield from _marked(reading, "you_said", BELIEVED, asked=True)
    if past.pending in ("question", "offer"):
        return
    yield from _in_words(reading)
    yield from _denied(reading)
    # `Perfect, that is what I was looking for` repairs nothing.
    if past.answered and not word_class("AGREEMENT").issuperset(words(reading.text)[:1]):
        yield from _repaired(reading)
    if reading.length <= MAX_WORDS:
        yield from _by_value(reading)


def _repaired(reading: Reading) -> Iterator[Signal]:
    """Signals of another thing that was asked for; another subject to talk of is none."""
    elsewhere = [sentence for sentence, _ in reading.places("talk_of")]
    for sentence, match in _stated_places(reading, "repair_answered"):
        if sentence not in elsewhere and question_word(sentence) is None:
            yield _sign(reading.quote(sentence, match), REPAIR)
    settled = [sentence for sentence, _ in reading.places("repair_settled")]
    for sentence, match in reading.places("repair_cleft"):
        if not sentence.question and sentence not in settled:
            yield _sign(reading.quote(sentence, match), REPAIR)


def _sign(shown: str, weight: float) -> Signal:
    return Signal(name="disagreement", evidence=shown[:80], level=DepthLevel.D3, weight=weight)


def _marked(reading: Reading, group: str, weight: float, *, asked: bool = False) -> Iterator[Signal]:
    places = (place for place in reading.places(group) if question_word(place[0]) is None)
    for sentence, match in places if asked else _stated_places(reading, group):
        yield _sign(reading.quote(sentence, match), weight)


def _stated_places(reading: Reading, *groups: str) -> Iterator[Place]:
    return (place for place in reading.places(*groups) if not place[0].question and not is_wh_question(place[0]))


def _in_words(reading: Reading) -> Iterator[Signal]:
    yield from _marked(reading, "contested_way", WAY)
    yield from _marked(reading, "believed", BELIEVED)
    yield from _doubted(reading)
    if reading.past.shared_last:
        yield from _marked(reading, "amended", SOURCE)
        yield from _marked(reading, "source_yours", SOURCE)
    elif any(not word_class("PRONOUNS").isdisjoint(sentence.words) for sentence in reading.sentences):
        yield from _marked(reading, "source_yours", SOURCE)


def _doubted(reading: Reading) -> Iterator[Signal]:
    """Signals of surprise followed by a counter-statement: `Really? My contract says ...`, `M8? The holes look ...`."""
    if len(reading.sentences) > 1 or not reading.sentences[0].question:
        yield from _marked(reading, "surprised", DOUBTED, asked=True)
    first, later = reading.sentences[0], reading.sentences[1:]
    if later and _echoes(reading, first) and not any(map(_asks_something, later)):
        yield _sign(reading.text.strip(), DOUBTED)


def _echoes(reading: Reading, sentence: Sentence) -> bool:
    if not sentence.question or len(sentence.plain) > MAX_ECHO_WORDS or is_wh_question(sentence):
        return False
    if SURPRISE.issuperset(sentence.plain):
        return True
    said = reading.past.exchange[-1].content
    previous = {word for other in read(said) for word in other.plain}
    return set(sentence.plain) <= previous | ECHOING and not previous.isdisjoint(sentence.plain)


def _asks_something(sentence: Sentence) -> bool:
    return sentence.question or asks(sentence) is not AnswerKind.NOTHING


def _denied(reading: Reading) -> Iterator[Signal]:
    """Signals of a negation about the last turn's subject: `Tomasz never signed anything`."""
    for sentence in reading.sentences:
        said = sentence.words
        at = next((at for at, word in enumerate(said) if word in DENYING or (word, reading.lang) == ("no", "en")), 0)
        if not at or sentence.question or is_wh_question(sentence) or not _states(sentence):
            continue
        if not (word_class("NO_CONTRADICTION") | NO_FAULT).isdisjoint(said[at + 1 : at + 3]):
            continue
        if not SUPPOSING.isdisjoint(said[:at]) or _is_about_speaker(said, at):
            continue
        about = {stem(word, reading.lang) for word in sentence.plain if word in reading.nouns}
        if about & reading.past.shared_last:
            yield _sign(reading.text.strip(), DENIED)


def _is_about_speaker(said: tuple[str, ...], at: int) -> bool:
    """Whether the negation is about the speaker's present or future: `I am not coming`, `não vou na sexta`."""
    if said[at] == "not":
        return not SPEAKING.isdisjoint(said[max(at - 3, 0) : at]) and said[at - 1] in STILL
    return said[at] == "nao" and (said[at + 1] in OWN_VERBS or said[at + 1].endswith("mos"))


def _by_value(reading: Reading) -> Iterator[Signal]:
    said = reading.past.exchange[-1]
    stated = [sentence for sentence in reading.sentences if _states(sentence)]
    if not stated:
        return
    if another_value(reading.text, said, reading.lang):
        reports = [place for place in _stated_places(reading, "report", "change", "slip") if _states(place[0])]
        marks = [reading.quote(sentence, match) for sentence, match in reports]
        if marks:
            yield _sign(marks[0], VALUE)
        elif _elliptic(reading) or _of_the_same(reading) or any(_equates(reading, sentence) for sentence in stated):
            yield _sign(reading.text.strip(), VALUE)
    elif reading.past.shared_last and contradicts_claim(reading.text, reading.past.exchange, reading.lang):
        yield _sign(reading.text.strip(), CLAIM)


def _states(sentence: Sentence) -> bool:
    """Whether a sentence states something, or doubts it: `isn't it 150?`."""
    if not sentence.question:
        # `Mostra do 5º ao 10º`: a verb that reports within a sentence is an order at its start.
        return asks(sentence) is AnswerKind.NOTHING and sentence.words[1] not in word_class("ORDERS")
    return not {"not", "nao"}.isdisjoint(sentence.words[:4])


def _equates(reading: Reading, sentence: Sentence) -> bool:
    """Whether the sentence equates the last turn's subject, or a source, with a value: `o aluguel é R$ 2.500`."""
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


def _of_the_same(reading: Reading) -> bool:
    """Whether all nouns of the value's sentence occur in the last turn: `O pedreiro só começa na quarta`."""
    values = word_class("AROUND_VALUES").union(*map(numbers, ("counts", "weekdays", "months")))
    about = {stem(word, reading.lang) for word in reading.nouns if word not in values and word.isalpha()}
    return bool(about) and about <= reading.past.shared_last and reading.sentences[0].words[1] not in TELLING


def _elliptic(reading: Reading) -> bool:
    """Whether the message consists of the value only: `agora é dia 20`, `I thought it was 150k`."""
    first = reading.sentences[0].words
    about = [word for word in reading.terms if not any(map(str.isdigit, word))]
    return all(word in word_class("AROUND_VALUES") for word in about) and first[1] not in TELLING


# Kinds of values that are comparable without knowing what they belong to; names are not.
KINDS = frozenset(("date", "duration", "money", "number", "percent", "version"))
AMOUNTS = frozenset(("duration", "money", "number", "percent"))
IN_MONTHS = {"year": 12.0, "month": 1.0}
NO_UNITS = frozenset(("yesterday", "today", "now", "last", "then", "ontem", "hoje", "agora"))
MAX_CHARS, MAX_VALUES = 400, 8
EXCHANGE = 2
_NOWHERE = Conversation(tenant="-", client_id="-", conversation_id="-")


@cache
def _begins() -> re.Pattern[str]:
    """A pattern of possible value starts, since parsing at every word would dominate the cost of a decision."""
    words = "|".join((*numbers("counts"), *numbers("months"), *numbers("weekdays")))
    return re.compile(
        rf"(?<![\w.,])(?:\d|r\$|us\$|[$\u20ac\u00a3]|v\d|(?:{words})\b"
        r"|the (?=\d{1,2}(?:st|nd|rd|th)\b)"
        r"|(?:o |the )?(?:dia|hoje|ontem|amanha|proxim[ao]|today|tomorrow|yesterday|next|last|noon|midnight|meio)\b)"
    )


@text_cache(2_048)
def values_of(text: str, lang: str) -> tuple[TypedValue, ...]:
    """The dates, amounts and versions in a text, in order."""
    seen = composed(text[:MAX_CHARS])
    found: list[TypedValue] = []
    for begins in _begins().finditer(flatten(seen)):
        if len(found) == MAX_VALUES or (found and begins.start() < found[-1].end):
            continue
        value = value_at(seen, begins.start(), lang)
        if value is not None and value.kind in KINDS:
            found.append(value)
    return tuple(found)


def another_value(text: str, said: ConversationTurn, lang: str) -> bool:
    """Whether a text has a value that differs from one of its kind in the turn before, and does not repeat that one."""
    ours = values_of(text, lang)
    theirs = values_of(said.content, lang) if ours else ()
    replaces = any(_excludes(new, old, said) for new in ours for old in theirs)
    return replaces and not all(any(_agrees(new, old) for old in theirs) for new in ours)


def _agrees(new: TypedValue, old: TypedValue) -> bool:
    if old.kind == "number" and new.words is not None:
        return new.words.day == dict(old.parts)["amount"]
    # "The 56, then" after "the 56 cm one".
    if {new.kind, old.kind} <= AMOUNTS and "" in (_unit(new), _unit(old)):
        return dict(new.parts)["amount"] == dict(old.parts)["amount"]
    return new.kind == old.kind and new.parts == old.parts and new.words == old.words


def _excludes(new: TypedValue, old: TypedValue, said: ConversationTurn) -> bool:
    if exclude(new, said.created_at, old, said.created_at):
        return True
    ours, theirs = dict(new.parts), dict(old.parts)
    mine, other = _unit(new), _unit(old)
    if not {new.kind, old.kind} <= AMOUNTS:
        # "Não, 20" of a day of the month, "dia 20" of 15/4.
        return {(new.kind, mine), (old.kind, other)} == {("number", ""), ("date", "")}
    if mine in IN_MONTHS and other in IN_MONTHS:
        return float(ours["amount"]) * IN_MONTHS[mine] != float(theirs["amount"]) * IN_MONTHS[other]
    return "" in (mine, other) and ours["amount"] != theirs["amount"]


def _unit(value: TypedValue) -> str:
    unit = str(dict(value.parts).get("unit", ""))
    return "" if unit in NO_UNITS else unit


def contradicts_claim(text: str, history: Sequence[ConversationTurn], lang: str) -> bool:
    """Whether the claims of a text contradict those of the last exchange."""
    turns = history[-EXCHANGE:]
    new = _utterance(text, "user", lang, len(turns), turns[-1])
    if not lifecycle.claims_of(new):
        return False
    earlier = lifecycle.session_claims(
        [_utterance(turn.content, turn.role, lang, at, turn) for at, turn in enumerate(turns)]
    )
    return any(claim.contradicts for claim in lifecycle.heard(new, earlier).claims)


def _utterance(text: str, role: str, lang: str, at: int, turn: ConversationTurn) -> Utterance:
    return Utterance(
        conversation=_NOWHERE,
        message_id=f"-{at}",
        author="user" if role == "user" else "system",
        text=(text if role == "user" else without_citations(text))[:MAX_CHARS],
        lang=lang,
        seq=at,
        frame_id="-",
        user_id="-",
        at=turn.created_at,
        source=Source(topic="-", partition=0, offset=at),
    )
