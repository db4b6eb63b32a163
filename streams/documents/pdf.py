"""The text of a PDF as Markdown: larger letters are headings, gaps are paragraphs, a form feed ends a page."""

import io
import logging
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import hypot
from statistics import median

import pypdf
from pypdf.errors import FileNotDecryptedError, LimitReachedError, PyPdfError

from agents.errors import Rejected
from streams.documents.pdf_layout import Line, begins_cell, end_of, in_reading_order

MAX_PAGES = 3_000
MAX_CHARS = 2_000_000
LARGER, LEVELS, MAX_HEADING_CHARS = 1.15, 3, 120
GAP = 1.45  # lines further apart than this many usual distances are two paragraphs
EDGE_LINES, REPEATED_SHARE, REPEATED_PAGES = 2, 0.6, 3

_ITEM = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.)]|[a-z]\))\s+\S")
_PAGE_NUMBER = re.compile(
    r"(?:p[áa]g(?:ina|\.)?|page)?\s*(?:[-–]\s*)?\d{1,4}\s*(?:(?:de|of|/)\s*\d{1,4}\s*)?[-–]?", re.IGNORECASE
)
_HYPHENATED = re.compile(r"(?<=[^\W\d_])-\n(?=[a-zà-ÿ])")
_SENTENCE_END = re.compile(r"[.!?…][\"”')]?(?:\s|$)")
MAX_MOVED_CHARS = 600


def text_of(data: bytes) -> str:
    """The text of a PDF, each page ended by a form feed; raises `Rejected`."""
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    try:
        return _text(data)
    except FileNotDecryptedError:
        raise _encrypted() from None
    except LimitReachedError as error:
        raise Rejected(
            "document_bomb", f"the PDF unpacks to more than is read ({error}); print it to a new PDF and send that"
        ) from None
    except (PyPdfError, ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError) as error:
        # The parser meets broken files with all of these.
        raise Rejected(
            "document_unreadable",
            f"the PDF cannot be read ({type(error).__name__}: {error!s:.160}); open it and save it again, or send text",
        ) from None


def _encrypted() -> Rejected:
    return Rejected("document_encrypted", "the PDF needs a password; save it without one and send that")


def _text(data: bytes) -> str:
    reader = pypdf.PdfReader(io.BytesIO(data))
    # An empty password is common: it only forbids printing.
    if reader.is_encrypted and not _opens(reader):
        raise _encrypted()
    count = len(reader.pages)
    if count > MAX_PAGES:
        raise Rejected("document_too_many_pages", f"the PDF has {count} pages, {MAX_PAGES} are read; split it")
    pages: list[list[Line]] = []
    size = 0
    for page in reader.pages:
        pages.append(_lines(page))
        size += sum(len(line.text) for line in pages[-1])
        if size > MAX_CHARS:
            raise Rejected("document_too_large", f"the PDF has more than {MAX_CHARS} characters; split it")
    if not any(any(map(str.isalnum, line.text)) for page_lines in pages for line in page_lines):
        raise Rejected(
            "document_empty",
            f"the PDF has {count} pages and no text: it may be scanned; run it through text recognition first",
        )
    return _joined(_as_markdown(_without_edges(pages)))


def _opens(reader: pypdf.PdfReader) -> bool:
    try:
        return bool(reader.decrypt(""))
    except (PyPdfError, NotImplementedError):
        return False


def _lines(page: pypdf.PageObject) -> list[Line]:
    """The lines of a page in reading order, each with its font size and its place on the page."""
    found: list[Line] = []
    parts: list[str] = []
    place = [0.0, 0.0, 0.0]
    ends = [0.0, 0.0]

    def end() -> None:
        text = " ".join("".join(parts).split())
        if text:
            found.append(Line(text, round(place[0], 1), place[1], place[2]))
        parts.clear()

    def visit(text: str, _cm: object, tm: Sequence[float], _font: object, font_size: float) -> None:
        for number, piece in enumerate(text.split("\n")):
            if number:
                end()
            size, x, y = float(font_size or 0) * (hypot(tm[2], tm[3]) or 1.0), float(tm[4]), float(tm[5])
            if piece.strip():
                if not number and begins_cell(size, (ends[0], ends[1]), (x, y)):
                    end()
                if not "".join(parts).strip():
                    place[:] = [size, y, x]
                ends[:] = [end_of(piece, size, x), y]
            parts.append(piece)

    page.extract_text(visitor_text=visit)
    end()
    return in_reading_order(found)


def _without_edges(pages: Sequence[Sequence[Line]]) -> list[list[Line]]:
    """The pages without running headers, footers and page numbers."""
    edges = Counter(key for lines in pages for key in {_shape(line) for line in _edge(lines)})
    wanted = max(len(pages) * REPEATED_SHARE, REPEATED_PAGES)
    repeated = {key for key, count in edges.items() if count >= wanted}
    out = []
    for lines in pages:
        dropped = {id(line) for line in _edge(lines) if _shape(line) in repeated or _PAGE_NUMBER.fullmatch(line.text)}
        out.append([line for line in lines if id(line) not in dropped])
    return out


def _edge(lines: Sequence[Line]) -> Iterable[Line]:
    count = min(EDGE_LINES, len(lines) // 3)
    return [*lines[:count], *lines[len(lines) - count :]]


def _shape(line: Line) -> str:
    return re.sub(r"\d+", "#", line.text)


def _as_markdown(pages: Sequence[Sequence[Line]]) -> list[str]:
    letters: Counter[float] = Counter()
    for line in (line for lines in pages for line in lines):
        letters[line.size] += len(line.text)
    body = letters.most_common(1)[0][0] if letters else 0.0
    larger = sorted((size for size in letters if size >= body * LARGER), reverse=True)
    levels = {size: min(number, LEVELS) for number, size in enumerate(larger, 1)}
    return [_page(lines, levels) for lines in pages]


def _page(lines: Sequence[Line], levels: dict[float, int]) -> str:
    gaps = [before.y - line.y for before, line in pairwise(lines) if 0 < before.y - line.y < 80]
    usual = median(gaps) if gaps else 0.0
    out: list[str] = []
    for number, line in enumerate(lines):
        before = lines[number - 1] if number else None
        level = levels.get(line.size) if len(line.text) <= MAX_HEADING_CHARS else None
        apart = before is not None and (
            before.size != line.size or (usual and abs(before.y - line.y) > usual * GAP) or before.y < line.y
        )
        if level is not None and before is not None and before.size == line.size and out and not apart:
            out[-1] += f" {line.text}"
        elif level is not None:
            out += ["", f"{'#' * level} {line.text}"]
        else:
            out += [""] * bool(apart and not (_ITEM.match(line.text) and out and _ITEM.match(out[-1]))) + [line.text]
            # A line after a heading of several lines is no part of it.
    return _HYPHENATED.sub("", "\n".join(out).strip("\n"))


def _joined(pages: Sequence[str]) -> str:
    """Each page ended by a form feed; a sentence across a page break belongs to the page it starts on."""
    out: list[str] = []
    for page in pages:
        rest = page
        if out and rest[:1].islower() and out[-1] and not _SENTENCE_END.search(out[-1][-2:] + " "):
            found = _SENTENCE_END.search(rest[:MAX_MOVED_CHARS])
            moved = rest[: found.end()] if found else ""
            if moved:
                hyphen = out[-1].endswith("-")
                out[-1] = out[-1][:-1] + moved.rstrip() if hyphen else f"{out[-1]} {moved.rstrip()}"
                rest = rest[len(moved) :].lstrip(" ")
        out.append(rest)
    return "".join(f"{page}\f" for page in out)
