"""Word data in text files: words, rows and phrases of both languages, read at first use and kept.

`docs/lexicons.md` documents the file format; `lexicons/sections.txt` lists all sections.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from agents.core.language.phrase_patterns import PhraseError, compiled

# `both` is for entries of no language or of both.
FILES = ("pt", "en", "both")
KINDS = ("words", "rows", "phrases", "patterns")
_HEADER = re.compile(r"\[(?P<name>[^\]:]+)(?::(?P<part>[^\]]+))?\]")
_GLUED = re.compile(r"[^\s(|]\(|\)[^\s)|]")


class LexiconError(ValueError):
    """An invalid lexicon file: the place, the fault, and the remedy."""


@dataclass(frozen=True, slots=True)
class LexiconEntry:
    """One entry of a section, and its place in the file."""

    text: str
    lang: str
    part: str
    place: str


class Lexicon:
    """The sections of one kind of word data, all languages together."""

    def __init__(self, name: str, sections: Mapping[str, Sequence[LexiconEntry]]) -> None:
        self.name = name
        self.sections = sections
        self._patterns: dict[tuple[str, str | None], str] = {}
        self._named_now: list[str] = []

    def entries(self, section: str, lang: str | None = None) -> Iterator[LexiconEntry]:
        """The entries of a section, of one language or of all."""
        return (entry for entry in self.sections[section] if lang is None or entry.lang == lang)

    def lines(self, section: str) -> tuple[str, ...]:
        """The phrases of a section, verbatim."""
        return tuple(entry.text for entry in self.entries(section))

    def words(self, section: str, lang: str | None = None) -> frozenset[str]:
        """The words of a section, of one language or of all."""
        return frozenset(word for entry in self.entries(section, lang) for word in entry.text.split())

    def rows(self, section: str, lang: str | None = None) -> dict[str, str]:
        """The rows of a section: left of the equals sign, and right of it."""
        pairs = (entry.text.partition("=") for entry in self.entries(section, lang))
        return {left.strip(): right.strip() for left, _, right in pairs}

    def parts(self, section: str) -> dict[str, frozenset[str]]:
        """The words of each part of a section, of all languages."""
        parts: dict[str, frozenset[str]] = {}
        for entry in self.entries(section):
            parts[entry.part] = parts.get(entry.part, frozenset()) | frozenset(entry.text.split())
        return parts

    def pattern(self, section: str, lang: str | None = None) -> str:
        """The phrases of a section as one regular expression: alternatives, the first match wins."""
        if (section, lang) not in self._patterns:
            self._patterns[section, lang] = "|".join(self._compiled(entry) for entry in self.entries(section, lang))
        return self._patterns[section, lang]

    def patterns(self, section: str) -> tuple[str, ...]:
        """A regular expression for each part of a section, all languages together."""
        return tuple(self.pattern_of_parts(section).values())

    def pattern_of_parts(self, section: str) -> dict[str, str]:
        """The regular expression of each part of a section, by its name."""
        parts: dict[str, list[str]] = {}
        for entry in self.entries(section):
            parts.setdefault(entry.part, []).append(self._compiled(entry))
        return {part: "|".join(patterns) for part, patterns in parts.items()}

    def _compiled(self, entry: LexiconEntry) -> str:
        try:
            return compiled(entry.text, self._named)
        except PhraseError as error:
            raise LexiconError(f"{entry.place}: {error}") from None

    def _named(self, name: str) -> str | None:
        """The pattern of `<name>`: any phrase of the section of that name."""
        if name not in self.sections:
            return None
        if name in self._named_now:
            raise PhraseError(f"<{name}> stands for itself; write what it stands for")
        self._named_now.append(name)
        try:
            return self.pattern(name)
        finally:
            self._named_now.pop()


@cache
def lexicon(name: str) -> Lexicon:
    """A lexicon by name, from its files `NAME.pt.txt`, `NAME.en.txt` and `NAME.both.txt`, at least one of them.

    Raises `LexiconError` for an invalid file.
    """
    return parse(name, _shipped(name), kinds_of(name), _added)


def _shipped(name: str) -> dict[str, str]:
    folder = files("agents.core.language").joinpath("lexicons")
    texts = {lang: folder.joinpath(f"{name}.{lang}.txt") for lang in FILES}
    return {lang: file.read_text(encoding="utf-8") for lang, file in texts.items() if file.is_file()}


# An operator's texts by file name, the same in the whole process.
_added: dict[str, str] = {}


def extend(texts: Mapping[str, str]) -> None:
    """Add the phrases of these files, by name, to the shipped ones, before the first of them is read.

    Raises `LexiconError` for an unknown or invalid file, or when it is too late.
    """
    if texts == _added:
        return
    if _added or lexicon.cache_info().currsize:
        raise LexiconError("the word lists are read already: they are the same as long as a process runs")
    for file in texts:
        name, _, rest = file.partition(".")
        if name not in _kinds() or rest not in {f"{lang}.txt" for lang in FILES}:
            known = ", ".join(f"{each}.pt.txt" for each in sorted(_kinds()))
            raise LexiconError(f"{file}: there is no such word list; write one of {known}, or .en.txt, .both.txt")
        parse(name, _shipped(name), kinds_of(name), texts)
    _added.update(texts)


@cache
def _kinds() -> Mapping[str, Mapping[str, str]]:
    """The kind of every section, by lexicon."""
    text = files("agents.core.language").joinpath("lexicons/sections.txt").read_text(encoding="utf-8")
    kinds: dict[str, dict[str, str]] = {}
    for section, _, entry, place in _entries("sections.txt", text):
        name, _, kind = (part.strip() for part in entry.partition("="))
        if kind not in KINDS:
            raise LexiconError(f"{place}: {kind!r} is no kind of section; write one of {', '.join(KINDS)}")
        kinds.setdefault(section, {})[name] = kind
    return kinds


@cache
def framed(name: str, frame: str) -> re.Pattern[str]:
    """A regular expression in which `<<section>>` is any phrase of a section; in `<<~section>>` blanks have any width.

    `<<section.pt>>` is any phrase in one language.
    """

    def filled(slot: re.Match[str]) -> str:
        section, _, lang = slot["section"].partition(".")
        pattern = lexicon(name).pattern(section, lang or None)
        return f"(?:{pattern.replace(' ', chr(92) + 's+') if slot['wide'] else pattern})"

    return re.compile(re.sub(r"<<(?P<wide>~?)(?P<section>[\w.]+)>>", filled, frame))


def kinds_of(name: str) -> Mapping[str, str]:
    """The permitted sections of a lexicon, with the kind of each."""
    return _kinds()[name]


def parse(
    name: str, texts: Mapping[str, str], kinds: Mapping[str, str], added: Mapping[str, str] | None = None
) -> Lexicon:
    """A lexicon from the texts of its languages, and those `added` by file name; `kinds` are the permitted sections."""
    sections: dict[str, list[LexiconEntry]] = {section: [] for section in kinds}
    for lang in FILES:
        file = f"{name}.{lang}.txt"
        own, more = _entries(file, texts.get(lang, "")), _entries(f"added {file}", (added or {}).get(file, ""))
        seen: dict[tuple[str, str], str] = {}
        for section, part, entry, place in (*own, *more):
            if section not in kinds:
                raise LexiconError(f"{place}: there is no section [{section}]; write one of {', '.join(kinds)}")
            for what in _checked(entry, kinds[section], place):
                if (section, what) in seen:
                    raise LexiconError(f"{place}: {what!r} is at {seen[section, what]} already; leave one of them out")
                seen[section, what] = place.rpartition(".txt ")[2]
            sections[section].append(LexiconEntry(entry, lang, part, place))
    return Lexicon(name, sections)


def _checked(entry: str, kind: str, place: str) -> list[str]:
    """The keys of an entry, which no other entry may repeat."""
    if kind == "words":
        if wrong := re.search(r"[()|<>=]", entry):
            raise LexiconError(f"{place}: {wrong[0]!r} in a list of words; write words with blanks between them")
        words = entry.split()
        return words if len(set(words)) == len(words) else _repeated(words, place)
    if kind == "rows":
        left, sign, right = (part.strip() for part in entry.partition("="))
        if not (left and sign and right) or "=" in right:
            raise LexiconError(f"{place}: {entry!r} is no row; write `what is said = what it stands for`")
        return [left]
    _balanced(entry, place)
    if kind == "phrases" and (glued := _GLUED.search(entry)):
        raise LexiconError(f"{place}: {glued[0]!r} has no blank at the bracket; write one, or the words in full")
    return [entry]


def _repeated(words: Sequence[str], place: str) -> list[str]:
    twice = next(word for at, word in enumerate(words) if word in words[:at])
    raise LexiconError(f"{place}: {twice!r} stands there twice; leave one of them out")


def _balanced(entry: str, place: str) -> None:
    depth = 0
    for bracket in re.findall(r"[()]", entry):
        depth += 1 if bracket == "(" else -1
        if depth < 0:
            break
    if depth:
        why = "a bracket is not closed; write )" if depth > 0 else "a bracket is closed that was not opened; write ("
        raise LexiconError(f"{place}: {why}")


def _entries(file: str, text: str) -> Iterator[tuple[str, str, str, str]]:
    """Section, part, text and place of every entry; an indented line continues the one above."""
    section, part, held, place = "", "", "", ""
    for number, line in enumerate([*text.split("\n"), "[end]"], 1):
        said = line.partition("# ")[0].rstrip() if "#" in line else line.rstrip()
        if not said or said == "#":
            continue
        if said[0] == " ":
            if not held:
                raise LexiconError(f"{file} line {number}: nothing stands above to go on with; begin without blanks")
            # After a bracket or bar the next line is joined without a blank.
            held += said.strip() if held[-1] in "(|" else f" {said.strip()}"
            continue
        if held:
            yield section, part, held, place
        held, place = "", f"{file} line {number}"
        if said[0] != "[":
            if not section:
                raise LexiconError(f"{place}: {said!r} stands in no section; write [NAME] above it")
            held = said
            continue
        header = _HEADER.fullmatch(said)
        if header is None:
            raise LexiconError(f"{place}: {said!r} is no header; write [NAME] or [NAME: part]")
        section, part = header["name"].strip(), (header["part"] or "").strip()


Pieces = Sequence[re.Pattern[str]]


@cache
def pieces(name: str, *sections: str) -> Pieces:
    """The phrases of sections of a lexicon; each part is one kind of piece, which ends at a word boundary."""
    patterns = (pattern for section in sections for pattern in lexicon(name).patterns(section))
    return tuple(re.compile(rf"(?:{each})(?= |$)") for each in patterns)


def tiles(text: str, core: Pieces, around: Pieces = ()) -> bool:
    """Whether the text splits into pieces of `core` (at least one) and of `around`; linear in its length."""
    reached: dict[int, bool] = {0: False}
    for start in range(len(text)):
        if start not in reached:
            continue
        for some, says in ((core, True), (around, reached[start])):
            for piece in some:
                found = piece.match(text, start)
                if found is not None and found.end() > start:
                    following = found.end() + 1
                    reached[following] = reached.get(following, False) or says
    return reached.get(len(text) + 1, False)
