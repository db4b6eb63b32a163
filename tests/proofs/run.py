"""`make proofs`: run the long proofs, all or one part, and write one JSON line a part into `results.jsonl`.

python -m tests.proofs.run                       every part, small
python -m tests.proofs.run upgrades --size full
python -m tests.proofs.run chaos --size release --minutes 30     a slice, added to what other slices have counted
python -m tests.proofs.run --status              what was proven, and which code has changed since
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests import counters
from tests.checkout import ROOT
from tests.proofs.parts import PROOFS, Proof
from tests.servers.install import INSTALLERS, InstallError
from tests.steps import Run

RESULTS = Path(__file__).with_name("results.jsonl")
SIZES = ("small", "full", "release")
MINUTES = 30.0
Result = dict[str, Any]
Key = tuple[str, str]


def git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


def read(file: Path = RESULTS) -> dict[Key, Result]:
    """The newest result of each part and size."""
    if not file.exists():
        return {}
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    return {(each["part"], each["size"]): each for each in lines}


def write(result: Result, file: Path = RESULTS) -> None:
    """Put a result in place of the older one of its part and size."""
    results = {**read(file), (result["part"], result["size"]): result}
    file.write_text("".join(f"{json.dumps(results[key])}\n" for key in sorted(results)))


def prove(name: str, size: str, minutes: float = MINUTES) -> Run:
    """Run a part and write its result; a slice of a release is added to those before it."""
    proof, before = PROOFS[name], read().get((name, size))
    run, began = Run(), time.monotonic()
    commit, changed = git("rev-parse", "--short=12", "HEAD"), bool(git("status", "--porcelain", *proof.about))
    with TemporaryDirectory(prefix="fathom-counters-") as folder:
        file = Path(folder) / "counters.jsonl"
        for step in proof.steps(size, minutes, next_seed(before)):
            run.step(replace(step, environment={**step.environment, counters.FILE: str(file)}))
        counted = counters.gathered(file)
    day, seconds = datetime.now(UTC).date().isoformat(), round(time.monotonic() - began)
    result = {"part": name, "size": size, "passed": run.passed, "seconds": seconds, "day": day, "commit": commit}
    result |= {"changed": changed, "tests": run.counts, "counters": counted}
    write(added(before, result) if size == "release" else result)
    return run


def next_seed(before: Result | None) -> int:
    """The first that no slice has had."""
    return 1 + max((seed for entry in (before or {}).get("counters", ()) for seed in entry["seeds"]), default=0)


def added(before: Result | None, now: Result) -> Result:
    """A slice with all before it: what they counted on each commit, and whether each of them passed."""
    for entry in now["counters"]:
        # What a workload counts first is what it is measured by: messages, decodes, minutes.
        entry["commits"] = {now["commit"]: next(iter(entry["ran"].values()))}
    if before is None:
        return now
    return {
        **now,
        "passed": before["passed"] and now["passed"],
        "changed": before["changed"] or now["changed"],
        "seconds": before["seconds"] + now["seconds"],
        "tests": {kind: before["tests"][kind] + number for kind, number in now["tests"].items()},
        "counters": counters.merged(before["counters"], now["counters"]),
    }


def standing(proof: Proof, result: Result | None) -> str:
    """What a result says of the code as it is now."""
    if result is None:
        return "never run"
    if not result["passed"]:
        return "FAILED"
    if result["changed"]:
        return "passed on changes that were not committed"
    try:
        commits = git("rev-list", "--count", f"{result['commit']}..HEAD", "--", *proof.about)
    except subprocess.CalledProcessError:
        return f"passed on {result['commit']}, a commit that is not in this history"
    return "current" if commits == "0" else f"older than its code by {commits} commits"


def status(results: Mapping[Key, Result]) -> list[str]:
    """A line for each part and size that there is."""
    lines = []
    for name, proof in PROOFS.items():
        for size in SIZES:
            if not getattr(proof, size):
                continue
            result = results.get((name, size))
            when = f"{result['day']} {result['commit']} {result['seconds']:6} s" if result else ""
            lines.append(f"{name:<10} {size:<7} {standing(proof, result):<34} {when}".rstrip())
    return lines


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.proofs.run", description="The long proofs, part by part.")
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PROOFS)}; without one all of them")
    parser.add_argument("--size", choices=SIZES, default="small", help="release: a slice of what a release has run")
    parser.add_argument("--minutes", type=float, default=MINUTES, help="of a slice of a release")
    parser.add_argument("--status", action="store_true", help="print what was proven, and run nothing")
    asked = parser.parse_args(arguments)
    if unknown := sorted(set(asked.parts) - PROOFS.keys()):
        parser.error(f"unknown part {unknown[0]!r}; there are {', '.join(PROOFS)}")
    if asked.status:
        print("\n".join(status(read())))
        return 0
    whole = Run()
    for name, install in INSTALLERS.items():
        try:
            install(whole.say)
        except InstallError as error:
            whole.leave_out(f"everything on a real {name.capitalize()}", str(error))
    for name in asked.parts or [name for name, proof in PROOFS.items() if proof.steps(asked.size, 0, 0)]:
        whole.take_over(prove(name, asked.size, asked.minutes))
    return whole.report()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
