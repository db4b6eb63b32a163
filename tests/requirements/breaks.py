"""Breaks of statements: one text of the product in place of another, and the ids whose tests must notice."""

import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.requirements.coverage import covered
from tests.rooms import is_left_out

TABLE = Path(__file__).with_name("breaks.toml")
# Tests that need no server and no process of their own.
TIERS = ("unit/", "contract/")
# Reading every test file takes a second.
_covered = cache(covered)


@dataclass(frozen=True, slots=True)
class Break:
    """What is broken, in which file, by which text in place of which, and the ids of the statements."""

    ids: tuple[str, ...]
    what: str
    file: str
    right: str
    wrong: str


def breaks() -> Iterator[Break]:
    """The breaks of the table, in its order, but for those of packages that this checkout is without."""
    for row in tomllib.loads(TABLE.read_text())["break"]:
        if not is_left_out(row["file"]):
            yield Break(tuple(row["ids"]), row["what"], row["file"], row["right"], row["wrong"])


def claiming(ids: Sequence[str]) -> list[str]:
    """The tests that name one of the ids."""
    tests = _covered()
    return sorted({f"tests/{each}" for name in ids for each in tests.get(name, ()) if each.startswith(TIERS)})
