"""Passages that never mix two headings: whole paragraphs, short ones joined, up to about 100 words; one per question
where a section is a list of questions with their answers.

Blocks over 220 words are cut: a paragraph between sentences, a list between items, a table between rows with its
header repeated, a fence between lines with its fence repeated.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from agents.core.documents.blocks import Block, items
from agents.core.language.sentences import sentences

# A paragraph belongs together: cut in two, each half lacks words for the search and answers half. Different blocks are
# joined up to this number of words only.
TARGET_WORDS, FULL_WORDS, MAX_WORDS = 60, 100, 220
JOINED_WORDS = 120
CONTEXT_CHARS = 240
PARAGRAPH = "\n\n"
# Encoded bytes have no word breaks: this number of characters counts as one word.
WORD_CHARS = 60

# A line of its own, or the words before an answer: `**Can I pay later?** Yes`, `Q: Can I pay later?`.
_ASKED = re.compile(r"[^.!?\n]{3,200}\?")
_RULE = re.compile(r"\s*\|[\s:|-]*-[\s:|-]*\|\s*")


@dataclass(frozen=True, slots=True)
class DocumentPassage:
    """Text under one heading, and its first page, where there are pages.

    `context` is the end of the passage before and the start of the one after. `block`: the number of the document's
    block that was cut for its length, of which this is a piece.
    """

    path: tuple[str, ...]
    text: str
    context: str = ""
    page: int | None = None
    block: int | None = None


def word_count(text: str) -> int:
    return sum(1 + len(word) // WORD_CHARS for word in text.split())


def passages(found: Sequence[Block], lang: str) -> list[DocumentPassage]:
    """The passages of blocks in order; apart from `context` they depend only on the blocks under their heading."""
    out: list[DocumentPassage] = []
    for path, numbered in groupby(enumerate(found), key=lambda each: each[1].path):
        section = list(numbered)
        out += [DocumentPassage(path, *fields) for fields in _packed(_pieces(section, lang), _questions(section))]
    held = Counter(passage.block for passage in out)
    return [
        replace(passage, context=_context(out, at, lang), block=passage.block if held[passage.block] > 1 else None)
        for at, passage in enumerate(out)
    ]


def _questions(section: Sequence[tuple[int, Block]]) -> frozenset[int]:
    """The blocks that begin with a question, in a section of several: what follows each is its answer."""
    asked = [number for number, block in section if block.kind == "text" and _ASKED.match(block.text)]
    return frozenset(asked if len(asked) > 1 else ())


def _context(found: Sequence[DocumentPassage], at: int, lang: str) -> str:
    before = _spoken(found[at - 1].text[-CONTEXT_CHARS * 2 :], lang)[-1:] if at else []
    after = _spoken(found[at + 1].text[: CONTEXT_CHARS * 2], lang)[:1] if at + 1 < len(found) else []
    return "\n".join([*(text[-CONTEXT_CHARS:] for text in before), *(text[:CONTEXT_CHARS] for text in after)])


def _spoken(text: str, lang: str) -> list[str]:
    return [sentence for sentence in sentences(text, lang) if any(map(str.isalpha, sentence))]


@dataclass(frozen=True, slots=True)
class _Piece:
    """A part that is not cut further, and its separator from the part before (a blank between sentences, an empty line
    between blocks)."""

    text: str
    words: int
    joint: str
    page: int | None
    block: int
    is_cut: bool


def _pieces(section: Iterable[tuple[int, Block]], lang: str) -> Iterator[_Piece]:
    for at, block in section:
        cut = _cut(block, lang)
        for number, text in enumerate(cut):
            joint = PARAGRAPH if number == 0 else " " if block.kind == "text" else "\n"
            yield _Piece(text, word_count(text), joint, block.page, at, len(cut) > 1)


def _packed(pieces: Iterable[_Piece], questions: frozenset[int]) -> list[tuple[str, str, int | None, int | None]]:
    """Parts joined until a passage is full, up to the next question; a short rest joins the passage before it if there
    is room.

    Each is a text, no context yet, a page and the block that it is a piece of.
    """
    out: list[tuple[str, int, int | None, int | None]] = []
    for piece in pieces:
        text, words, page, block = out[-1] if out else ("", 0, None, None)
        same = piece.joint != PARAGRAPH
        asks = piece.block in questions and not same
        room = words < TARGET_WORDS and words + piece.words <= JOINED_WORDS
        cut = piece.block if piece.is_cut else None
        if out and not asks and (room or words + piece.words <= (MAX_WORDS if same else FULL_WORDS)):
            out[-1] = (text + piece.joint + piece.text, words + piece.words, page, cut if block is None else block)
        else:
            out.append((piece.text, piece.words, piece.page, cut))
    return [(text, "", page, block) for text, _, page, block in out]


def _cut(block: Block, lang: str) -> list[str]:
    if word_count(block.text) <= MAX_WORDS:
        return [block.text.replace("\n", " ") if block.kind == "text" else block.text]
    if block.kind == "code":
        return _cut_code(block.text)
    if block.kind == "table":
        return _cut_table(block.text)
    units = items(block) if block.kind == "list" else sentences(block.text.replace("\n", " "), lang)
    return [part for unit in units for part in by_words(unit)]


def by_words(text: str) -> list[str]:
    """A text cut to the word limit between words, or anywhere in an overlong word."""
    if word_count(text) <= MAX_WORDS:
        return [text]
    span = MAX_WORDS * WORD_CHARS // 2
    words = [word[at : at + span] for word in text.split() for at in range(0, len(word), span)]
    parts: list[list[str]] = [[]]
    count = 0
    for word in words:
        weight = 1 + len(word) // WORD_CHARS
        if parts[-1] and count + weight > MAX_WORDS:
            parts.append([])
            count = 0
        parts[-1].append(word)
        count += weight
    return [" ".join(part) for part in parts]


def _cut_code(text: str) -> list[str]:
    lines = text.split("\n")
    fence = lines[0].strip()
    marks = fence[: len(fence) - len(fence.lstrip("`~"))]
    body = lines[1:-1] if len(lines) > 1 and lines[-1].strip().startswith(marks) else lines[1:]
    return [f"{fence}\n{part}\n{marks}" for part in _by_lines(body, MAX_WORDS - 2)]


def _cut_table(text: str) -> list[str]:
    rows = text.split("\n")
    head = rows[:2] if len(rows) > 2 and _RULE.fullmatch(rows[1]) else []
    room = max(MAX_WORDS - word_count("\n".join(head)), MAX_WORDS // 2)
    return ["\n".join([*head, part]) for part in _by_lines(rows[len(head) :], room)]


def _by_lines(lines: Sequence[str], room: int) -> list[str]:
    parts: list[str] = []
    left = 0
    short = (part for line in lines for part in (by_words(line) if word_count(line) > room else [line]))
    for line in short:
        words = word_count(line)
        if parts and words <= left:
            parts[-1] += f"\n{line}"
        else:
            parts.append(line)
            left = room
        left -= words
    return parts
