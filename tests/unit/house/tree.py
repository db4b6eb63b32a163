"""The sources of this checkout, read and parsed once for all tests that look at them."""

import ast
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from tests.checkout import ROOT

PRODUCT = ("schemas", "agents", "streams")


@cache
def sources(*folders: str) -> tuple[Path, ...]:
    """The Python files of folders; of the product where none is named."""
    return tuple(path for folder in folders or PRODUCT for path in sorted((ROOT / folder).rglob("*.py")))


@cache
def text(path: Path) -> str:
    return path.read_text()


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(text(path))


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """All nodes of a file, as `ast.walk` gives them."""
    return tuple(ast.walk(parsed(path)))


def naming(words: Iterable[str], *folders: str) -> list[Path]:
    """The files that have one of the words anywhere: no other holds a node of such a name."""
    looked_for = tuple(words)
    return [path for path in sources(*folders) if any(word in text(path) for word in looked_for)]
