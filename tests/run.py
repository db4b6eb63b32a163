"""`make check` and `make test`: the two tiers that run on every change.

python -m tests.run check             style, types, unit tests
python -m tests.run test              that, and everything up to end to end, on embedded stores and on four real servers
python -m tests.run test PART …       some parts of it; `python -m tests.run test --help` lists them

What a machine cannot run (Java is missing and may not be installed, say) is named at the end with its reason.
"""

import argparse
import os
import sys
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.checkout import ROOT
from tests.servers import containers
from tests.servers.containers import GIVEN, source_of
from tests.servers.fixtures import API_KEY
from tests.servers.install import INSTALLERS, InstallError, lacking
from tests.servers.kafka import KafkaServer
from tests.servers.neo4j import PLANNED_ONCE, Neo4jServer
from tests.servers.qdrant import QdrantServer
from tests.servers.redis import RedisServer
from tests.steps import Run, Step

BIN = Path(sys.executable).parent
PYTEST = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--durations=15", "--durations-min=4")
PROCESSES = 2
Environment = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Part:
    """Tests that run in one process; `servers` are those that it wants named in its environment."""

    what: str
    arguments: tuple[str, ...]
    servers: tuple[str, ...] = ()

    def step(self, started: Environment) -> Step:
        wanted = {name: value for name, value in started.items() if name.startswith(tuple(self._variables()))}
        return Step(self.what, (*PYTEST, *self.arguments), environment=wanted)

    def _variables(self) -> Iterator[str]:
        return (GIVEN[server].removesuffix("_URL") for server in self.servers)


STYLE = (
    Step("style: ruff", (str(BIN / "ruff"), "check", ".")),
    Step("style: format", (str(BIN / "ruff"), "format", "--check", ".")),
    Step("spelling: codespell", (str(BIN / "codespell"),)),
    Step("no secret in the repository", (sys.executable, "-m", "tests.secret_scan")),
    Step("types: mypy", (str(BIN / "mypy"),)),
    Step("generated documents are fresh", (sys.executable, "-m", "deploy.docs.generate", "--check")),
    Step("requirements with and without a test", (sys.executable, "-m", "tests.requirements.coverage")),
)
CONTRACTS = tuple(sorted(str(path.relative_to(ROOT)) for path in (ROOT / "tests/contract").glob("test_*.py")))
STORES = ("stores", "tenants", "documents_in", "key_stores", "vote_log")
EDGES = tuple(
    path for path in CONTRACTS if not path.startswith(tuple(f"tests/contract/test_{name}" for name in STORES))
)
BROKER = tuple(path for path in EDGES if path.startswith("tests/contract/test_broker_"))
UNIT = Part("unit: rules, stages and the whole topology in memory", (
    "-p", "tests.forked", "--processes", str(PROCESSES), "tests/unit",
))  # fmt: skip
# A part waits for processes, brokers and deadlines for about a third of its time: two at a time leave cores idle.
LANES = 3
# Tests on Neo4j wipe it, so these parts run one after the other. The others run beside them, the longest first.
IN_ORDER = ("stores", "on-servers")
BESIDE = ("e2e", "edges", "evidence", "chaos-kafka", "chaos-embedded", "brokers", "console")
PARTS: dict[str, Part] = {
    "stores": Part(
        "contract: every port of the stores on twin, embedded and real server",
        tuple(sorted(path for path in CONTRACTS if path not in EDGES)), ("neo4j", "qdrant", "redis"),
    ),
    "edges": Part("contract: the embedded broker, the OpenAI front, HTTP, MCP, child processes", EDGES, ("redis",)),
    "brokers": Part("contract: the broker's suite, unchanged, on Apache Kafka", BROKER, ("kafka",)),
    "on-servers": Part("end to end on four servers", ("tests/e2e/test_real_servers.py",), ("neo4j",)),
    "e2e": Part(
        "end to end on one embedded `fathom up`", ("tests/e2e", "--ignore=tests/e2e/test_real_servers.py")
    ),
    "evidence": Part("evidence: what packs hold, by the real encoder", ("tests/evidence", "tests/golden")),
    "console": Part("console: the page's rules in Node, and one journey in a browser", ("tests/console",)),
    "chaos-embedded": Part("chaos, brief, on the embedded broker", ("tests/chaos", "-k", "embedded")),
    "chaos-kafka": Part("chaos, brief, on Apache Kafka", ("tests/chaos", "-k", "kafka")),
}  # fmt: skip


@dataclass
class Servers:
    """The real servers that the parts share: installed where missing, and started once, side by side."""

    log: list[str] = field(default_factory=list)
    missing: list[tuple[str, str]] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)
    environment: dict[str, str] = field(default_factory=dict)

    def start(self, folder: Path, stack: ExitStack, needed: Collection[str]) -> None:
        """Install all, start those that are needed; what cannot be had is in `missing`."""
        for name, install in INSTALLERS.items():
            try:
                install(self.log.append)
            except InstallError as error:
                self.missing.append((f"everything on a real {name.capitalize()}", str(error)))
        kafka, neo4j = KafkaServer(folder / "kafka"), Neo4jServer(folder / "neo4j", settings=PLANNED_ONCE)
        qdrant, redis = QdrantServer(folder / "qdrant", api_key=API_KEY), RedisServer(folder / "redis")
        wanted = {
            "kafka": (kafka, containers.kafka(kafka.port), {"FATHOM_TEST_KAFKA": kafka.bootstrap}),
            "neo4j": (neo4j, containers.neo4j(neo4j.port, neo4j.password), {
                "FATHOM_TEST_NEO4J_URL": neo4j.url, "FATHOM_TEST_NEO4J_USER": neo4j.user,
                "FATHOM_TEST_NEO4J_PASSWORD": neo4j.password,
            }),
            "qdrant": (qdrant, containers.qdrant(qdrant.port, qdrant.grpc_port, API_KEY), {
                "FATHOM_TEST_QDRANT_URL": qdrant.url, "FATHOM_TEST_QDRANT_GRPC_PORT": str(qdrant.grpc_port),
                "FATHOM_TEST_QDRANT_API_KEY": API_KEY,
            }),
            "redis": (redis, containers.redis(redis.port), {"FATHOM_TEST_REDIS_URL": redis.url}),
        }  # fmt: skip
        with ThreadPoolExecutor(len(wanted)) as pool:
            starts: dict[str, Future[None]] = {}
            for name, (server, image, _) in wanted.items():
                source = source_of(name, lacking)
                self.sources.append(str(source))
                if name in needed and source.kind in ("container", "native"):
                    starts[name] = pool.submit(stack.enter_context, containers.started(source, server, image))
        for name, start in starts.items():
            start.result()
            self.environment |= wanted[name][2]
        self.environment |= {name: value for name, value in os.environ.items() if name.startswith("FATHOM_TEST_")}


@contextmanager
def in_background(work: Callable[[], None]) -> Iterator[None]:
    """Do some work beside the block; what it raises is raised at the end of the block."""
    with ThreadPoolExecutor(1) as pool:
        going = pool.submit(work)
        yield
        going.result()


def take(steps: deque[Step], run: Run) -> None:
    """Run the steps that nobody has taken yet."""
    while True:
        try:
            step = steps.popleft()
        except IndexError:  # the other thread took the last
            return
        run.step(step)


def beside(steps: deque[Step]) -> tuple[Run, list[str]]:
    """Run the steps that nobody has taken; their verdicts, and what they wrote, which would mix with the output."""
    written: list[str] = []
    run = Run(written.append)
    take(steps, run)
    return run, written


def side_by_side(run: Run, in_order: Sequence[Step], others: Sequence[Step], lanes: int) -> None:
    """Run some steps in order and the others beside them; who is done first takes of the others what is left."""
    left = deque(others)
    with ThreadPoolExecutor(lanes - 1) as pool:
        going = [pool.submit(beside, left) for _ in range(lanes - 1)]
        take(deque(in_order), run)
        take(left, run)
        ended = [each.result() for each in going]
    for found, written in ended:
        run.say("".join(written))
        run.take_over(found)


def check(run: Run) -> None:
    side_by_side(run, [UNIT.step({})], STYLE, lanes=2)


def test(run: Run, names: Sequence[str]) -> list[str]:
    """Run the parts, all without names; where the shared servers came from."""
    servers = Servers()
    needed = {server for name in names or PARTS for server in PARTS[name].servers}
    with TemporaryDirectory(prefix="fathom-servers-") as folder, ExitStack() as stack:
        with in_background(lambda: servers.start(Path(folder), stack, needed)):
            if not names:
                check(run)
        run.say("".join(f"{line}\n" for line in servers.log))
        for what, why in servers.missing:
            run.leave_out(what, why)
        chosen = [
            [PARTS[name].step(servers.environment) for name in group if not names or name in names]
            for group in (IN_ORDER, BESIDE)
        ]
        side_by_side(run, *chosen, lanes=LANES)
    return ["\n=== the shared real servers came from", *servers.sources]


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.run", description="The tiers that run on every change.")
    parser.add_argument("tier", choices=("check", "test"))
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; without one all of them")
    asked = parser.parse_args(arguments)
    if unknown := sorted(set(asked.parts) - PARTS.keys()):
        parser.error(f"unknown part {unknown[0]!r}; there are {', '.join(PARTS)}")
    run = Run()
    if asked.tier == "check":
        check(run)
        return run.report()
    return run.report(*test(run, asked.parts))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
