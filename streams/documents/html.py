"""The text of an HTML page as Markdown: headings, paragraphs, lists, tables, definitions; no navigation, no forms.

Linear in the page and bounded in depth. `markdownify` (1.2.3) is neither: 20,000 list items take it 23 s instead of
0.8 s, nested elements overflow its stack, and most of its conversions would have to be overridden to keep passage ids.
"""

import re
from collections.abc import Iterable, Iterator

from bs4 import BeautifulSoup, Tag
from bs4.dammit import EncodingDetector
from bs4.element import NavigableString, PreformattedString

from agents.core.documents.kinds import checked, decoded
from agents.core.documents.table_cells import SpanningCell, as_markdown, rows_of, span_of
from agents.core.language.sentences import word_set
from agents.errors import Rejected

MAX_DEPTH = 150
DROPPED = word_set(
    "script style noscript template nav footer aside form button select input textarea svg canvas iframe object embed "
    "head audio video map dialog"
)
BLOCKS = word_set(
    "p div section article main header blockquote figure figcaption address details summary center fieldset hgroup "
    "h1 h2 h3 h4 h5 h6 ul ol table pre dl hr body html"
)
HEADINGS = {f"h{level}": level for level in range(1, 7)}
_BLANKS = re.compile(r"[ \t\r\n\f\v]+")
_LINES = re.compile(r"\n{3,}")


def text_of(data: bytes) -> str:
    """The text of a page; raises `Rejected`."""
    soup = BeautifulSoup(_decoded(data), "html.parser")
    for hidden in (*soup.find_all(None, {"hidden": True}), *soup.find_all(None, {"aria-hidden": "true"})):
        hidden.extract()
    text = _LINES.sub("\n\n", "".join(_blocks(soup.body or soup, 0))).strip()
    if not any(map(str.isalnum, text)):
        raise Rejected("document_empty", "the page has no text without its scripts; send the text it shows")
    return text


def _decoded(data: bytes) -> str:
    """The page, decoded by its byte order mark, its declared encoding, or as UTF-8."""
    said = EncodingDetector.find_declared_encoding(data, is_html=True, search_entire_document=False)
    if said and not data.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
        try:
            return checked(data.decode(said))
        except (LookupError, UnicodeDecodeError):
            return decoded(data)
    return decoded(data)


def _blocks(node: Tag, depth: int) -> Iterator[str]:
    if depth > MAX_DEPTH:
        yield _inline(node.get_text(" "))
        return
    run: list[str] = []
    for child in node.children:
        block = isinstance(child, Tag) and _is_block(child)
        if not block:
            run.append(_said(child, depth))
            continue
        yield from _paragraph(run)
        run = []
        assert isinstance(child, Tag)
        yield from _block(child, depth + 1)
    yield from _paragraph(run)


def _is_block(tag: Tag) -> bool:
    return tag.name in BLOCKS


def _paragraph(run: Iterable[str]) -> Iterator[str]:
    lines = [_inline(line) for line in "".join(run).split("\v")]
    if text := "\n".join(line for line in lines if line):
        yield f"\n\n{text}\n\n"


def _block(tag: Tag, depth: int) -> Iterator[str]:
    if tag.name in HEADINGS:
        if text := _inline(_said(tag, depth, plain=True)):
            yield f"\n\n{'#' * HEADINGS[tag.name]} {text}\n\n"
    elif tag.name in ("ul", "ol"):
        yield "\n\n" + "\n".join(_items(tag, depth, 0)) + "\n\n"
    elif tag.name == "table":
        caption = _inline(each.get_text(" ")) if isinstance(each := tag.find("caption"), Tag) else ""
        yield f"\n\n{caption}\n\n" + "\n".join(as_markdown(rows_of(_rows(tag)))) + "\n\n"
    elif tag.name == "pre":
        yield f"\n\n```\n{tag.get_text().strip(chr(10))}\n```\n\n"
    elif tag.name == "dl":
        yield from _definitions(tag)
    elif tag.name != "hr":
        yield from _blocks(tag, depth)


def _items(tag: Tag, depth: int, indent: int) -> Iterator[str]:
    ordered = tag.name == "ol"
    for number, item in enumerate(tag.find_all("li", recursive=False), 1):
        nested = list(item.find_all(("ul", "ol"), recursive=False))
        own = _inline("".join(_said(child, depth) for child in item.children if child not in nested))
        yield f"{' ' * indent}{f'{number}.' if ordered else '-'} {own}"
        for each in nested:
            if depth < MAX_DEPTH:
                yield from _items(each, depth + 1, indent + 3)
            else:
                yield f"{' ' * indent}- {_inline(each.get_text(' '))}"


def _rows(table: Tag) -> Iterator[list[SpanningCell]]:
    for row in table.find_all("tr"):
        yield [
            SpanningCell(_inline(cell.get_text(" ")), span_of(cell.get("colspan")), span_of(cell.get("rowspan")))
            for cell in row.find_all(("th", "td"))
        ]


def _definitions(tag: Tag) -> Iterator[str]:
    term = ""
    for child in tag.find_all(("dt", "dd")):
        text = _inline(child.get_text(" "))
        if child.name == "dt":
            term = text
        elif text:
            yield f"\n\n**{term}**: {text}\n\n" if term else f"\n\n{text}\n\n"


def _said(node: object, depth: int, *, plain: bool = False) -> str:
    """The text of an inline node; a vertical tab stands for a line break."""
    if isinstance(node, NavigableString):
        return "" if isinstance(node, PreformattedString) else str(node)
    if not isinstance(node, Tag) or node.name in DROPPED:
        return ""
    if node.name == "br":
        return "\v"
    if depth > MAX_DEPTH:
        return node.get_text(" ")
    text = "".join(_said(child, depth + 1, plain=plain) for child in node.children)
    if node.name in ("strong", "b") and not plain and text.strip():
        return f"**{text.strip()}**{' ' if text[-1:].isspace() else ''}"
    return f" {text} " if _is_block(node) else text


def _inline(text: str) -> str:
    return _BLANKS.sub(" ", text).strip()
