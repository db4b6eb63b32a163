"""Break the product in one place after another, and see that a test that claims the broken statement notices.

python -m tests.proofs.marks                 every break of marks.toml; fails where a claiming test misses more than 3 %
python -m tests.proofs.marks S0-67 CF-53     those of some ids

Each break is one replaced text in a copy of the checkout. Only the tests that name one of its ids run.
"""

import sys
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.proofs.defects import Defect, broken, copied, failed
from tests.requirements.coverage import covered

TABLE = Path(__file__).with_name("marks.toml")
NOTICED = 0.97
# Tests that need no server and no process of their own.
TIERS = ("unit/", "contract/")


@dataclass(frozen=True, slots=True)
class Break:
    """A defect, and the ids of the statements that it breaks."""

    ids: tuple[str, ...]
    defect: Defect


def breaks() -> Iterator[Break]:
    """The breaks of the table, in its order."""
    for row in tomllib.loads(TABLE.read_text())["break"]:
        yield Break(tuple(row["ids"]), Defect(row["what"], row["file"], row["right"], row["wrong"]))


def claiming(ids: Sequence[str]) -> list[str]:
    """The tests that name one of the ids."""
    tests = _covered()
    return sorted({f"tests/{each}" for name in ids for each in tests.get(name, ()) if each.startswith(TIERS)})


# Reading every test file takes a second.
_covered = cache(covered)


def noticed(folder: Path, each: Break) -> str:
    """The first claiming test that fails in the broken copy; empty where none does."""
    command = [".venv/bin/python", "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *claiming(each.ids)]
    with broken(folder, each.defect):
        return next(iter(failed(command, folder)), "")


def main(ids: Sequence[str]) -> int:
    chosen = [each for each in breaks() if not ids or set(ids) & set(each.ids)]
    if not chosen:
        sys.stderr.write(f"no break of {', '.join(ids)} is in {TABLE.name}\n")
        return 2
    missed = 0
    with copied() as folder:
        for each in chosen:
            test = noticed(folder, each)
            missed += not test
            print(f"{'noticed' if test else 'MISSED '}  {', '.join(each.ids)}: {each.defect.what}  {test}", flush=True)
    share = 1 - missed / len(chosen)
    print(f"{len(chosen) - missed} of {len(chosen)} breaks are noticed by a test that claims the statement")
    return int(share < NOTICED)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
