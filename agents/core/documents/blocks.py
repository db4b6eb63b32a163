"""The blocks of a document under headings: paragraphs, lists, code fences, tables, each verbatim."""

import re
from dataclasses import dataclass
from typing import Literal

from agents.core.documents.comments import FENCE

Kind = Literal["text", "list", "code", "table"]

_HEADING = re.compile(r" {0,3}(#{1,6})\s+(\S.*?)\s*#*\s*")
_UNDERLINE = re.compile(r" {0,3}(?:={2,}|-{2,})\s*")
_ROW = re.compile(r"\s*\|.*\|\s*")
ITEM = re.compile(r"^(\s*)(?:[-*+•]|\d{1,3}[.)]|[a-z]\))\s+(?=\S)")
# Plain-text headings, recognised by the steps that follow.
HOW_TO = re.compile(
    r"^(?:\d+(?:\.\d+)*[.)]?\s+)?(?:como\s|how\s+(?:to|do)\b|passo\s+a\s+passo|procedimentos?\b|procedures?\b|"
    r"step[- ]by[- ]step|"
    r"steps\s+(?:to|for)\b|passos\s+para\b|tutorial\b|guia\s+(?:de|para|passo)|instru[çc][õo]es\b|instructions\b)",
    re.IGNORECASE,
)
MAX_HEADING_CHARS = 120


@dataclass(frozen=True, slots=True)
class Block:
    path: tuple[str, ...]
    kind: Kind
    text: str
    page: int | None = None


def blocks(text: str) -> list[Block]:
    """The blocks of a text in order, each with the headings above it, and its page where form feeds separate pages."""
    lines, pages = _lines(text)
    found: list[Block] = []
    path: dict[int, str] = {}
    at = 0
    while at < len(lines):
        heading = _heading(lines, at)
        if heading is not None:
            level, title, taken = heading
            path = {depth: name for depth, name in path.items() if depth < level} | {level: title}
            at += taken
        elif lines[at]:
            kind, end = _extent(lines, at)
            found.append(Block(tuple(path.values()), kind, "\n".join(lines[at:end]), pages[at]))
            at = end
        else:
            at += 1
    return found


def _lines(text: str) -> tuple[list[str], list[int | None]]:
    """The lines, and the page of each; a page ends a paragraph."""
    lines: list[str] = []
    pages: list[int | None] = []
    paged = "\f" in text
    for number, page in enumerate(text.split("\f"), 1):
        own = [line.rstrip() for line in re.split(r"\r\n|\r|\n", page)]
        lines += [*own, ""] if paged else own
        pages += [number if paged else None] * (len(own) + paged)
    return lines, pages


def headings(text: str) -> list[str]:
    """The headings alone, for a document without other content."""
    lines, _ = _lines(text)
    return [found[1] for at in range(len(lines)) if (found := _heading(lines, at)) is not None]


def _heading(lines: list[str], at: int) -> tuple[int, str, int] | None:
    """Level, title and number of lines of the heading at a line."""
    line = lines[at]
    if found := _HEADING.fullmatch(line):
        return len(found[1]), _bare(found[2]), 1
    if not line or len(line) > MAX_HEADING_CHARS or ITEM.match(line) or _ROW.fullmatch(line):
        return None
    below = lines[at + 1] if at + 1 < len(lines) else ""
    alone = at == 0 or not lines[at - 1]
    if alone and _UNDERLINE.fullmatch(below) and not _UNDERLINE.fullmatch(line):
        return (1 if "=" in below else 2), _bare(line), 2
    if alone and _shouted(line) and (below == "" or not below.isupper()) and any(lines[at + 1 : at + 3]):
        return 3, _bare(line), 1
    # Plain text has no marks: a how-to line is a heading when its steps follow.
    if alone and HOW_TO.match(line) and not line.endswith((".", "?", "!")) and _steps_follow(lines, at + 1):
        return 6, _bare(line), 1
    return None


def _shouted(line: str) -> bool:
    """Whether a line of capitals is a heading: `DO DIREITO`, `CAPÍTULO II - DAS FÉRIAS`."""
    letters = sum(map(str.isalpha, line))
    return line.isupper() and letters >= 4 and len(line.split()) <= 12 and line[-1] not in ".,;:?!"


def _steps_follow(lines: list[str], at: int) -> bool:
    following = [line for line in lines[at : at + 4] if line]
    return any(ITEM.match(line) for line in following[:2])


def _bare(title: str) -> str:
    return title.strip().strip("*_#").rstrip(":").strip()


def _extent(lines: list[str], at: int) -> tuple[Kind, int]:
    """The kind of the block that begins at a line, and the index after its last line."""
    if fence := FENCE.match(lines[at]):
        closing = (n for n in range(at + 1, len(lines)) if lines[n].lstrip().startswith(fence[1]))
        return "code", min(next(closing, len(lines)) + 1, len(lines))
    if _ROW.fullmatch(lines[at]):
        return "table", next((n for n in range(at, len(lines)) if not _ROW.fullmatch(lines[n])), len(lines))
    if ITEM.match(lines[at]):
        return "list", _list_end(lines, at)
    end = at + 1
    while end < len(lines) and lines[end] and not _begins_another(lines, end):
        end += 1
    return "text", end


def _begins_another(lines: list[str], at: int) -> bool:
    line = lines[at]
    return bool(FENCE.match(line) or _ROW.fullmatch(line) or ITEM.match(line) or _heading(lines, at))


def _list_end(lines: list[str], at: int) -> int:
    """The end of a list; it continues over single blank lines followed by items or indented lines."""
    end = at + 1
    while end < len(lines):
        line = lines[end]
        if not line:
            following = lines[end + 1] if end + 1 < len(lines) else ""
            if not (ITEM.match(following) or following.startswith(("  ", "\t"))):
                break
        elif (
            not ITEM.match(line)
            and not line.startswith(("  ", "\t"))
            and (_begins_another(lines, end) or not lines[end - 1])
        ):
            break
        end += 1
    return end


def items(block: Block) -> list[str]:
    """The top-level items of a list with their nested content, without the indent of their bullets."""
    found: list[str] = []
    outer: int | None = None
    for line in block.text.split("\n"):
        match = ITEM.match(line)
        depth = len(match[1].expandtabs(4)) if match else -1
        if match and (outer is None or depth <= outer):
            outer = depth
            found.append(line.strip())
        elif found and line.strip():
            found[-1] += f"\n{line}"
    return found
