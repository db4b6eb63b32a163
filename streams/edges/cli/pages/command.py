"""`fathom docs`: the pages of this version, listed or printed; installed packages bring them along."""

from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Annotated

import typer
from typing_extensions import TypedDict

from streams.edges.cli.arguments import Json
from streams.edges.client.errors import USAGE, CommandFailed, nearest
from streams.edges.client.standard_output import print_json

CHECKOUT = Path(__file__).resolve().parents[4] / "docs"
SUFFIX = ".md"
PageTitles = dict[str, str]


class PageText(TypedDict):
    """A page as Markdown."""

    page: str
    text: str


def docs(
    page: Annotated[str | None, typer.Argument(metavar="PAGE", help="Its name, as the list says it.")] = None,
    as_json: Json = False,
) -> None:
    """The pages of this version: listed, or one of them printed as Markdown."""
    found = pages()
    if page is None:
        rows = {name: _title(text) for name, text in found.items()}
        if as_json:
            print_json(rows)
            return
        width = max(map(len, rows))
        print("\n".join(f"{name:<{width}}  {title}" for name, title in rows.items()))
        return
    name = page.rpartition("/")[2].partition("#")[0].removesuffix(SUFFIX)
    if name not in found:
        raise CommandFailed(f"there is no page {name!r}{nearest(name, found)}; `fathom docs` lists them", USAGE)
    if as_json:
        print_json(PageText(page=name, text=found[name]))
    else:
        print(found[name].rstrip())


def pages() -> dict[str, str]:
    """The text of each page, by its name."""
    packaged: Traversable = files("streams").joinpath("pages_shipped")
    folder = packaged if packaged.is_dir() else CHECKOUT
    found = sorted((each for each in folder.iterdir() if each.name.endswith(SUFFIX)), key=lambda each: each.name)
    return {each.name.removesuffix(SUFFIX): each.read_text(encoding="utf-8") for each in found}


def _title(text: str) -> str:
    return text.partition("\n")[0].removeprefix("# ")
