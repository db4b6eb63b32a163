"""Break the product in one place after another, and see that a test that claims the broken statement notices.

python -m tests.proofs.marks                 every break; fails where the claiming tests miss more than 3 %
python -m tests.proofs.marks S0-67 CF-53     those of some ids

Each break is one replaced text in a copy of the checkout. Only the tests that name one of its ids run.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from tests import counters
from tests.proofs.defects import Defect, broken, copied, failed
from tests.requirements.breaks import TABLE, Break, breaks, claiming

NOTICED = 0.97


def noticed(folder: Path, each: Break) -> str:
    """The first claiming test that fails in the broken copy; empty where none does."""
    command = [".venv/bin/python", "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *claiming(each.ids)]
    with broken(folder, Defect(each.what, each.file, each.right, each.wrong)):
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
            print(f"{'noticed' if test else 'MISSED '}  {', '.join(each.ids)}: {each.what}  {test}", flush=True)
    counters.record("", "breaks of statements", {"breaks": len(chosen)}, {}, {"missed": missed})
    print(f"{len(chosen) - missed} of {len(chosen)} breaks are noticed by a test that claims the statement")
    return int(missed > (1 - NOTICED) * len(chosen))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
