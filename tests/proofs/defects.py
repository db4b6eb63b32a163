"""Break the product in ten places, one at a time, and name the first tests that notice.

python -m tests.proofs.defects               the unit tests, then the parts of `make test` until one fails
python -m tests.proofs.defects join ack      some of them

Each defect is one replaced text in a copy of the checkout. Exit code 1 where no test notices one.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests import counters
from tests.checkout import ROOT
from tests.run import BESIDE, IN_ORDER, PARTS, UNIT


@dataclass(frozen=True, slots=True)
class Defect:
    """What is broken, in which file, by which text in place of which."""

    what: str
    file: str
    right: str
    wrong: str


DEFECTS = {
    "decode": Defect(
        "a value above its topic's limit is decoded",
        "schemas/codec.py", "if len(value) > topic.max_bytes:", "if len(value) > 2 * topic.max_bytes:",
    ),
    "depth": Defect(
        "a close rival of the deciding level is ignored",
        "agents/core/depth/levels.py", "level = max((deciding.level, *rivals), key=context_kept)",
        "level = deciding.level",
    ),
    "floor": Defect(
        "a pack has passages however unlikely they are",
        "agents/core/retrieval/relevance.py", "return (scored, []) if odds >= table.floor else ([], scored)",
        "return (scored, [])",
    ),
    "join": Defect(
        "a pack goes out while one part is missing",
        "agents/core/packs/join.py", "if join.opened is not None and not missing(join):",
        "if join.opened is not None and len(missing(join)) < 2:",
    ),
    "ledger": Defect(
        "a new owner of a partition does not look up which packs are out",
        "agents/stages/assembler.py", "return table.restore",
        "return lambda _: None",
    ),
    "ack": Defect(
        "a record is acknowledged before what was made of it is sent",
        "streams/runtime/stage_runner.py",
        "                one.failure = await self._send(one)\n",
        "                one.delivery.done()\n                one.failure = await self._send(one)\n",
    ),
    "tenant filter": Defect(
        "the embedded index searches every tenant's passages",
        "streams/stores/passages/edge_search.py",
        "return _visible([_of(tenants), *_among(tenants, query)], query)",
        "return _visible([*_among(tenants, query)], query)",
    ),
    "gate": Defect(
        "a tool call that needs a yes is made without one",
        "agents/core/tools/gate.py", "confirm = needs_yes(contract, filling.args)", "confirm = None",
    ),
    "erasure": Defect(
        "an erased conversation keeps its claims in the graph",
        "streams/stores/graph/erasing.py", '*("Message", "Claim", "Correcao",', '*("Message", "Correcao",',
    ),
    "packing": Defect(
        "a pack may exceed its budget by a tenth",
        "agents/core/packs/packing.py",
        "    cap = _cap(opened)\n    content = replace(", "    cap = _cap(opened) * 11 // 10\n    content = replace(",
    ),
}  # fmt: skip


def failed(command: Sequence[str], folder: Path, *options: str) -> list[str]:
    """The tests that fail in a copy of the checkout; what was written last where none is named."""
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    ended = subprocess.run(
        [*command, *options], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    found = re.findall(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", ended.stdout, re.MULTILINE)
    return found or ([ended.stdout[-300:]] if ended.returncode else [])


def noticed(folder: Path, passed_over: Sequence[str]) -> str:
    """The tier and the first tests that fail in a broken copy; empty where none does."""
    steps = [("check", UNIT.step({}).command)]
    steps += [("test", PARTS[name].step({}).command) for name in (*IN_ORDER, *BESIDE)]
    for tier, command in steps:
        if found := failed(command, folder, "--maxfail=3", *(f"--deselect={each}" for each in passed_over)):
            return f"make {tier}: {', '.join(found)}"
    return ""


@contextmanager
def copied() -> Iterator[Path]:
    """A copy of the checkout that shares its environment and servers."""
    with tempfile.TemporaryDirectory(prefix="fathom-defects-") as scratch:
        folder = Path(scratch) / "checkout"
        skipped = shutil.ignore_patterns(".git", ".venv*", ".servers", ".mypy_cache", "node_modules", ".fathom")
        shutil.copytree(ROOT, folder, ignore=skipped)
        for shared in (".git", ".venv", ".servers"):
            (folder / shared).symlink_to(ROOT / shared)
        yield folder


@contextmanager
def broken(folder: Path, defect: Defect) -> Iterator[None]:
    """The copy with the defect until the block ends; refuses a text that is not there exactly once."""
    file = folder / defect.file
    text = file.read_text()
    if text.count(defect.right) != 1:
        raise SystemExit(f"{defect.file} has this text {text.count(defect.right)} times, not once: {defect.right}")
    file.write_text(text.replace(defect.right, defect.wrong))
    yield
    file.write_text(text)


def main(names: Sequence[str]) -> int:
    if unknown := sorted(set(names) - DEFECTS.keys()):
        sys.stderr.write(f"unknown defect {unknown[0]!r}; there are {', '.join(DEFECTS)}\n")
        return 2
    missed = 0
    with copied() as folder:
        # In a copy the demo names its command by a longer path, say: what fails there without a defect notices none.
        passed_over = failed(UNIT.step({}).command, folder)
        print(f"fail in a copy as they are, and are passed over: {', '.join(passed_over) or 'none'}", flush=True)
        for name in names or DEFECTS:
            with broken(folder, DEFECTS[name]):
                found = noticed(folder, passed_over)
            missed += not found
            print(f"{name:<14} {DEFECTS[name].what}\n{'':<14} {found or 'NOTICED BY NO TEST'}", flush=True)
    counters.record("", "seeded defects", {"defects": len(names or DEFECTS)}, {"missed": missed})
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
