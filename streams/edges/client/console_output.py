"""How the command writes for people: at most 120 columns, colours only on a terminal that wants them."""

import shutil
import sys
from functools import cache

from rich.console import Console

WIDEST = 120


@cache
def console() -> Console:
    """stdout. Rich honours NO_COLOR, and writes no escape codes when this is no terminal."""
    return Console(width=width(), highlight=False, soft_wrap=False, emoji=False)


def width() -> int:
    """Columns to use: the terminal's, up to 120; all of these when piped."""
    if not sys.stdout.isatty():
        return WIDEST
    return min(shutil.get_terminal_size().columns, WIDEST)


def shortened(text: str, chars: int) -> str:
    """The beginning of a text in one line."""
    line = " ".join(text.split())
    return line if len(line) <= chars else line[: chars - 1].rstrip() + "…"


def clipped(text: str, chars: int) -> str:
    """The beginning of a text in one line, and how much is left out."""
    line = " ".join(text.split())
    return line if len(line) <= chars else f"{line[:chars]} … ({len(line) - chars:,} more characters; --json shows all)"
