"""Console output of the command: at most 120 columns, colours only on a terminal that supports them."""

import shutil
import sys
from functools import cache

from rich.console import Console

WIDEST = 120


@cache
def console() -> Console:
    """stdout; no escape codes when it is not a terminal, no styles with NO_COLOR, of which Rich would keep bold."""
    out = Console(width=width(), highlight=False, soft_wrap=False, emoji=False)
    if out.no_color:
        return Console(width=width(), highlight=False, soft_wrap=False, emoji=False, color_system=None)
    return out


def width() -> int:
    """The output width: the terminal's, up to 120; 120 when piped."""
    if not sys.stdout.isatty():
        return WIDEST
    return min(shutil.get_terminal_size().columns, WIDEST)


def shortened(text: str, chars: int) -> str:
    """The beginning of a text in one line."""
    line = " ".join(text.split())
    return line if len(line) <= chars else line[: chars - 1].rstrip() + "…"


def clipped(text: str, chars: int) -> str:
    """The beginning of a text in one line, and the number of omitted characters."""
    line = " ".join(text.split())
    return line if len(line) <= chars else f"{line[:chars]} … ({len(line) - chars:,} more characters; --json shows all)"


def printable(text: str) -> str:
    """A text with what a terminal would obey written out."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)
