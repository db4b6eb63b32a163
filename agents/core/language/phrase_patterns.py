"""The phrase language, compiled to regular expressions: `thank (you|u) (so much|)` and similar.

Words stand for themselves, `(a|b)` is a choice, `(a|)` is optional together with an adjacent blank, `(a|b)+` repeats
once or more, `(a|)+3` at most three times. `<name>` is any phrase of that section, `<word>` any word, `...` anything.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

# The pattern of `<name>`; None for an unknown section.
Named = Callable[[str], str | None]
# `<0-5 words>`, `<1-2 digits>`, `<not a|b>` (neither follows), `<word not a|b>` (a word that does not begin so), and
# `<word './->` with further characters that the word may contain.
_SLOT = re.compile(
    r"1-(?P<digits>\d) digits|not (?P<lacks>[^>]+)|"
    r"(?:(?P<least>\d)-(?P<most>\d) )?words?(?: not (?P<never>[^>]*?))?(?: (?P<also>[^\w\s]+))?"
)
_TOKEN = re.compile(r" \.\.\. |\^ ?| ?\$|<[^<>]*>|\)(?:\+\d?)?|\\.|[^\\]\+|[^\\]")
_BLANK = " "


class PhraseError(ValueError):
    """An invalid phrase; the message says how to correct it."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """A part between blanks or beside a bracket, and its number of repetitions."""

    pattern: str
    least: int = 1
    most: int | None = 1

    @property
    def moves(self) -> bool:
        """Whether each repetition has a blank of its own."""
        return (self.least, self.most) != (1, 1)

    def repeated(self, before: str = "", after: str = "") -> str:
        if not self.moves:
            return self.pattern
        times = {(0, 1): "?", (0, None): "*", (1, None): "+"}.get((self.least, self.most))
        pattern = f"{before}{_group(self.pattern)}{after}" if before or after else self.pattern
        return f"{_group(pattern)}{times or f'{{{self.least},{self.most}}}'}"


_Sequence = list[_Piece | str]


def compiled(phrase: str, named: Named) -> str:
    """The regular expression of a phrase; raises `PhraseError`."""
    reader = _Reader(_TOKEN.findall(phrase), named)
    choices = reader.choices()
    if reader.at < len(reader.tokens):
        raise PhraseError("a bracket is closed that was not opened; write (")
    return "|".join(map(_joined, choices))


class _Reader:
    """The tokens of a phrase, read from left to right."""

    def __init__(self, tokens: Sequence[str], named: Named) -> None:
        self.tokens = tokens
        self.at = 0
        self._named = named

    def choices(self) -> list[_Sequence]:
        """The alternatives up to the closing bracket."""
        found: list[_Sequence] = [[]]
        while self.at < len(self.tokens) and not self.tokens[self.at].startswith(")"):
            token = self.tokens[self.at]
            self.at += 1
            if token == "|":
                found.append([])
            elif token == "(":
                found[-1].append(self._bracket())
            else:
                found[-1].append(self._piece(token))
        return found

    def _bracket(self) -> _Piece:
        choices = self.choices()
        if self.at == len(self.tokens):
            raise PhraseError("a bracket is not closed; write )")
        _, repeats, most = self.tokens[self.at].partition("+")
        self.at += 1
        pattern = "|".join(_joined(choice) for choice in choices if choice)
        least = 0 if [] in choices else 1
        return _Piece(f"(?:{pattern})", least, (int(most) if most else None) if repeats else 1)

    def _piece(self, token: str) -> _Piece | str:
        if token.strip() == "^" or token.strip() == "$":
            return _Piece(token.strip())
        if token == " ... ":
            return _Piece(r"\b.*\b")
        if token[0] == "<":
            return self._slot(token[1:-1])
        if token == _BLANK:
            return token
        if len(token) == 2 and token[0] != "\\":
            return _Piece(re.escape(token[0]), 1, None)
        return _Piece(re.escape(token.removeprefix("\\")))

    def _slot(self, name: str) -> _Piece:
        if (slot := _SLOT.fullmatch(name)) is None:
            pattern = self._named(name)
            if pattern is None:
                raise PhraseError(f"there is no section [{name}] that <{name}> could be; write one of the lexicon")
            return _Piece(f"(?:{pattern})")
        if slot["lacks"]:
            return _Piece(_unlike(slot["lacks"]))
        if slot["digits"]:
            return _Piece(rf"\d{{1,{slot['digits']}}}")
        also = re.escape(slot["also"] or "")
        pattern = f"[\\w{also}]+" if also else r"\w+"
        never = _unlike(slot["never"]) if slot["never"] else ""
        return _Piece(never + pattern, int(slot["least"] or 1), int(slot["most"] or 1))


def _joined(sequence: _Sequence) -> str:
    """One regular expression of parts and blanks; an optional part includes the blank before it.

    At the beginning, before the first required part, it includes the blank after it.
    """
    said, begun, at = "", False, 0
    while at < len(sequence):
        piece, following = sequence[at], sequence[at + 1] if at + 1 < len(sequence) else None
        at += 1
        if isinstance(piece, str):
            if begun and isinstance(following, _Piece) and following.moves:
                said += following.repeated(before=_BLANK)
                at += 1
            else:
                said += _BLANK
        elif piece.moves and not begun and following == _BLANK:
            said += piece.repeated(after=_BLANK)
            begun = piece.least > 0
            at += 1
        else:
            said += piece.repeated()
            begun = begun or (piece.least > 0 and piece.pattern != "^")
    return said


def _unlike(words: str) -> str:
    return f"(?!{'|'.join(map(re.escape, words.split('|')))})"


def _group(pattern: str) -> str:
    single = re.fullmatch(r"\\?.|\[[^\]]*\]", pattern) is not None
    return pattern if single or (pattern.startswith("(?:") and _closes_last(pattern)) else f"(?:{pattern})"


def _closes_last(pattern: str) -> bool:
    """Whether the first bracket of a pattern is closed by its last character."""
    depth = 0
    for at, char in enumerate(pattern):
        depth += (char == "(") - (char == ")") if pattern[at - 1 : at] != "\\" else 0
        if not depth:
            return at == len(pattern) - 1
    return False
