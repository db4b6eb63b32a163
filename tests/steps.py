"""The steps of `make test`: what each ran and found, and what of it is tried once more."""

import os
import re
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tests.checkout import ROOT
from tests.servers.containers import GIVEN, source_of
from tests.servers.install import lacking

# Tests that may be tried once more. Where more fail, the machine was not what made them fail.
MOST_RETRIED = 3
BESIDE_OTHERS = re.compile(r".*?: FAILED tests/(?!unit/)").match
# The exit status of pytest where tests failed, and nothing else went wrong.
TESTS_FAILED = 1


def _print(text: str) -> None:
    print(text, end="", flush=True)


@dataclass
class Result:
    """A step's exit status, how long it took, and what it and all it started have computed, in seconds."""

    name: str
    status: int
    took: float
    computed: float


@dataclass
class Run:
    """What was run, how long it took, whether it passed, and what it left out; `say` takes what is to be read."""

    say: Callable[[str], object] = _print
    began: float = field(default_factory=time.monotonic)
    results: list[Result] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    retried: list[str] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=lambda: {"passed": 0, "failed": 0, "skipped": 0, "error": 0})

    def step(self, name: str, *command: str, folder: Path = ROOT, **environment: str) -> None:
        """Run one command in a folder, its output as it comes; keep its verdict."""
        self.say(f"\n=== {name}\n")
        began = time.monotonic()
        process = subprocess.Popen(
            command, cwd=folder, env={**os.environ, **environment}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, errors="replace",
        )  # fmt: skip
        assert process.stdout is not None
        for line in process.stdout:
            self.say(line)
            self._note(name, line)
        # Not `wait`: this says also what the command and all it started and waited for have computed.
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        computed = used.ru_utime + used.ru_stime
        self.results.append(Result(name, process.returncode, time.monotonic() - began, computed))

    def take_over(self, other: "Run") -> None:
        """What another run has found is ours."""
        self.results += other.results
        self.skipped += other.skipped
        self.failures += other.failures
        for kind, number in other.counts.items():
            self.counts[kind] += number

    def retry(self, *pytest: str) -> None:
        """Run a few tests that failed beside others once more, alone; the report names those that pass then.

        Two parts at a time make a machine of two cores busier than what a test waits for allows now and then. What
        fails alone too has failed, and so has everything where more than a few tests do, or something that is no test.
        """
        if len(self.failures) > MOST_RETRIED or not all(map(BESIDE_OTHERS, self.failures)):
            return
        for line in tuple(self.failures):
            step, _, said = line.partition(": FAILED ")
            test = said.split(" - ")[0]
            self.counts["failed"] -= 1  # it is counted anew
            self.step(f"alone: {test}", *pytest, test)
            if self.results[-1].status == 0:
                self.failures.remove(line)
                self.retried.append(line)
                self._mend(step)

    def _mend(self, step: str) -> None:
        """A step all of whose tests have passed at last has passed."""
        if any(line.startswith(f"{step}: ") for line in self.failures):
            return
        for each in self.results:
            if each.name == step and each.status == TESTS_FAILED:
                each.status = 0

    def leave_out(self, what: str, why: str) -> None:
        self.skipped.append(f"{what}: {why}")

    def _note(self, name: str, line: str) -> None:
        if line.startswith("SKIPPED"):
            self.skipped.append(f"{name}: {line.strip()}")
        if line.startswith(("FAILED ", "ERROR tests")):
            self.failures.append(f"{name}: {line.strip()}")
        if re.search(r"\d+ (passed|failed|skipped|errors?)\b.* in [\d.]+s", line):
            for number, kind in re.findall(r"(\d+) (passed|failed|skipped|error)", line):
                self.counts[kind] += int(number)

    def report(self) -> int:
        """Print the verdicts; the exit code."""
        print("\n=== what ran")
        for each in self.results:
            print(f"{'FAIL' if each.status else 'ok  '} {each.took:6.1f} s {each.computed:6.1f} s CPU  {each.name}")
        print(f"total {time.monotonic() - self.began:.0f} s, some of it side by side")
        print("\n=== the shared real servers came from")
        print("\n".join(str(source_of(name, lacking)) for name in GIVEN))
        if self.skipped:
            print("\n=== what did not run, and why")
            print("\n".join(self.skipped))
        if self.retried:
            print("\n=== what failed beside others, and passed alone")
            print("\n".join(self.retried))
        if self.failures:
            # Once more at the end: of a long run the last lines are what one sees first.
            print("\n=== what failed")
            print("\n".join(self.failures))
        print(
            f"\n{self.counts['passed']} passed, {self.counts['failed'] + self.counts['error']} failed, "
            f"{self.counts['skipped']} skipped"
        )
        return 1 if any(each.status for each in self.results) else 0
