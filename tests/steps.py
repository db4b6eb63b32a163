"""Steps of a test run: commands one after the other, their verdicts, and at the end what ran and what did not."""

import os
import re
import subprocess
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.checkout import ROOT

# Printed again at the end, of a step that failed without naming a test.
LAST_LINES = 60


@dataclass(frozen=True, slots=True)
class Step:
    """A command, the folder it runs in, and what it needs in its environment."""

    name: str
    command: tuple[str, ...]
    folder: Path = ROOT
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a step ended; `cpu_s` counts every process that the step started and waited for."""

    name: str
    passed: bool
    took_s: float
    cpu_s: float


def _print(text: str) -> None:
    print(text, end="", flush=True)


@dataclass
class Run:
    """The steps that have run; `say` takes their output line by line."""

    say: Callable[[str], object] = _print
    began: float = field(default_factory=time.monotonic)
    verdicts: list[Verdict] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=lambda: {"passed": 0, "failed": 0, "skipped": 0, "error": 0})

    @property
    def passed(self) -> bool:
        return all(verdict.passed for verdict in self.verdicts)

    def step(self, step: Step) -> None:
        """Run a step to its end and keep its verdict."""
        self.say(f"\n=== {step.name}\n")
        began = time.monotonic()
        process = subprocess.Popen(
            step.command, cwd=step.folder, env={**os.environ, **step.environment}, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
        )  # fmt: skip
        assert process.stdout is not None
        known, last = len(self.failures), deque[str](maxlen=LAST_LINES)
        for line in process.stdout:
            self.say(line)
            self._note(step.name, line)
            last.append(f"  {line.rstrip()}")
        # `Popen.wait` would not give the CPU time.
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode and len(self.failures) == known:  # a crash, say, which names no test
            self.failures.append("\n".join((f"{step.name}: exit code {process.returncode}, last lines:", *last)))
        took, cpu = time.monotonic() - began, used.ru_utime + used.ru_stime
        self.verdicts.append(Verdict(step.name, process.returncode == 0, took, cpu))

    def take_over(self, other: "Run") -> None:
        """Add the verdicts of another run to this one."""
        self.verdicts += other.verdicts
        self.skipped += other.skipped
        self.failures += other.failures
        for kind, number in other.counts.items():
            self.counts[kind] += number

    def leave_out(self, what: str, why: str) -> None:
        """Name at the end what this machine cannot run."""
        self.skipped.append(f"{what}: {why}")

    def _note(self, name: str, line: str) -> None:
        if line.startswith("SKIPPED"):
            self.skipped.append(f"{name}: {line.strip()}")
        if line.startswith(("FAILED ", "ERROR tests")):
            self.failures.append(f"{name}: {line.strip()}")
        if re.match(r"(=+ )?\d+ (passed|failed|skipped|errors?)\b.* in [\d.]+s", line):
            for number, kind in re.findall(r"(\d+) (passed|failed|skipped|error)", line):
                self.counts[kind] += int(number)

    def report(self, *notes: str) -> int:
        """Print the verdicts, the notes, what was skipped and what failed; return the exit code."""
        print("\n=== what ran")
        for each in self.verdicts:
            print(f"{'ok  ' if each.passed else 'FAIL'} {each.took_s:6.1f} s {each.cpu_s:6.1f} s CPU  {each.name}")
        cpu = sum(verdict.cpu_s for verdict in self.verdicts)
        print(f"total {time.monotonic() - self.began:.0f} s, {cpu:.0f} s CPU, some of it side by side")
        for note in notes:
            print(note)
        if self.skipped:
            print("\n=== what did not run, and why")
            print("\n".join(self.skipped))
        if self.failures:
            # Once more at the end: the last lines of a long run are read first.
            print("\n=== what failed")
            print("\n".join(self.failures))
        counts = self.counts
        print(f"\n{counts['passed']} passed, {counts['failed'] + counts['error']} failed, {counts['skipped']} skipped")
        return 0 if self.passed else 1
