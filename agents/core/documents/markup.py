"""HTML in Markdown, as its reader sees it: entities as characters, no tags, tables of rows. Code stays as it is."""

import re
from collections.abc import Iterator
from html import unescape

from agents.core.documents.comments import FENCE
from agents.core.documents.table_cells import SpanningCell, as_markdown, rows_of, span_of

_TAG_NAMES = (
    "a|abbr|article|aside|b|big|blockquote|center|cite|code|del|details|dfn|div|em|figcaption|figure|font|footer|header|i|img|"
    "ins|kbd|main|mark|nav|p|picture|q|s|samp|section|small|source|span|strike|strong|sub|summary|sup|tt|u|var|wbr|hr|"
    "h[1-6]|ul|ol|li|dl|dt|dd|caption|table|thead|tbody|tfoot|tr|th|td"
)
_TAG = re.compile(rf"</?(?:{_TAG_NAMES})(?:\s[^<>]{{0,400}})?/?>", re.I)
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});")
_BREAK = re.compile(r"<br\s{0,4}/?>", re.I)
_CODE = re.compile(r"(`{1,3}(?!`)[^`\n]{1,400}`{1,3})")
_TABLE = re.compile(r"<table\b", re.I)
_TABLE_END = re.compile(r"</table\s*>", re.I)
_CAPTION = re.compile(r"<caption\b[^<>]{0,400}>([^\0]{0,400}?)</caption", re.I)
_CELL = re.compile(r"<t[hd]\b([^<>]{0,400})>", re.I)
_ROW = re.compile(r"<tr\b[^<>]{0,400}>", re.I)
_SPAN = re.compile(r"\b(col|row)span\s{0,4}=\s{0,4}[\"']?(\d{1,5})", re.I)


def unescaped(text: str) -> str:
    """The text with entities as characters; one without its semicolon may be part of an address, and stays."""
    return _ENTITY.sub(lambda found: unescape(found.group()), text)


def without_markup(text: str) -> str:
    """A Markdown text with its HTML read; a text without any is given back as it is."""
    if "&" not in text and "<" not in text:
        return text
    return "".join(_outside_fences(text))


def _outside_fences(text: str) -> Iterator[str]:
    fence, prose = "", list[str]()
    for line in text.splitlines(keepends=True):
        opened = FENCE.match(line)
        if not fence and not opened:
            prose.append(line)
            continue
        yield _read("".join(prose))
        prose.clear()
        yield line
        fence = "" if fence and line.lstrip().startswith(fence) else fence or (opened[1] if opened else "")
    yield _read("".join(prose))


def _read(prose: str) -> str:
    """Prose with its tables as rows, and all else as characters."""
    out, at = list[str](), 0
    while found := _TABLE.search(prose, at):
        end = _TABLE_END.search(prose, found.end())
        if end is None:
            break
        out += [_plain(prose[at : found.start()]), "\n\n", _table(prose[found.end() : end.start()]), "\n\n"]
        at = end.end()
    return "".join((*out, _plain(prose[at:])))


def _plain(text: str) -> str:
    parts = _CODE.split(text)
    return "".join(
        part if number % 2 else unescaped(_TAG.sub("", _BREAK.sub("\n", part))) for number, part in enumerate(parts)
    )


def _table(inside: str) -> str:
    caption = _CAPTION.search(inside)
    head = f"{_cell(caption[1])}\n\n" if caption else ""
    rows = rows_of(_cells(row) for row in _ROW.split(inside)[1:])
    return head + "\n".join(as_markdown(rows))


def _cells(row: str) -> Iterator[SpanningCell]:
    _, *found = _CELL.split(row)
    for said, text in zip(found[::2], found[1::2], strict=True):
        spans = {name.lower(): span_of(number) for name, number in _SPAN.findall(said)}
        yield SpanningCell(_cell(text), spans.get("col", 1), spans.get("row", 1))


def _cell(text: str) -> str:
    return " ".join(unescaped(_TAG.sub(" ", _BREAK.sub(" ", text))).split())
