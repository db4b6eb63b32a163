"""`make test`: every check and every test, each server apart; at the end what ran and what did not.

What a machine cannot run (Java is missing and may not be installed, say) is named at the end with its reason: a skip
nobody sees is a defect.
"""

import os
import re
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.checkout import ROOT
from tests.servers import containers
from tests.servers.containers import GIVEN, source_of
from tests.servers.install import INSTALLERS, InstallError, lacking
from tests.servers.kafka import KafkaServer

# Of the tests of tests/e2e, those that take minutes.
OUTAGES = ("test_outages.py",)
ON_SERVERS = ("test_real_servers.py", "test_erasing_on_servers.py")
# Of the tests of tests/chaos, those of everything at once; the others are of one stage or store at a time.
AT_ONCE = ("test_small.py", "test_broker_kills.py")
# Of the tests of tests/contract, those of the engines themselves: they start and kill servers of their own.
ENGINES = ("test_neo4j_engine.py", "test_neo4j_migrations.py", "test_qdrant_server.py", "test_stores_redis_server.py")
# Of lines and branches together.
COVERED = ("--cov=agents/core", "--cov-branch", "--cov-report=term:skip-covered", "--cov-fail-under=95")
# The client libraries: what is run, one after the other, and in which folder of `clients`.
CLIENTS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("the environment of the Python client", ".", ("sh", "../deploy/setup-clients.sh")),
    (
        "types of the Python client",
        "python",
        (str(Path(sys.executable).parent / "mypy"), "--python-executable", str(ROOT / ".venv-clients/bin/python")),
    ),
    (
        "the Python client and its adapters, against a server",
        "python",
        (str(ROOT / ".venv-clients/bin/pytest"), "-q", "-p", "no:cacheprovider", "--durations=5"),
    ),
)
# Of what fails without naming a test.
LAST_LINES = 60
PYTEST = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--durations=15", "--durations-min=4")


def _print(text: str) -> None:
    print(text, end="", flush=True)


@dataclass
class Run:
    """What was run, how long it took, whether it passed, and what it left out; `say` takes what is to be read."""

    say: Callable[[str], object] = _print
    began: float = field(default_factory=time.monotonic)
    results: list[tuple[str, bool, float, float]] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
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
        known, last = len(self.failures), deque[str](maxlen=LAST_LINES)
        for line in process.stdout:
            self.say(line)
            self._note(name, line)
            last.append(f"  {line.rstrip()}")
        # Not `wait`: this says also what the command and all it started and waited for have computed.
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode and len(self.failures) == known:  # a crash, say, which names no test
            self.failures.append("\n".join((f"{name}: ended with {process.returncode}, its last lines", *last)))
        self.results.append((name, process.returncode == 0, time.monotonic() - began, used.ru_utime + used.ru_stime))

    def take_over(self, other: "Run") -> None:
        """What another run has found is ours."""
        self.results += other.results
        self.skipped += other.skipped
        self.failures += other.failures
        for kind, number in other.counts.items():
            self.counts[kind] += number

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
        for name, passed, took, computed in self.results:
            print(f"{'ok  ' if passed else 'FAIL'} {took:6.1f} s {computed:6.1f} s CPU  {name}")
        print(f"total {time.monotonic() - self.began:.0f} s, some of it side by side")
        print("\n=== the shared real servers came from")
        print("\n".join(str(source_of(name, lacking)) for name in GIVEN))
        if self.skipped:
            print("\n=== what did not run, and why")
            print("\n".join(self.skipped))
        if self.failures:
            # Once more at the end: of a long run the last lines are what one sees first.
            print("\n=== what failed")
            print("\n".join(self.failures))
        failed = sum(not passed for _, passed, *_ in self.results)
        print(
            f"\n{self.counts['passed']} passed, {self.counts['failed'] + self.counts['error']} failed, "
            f"{self.counts['skipped']} skipped"
        )
        return 1 if failed else 0


@contextmanager
def apache_kafka() -> Iterator[str | None]:
    """A running Apache Kafka, or None where there is none."""
    source = source_of("kafka", lacking)
    if source.kind == "none":
        yield None
    elif source.kind == "given":
        yield os.environ[GIVEN["kafka"]]
    else:
        with TemporaryDirectory(prefix="fathom-kafka-") as folder:
            server = KafkaServer(Path(folder))
            with containers.started(source, server, containers.kafka(server.port)):
                yield server.bootstrap


def install_servers(run: Run) -> None:
    """Install the real servers; the tests start what is there."""
    run.say("\n=== the real servers\n")
    for name, install in INSTALLERS.items():
        try:
            install(lambda line: run.say(f"{line}\n"))
        except InstallError as error:
            run.leave_out(f"everything on a real {name.capitalize()}", str(error))


def style(run: Run) -> None:
    """What is read, not run."""
    bin_ = Path(sys.executable).parent
    run.step("style: ruff", str(bin_ / "ruff"), "check", ".")
    run.step("style: format", str(bin_ / "ruff"), "format", "--check", ".")
    run.step("spelling: codespell", str(bin_ / "codespell"))
    run.step("no secret in the repository", sys.executable, "-m", "tests.deploy.secret_scan")
    run.step("types: mypy", str(bin_ / "mypy"))
    run.step("generated documents are fresh", sys.executable, "-m", "streams.docs.generate", "--check")


def unit(run: Run) -> None:
    # Two at a time, also where there are more cores: each process imports and collects everything first.
    with TemporaryDirectory(prefix="fathom-coverage-") as folder:
        run.step(
            "unit, and what of the rules it runs through",
            *(*PYTEST, "-n", "2", "tests/unit", *COVERED),
            COVERAGE_FILE=str(Path(folder) / "coverage"),
        )


def evidence(run: Run) -> None:
    run.step(
        "evidence: what packs hold, by the real encoder, in this process", *PYTEST, "tests/evidence", "tests/golden"
    )


def contract(run: Run) -> None:
    """Each port's suite on twin, embedded and real; the broker's on ours."""
    apart = [f"--ignore={path}" for path in _engines()]
    run.step(
        "contract: stores, embedded and real, and the broker's suite on the embedded broker",
        *PYTEST,
        "tests/contract",
        *apart,
    )


def engines(run: Run) -> None:
    run.step("contract: what each real store refuses, survives and migrates", *PYTEST, *_engines())


def brokers(run: Run) -> None:
    with apache_kafka() as bootstrap:
        if bootstrap is not None:
            suites = sorted(str(p.relative_to(ROOT)) for p in (ROOT / "tests/contract").glob("test_broker_*.py"))
            run.step(
                "contract: the broker's suite, unchanged, on Apache Kafka",
                *PYTEST,
                *suites,
                FATHOM_TEST_KAFKA=bootstrap,
            )


def _engines() -> list[str]:
    return [f"tests/contract/{name}" for name in ENGINES]


def servers(run: Run) -> None:
    run.step("the servers themselves: installed, started, ended", *PYTEST, "tests/servers")


def runtime(run: Run) -> None:
    run.step("runtime: transport regressions, on both brokers", *PYTEST, "tests/runtime")


def end_to_end(run: Run) -> None:
    apart = [f"--ignore=tests/e2e/{name}" for name in (*OUTAGES, *ON_SERVERS)]
    run.step("end to end", *PYTEST, "tests/e2e", *apart)


def outages(run: Run) -> None:
    run.step("end to end: stores that fail", *PYTEST, *(f"tests/e2e/{name}" for name in OUTAGES))


def on_servers(run: Run) -> None:
    run.step("end to end: on four servers", *PYTEST, *(f"tests/e2e/{name}" for name in ON_SERVERS))


def health(run: Run) -> None:
    run.step("health: readiness when what a worker stands on stops, and under load", *PYTEST, "tests/health")


def deaths(run: Run) -> None:
    apart = [f"--ignore=tests/chaos/{name}" for name in AT_ONCE]
    run.step("chaos: deaths of one stage, of Redis", *PYTEST, "tests/chaos", *apart)


def chaos(run: Run) -> None:
    run.step("chaos, small, on both brokers", *PYTEST, *(f"tests/chaos/{name}" for name in AT_ONCE))


def clients(run: Run) -> None:
    """Apart from our packages: the OpenAI Agents SDK is imported as `agents`, too."""
    for name, folder, command in CLIENTS:
        run.step(f"clients: {name}", *command, folder=ROOT / "clients" / folder, PYTHONPATH="")
    run.step("clients: the TypeScript client; types of events in TypeScript, Go and Java", *PYTEST, "tests/clients")


def console(run: Run) -> None:
    run.step("console: the page's rules in Node, and the page in a browser, on both brokers", *PYTEST, "tests/console")


def deploy(run: Run) -> None:
    run.step("deploy: the chart, releases, upgrades; rights on Apache Kafka", *PYTEST, "tests/deploy", "tests/rights")


def requirements(run: Run) -> None:
    run.step("requirements with and without a test", sys.executable, "-m", "tests.requirements.coverage")


PARTS: dict[str, Callable[[Run], None]] = {
    "style": style,
    "unit": unit,
    "evidence": evidence,
    "install": install_servers,
    "contract": contract,
    "engines": engines,
    "brokers": brokers,
    "servers": servers,
    "runtime": runtime,
    "outages": outages,
    "health": health,
    "deaths": deaths,
    "e2e": end_to_end,
    "on-servers": on_servers,
    "clients": clients,
    "console": console,
    "deploy": deploy,
    "chaos": chaos,
    "requirements": requirements,
}


# Two at a time: each part waits for its servers now and then. The longest come first, so that the two end together.
SIDE_BY_SIDE = (
    "contract", "e2e", "evidence", "deaths", "engines", "clients", "on-servers", "outages", "health",
    "deploy", "runtime", "servers", "brokers",
)  # fmt: skip
# What runs one after the other, and in each round what runs two at a time. What kills everything in turn (chaos) has
# the machine for itself; so has the browser, which wants packs whose parts are all there, beside a broker and a graph.
ROUNDS: tuple[tuple[str, ...], ...] = (
    ("style",),
    ("unit", "install"),
    SIDE_BY_SIDE,
    ("console",),
    ("chaos",),
    ("requirements",),
)


def _take(waiting: deque[str], run: Run) -> None:
    """Run the parts that wait, until none does."""
    while True:
        try:
            name = waiting.popleft()
        except IndexError:  # the other one took the last
            return
        PARTS[name](run)


def _beside(waiting: deque[str]) -> tuple[Run, list[str]]:
    """Run the parts that wait; what they found, and what they said, which two at a time would mix up."""
    said: list[str] = []
    run = Run(said.append)
    _take(waiting, run)
    return run, said


def main(names: Sequence[str]) -> int:
    """Run the named parts, or all, in their order; the exit code."""
    unknown = set(names) - PARTS.keys()
    if unknown:
        print(f"unknown: {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}", file=sys.stderr)
        return 2
    if left_out := PARTS.keys() - {name for together in ROUNDS for name in together}:
        raise SystemExit(f"in no round, so never run: {', '.join(sorted(left_out))}; add them to ROUNDS")
    run = Run()
    for together in ROUNDS:
        waiting = deque(name for name in together if not names or name in names)
        with ThreadPoolExecutor(1) as pool:
            second = pool.submit(_beside, waiting)
            _take(waiting, run)
            found, said = second.result()
        run.say("".join(said))
        run.take_over(found)
    return run.report()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
