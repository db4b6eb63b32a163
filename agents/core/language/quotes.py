"""Separation of a user's own words from quoted text, and detection of deceptive characters. Pure.

A value counts as named by the user only in the user's own words. Pasted or quoted text has another author: block
quotes, code, quotations, markup, tables, forwarded mail, transcripts, and everything after "Ana escreveu:". That author
may close a quotation early to escape from it; so an opening mark extends to the last closing one, and without one to
the end of the message.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import cache

from agents.core.language.lexicons import framed
from agents.core.language.sentences import flatten

Span = tuple[int, int]

_QUOTED_LINE = re.compile(r"\s*(?:>|＞|&gt;|\|)")
_WHO = r"usu[áa]rio|user|assistente|assistant|sistema|system|ferramenta|tool|admin\w{0,12}|human|bot"
_TO_THE_END = (
    re.compile(r"^[ \t]*(?:-{2,}|_{5,}|={5,})[^\n]{0,60}$", re.M),
    re.compile(
        r"^[^\n]*\b(?:escreveu|disse|respondeu|mandou|enviou|encaminhou|pediu|falou|wrote|writes|said|says|replied|sent|asked|"
        r"forwarded|diz|segue|recebi|received|got)\b[^\n:]{0,80}:",
        re.I | re.M,
    ),
    re.compile(rf"^[ \t]*(?:\[[^\]\n]{{1,40}}\][^\n:]{{0,60}}|{_WHO})[ \t]*:", re.I | re.M),
    re.compile(r":[ \t]*\n(?!\s*\S+\s*\Z)"),
    re.compile(r"<(?:blockquote|pre|code|div|table)\b", re.I),
)
_HEADER = re.compile(
    r"^[ \t*]*(?:de|from|para|to|assunto|subject|enviad[ao](?: em)?|sent|data|date|cc)[ \t*]*:", re.I | re.M
)
_FENCE = re.compile(r"```|~~~")
_MARKS = (re.compile(r"`"), re.compile(r"[\"“”«»]"))
_TAG = re.compile(r"</?[A-Za-z][\w-]{0,40}(?:\s[^<>\n]{0,200})?>")
_INVISIBLE = frozenset("\u115f\u1160\u3164\uffa0\u2800")
_LOOKALIKES = str.maketrans(
    "АВЕЅІЈКМНОРСТУХаеорсухіјѕԁԛԝһ" + "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧονι" + "ıɡ‐‑‒–−⁄∕․ˍ",
    "ABESIJKMHOPCTYXaeopcyxijsdqwh" + "ABEZHIKMNOPTYXovi" + "ig-----//._",
)

# Who says a line, and when: `[10:02] Rui:`, `Dona Marta (14h05):`.
_SPEAKER = re.compile(
    r"\s*(?P<at>(?:\d{1,4}[/.-]\d{1,2}[/.-]\d{1,4},?\s)?"
    r"(?:\[[^\]\n]{1,40}\]|\(?\d{1,2}[:h.]\d{2}(?::\d{2})?(?: ?[ap]m)?\)?)[\s,–—-]*)?"
    r"(?P<who>[A-ZÀ-Ý][\w.'-]{0,30}(?: [A-ZÀ-Ý][\w.'-]{0,30}){0,2})(?: ?\([^)\n]{1,30}\))?:\s"
)
_FIRST_PERSON = re.compile(
    r"\b(?:i|i'm|i've|i'll|i'd|my|mine|me|we|our|eu|meus?|minhas?|mim|comigo|nos|nossos?|nossas?|sou|estou|tenho|moro|vivo|"
    r"trabalho|gosto|adoro|odeio|detesto|prefiro|chamo-me|me chamo|nasci|posso|quero|preciso|vou|faco|uso|como|tomo)\b"
)
# What a sentence says before a colon, a quotation, a line break or its own end.
_HEAD = re.compile(r"(?P<head>[^:.!?\"“«]{3,120})(?P<mark>:|[\"“«]|[.!?]+[\"“«]?|$)")
# To do something with this, into another language, or with a text.
_HANDLES = (
    r"(?:^|[,;])\W*(?:<<politely>>\W+){0,3}(?:<<handling>>\b|(?!<<keep_heads>>\b)[^\W\d]{3,20}(?:-\w{2,4})? "
    r"(?:this|these|the following|isto|este|esta|estes|estas|o seguinte|a seguinte|os seguintes|as seguintes)"
    r"(?: (?:[^\W\d]+ ){0,2}<<texts>>\b|\W*$))"
)
_POINTED = (
    "(?:this|these|the following|isto|isso|este|esta|estes|estas|o seguinte|a seguinte|os seguintes|as seguintes)"
)
# An imperative with `this` for its object, or what somebody else said.
_ANNOUNCES = (
    rf"(?:^|[,;])\W*(?:<<politely>>\W+){{0,3}}(?!<<own_heads>>\b)[^\W\d]{{3,20}}(?:-\w{{2,4}})? {_POINTED}\b"
    r"|^(?!.*\b(?:i|we|eu|nos)\b).*\b<<reports>>\b[^,;]{0,30}$"
    r"|\b(?:this|these|the|following|a|an|este|esta|estes|estas|o|os|as|um|uma|seguintes?) (?:[^\W\d]+ )?<<texts>>"
    r"(?: (?:from|by|of|de|do|da|dos|das) .{1,40})? ?$"
)
_KEEPS = r"\W*(?:<<politely>>\W+){0,2}<<keep_heads>>\b"
# A shorter rest is no text: `translate this: pier`.
LEAST_WORDS = 3


def strip_quoted(text: str) -> str:
    """The message without pasted or quoted text; a quotation of one word, as `rel_456`, counts as the user's own."""
    kept, at = list[str](), 0
    # All are searched in the whole text: a span removed first might contain the closing mark of another.
    for start, end in sorted((*_lines(text), *_to_the_end(text), *_between(text))):
        kept.append(text[at:start])
        at = max(at, end)
    return " ".join((*kept, text[at:]))


def own_words(text: str) -> str:
    """The message without what somebody else says in it: what is handed over to be worked on, talks, quoted lines.

    Told by its form, in doubt somebody else's: what is not believed is still found. `text` is composed (NFC).
    """
    start, kept = _handed_over(text), list[str]()
    for line in (text if start is None else text[:start]).split("```")[::2]:
        kept += (each for each in line.split("\n") if not _of_another(each))
    return "\n".join(kept)


def _of_another(line: str) -> bool:
    """Whether a line is quoted, or begins with who says it."""
    if line.lstrip().startswith(">"):
        return True
    named = _SPEAKER.match(line)
    if named is None:
        return False
    said = line[named.end() :]
    if named["at"]:
        return True
    mine = _own_label().fullmatch(flatten(named["who"])) is None
    return mine and _FIRST_PERSON.search(flatten(said)) is not None


def _handed_over(text: str) -> int | None:
    """Where a text begins that the message only hands over; None where it has none."""
    flat, at = flatten(text), 0
    headers = list(_HEADER.finditer(text))
    if len(headers) > 1:
        return headers[0].start()
    for line in flat.split("\n"):
        for found in _HEAD.finditer(line):
            end = at + found.end()
            if len(flat[end:].split()) >= LEAST_WORDS and _hands_over(found["head"], colon=found["mark"] == ":"):
                return end
        at += len(line) + 1
    return None


def _hands_over(head: str, *, colon: bool) -> bool:
    """Whether a flat head announces a text of somebody else."""
    handles, names, announces, keeps, owns = _announcing()
    if keeps.match(head):
        return False
    if colon and announces.search(head):
        return True
    return not owns.match(head) and (handles.search(head) is not None or (colon and names.search(head) is not None))


@cache
def _announcing() -> tuple[re.Pattern[str], ...]:
    frames = (_HANDLES, r"\b<<texts>>\b", _ANNOUNCES, _KEEPS, r"\W*<<own_heads>>\b")
    return tuple(framed("claims", frame) for frame in frames)


@cache
def _own_label() -> re.Pattern[str]:
    return framed("claims", r"<<own_labels>>|<<keep_heads>>")


def _lines(text: str) -> Iterator[Span]:
    quoting, at = False, 0
    for line in text.split("\n"):
        # A line after a quoted one belongs to the quotation, until a blank one (as in Markdown).
        quoting = bool(_QUOTED_LINE.match(line)) or (quoting and bool(line.strip()))
        if quoting:
            yield at, at + len(line)
        at += len(line) + 1


def _to_the_end(text: str) -> Iterator[Span]:
    opens = [found for each in _TO_THE_END if (found := each.search(text)) is not None]
    headers = list(_HEADER.finditer(text))
    yield from ((each.start(), len(text)) for each in (*opens, *(headers[:1] if len(headers) > 1 else ())))


def _between(text: str) -> Iterator[Span]:
    fences, tags = list(_FENCE.finditer(text)), list(_TAG.finditer(text))
    if fences:
        yield fences[0].start(), fences[-1].end() if len(fences) > 1 else len(text)
    if tags:
        yield tags[0].start(), tags[-1].end()
    for mark in _MARKS:
        marks = list(mark.finditer(text))
        if len(marks) > 2 or (len(marks) == 2 and len(text[marks[0].end() : marks[1].start()].split()) != 1):
            yield marks[0].start(), marks[-1].end()


def fold_confusables(text: str) -> str:
    """The text as it looks: without invisible characters, and with lookalikes replaced by the usual characters."""
    plain = unicodedata.normalize("NFKC", text).translate(_LOOKALIKES)
    return "".join(each for each in plain if not _hidden(each))


def escape_invisible(text: str) -> str:
    """The text with invisible and deceptive characters replaced by their codes: `rel_\\u0430`."""
    composed = unicodedata.normalize("NFC", text)
    return "".join(f"\\u{ord(each):04x}" if _deceives(each) else each for each in composed)


def _deceives(each: str) -> bool:
    if each.isascii():
        return not each.isprintable()
    seen = fold_confusables(each)
    return not seen.strip() or (each not in "ºª–" and seen != each and seen.isascii())


def _hidden(each: str) -> bool:
    kind = unicodedata.category(each)
    return each in _INVISIBLE or kind in ("Cf", "Mn", "Me") or (kind == "Cc" and not each.isspace())
