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
from dataclasses import dataclass
from pathlib import Path

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
        "agents/stages/assembler.py", "JoinTable(partition, self._rules, emitted)",
        "JoinTable(partition, self._rules, ())",
    ),
    "ack": Defect(
        "a record is acknowledged before what was made of it is sent",
        "streams/runtime/stage_runner.py",
        "                sending = [step for step in one.steps if isinstance(step, Outgoing)]\n",
        "                sending = [step for step in one.steps if isinstance(step, Outgoing)]\n"
        "                one.delivery.done()\n                one.delivery.done = lambda: None\n",
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


def noticed(folder: Path) -> str:
    """The tier and the first tests that fail in a copy of the checkout; empty where none does."""
    steps = [("check", UNIT.step({}).command)]
    steps += [("test", PARTS[name].step({}).command) for name in (*IN_ORDER, *BESIDE)]
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    for tier, command in steps:
        ended = subprocess.run(
            [*command, "--maxfail=3"], cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        if ended.returncode:
            failed = re.findall(r"^(?:FAILED|ERROR) (\S+)", ended.stdout, re.MULTILINE)
            return f"make {tier}: {', '.join(failed) or ended.stdout[-300:]}"
    return ""


def copies(names: Sequence[str]) -> Iterator[tuple[str, Path]]:
    """A copy of the checkout with each defect in turn."""
    with tempfile.TemporaryDirectory(prefix="fathom-defects-") as scratch:
        folder = Path(scratch) / "checkout"
        skipped = shutil.ignore_patterns(".git", ".venv*", ".servers", ".mypy_cache", "node_modules", ".fathom")
        shutil.copytree(ROOT, folder, ignore=skipped)
        for shared in (".git", ".venv", ".servers"):
            (folder / shared).symlink_to(ROOT / shared)
        for name in names:
            defect = DEFECTS[name]
            file = folder / defect.file
            text = file.read_text()
            if text.count(defect.right) != 1:
                raise SystemExit(
                    f"{name}: {defect.file} has this text {text.count(defect.right)} times: {defect.right}"
                )
            file.write_text(text.replace(defect.right, defect.wrong))
            yield name, folder
            file.write_text(text)


def main(names: Sequence[str]) -> int:
    if unknown := sorted(set(names) - DEFECTS.keys()):
        sys.stderr.write(f"unknown defect {unknown[0]!r}; there are {', '.join(DEFECTS)}\n")
        return 2
    missed = 0
    for name, folder in copies(names or [*DEFECTS]):
        found = noticed(folder)
        missed += not found
        print(f"{name:<14} {DEFECTS[name].what}\n{'':<14} {found or 'NOTICED BY NO TEST'}", flush=True)
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
