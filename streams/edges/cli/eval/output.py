"""Output of `fathom eval`: figures as text, as JSON, or as a page with plots."""

from pathlib import Path
from typing import Annotated, Protocol

import orjson
import typer

from schemas.base import JsonObject
from streams.edges.client.errors import CommandFailed

Html = Annotated[Path | None, typer.Option("--html", metavar="FILE", help="Write one page with plots.")]


class FigurePages(Protocol):
    """A module that formats figures."""

    def page(self, made: JsonObject, /) -> str: ...

    def text(self, made: JsonObject, /) -> str: ...


def show(figures: JsonObject, pages: FigurePages, html: Path | None, *, as_json: bool) -> None:
    """Print the figures, and write their page to `html` if given; raises `CommandFailed`."""
    if html is not None:
        write(html, pages.page(figures))
    text = orjson.dumps(figures, option=orjson.OPT_INDENT_2).decode() if as_json else pages.text(figures)
    print(text.rstrip())


def write(path: Path, text: str) -> None:
    """Write a file; raises `CommandFailed`."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise CommandFailed(f"{path} cannot be written: {error.strerror}") from None
