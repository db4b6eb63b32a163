"""The reading order of a page's lines by their places: columns one after the other, tables row by row.

Where a page has neither, its lines stay in the order in which they were drawn, which is mostly that of reading.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import mean, median

# A piece of text is this far behind the end of the one before, in heights of its letters: it begins another cell.
CELL_GAP, LETTER_WIDTH = 1.5, 0.5
MIN_ROWS, MIN_COLUMNS = 3, 2
# Lines of running text go on in the next; the cells of a table are short, or sentences of their own.
CELL_WORDS, RUNNING_ON = 2.5, 0.3
SAME_ROW, SAME_COLUMN, NEAR_ROW = 0.4, 1.0, 2.2


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a page, or a cell of one: its text, the size of its letters, and where it begins."""

    text: str
    size: float
    y: float
    x: float = 0.0


def begins_cell(size: float, end: tuple[float, float], place: tuple[float, float]) -> bool:
    """Whether text at a place is in the same row as what ends at `end`, and so far behind that it is another cell."""
    return abs(end[1] - place[1]) <= SAME_ROW * size and place[0] - end[0] >= CELL_GAP * size


def end_of(text: str, size: float, x: float) -> float:
    """About where a text ends."""
    return x + len(text) * size * LETTER_WIDTH


def in_reading_order(lines: Sequence[Line]) -> list[Line]:
    """The lines of a page in the order in which they are read; cells of one row that are no columns as one line."""
    block = _columned(lines)
    if not block:
        return _rows_joined(lines)
    columns = _columns(block)
    inside = {id(line) for row in block for line in row}
    top = block[0][0].y
    others = [line for line in lines if id(line) not in inside]
    above = [line for line in others if line.y > top]
    below = [line for line in others if line.y <= top]
    found = [line for column in columns for line in column] if _is_text(columns) else [_joined(row) for row in block]
    return [*_rows_joined(above), *found, *_rows_joined(below)]


def _columned(lines: Sequence[Line]) -> list[list[Line]]:
    """The rows of the page's block of columns, from its top; none where it has no such block."""
    by_height = sorted((line for line in lines if line.text), key=lambda line: -line.y)
    rows: list[list[Line]] = []
    for line in by_height:
        if rows and abs(rows[-1][0].y - line.y) <= SAME_ROW * line.size:
            rows[-1].append(line)
        else:
            rows.append([line])
    wide = [number for number, row in enumerate(rows) if len(row) >= MIN_COLUMNS]
    if len(wide) < MIN_ROWS:
        return []
    starts = _starts([line for number in wide for line in rows[number]])
    if len(starts) < MIN_COLUMNS:
        return []
    usual = median([rows[one][0].y - rows[other][0].y for one, other in pairwise(wide)])
    block = [rows[number] for number in range(wide[0], wide[-1] + 1)]
    if any(_column_of(line, starts) is None for row in block for line in row):
        return []
    for row in rows[wide[-1] + 1 :]:
        # Columns may end one after the other.
        near = block[-1][0].y - row[0].y <= NEAR_ROW * usual and row[0].size == block[-1][0].size
        if not near or len(row) > 1 or _column_of(row[0], starts) is None:
            break
        block.append(row)
    return [sorted(row, key=lambda line: line.x) for row in block]


def _starts(lines: Sequence[Line]) -> list[float]:
    """Where columns begin: the places at which at least `MIN_ROWS` lines do."""
    found: list[list[Line]] = []
    for line in sorted(lines, key=lambda line: line.x):
        if found and line.x - found[-1][0].x <= SAME_COLUMN * line.size:
            found[-1].append(line)
        else:
            found.append([line])
    return [each[0].x for each in found if len(each) >= MIN_ROWS]


def _column_of(line: Line, starts: Sequence[float]) -> int | None:
    near = (number for number, start in enumerate(starts) if abs(line.x - start) <= SAME_COLUMN * line.size)
    return next(near, None)


def _columns(block: Sequence[Sequence[Line]]) -> list[list[Line]]:
    starts = _starts([line for row in block for line in row])
    return [
        [line for row in block for line in row if _column_of(line, starts) == number] for number in range(len(starts))
    ]


def _is_text(columns: Sequence[Sequence[Line]]) -> bool:
    """Whether columns are of running text, and no table."""
    return all(
        mean(len(line.text.split()) for line in column) >= CELL_WORDS
        and mean(line.text[:1].islower() for line in column) >= RUNNING_ON
        for column in columns
    )


def _rows_joined(lines: Sequence[Line]) -> list[Line]:
    """The lines, in their order, cells of one row that follow each other as one."""
    rows: list[list[Line]] = []
    for line in lines:
        if rows and abs(rows[-1][-1].y - line.y) <= SAME_ROW * line.size and rows[-1][-1].x < line.x:
            rows[-1].append(line)
        else:
            rows.append([line])
    return [_joined(row) for row in rows]


def _joined(row: Sequence[Line]) -> Line:
    return replace(row[0], text=" ".join(line.text for line in row))
