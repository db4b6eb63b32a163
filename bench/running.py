"""A `fathom up` of its own for a benchmark: started, measured from outside, ended."""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from bench.measure import ROOT


@dataclass(frozen=True)
class Running:
    """Where it listens, its process, and how long it took to consume."""

    bootstrap: str
    http: str
    pid: int
    ready_s: float
    folder: Path = Path()


@contextmanager
def fathom_up(root: Path = ROOT, **settings: str) -> Iterator[Running]:
    """`fathom up` of a checkout in a folder of its own; settings are environment names without FATHOM_."""
    environment = {**os.environ, **{f"FATHOM_{name.upper()}": value for name, value in settings.items()}}
    environment.setdefault("FATHOM_LOG_LEVEL", "warning")
    environment.setdefault("FATHOM_HTTP_PORT", "0")
    with (
        tempfile.TemporaryDirectory(prefix="fathom-bench-") as folder,
        started(["up", "--data", folder, "--port", "0"], environment, root) as running,
    ):
        yield replace(running, folder=Path(folder))


@contextmanager
def fathom_worker() -> Iterator[Running]:
    """`fathom worker` with all stages, on the servers that the environment names."""
    with started(["worker"], {**os.environ, "FATHOM_LOG_LEVEL": "warning"}) as running:
        yield running


@contextmanager
def started(arguments: list[str], environment: Mapping[str, str], root: Path = ROOT) -> Iterator[Running]:
    """A command of a checkout that says in its first line where it listens, until the context ends."""
    began, python = time.perf_counter(), sys.executable if root == ROOT else str(root / ".venv" / "bin" / "python")
    process = subprocess.Popen(
        [python, "-m", "streams", *arguments], stdout=subprocess.PIPE, text=True, env=environment, cwd=root
    )
    try:
        assert process.stdout is not None
        ready = json.loads(process.stdout.readline())
        yield Running(ready["bootstrap"], ready["http"], process.pid, time.perf_counter() - began)
    finally:
        process.terminate()
        process.wait(30)


def resident_mb(pid: int) -> dict[str, float]:
    """Resident memory of a process and its children, by kind."""
    page = os.sysconf("SC_PAGE_SIZE") / 2**20
    return {
        kind: round(int(Path(f"/proc/{one}/statm").read_text().split()[1]) * page, 1)
        for kind, one in processes(pid).items()
    }


def cpu_by_process(pid: int) -> dict[str, float]:
    """CPU seconds used so far by a process and its children, by kind."""
    return {kind: cpu_s(one) for kind, one in processes(pid).items()}


def processes(pid: int) -> dict[str, int]:
    """The process ids of `up` and of what it started: broker, index, valkey."""
    found: dict[str, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and (int(entry.name) == pid or _parent(entry) == pid):
            name = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            if name:
                found[next((kind for kind in ("broker", "index", "valkey") if kind in name), "up")] = int(entry.name)
    return found


def _parent(entry: Path) -> int:
    try:
        return int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
    except OSError:
        return -1


def cpu_s(pid: int) -> float:
    """CPU seconds a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
