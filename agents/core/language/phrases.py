"""A message as sentences of plain words, and one-pass matching of the lexicon's phrases in them."""

import re
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from agents.core.language.lexicons import lexicon
from agents.core.language.text import fold

Trie = dict[str, "Trie | tuple[str, ...]"]
Choice = list["str | list[Choice]"]
Span = tuple[int, int]

START, END, PAUSE = "^", "$", ","
BOUNDS = frozenset((START, END, PAUSE))
_TOKEN = re.compile(
    r"(?P<quote>\"[^\"\n]{1,200}\"|\u201c[^\u201d\n]{1,200}\u201d|\u00ab[^\u00bb\n]{1,200}\u00bb)"
    r"|(?P<word>[^\W_]+(?:[_'\u2019-][^\W_]+|[./:](?=[^\W_]*\d)[^\W_]+)*)"
    r"|(?P<stop>[.!?;\n]+)"
    r"|(?P<pause>[,:()\u2013\u2014]| - )"
)
_KEPT_ACCENTS = {"é": "é", "está": "está", "tá": "está", "estás": "estás"}
_ADDRESSEE = frozenset(("voce", "voces", "tu", "you", "u"))
_WILD = "*"
WIDEST = 3
_PARTS = re.compile(r"[()|]|[^\s()|]+")
_FOUND = ""
HEAD, TAIL = 40, 10

NOWHERE: Span = (-1, -1)


@dataclass(frozen=True, slots=True)
class Sentence:
    """Folded words between `^` and `$`, each with its span in the original text."""

    words: tuple[str, ...]
    spans: tuple[Span, ...]
    question: bool

    @property
    def plain(self) -> tuple[str, ...]:
        return tuple(word for word in self.words if word not in BOUNDS)


@dataclass(frozen=True, slots=True)
class Match:
    """The position of a group's phrase in a sentence; `end` is exclusive."""

    group: str
    start: int
    end: int


def read(text: str) -> tuple[Sentence, ...]:
    """The sentences of a message; quoted words match no phrase (mention, not use)."""
    sentences: list[Sentence] = []
    words: list[str] = []
    spans: list[Span] = []
    for found in _TOKEN.finditer(text):
        if found["stop"]:
            _close(sentences, words, spans, question="?" in found["stop"])
            words, spans = [], []
        elif found["pause"]:
            if words and words[-1] != PAUSE:
                words.append(PAUSE)
                spans.append(NOWHERE)
        else:
            for word in _plain_words(found):
                words.append(word)
                spans.append(found.span())
    _close(sentences, words, spans, question=False)
    # A message of full stops only must not cost more than a long letter.
    return tuple(sentences if len(sentences) <= HEAD + TAIL else sentences[:HEAD] + sentences[-TAIL:])


def _plain_words(found: re.Match[str]) -> tuple[str, ...]:
    if found["quote"]:
        return (f'"{fold(found[0])}',)
    return _spelt_out(found["word"])


@cache
def _words(section: str) -> frozenset[str]:
    return lexicon("words").words(section)


@cache
def _contractions() -> Mapping[str, tuple[str, ...]]:
    return {short: tuple(full.split()) for short, full in lexicon("words").rows("contractions").items()}


def _spelt_out(word: str) -> tuple[str, ...]:
    lower = word.lower()
    if lower in _KEPT_ACCENTS:
        return (_KEPT_ACCENTS[lower],)
    plain = fold(lower)
    known = _contractions().get(plain)
    if known:
        return known
    if plain.endswith("n't"):
        return plain[:-3], "not"
    base, mark, ending = plain.rpartition("'")
    if mark:
        return (base, *_contractions().get(f"'{ending}", ())) if base else (ending,)
    head, hyphen, tail = plain.rpartition("-")
    return (head, tail) if hyphen and head and tail in _words("clitics") else (plain,)


def _close(into: list[Sentence], words: list[str], spans: list[Span], *, question: bool) -> None:
    sentence = cut(Sentence((START, *words, END), (NOWHERE, *spans, NOWHERE), question), 1)
    if sentence:
        into.append(sentence)


def cut(sentence: Sentence, first: int) -> Sentence | None:
    """The sentence from its word `first` on, without leading fillers; None when it is empty."""
    words, last, fillers = sentence.words, len(sentence.words) - 1, _words("fillers")
    while first < last and (words[first] in fillers or words[first] == PAUSE):
        # A lone filler is the whole message ("so?"), and "but you said" is a protest: both stay.
        after = words[first + 1]
        if after in _ADDRESSEE or (after == END and words[first] != PAUSE):
            break
        first += 1
    while last > first and words[last - 1] == PAUSE:
        last -= 1
    if last <= first:
        return None
    spans = (NOWHERE, *sentence.spans[first:last], NOWHERE)
    return Sentence((START, *words[first:last], END), spans, sentence.question)


def find(sentence: Sentence) -> Iterator[Match]:
    """Every phrase of the lexicon in a sentence, longest per group and start."""
    trie, words = phrases(), sentence.words
    for start, word in enumerate(words):
        node = trie.get(word)
        if not isinstance(node, dict):
            continue
        ends: dict[str, int] = {}
        _walk(node, words, start + 1, ends)
        for group, end in ends.items():
            yield Match(group, start, end)


def _walk(node: Trie, words: tuple[str, ...], at: int, ends: dict[str, int]) -> None:
    groups = node.get(_FOUND)
    if isinstance(groups, tuple):
        for group in groups:
            ends[group] = max(ends.get(group, 0), at)
    if at == len(words):
        return
    word = words[at]
    after = node.get(word)
    if isinstance(after, dict):
        _walk(after, words, at + 1, ends)
    any_word = node.get(_WILD)
    if isinstance(any_word, dict) and word not in BOUNDS:
        _walk(any_word, words, at + 1, ends)


@cache
def phrases() -> Trie:
    """All phrases of the lexicon as a trie of words; what follows several words alike is one node, never written."""
    root: Trie = {}
    depth = lexicon("depth")
    for group in depth.sections:
        for line in depth.lines(group):
            root = _merged(root, _grown(_choices(deque(_PARTS.findall(line))), {_FOUND: (group,)}), {})
    return root


def _choices(parts: deque[str]) -> list[Choice]:
    """The alternatives of a lexicon line, or of its part up to a closing bracket."""
    choices: list[Choice] = [[]]
    while parts:
        part = parts.popleft()
        if part == ")":
            break
        if part == "|":
            choices.append([])
        else:
            choices[-1].append(_choices(parts) if part == "(" else part)
    return choices


def _grown(choices: list[Choice], after: Trie) -> Trie:
    """All word sequences of the alternatives, each followed by `after`."""
    grown: Trie = {}
    for choice in choices:
        node = after
        for part in reversed(choice):
            if isinstance(part, list):
                node = _grown(part, node)
            elif part == _WILD:
                node = _any_words(node)
            else:
                node = {part: node}
        grown = _merged(grown, node, {})
    return grown


def _any_words(after: Trie) -> Trie:
    """One to `WIDEST` words of any kind, followed by `after`."""
    node: Trie = {_WILD: after}
    for _ in range(WIDEST - 1):
        node = {_WILD: _merged(after, node, {})}
    return node


def _merged(one: Trie, other: Trie, known: dict[tuple[int, int], Trie]) -> Trie:
    """The phrases of both; `known` are the pairs of their nodes, by identity, that were merged before."""
    if not one or one is other:
        return other
    pair = id(one), id(other)
    if pair in known:
        return known[pair]
    merged = known[pair] = dict(one)
    for word, below in other.items():
        before = one.get(word)
        if isinstance(below, tuple):
            groups = before if isinstance(before, tuple) else ()
            merged[word] = (*groups, *(group for group in below if group not in groups))
        else:
            merged[word] = _merged(before, below, known) if isinstance(before, dict) else below
    return merged


def evidence(text: str, sentence: Sentence, start: int, end: int) -> str:
    """The words of the original text covered by a match."""
    places = [span for span in sentence.spans[start:end] if span != NOWHERE]
    return text[places[0][0] : places[-1][1]] if places else ""
