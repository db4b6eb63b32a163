"""The parts of `make proofs`: what each proves, which code it is about, and its commands, small and full."""

import sys
from dataclasses import dataclass, replace
from pathlib import Path

from tests.checkout import ROOT
from tests.steps import Step

BIN = Path(sys.executable).parent
PYTEST = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--durations=10", "--durations-min=4")
# Of lines and branches together.
RULES = ("agents/core", "agents/legal", *(f"agents/cognition/{name}" for name in (
    "core", "decomposition", "language", "progress", "verification",
)))  # fmt: skip
COVERED = (
    *(f"--cov={path}" for path in RULES),
    "--cov-branch",
    "--cov-report=term:skip-covered",
    "--cov-fail-under=95",
)
PACK_PATH = (
    "schemas",
    "agents",
    "streams/runtime",
    "streams/kafka",
    "streams/faust",
    "streams/topology.py",
    "streams/builders.py",
)
STORES = ("streams/stores", "streams/views")


@dataclass(frozen=True, slots=True)
class Proof:
    """A part: `about` are the paths whose change asks for it; `full` runs after `small` with SIZE=full.

    `release` runs for some minutes from a seed on, which are its last arguments.
    """

    what: str
    about: tuple[str, ...]
    small: tuple[Step, ...]
    full: tuple[Step, ...] = ()
    release: tuple[Step, ...] = ()

    def steps(self, size: str, minutes: float, seed: int) -> tuple[Step, ...]:
        """What runs for a size."""
        if size == "release":
            given = ("--minutes", f"{minutes / max(len(self.release), 1):g}", "--seed", str(seed))
            return tuple(replace(step, command=(*step.command, *given)) for step in self.release)
        return (*self.small, *(self.full if size == "full" else ()))


def _tests(name: str, *paths: str, **environment: str) -> Step:
    return Step(name, (*PYTEST, *paths), environment=environment)


def _module(name: str, module: str, *arguments: str) -> Step:
    return Step(name, (sys.executable, "-m", module, *arguments))


PROOFS: dict[str, Proof] = {
    "rules": Proof(
        "the unit tests with every generated example, and what of the rules they run through",
        ("schemas", "agents", "tests/unit"),
        (_tests("rules: every example, with coverage", "tests/unit", *COVERED, FATHOM_TEST_EXAMPLES="full"),),
        (
            _tests(
                "rules: a thousand random changes of a sealed log",
                "tests/unit/audit/test_chain.py", "-k", "random", FATHOM_TEST_CHANGES="1000",
            ),
            _module("rules: attacks against the tool gate", "tests.attacks.run"),
        ),
    ),
    "defects": Proof(
        "ten defects, each seeded in turn, are noticed by `make check` or `make test`",
        ("tests/unit", "tests/contract", "tests/e2e", "tests/run.py"),
        (_module("defects: ten, one at a time", "tests.proofs.defects"),),
    ),
    "marks": Proof(
        "a break of a statement is noticed by a test that claims it, 97 % of them",
        ("tests/unit", "tests/contract", "tests/requirements/breaks.toml", "schemas", "agents", "streams"),
        (_module("marks: every break, one at a time", "tests.proofs.marks"),),
    ),
    "evidence": Proof(
        "each mechanism of packs and of deep answers is needed: without it they are worse",
        ("agents",),
        (_tests("evidence: without each mechanism", "tests/proofs/evidence"),),
    ),
    "transport": Proof(
        "delivery, rebalances and known faults of Faust and aiokafka, on both brokers",
        ("streams/runtime", "streams/kafka", "streams/faust", "streams/broker"),
        (_tests("transport, on both brokers", "tests/proofs/transport"),),
    ),
    "engines": Proof(
        "what each real store refuses, survives and migrates",
        ("streams/stores", "deploy/neo4j"),
        (_tests("engines: Neo4j, Qdrant, Redis", "tests/proofs/engines"),),
    ),
    "e2e": Proof(
        "`fathom` as processes: starts, ends, kills, replays, tutorials, full disks, erasure; also on four servers",
        ("streams", "docs"),
        (_tests("end to end, long", "tests/proofs/e2e"),),
        (
            _tests(
                "end to end: a thousand messages made again byte for byte",
                "-k", "made_again", "tests/proofs/e2e", FATHOM_TEST_MESSAGES="1000",
            ),
        ),
    ),
    "tenants": Proof(
        "no store and no query gives a tenant what another tenant owns; every mutant of a query is caught",
        (*STORES, "streams/replay", "agents/retrievers"),
        (
            _tests("tenants: mutants of queries", "tests/proofs/tenants"),
            _tests("tenants, ports and payloads: every example", "tests/contract", FATHOM_TEST_EXAMPLES="full"),
        ),
        (_module("tenants: a thousand of them ask 100,000 times", "tests.tenants.run"),),
    ),
    "repeats": Proof(
        "events repeated in any order, with deaths of the writer, leave the graph that each event once leaves",
        ("streams/stores/graph", "agents/stages", "agents/cognition"),
        (_tests("repeats: 2,500 events", "tests/proofs/repeats"),),
        (_module("repeats: 50,000 events", "tests.proofs.repeats.run"),),
    ),
    "chaos": Proof(
        "workers, brokers and Redis killed under load: nothing is lost, doubled or out of order",
        (*PACK_PATH, *STORES, "streams/broker"),
        (_tests("chaos, small, on both brokers", "tests/proofs/chaos"),),
        (
            _module("chaos: 20,000 messages", "tests.proofs.chaos.run", "--full"),
            _module("chaos: Apache Kafka's broker killed", "tests.proofs.chaos.broker_kills"),
            _module("chaos: leaders of three brokers killed", "tests.proofs.chaos.broker_kills", "--cluster"),
            _module("chaos: Redis emptied and killed 50 times", "tests.proofs.chaos.emptied", "--full"),
        ),
        (_module("chaos: run after run on Apache Kafka", "tests.proofs.chaos.run", "--broker", "kafka"),),
    ),
    "decodes": Proof(
        "bytes and events made up or damaged are an event or one of the reasons, on every topic, each within a second",
        ("schemas",),
        (_module("decodes: 10,000 generated and 10,000 damaged on each topic", "tests.proofs.decodes"),),
        release=(_module("decodes: as many as there is time for", "tests.proofs.decodes"),),
    ),
    "soak": Proof(
        "`fathom up` at 70 % of what it holds, disturbed: memory and files do not grow, every message has its pack",
        (*PACK_PATH, *STORES, "streams/broker"),
        (_module("soak: three minutes", "tests.proofs.soak", "--minutes", "3"),),
        release=(_module("soak: a slice on the same data", "tests.proofs.soak", "--data", ".cache/soak"),),
    ),
    "outages": Proof(
        "every way to fail of Neo4j, Qdrant and Redis, and what it does to packs and to memory",
        ("streams/stores", "streams/runtime"),
        (_tests("outages, some", "tests/proofs/outages"),),
        (_module("outages, all eighteen", "tests.proofs.outages.run"),),
    ),
    "overload": Proof(
        "packs under ten times the load, beside a loud neighbour, and beside records that are bad or kill the process",
        PACK_PATH,
        (_tests("overload, small: load, bad records, poison", "tests/proofs/overload"),),
        (
            _module("overload: ten times what the machine holds", "tests.proofs.overload.run"),
            _module("overload: ten times as many callers over HTTP", "tests.proofs.overload.callers"),
            _module("overload: one tenant of ten", "tests.proofs.overload.neighbour"),
            _module("overload: bad records on every topic of outsiders", "tests.proofs.overload.producer"),
            _module("overload: poison that kills the process", "tests.proofs.overload.poison"),
        ),
    ),
    "health": Proof(
        "what readiness says when what a worker stands on stops, and under load",
        ("streams/runtime", "streams/telemetry", "streams/stores", "streams/broker"),
        (_tests("health, five times each", "tests/proofs/health"),),
        (_module("health, a hundred times each", "tests.proofs.health.run"),),
    ),
    "rights": Proof(
        "each group's rights on Apache Kafka are enough, and each right is needed",
        ("streams/runtime/access.py", "streams/topology.py", "streams/kafka", "deploy/helm"),
        (_tests("rights on Apache Kafka, some", "tests/proofs/rights"),),
        (_module("rights, each right of each group", "tests.proofs.rights.run"),),
    ),
    "deploy": Proof(
        "the chart, a release that is the same bytes each time, and its packages installed in empty folders",
        ("deploy", "pyproject.toml", "docker-compose.yml", "clients"),
        (_tests("deploy: chart, release, packages", "tests/proofs/deploy"),),
    ),
    "upgrades": Proof(
        "rolling upgrades from the last release and back, under load",
        (*PACK_PATH, "streams/stores"),
        (_tests("upgrades, small", "tests/proofs/upgrades"),),
        (_module("upgrades: twenty each way", "tests.proofs.upgrades.upgrades"),),
    ),
    "clients": Proof(
        "the client libraries: their types, and calls to a server; the types of events in TypeScript, Go and Java",
        ("clients", "schemas", "docs/openapi.json", "docs/clients.md"),
        (
            # Apart from our packages: the OpenAI Agents SDK is imported as `agents`, too.
            Step("clients: their environment", ("sh", "deploy/setup-clients.sh")),
            Step(
                "clients: types of the Python client",
                (str(BIN / "mypy"), "--python-executable", str(ROOT / ".venv-clients/bin/python")),
                ROOT / "clients/python", {"PYTHONPATH": ""},
            ),
            Step(
                "clients: the Python client and its adapters",
                (str(ROOT / ".venv-clients/bin/pytest"), "-q", "-p", "no:cacheprovider"),
                ROOT / "clients/python", {"PYTHONPATH": ""},
            ),
            _tests("clients: TypeScript, Go and Java", "tests/proofs/clients"),
        ),
    ),
    "console": Proof(
        "every view of the console in a browser, against a scripted server and against Fathom on both brokers",
        ("streams/edges/console", "streams/edges/http"),
        (_tests("console: every view, on both brokers", "tests/proofs/console"),),
    ),
    "rooms": Proof(
        "without law, and without deep answers, a copy of the checkout passes `make check`",
        ("agents", "streams/extensions.py", "tests/rooms.py"),
        (_tests("rooms: each package that can be left out", "tests/proofs/rooms"),),
    ),
    "servers": Proof(
        "the servers of the tests themselves: installed, started, ended; Prometheus' own checker",
        ("tests/servers", "deploy/prometheus", "deploy/grafana"),
        (_tests("servers: installed, started, ended", "tests/proofs/servers"),),
    ),
}  # fmt: skip
