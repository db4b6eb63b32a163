"""Cells that span several rows or columns: their value in each of the places that they cover."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

# A page may ask for more than a table has: what is beyond is one place.
MAX_SPAN, MAX_CELLS = 60, 20_000


class SpanningCell(NamedTuple):
    """A cell's text, and over how many columns and rows it goes."""

    text: str
    columns: int = 1
    rows: int = 1


def span_of(written: object) -> int:
    """The number of a `rowspan` or `colspan` attribute; 1 for what is none."""
    digits = str(written or "").strip()
    return min(max(int(digits), 1), MAX_SPAN) if digits.isascii() and digits.isdigit() and len(digits) < 6 else 1


def rows_of(table: Iterable[Iterable[SpanningCell]]) -> Iterator[list[str]]:
    """The rows of a table with a value in every place; what follows a spanning cell stays in its own column."""
    above: dict[int, tuple[str, int]] = {}
    left = MAX_CELLS
    for cells in table:
        row: list[str] = []
        below = {at: (text, rows - 1) for at, (text, rows) in above.items() if rows > 1 and left > 0}
        for cell in cells:
            row += _covered(above, len(row))
            wide = cell.columns if len(row) < left else 1
            if cell.rows > 1 and left > 0:
                below |= dict.fromkeys(range(len(row), len(row) + wide), (cell.text, cell.rows - 1))
            row += [cell.text] * wide
        row += _covered(above, len(row))
        above = below
        left -= len(row)
        if row:
            yield row


def _covered(above: Mapping[int, tuple[str, int]], at: int) -> Iterator[str]:
    """The values that cells above put into the places from one on."""
    while at in above:
        yield above[at][0]
        at += 1


def as_markdown(rows: Iterable[list[str]]) -> Iterator[str]:
    """The lines of a table in Markdown, the first row as its head; rows without text are left out."""
    headed = False
    for row in rows:
        if any(row):
            yield f"| {' | '.join(cell.replace('|', '/') for cell in row)} |"
            if not headed:
                yield "|" + "---|" * len(row)
            headed = True
