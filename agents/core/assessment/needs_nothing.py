"""Messages that need no memory: courtesies, go-aheads, arithmetic, tasks on the conversation itself.

Rules first, then a reviewed table of weights over words and bigrams (`weights/needs_nothing.json`, fitted by
`bench/fit/needs_nothing.py`). A message is split at its punctuation, and every piece must need nothing: `Thanks, and
what is the deadline?` asks for the deadline. In doubt memory is searched: always for a question with an unknown word,
and for a number outside arithmetic. The language is not identified, since the messages are too short.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from itertools import pairwise
from typing import Literal

from agents.core.assessment import conversation_tasks, work_requests
from agents.core.caching.texts import text_cache
from agents.core.language import interrogatives, text
from agents.core.language.lexicons import lexicon, tiles
from agents.core.language.lexicons import pieces as known_pieces

Kind = Literal["courtesy", "abilities", "repeat", "explanation", "talk", "task", "rewording"]
# The lexicon of each kind, its sections that a message must have of, and those that may stand around.
LISTS: tuple[tuple[Kind, str, tuple[str, ...], str], ...] = (
    ("courtesy", "small_talk", ("greetings", "farewells", "thanks", "acknowledged"), "fillers"),
    ("repeat", "clarification", ("repeat",), "near"),
    ("explanation", "clarification", ("repeat", "explain"), "near"),
    ("abilities", "clarification", ("abilities",), "near"),
)
OF_THE_CONVERSATION = frozenset({"repeat", "rewording"})
# The maximum of unknown words in a message that is no question: `see you later, gator`.
MAX_UNKNOWN = 1
SURE, SURE_OF_TALK, SURE_OF_STRANGE = 0.25, 1.25, 1.5
# A longer message is never a courtesy.
MAX_WORDS = 24
UNKNOWN, NUMBER, START, END, ASKED = "<unknown>", "<number>", "^", "$", "<asked>"
# Typing errors are corrected only in words of these lengths: shorter words are too close to each other.
MIN_TYPO_LETTERS, MAX_TYPO_LETTERS = 5, 24

_PIECE = re.compile(r"([^.!?;,:\n()\u2026\u061f]*)([.!?;,:\n()\u2026\u061f]*)")
_STRETCHED = re.compile(r"([^\W\d_])\1{2,}")
_LAUGH = re.compile(r"(?:k{2,}|(?:h[aeiu]){2,}h?|(?:rs){1,}|l+o+l+|lmf?ao+)")
QUESTION_WORDS = frozenset(
    """what whats which who whos whom whose where wheres when whens why how hows
    qual quais quem quando onde cade quanto quanta quantos quantas porque pq""".split()  # noqa: SIM905 - words
)

# Questions about oneself need memory.
OF_THE_USER = frozenset("my mine meu minha meus minhas mim myself".split())  # noqa: SIM905 - words
OF_OTHERS = frozenset(
    "he she they him his her hers them their theirs ele ela eles elas dele dela deles delas".split()  # noqa: SIM905
)
OF_THE_ASSISTANT = frozenset({"<you>", "<your>", "<joke>", "te", "contigo", "yourself"})
ABOUT_THE_USER = re.compile(
    r"\b(?:about (?:me|us|myself)|(?:de|sobre) (?:mim|nos)|who (?:am i|i am)|quem (?:eu sou|sou eu))\b"
)
# What contests a claim is looked up, however short it is.
CONTESTED = re.compile(
    r"\b(?:wrong|incorrect|mistaken|false|untrue|errad[oa]s?|errou|enganou|incorret[oa]|"
    r"(?:not|isnt|wasnt) (?:true|right|correct|that|it|what)|nao (?:e|foi|esta|era)|"
    r"(?:not|doesnt|dont|didnt|nao) (?:work(?:s|ing)?|funcion(?:a|ou)))\b|<yes> (?:que )?(?:not|nao)\b|^no (?:way|"
    r"good)\b"
)
# A bare no may contest what was just said.
REFUSALS = frozenset("no nope nah nao negativo".split())  # noqa: SIM905
# A courtesy shows as one by a word of these classes.
POLITE = frozenset("<hello> <bye> <thanks> <praise> <ok> <oh> <luck> <sorry> <saved>".split())  # noqa: SIM905


@dataclass(frozen=True, slots=True)
class Piece:
    """The words of a message up to a punctuation mark, as written and normalised for the table."""

    written: tuple[str, ...]
    words: tuple[str, ...]
    mark: str

    @property
    def question(self) -> bool:
        """Whether it ends in a question mark."""
        return "?" in self.mark or "\u061f" in self.mark

    @property
    def asks(self) -> bool:
        """Whether it ends or begins like a question, or has a question word."""
        return self.question or not QUESTION_WORDS.isdisjoint(self.words)


@dataclass(frozen=True, slots=True, eq=False)
class Vocabulary:
    """The words of the table; `shortened` maps each word without one of its letters to the word."""

    words: frozenset[str]
    shortened: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class NeedsNothingWeights:
    """The weight of each feature in favour of needing nothing."""

    vocabulary: Vocabulary
    bias: float
    weights: Mapping[str, float]


def needs_nothing(said: str, *, has_history: bool) -> bool:
    """Whether a message needs no memory; pure, total, bounded in time.

    Requests to repeat or reword (`translate that`, `make it shorter`) need the conversation: without a history memory
    is searched for them. For requests to explain it always is.
    """
    found = kind_of(said)
    return found not in (None, "explanation") and (found not in OF_THE_CONVERSATION or has_history)


def kind_of(said: str) -> Kind | None:
    """The kind of a message that needs nothing; None for every other."""
    asked = text.clip(said)
    words = text.words(asked)
    if not words:
        return "courtesy"
    if conversation_tasks.is_arithmetic(asked) or conversation_tasks.brings_its_text(asked):
        return "task"
    whole = " ".join(words)
    if len(words) > MAX_WORDS or whole in REFUSALS or ABOUT_THE_USER.search(whole):
        return None
    if conversation_tasks.is_of_any_word(asked):
        return "task"
    if conversation_tasks.is_on_the_conversation(asked):
        return "rewording"
    if interrogatives.asks_for_documents(asked):
        return None
    found = _listed_kind(words) or _kind_of_pieces(pieces(asked, table().vocabulary), len(words))
    # `Can you check this function?` has known words only.
    return None if found in ("abilities", "talk") and work_requests.is_work(whole) else found


def _listed_kind(words: Sequence[str]) -> Kind | None:
    """The kind of a text that consists of listed phrases only."""
    whole = " ".join(words)
    for kind, name, core, around in LISTS:
        if tiles(whole, known_pieces(name, *core), known_pieces(name, around)):
            return kind
    return None


def _kind_of_pieces(cut: Iterable[Piece], size: int) -> Kind | None:
    kinds: list[Kind] = []
    mark = ""
    for piece in cut:
        before, mark = mark, piece.mark
        if before == "," and kinds[-1:] == ["courtesy"] and _is_name(piece):
            continue
        # The whole text was tried before its pieces.
        listed = None if len(piece.written) >= size else _listed_kind(text.words(" ".join(piece.written)))
        found = listed or _kind_by_weights(piece)
        if found is None:
            return None
        kinds.append(found)
    # The request decides the kind, not the courtesies around it.
    return next((kind for kind in kinds if kind != "courtesy"), "courtesy") if kinds else None


def _kind_by_weights(piece: Piece) -> Kind | None:
    """The kind of a piece by the table of weights."""
    named = _without_name(piece)
    held = features(named)
    if held is None:
        return None
    polite = not piece.asks and not POLITE.isdisjoint(named.words)
    strange = UNKNOWN in named.words
    # Only a courtesy may contain an unknown word or end in a name.
    if (strange or named is not piece) and not polite:
        return None
    weigh = table()
    score = weigh.bias + sum(weigh.weights.get(name, 0.0) for name in held)
    least = SURE_OF_STRANGE if strange else SURE if polite else SURE_OF_TALK
    return None if score <= least else "courtesy" if polite else "talk"


def _without_name(piece: Piece) -> Piece:
    """The piece without a name at its end: `valeu Bia`."""
    if len(piece.words) < 2 or piece.asks or piece.words[-1] != UNKNOWN or not piece.written[-1][0].isupper():
        return piece
    return Piece(piece.written[:-1], piece.words[:-1], piece.mark)


def _is_name(piece: Piece) -> bool:
    return (
        not piece.question
        and len(piece.words) <= 2
        and all(known == UNKNOWN and word[0].isupper() for word, known in zip(piece.written, piece.words, strict=True))
    )


def features(piece: Piece) -> frozenset[str] | None:
    """The features of a piece; None where memory is searched regardless of the table."""
    said = piece.words
    unknown = said.count(UNKNOWN)
    if NUMBER in said or unknown > MAX_UNKNOWN or CONTESTED.search(" ".join(said)):
        return None
    if not OF_OTHERS.isdisjoint(said) or len(said) == unknown:
        return None
    if piece.asks and (unknown or not OF_THE_USER.isdisjoint(said)):
        return None
    # A question about anything but the assistant needs memory.
    if (piece.question or not QUESTION_WORDS.isdisjoint(said[:2])) and OF_THE_ASSISTANT.isdisjoint(said):
        return None
    framed = (START, *said, END)
    found = {*said, *map(" ".join, pairwise(framed))}
    return frozenset(found | {ASKED} if piece.question else found)


def pieces(said: str, known: Vocabulary) -> Iterator[Piece]:
    """The pieces of a text, split at its punctuation."""
    for words, mark in _PIECE.findall(said.replace("\u2019", "'")):
        written = [part for word in _WRITTEN.findall(words) for part in _apart(word, known)]
        if written:
            yield Piece(tuple(written), tuple(_normalised(word, known) for word in written), mark)


_WRITTEN = re.compile(r"[^\W_]+(?:['_./-][^\W_]+)*")


def _apart(written: str, known: Vocabulary) -> list[str]:
    """The parts of an unknown compound (`leaving-goodbye`), or the word itself."""
    return [written] if "-" not in written or plain(written) in known.words else written.split("-")


@text_cache(8_192)
def _normalised(written: str, known: Vocabulary) -> str:
    """A word normalised for the table: folded, without stretched letters, with a typing error corrected."""
    word = plain(written)
    if any(char.isdigit() for char in word):
        return NUMBER
    classes = class_of()
    short = (_STRETCHED.sub(times, word) for times in (r"\1\1", r"\1"))
    found = next((form for form in (word, *short) if form in classes or form in known.words), None)
    if found is None:
        found = "haha" if _LAUGH.fullmatch(word) else _corrected(word, known)
    return UNKNOWN if found is None else classes.get(found, found)


@lru_cache(maxsize=1)
def class_of() -> Mapping[str, str]:
    """The class of each word that has one; words of a class share a weight."""
    classes = lexicon("small_talk").parts("classes")
    return {word: f"<{name}>" for name, words in classes.items() for word in words}


def _corrected(word: str, known: Vocabulary) -> str | None:
    """The known word within one swapped, extra or missing letter."""
    if not MIN_TYPO_LETTERS <= len(word) <= MAX_TYPO_LETTERS:
        return None
    # Only later letters count as misspelled: `other` is not a misspelling of `bother`.
    for at in range(1, len(word)):
        rest = word[at + 1 :]
        for meant in (f"{word[:at]}{rest}", f"{word[:at]}{rest[:1]}{word[at]}{rest[1:]}"):
            if len(meant) >= MIN_TYPO_LETTERS and meant in known.words:
                return meant
    return known.shortened.get(word)


def plain(written: str) -> str:
    """A word folded, without apostrophes, which people often omit."""
    return text.fold(written).replace("'", "")


def vocabulary(words: Sequence[str]) -> Vocabulary:
    """The vocabulary of the words and of those with a class, with their forms of one missing letter."""
    words = (*words, *class_of())
    long = sorted(word for word in words if len(word) > MIN_TYPO_LETTERS)
    return Vocabulary(
        frozenset(words), {f"{word[:at]}{word[at + 1 :]}": word for word in long for at in range(1, len(word))}
    )


@lru_cache(maxsize=1)
def table() -> NeedsNothingWeights:
    """The reviewed weights, loaded once."""
    read = json.loads(files("agents.core").joinpath("weights/needs_nothing.json").read_text(encoding="utf-8"))
    return NeedsNothingWeights(
        vocabulary(" ".join(read["words"]).split()),
        read["bias"],
        read["weights"],
    )
