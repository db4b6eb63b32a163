"""The parsed form of a message for the depth rules: courtesies removed, phrases found, compared with earlier turns."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import Literal
from unicodedata import normalize

from agents.core.caching.texts import text_cache
from agents.core.conversation.memory import ConversationTurn
from agents.core.language.identification import identify_language
from agents.core.language.lexicons import lexicon
from agents.core.language.phrases import END, NOWHERE, PAUSE, START, Match, Sentence, cut, evidence, find, read
from agents.core.language.text import clip, content_words, fold, stem, surface_terms
from schemas.depth import Anchor

Place = tuple[Sentence, Match]
# Courtesies come first: at most this many segments are examined.
MAX_SEGMENTS = 8
# One exchange: words of older turns show the conversation, not its current topic.
RECENT_TURNS = 2
# So many questions for details make an errand, as one is asked in any talk; so far into a sentence a wish is told.
DETAILS, WISHED = 2, 7


@cache
def word_class(name: str) -> frozenset[str]:
    """A closed class of words by its name in the lexicon."""
    return lexicon("word_classes").words(name)


@dataclass(frozen=True, slots=True)
class Clause:
    """A part of a sentence between pauses, with the index of its sentence and its start in it."""

    owner: int
    start: int
    sentence: Sentence


@dataclass(frozen=True, slots=True)
class Past:
    """Facts from earlier turns about a message: the pending question, the words shared with them.

    `recent` are the words shared with the last exchange or the topic's anchor; `addressed` is whether the last turn was
    the assistant's, `answered` whether it answered a question, `exchange` are the last two turns, `topic` the words
    shared with the anchor or the first turn, `turns` the number of turns. `talk` is what is done in
    them: an errand, a chat, or neither.
    """

    exists: bool = False
    pending: str = ""
    shared: frozenset[str] = frozenset()
    shared_last: frozenset[str] = frozenset()
    recent: frozenset[str] = frozenset()
    comparable: bool = False
    addressed: bool = False
    answered: bool = False
    exchange: tuple[ConversationTurn, ...] = ()
    topic: frozenset[str] = frozenset()
    turns: int = 0
    talk: str = ""


@dataclass(frozen=True, slots=True)
class Reading:
    """A message without its courtesies, with all phrases found in it."""

    text: str
    lang: str
    courtesies: tuple[str, ...]
    sentences: tuple[Sentence, ...]
    found: dict[str, tuple[Place, ...]]
    content: tuple[str, ...]
    terms: tuple[str, ...]
    nouns: frozenset[str]
    past: Past
    affirms: bool = False

    @property
    def length(self) -> int:
        return sum(len(sentence.plain) for sentence in self.sentences)

    def places(self, *groups: str) -> Iterator[Place]:
        for group in groups:
            yield from self.found.get(group, ())

    def says(self, *groups: str) -> bool:
        return any(group in self.found for group in groups)

    def quote(self, sentence: Sentence, match: Match) -> str:
        return evidence(self.text, sentence, match.start, match.end)


def read_message(query: str, history: Sequence[ConversationTurn], lang: str, anchor: Anchor | None = None) -> Reading:
    """Parse one message in the context of the turns before it."""
    text = normalize("NFC", clip(query))
    pending = _pending(history)
    whole = _read(query)
    courtesies, sentences = _without_courtesies(text, whole, pending)
    found: dict[str, list[Place]] = {}
    for sentence in sentences:
        for match in find(sentence):
            found.setdefault(match.group, []).append((sentence, match))
    terms = surface_terms(_from(text, sentences), lang)
    content = tuple(dict.fromkeys(stem(term, lang) for term in terms))
    return Reading(
        text,
        lang,
        courtesies,
        sentences,
        {group: tuple(places) for group, places in found.items()},
        content,
        terms,
        frozenset(map(fold, terms)),
        _past(content, history, lang, pending, anchor),
        affirms=not sentences and _affirms(whole),
    )


def _from(text: str, sentences: Sequence[Sentence]) -> str:
    return text[sentences[0].spans[1][0] :] if sentences else ""


def _affirms(sentences: Sequence[Sentence]) -> bool:
    return bool(sentences) and sentences[0].words[1] in word_class("YES")


def _without_courtesies(
    text: str, sentences: Sequence[Sentence], pending: str
) -> tuple[tuple[str, ...], tuple[Sentence, ...]]:
    """The opening courtesies of a message, and the rest to classify."""
    segments = tuple(islice(_segments(sentences), MAX_SEGMENTS + 1))
    said: list[str] = []
    for at, segment in enumerate(segments[:MAX_SEGMENTS]):
        size = len(segment.sentence.words) - 1
        reacts = at + 1 < len(segments) and _is_reaction(segment.sentence)
        length = size if reacts else _courtesy(segment.sentence, text)
        if not length and _is_no(segment.sentence) and len(segments) <= MAX_SEGMENTS:
            length = size if _polite_refusal(segments[at + 1 :], text, pending) else 0
        if length:
            said.append(evidence(text, segment.sentence, 0, length))
        if length < size:
            left = cut(sentences[segment.owner], segment.start + length - (1 if length else 0))
            return tuple(said), (*((left,) if left else ()), *sentences[segment.owner + 1 :])
    return tuple(said), _unexamined_rest(sentences, segments)


def _unexamined_rest(sentences: Sequence[Sentence], segments: Sequence[Clause]) -> tuple[Sentence, ...]:
    if len(segments) <= MAX_SEGMENTS:
        return ()
    owner, start = segments[-1].owner, segments[-1].start
    left = cut(sentences[owner], start)
    return (*((left,) if left else ()), *sentences[owner + 1 :])


def _segments(sentences: Sequence[Sentence]) -> Iterator[Clause]:
    """The sentences split at their pauses, each part as a sentence of its own."""
    for owner, sentence in enumerate(sentences):
        start = 1
        for at in range(1, len(sentence.words)):
            if sentence.words[at] not in (PAUSE, END):
                continue
            if at > start:
                last = sentence.words[at] == END
                piece = Sentence(
                    (START, *sentence.words[start:at], END),
                    (NOWHERE, *sentence.spans[start:at], NOWHERE),
                    sentence.question and last,
                )
                yield Clause(owner, start, piece)
            start = at + 1


def _is_reaction(segment: Sentence) -> bool:
    """Whether a segment is one word of interest in what was said (`Right. Did it work?`)."""
    return len(segment.plain) == 1 and not segment.question and segment.plain[0] in word_class("REACTIONS")


def _is_no(segment: Sentence) -> bool:
    return word_class("NEGATIONS").issuperset(segment.plain)


def _polite_refusal(rest: Sequence[Clause], text: str, pending: str) -> bool:
    """Whether a bare no is a polite refusal: followed by courtesies only, or answering an offer."""
    politely = 0
    for segment in rest:
        polite = _courtesy(segment.sentence, text) == len(segment.sentence.words) - 1
        if not polite and not _is_no(segment.sentence):
            return False
        politely += polite
    return politely > 0 or pending == "offer"


def _courtesy(segment: Sentence, text: str) -> int:
    """The number of a segment's words, with its `^`, that are courtesy: all, its opening, or none."""
    whole = len(segment.words) - 1
    if _is_courtesy(segment):
        return whole
    opening = {match.group: match.end for match in find(segment) if match.start == 0}
    if "dismissal" in opening and not segment.question:
        return whole
    if "greeting" in opening:
        return min(_with_vocative(segment, text, opening["greeting"]), whole)
    return 0


def _is_courtesy(segment: Sentence) -> bool:
    words = segment.plain
    if not word_class("COURTESY").issuperset(words):
        return False
    if segment.question:
        return " ".join(words).startswith(lexicon("word_classes").lines("GREETING_QUESTIONS"))
    return not word_class("COURTESY_HEADS").isdisjoint(words)


def _with_vocative(segment: Sentence, text: str, end: int) -> int:
    words = segment.words
    while words[end] in word_class("VOCATIVES"):
        end += 1
    # "Oi Ana, qual o prazo?": one capitalised word and a pause is somebody's name.
    if end == len(words) - 2 and text[segment.spans[end][0]].isupper():
        end += 1
    return end


def _pending(history: Sequence[ConversationTurn]) -> str:
    """The pending act of the assistant's last turn: an offer, a confirmation, a question or none."""
    last = history[-1] if history else None
    if last is None or last.role != "assistant":
        return ""
    return _left_open(last.content)


_read = text_cache(2_048)(lambda content: read(normalize("NFC", clip(content))))


@text_cache(2_048)
def _left_open(content: str) -> str:
    sentences = _read(content)
    found = [(sentence, match) for sentence in sentences for match in find(sentence)]
    groups = {match.group for _, match in found}
    # "Confirm it with your doctor" expects no reply.
    to_confirm = any(
        match.group == "pending_confirmation" and {"with", "com"}.isdisjoint(sentence.words[match.end : match.end + 2])
        for sentence, match in found
    )
    asks = bool(sentences) and any(sentence.question for sentence in sentences[-2:])
    if asks and "pending_offer" in groups:
        return "offer"
    # "You leave on the 4th, right? How many nights?" wants the nights.
    asks_on = asks and sentences[-1].question and sentences[-1].words[1] in word_class("WH_WORDS")
    if to_confirm and not asks_on:
        return "confirmation"
    return "question" if asks else ""


def _past(
    content: Sequence[str],
    history: Sequence[ConversationTurn],
    lang: str,
    pending: str,
    anchor: Anchor | None,
) -> Past:
    if not history:
        return Past()
    topics = _topics(history, lang)
    anchored = frozenset(stem(term, lang) for term in anchor.terms) if anchor else frozenset[str]()
    known = anchored.union(*_spoken_in(lang, topics))
    recent = anchored.union(*_spoken_in(lang, topics[-RECENT_TURNS:]))
    foreign = any(stems for spoken, stems in topics[-RECENT_TURNS:] if spoken != lang)
    mine = frozenset(content)
    addressed = history[-1].role == "assistant"
    last = topics[-1][1] if addressed else frozenset[str]()
    return Past(
        True,
        pending,
        mine & known,
        mine & last,
        mine & recent,
        bool(known) and not foreign,
        addressed,
        addressed and not pending and len(history) > 1 and _is_question(history[-2].content),
        tuple(history[-RECENT_TURNS:]),
        mine & anchored.union(*_spoken_in(lang, topics[:1])),
        len(history),
        kind_of_talk(history),
    )


def kind_of_talk(history: Sequence[ConversationTurn], said: str = "") -> Literal["errand", "chat", ""]:
    """What is done in a talk: an errand, of which the assistant asks for details, or a chat, where it tells of itself.

    `said` is a turn of the assistant after the others.
    """
    answers = [_shown(turn.content) for turn in history if turn.role == "assistant"]
    wished = any(turn.role == "user" and _wishes(turn.content) for turn in history)
    details = sum("details" in one for one in answers) if wished else 0
    if sum("oneself" in one for one in (*answers, _shown(said))) > (details > 0):
        return "chat"
    return "errand" if details >= DETAILS else ""


def _wishes(content: str) -> bool:
    wishes = word_class("REQUESTS") - word_class("ASKING_OTHERWISE")
    return any(not wishes.isdisjoint(one.words[:WISHED]) for one in _read(content))


@text_cache(2_048)
def _shown(content: str) -> frozenset[str]:
    """Of an assistant's turn, whether it asks for details, and whether it tells of the assistant."""
    sentences = _read(content)
    asks = any(one.question and not word_class("WH_WORDS").isdisjoint(one.words) for one in sentences)
    found = {
        "details": asks or _left_open(content) in {"confirmation", "offer"},
        "oneself": any(not word_class("OF_ONESELF").isdisjoint(one.words) for one in sentences),
    }
    return frozenset(name for name, holds in found.items() if holds)


def _is_question(content: str) -> bool:
    sentences = _read(content)
    return any(one.question or one.words[1] in word_class("WH_WORDS") for one in sentences)


def _spoken_in(lang: str, topics: Sequence[tuple[str, frozenset[str]]]) -> Iterator[frozenset[str]]:
    return (stems for spoken, stems in topics if spoken == lang)


def _topics(history: Sequence[ConversationTurn], lang: str) -> list[tuple[str, frozenset[str]]]:
    """Language and content words of each turn; a turn too short to identify takes the usual language."""
    spoken = [_spoken(turn.content) for turn in history]
    known = [language for language in spoken if language]
    usual = max(known, key=known.count, default=lang)
    return [
        (language or usual, _stems(turn.content, language or usual))
        for language, turn in zip(spoken, history, strict=True)
    ]


# Turns recur with every message of their conversation, so their words are cached.
@text_cache(4_096)
def _spoken(content: str) -> str:
    return identify_language(content, "")


@text_cache(4_096)
def _stems(content: str, lang: str) -> frozenset[str]:
    return frozenset(content_words(clip(content), lang))
