"""Separation of a user's own words from quoted text, and detection of deceptive characters. Pure.

A value counts as named by the user only in the user's own words. Pasted or quoted text has another author: block
quotes, code, quotations, markup, tables, forwarded mail, transcripts, and everything after "Ana escreveu:". That author
may close a quotation early to escape from it; so an opening mark extends to the last closing one, and without one to
the end of the message.
"""

import re
import unicodedata
from collections.abc import Iterator

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


def strip_quoted(text: str) -> str:
    """The message without pasted or quoted text; a quotation of one word, as `rel_456`, counts as the user's own."""
    kept, at = list[str](), 0
    # All are searched in the whole text: a span removed first might contain the closing mark of another.
    for start, end in sorted((*_lines(text), *_to_the_end(text), *_between(text))):
        kept.append(text[at:start])
        at = max(at, end)
    return " ".join((*kept, text[at:]))


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
