"""A message as the depth rules read it: without courtesies, phrases found, set against the past."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from unicodedata import normalize

from agents.core import depth_words
from agents.core.conversation import ConversationTurn
from agents.core.depth_phrases import (
    END,
    PAUSE,
    Match,
    Sentence,
    cut,
    evidence,
    find,
    read,
)
from agents.core.text import (
    clip,
    content_words,
    fold,
    identify_language,
    stem,
    surface_terms,
)
from schemas.depth import Anchor

Place = tuple[Sentence, Match]


@cache
def word_class(name: str) -> frozenset[str]:
    """A word class of `depth_words` by name."""
    return frozenset(getattr(depth_words, name).split())


@dataclass(frozen=True, slots=True)
class Past:
    """What earlier turns say of a message: what was asked last, which words it shares with them."""

    exists: bool = False
    pending: str = ""
    shared: frozenset[str] = frozenset()
    shared_last: frozenset[str] = frozenset()
    comparable: bool = False


@dataclass(frozen=True, slots=True)
class Reading:
    """A message without its courtesies, with every phrase found in it."""

    text: str
    lang: str
    courtesies: tuple[str, ...]
    sentences: tuple[Sentence, ...]
    found: dict[str, tuple[Place, ...]]
    content: tuple[str, ...]
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
    """One message set against the turns before it."""
    text = normalize("NFC", clip(query))
    pending = _pending(history)
    whole = read(text)
    courtesies, sentences = _without_courtesies(text, whole, pending)
    found: dict[str, list[Place]] = {}
    for sentence in sentences:
        for match in find(sentence):
            found.setdefault(match.group, []).append((sentence, match))
    rest = _from(text, sentences)
    content = tuple(dict.fromkeys(content_words(rest, lang)))
    return Reading(
        text,
        lang,
        courtesies,
        sentences,
        {group: tuple(places) for group, places in found.items()},
        content,
        frozenset(fold(term) for term in surface_terms(rest, lang)),
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
    said: list[str] = []
    rest = list(sentences)
    while rest:
        length = _courtesy(rest, text, pending)
        if not length:
            break
        said.append(evidence(text, rest[0], 0, length))
        shorter = cut(rest[0], length)
        rest[:1] = [shorter] if shorter else []
    return tuple(filter(None, said)), tuple(rest)


def _courtesy(sentences: Sequence[Sentence], text: str, pending: str) -> int:
    sentence = sentences[0]
    stop = next(at for at, word in enumerate(sentence.words) if at and word in (PAUSE, END))
    segment = sentence.words[1:stop]
    if all(word in word_class("NEGATIONS") for word in segment):
        rest = [item for item in (cut(sentence, stop), *sentences[1:]) if item]
        return stop if _only_courtesies(rest, text) and (rest or pending == "offer") else 0
    if _is_courtesy(sentence, segment, stop):
        return stop
    opening = {match.group: match.end for match in find(sentence) if match.start == 0}
    if "dismissal" in opening and not sentence.question:
        return stop
    if "greeting" in opening:
        return _with_vocative(sentence, text, opening["greeting"])
    return 0


def _only_courtesies(sentences: Sequence[Sentence], text: str) -> bool:
    return not _without_courtesies(text, sentences, "")[1]


def _is_courtesy(sentence: Sentence, segment: tuple[str, ...], stop: int) -> bool:
    if not segment or not word_class("COURTESY").issuperset(segment):
        return False
    phrase = " ".join(segment)
    if sentence.question and sentence.words[stop] == END:
        return phrase.startswith(depth_words.GREETING_QUESTIONS)
    return not word_class("COURTESY_HEADS").isdisjoint(segment)


def _with_vocative(sentence: Sentence, text: str, end: int) -> int:
    words = sentence.words
    while words[end] in word_class("VOCATIVES"):
        end += 1
    # "Oi Ana, qual o prazo?": one capitalised word and a pause is somebody's name.
    if words[end] not in (PAUSE, END) and words[end + 1] in (PAUSE, END):
        start = sentence.spans[end][0]
        end += 1 if text[start].isupper() else 0
    return end


def _pending(history: Sequence[ConversationTurn]) -> str:
    """What the assistant's last turn left open: an offer, a confirmation, a question or nothing."""
    last = history[-1] if history else None
    if last is None or last.role != "assistant":
        return ""
    return _left_open(last.content)


@lru_cache(maxsize=2_048)
def _left_open(content: str) -> str:
    sentences = read(normalize("NFC", clip(content)))
    groups = {match.group for sentence in sentences for match in find(sentence)}
    asks = bool(sentences) and any(sentence.question for sentence in sentences[-2:])
    if asks and "pending_offer" in groups:
        return "offer"
    if "pending_confirmation" in groups:
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
    topics = [_topic(turn.content, lang) for turn in history]
    known = frozenset[str]().union(*(stems for spoken, stems in topics if spoken == lang))
    if anchor is not None:
        known |= {stem(term, lang) for term in anchor.terms}
    mine = frozenset(content)
    last = topics[-1][1] if history[-1].role == "assistant" else frozenset[str]()
    return Past(True, pending, mine & known, mine & last, comparable=bool(known))


@lru_cache(maxsize=4_096)
def _topic(content: str, default: str) -> tuple[str, frozenset[str]]:
    # Turns recur with every message of their conversation: their words are worth keeping.
    spoken = identify_language(content, default)
    return spoken, frozenset(content_words(clip(content), spoken))
