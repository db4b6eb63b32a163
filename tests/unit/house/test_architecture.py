"""Who may know whom: read from the sources, so that a wrong import is found before it is run."""

import ast
import re
import sys
import tomllib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

import agents
import schemas
import streams
from tests import rooms
from tests.checkout import ROOT
from tests.unit.house import tree

# The product is the first three; evaluation, benchmarks and what makes the documents may know all of it.
PACKAGES = ("schemas", "agents", "streams", "deploy", "bench", "tests")
# What an agent may share with others: rules, ports, errors, and the frames that several agents stand in.
FRAMES = (
    "agents.core",
    "agents.ports",
    "agents.errors",
    "agents.retrievers.base",
    "agents.context",
    "agents.references",
    "agents.erasures",
    "agents.document_search",
    "agents.access_levels",
    "agents.turn_search",
    "agents.model_help",
    "agents.scoped_memory",
    "agents.second_opinion",
    "agents.concurrency",
)
# What may be left out (`streams.extensions`), and the rules of it: deep answers read laws.
OPTIONAL = tuple(package.replace("/", ".") for package in rooms.OWN)
OPTIONAL_RULES = (
    "agents.legal",
    *(f"agents.cognition.{name}" for name in ("core", "decomposition", "language", "verification")),
)
RUNTIME = ("streams.faust",)
# Beside the standard library. Those that agents may use are functions of a text: no I/O, no state.
MAY_IMPORT = {"schemas": ("pydantic", "orjson"), "agents": ("Stemmer", "sentencex", "jinja2")}
# Settings are read once and passed down; the others say here why they cannot wait for them.
MAY_READ_ENVIRONMENT = {
    "streams.config": "is where settings are read",
    "streams.broker.__main__": "is a process of its own",
    "streams.edges.client.errors": "explains settings that could not be read",
    "streams.stores.passages.vectors": "sets what a library reads when it is imported",
}
ENVIRONMENT = {"environ", "environb", "getenv", "getenvb", "putenv", "unsetenv"}
IMPORTERS = {"import_module", "__import__"}


@dataclass(frozen=True, slots=True)
class Module:
    """What is checked of a source: its imports, the names it uses, whether it says what it is."""

    name: str
    imports: tuple[str, ...]
    uses: frozenset[str]
    described: bool


def read(root: Path) -> tuple[Module, ...]:
    """Every module of a checkout."""
    return tuple(
        _module(_named(path, root), list(ast.walk(ast.parse(path.read_text()))))
        for package in PACKAGES
        for path in sorted((root / package).rglob("*.py"))
    )


def _named(path: Path, root: Path) -> str:
    return ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")


def _module(name: str, nodes: Sequence[ast.AST]) -> Module:
    """A source by its nodes, of which the first is the whole."""
    imports: dict[str, None] = {}
    uses: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            imports |= dict.fromkeys(name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            # `from a import b` is `a`, and may be `a.b`.
            source = "." * node.level + (node.module or "")
            imports |= dict.fromkeys([source, *(f"{source}.{name.name}" for name in node.names)])
        elif isinstance(node, ast.Attribute):
            uses.add(node.attr)
        elif isinstance(node, ast.Name):
            uses.add(node.id)
    whole = nodes[0]
    assert isinstance(whole, ast.Module)
    return Module(name, tuple(imports), frozenset(uses), not whole.body or ast.get_docstring(whole) is not None)


@cache
def product() -> tuple[Module, ...]:
    """Every module of this checkout's product."""
    return tuple(_module(_named(path, ROOT), tree.nodes(path)) for path in tree.sources())


@cache
def ours() -> tuple[Module, ...]:
    """Every module of this checkout."""
    return (*product(), *(_test_module(path) for path in tree.sources("tests")))


# A docstring that is the whole of its statement.
DOCSTRING = re.compile(r'\A"""(?:[^"\\]|\\.|"(?!""))*"""[ \t]*\n', re.DOTALL)
RELATIVE = re.compile(r"\bfrom\s*\.")


def _test_module(path: Path, root: Path = ROOT) -> Module:
    """A module of the tests, which may know all others: where its words show nothing wrong it is not taken apart."""
    text = path.read_text()
    if DOCSTRING.match(text) and not RELATIVE.search(text):
        return Module(_named(path, root), (), frozenset(), True)
    return _module(_named(path, root), list(ast.walk(ast.parse(text))))


def within(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")


def in_any(module: str, packages: Iterable[str]) -> bool:
    return any(within(module, package) for package in packages)


def knows_too_much(module: str, imported: str) -> str | None:
    """Why a module may not import another; None when it may."""
    package, other = module.partition(".")[0], imported.partition(".")[0]
    if imported.startswith("."):
        return "imports are absolute"
    if other in PACKAGES and PACKAGES.index(other) > PACKAGES.index(package):
        return f"imports point inwards: {' <- '.join(PACKAGES)}"
    if package == "agents" and other == "agents":
        return _between_agents(module, imported)
    if package in MAY_IMPORT and other not in (*PACKAGES, *sys.stdlib_module_names, *MAY_IMPORT[package]):
        return f"{package} knows nothing of {other}"
    if other in ("faust", "mode") and package == "streams" and not in_any(module, RUNTIME):
        return "only the runtime knows faust"
    return None


def _between_agents(module: str, imported: str) -> str | None:
    # `from agents import x` is judged by `agents.x`. Errors know nothing of ours, so whoever raises may know them.
    if imported == "agents" or in_any(imported, ("agents.core", "agents.errors")):
        return "errors know nothing of ours" if module == "agents.errors" else None
    if within(module, "agents.core") or (
        in_any(module, OPTIONAL_RULES) and not in_any(imported, (*OPTIONAL_RULES, "agents.ports.cognition"))
    ):
        return "the rules know no agent and no port"
    if in_any(imported, OPTIONAL):
        known = within(module, "agents.cognition") or (
            within(module, "agents.legal") and within(imported, "agents.legal")
        )
        return None if known else "only streams.extensions knows what may be left out"
    if module in ("agents.errors", "agents.ports"):
        return "ports and errors know only the rules"
    return None if in_any(imported, FRAMES) else "agents talk by topic, they do not import each other"


def wrong_imports(modules: Iterable[Module]) -> list[str]:
    """`module: imported: why` of every import that may not be."""
    return [
        f"{module.name}: {imported}: {why}"
        for module in modules
        for imported in module.imports
        if (why := knows_too_much(module.name, imported)) is not None
    ]


def environment_readers(modules: Iterable[Module]) -> list[str]:
    """The modules that read the process's environment and may not."""
    return [
        module.name
        for module in modules
        if (module.uses | {name.rpartition(".")[2] for name in module.imports if within(name, "os")}) & ENVIRONMENT
        and not in_any(module.name, ("tests", *MAY_READ_ENVIRONMENT))
    ]


def hidden_imports(modules: Iterable[Module]) -> list[str]:
    """The modules of schemas and agents that import by a name made up at run time."""
    return [module.name for module in modules if in_any(module.name, ("schemas", "agents")) and module.uses & IMPORTERS]


# --- this checkout ------------------------------------------------------------------------------------------------


def test_imports_point_inwards_and_agents_do_not_know_each_other() -> None:
    assert wrong_imports(ours()) == []


def test_only_the_settings_read_the_environment() -> None:
    assert environment_readers(product()) == []


def test_schemas_and_agents_import_nothing_by_a_name_made_up_at_run_time() -> None:
    assert hidden_imports(product()) == []


def test_packages_hold_no_code_of_their_own() -> None:
    filled = [path for package in PACKAGES for path in (ROOT / package).rglob("__init__.py") if path.read_text()]
    # It says whose `agents` is in the way, before its modules import from it.
    assert filled == [ROOT / "streams" / "testing" / "__init__.py"]


def test_every_file_of_ours_says_what_it_is() -> None:
    assert [module.name for module in ours() if not module.described] == []


@pytest.mark.parametrize("package", [agents, schemas, streams], ids=lambda package: package.__name__)
def test_the_packages_are_the_ones_of_this_checkout(package: object) -> None:
    """`agents` is also the import name of another project's package."""
    assert Path(package.__file__).resolve().is_relative_to(ROOT)  # type: ignore[attr-defined]


def test_requirements_are_locked_without_addresses() -> None:
    locks = sorted((ROOT / "deploy" / "requirements").glob("*.txt"))
    assert locks
    assert [lock.name for lock in locks if "://" in lock.read_text()] == []
    assert all("--hash=sha256:" in lock.read_text() for lock in locks)


@pytest.mark.covers("CD-02")
def test_the_project_needs_the_packages_of_its_design() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    runs = {_package(need) for need in project["dependencies"]}
    tests = {_package(need) for need in project["optional-dependencies"]["test"]}
    assert {"faust-streaming", "aiokafka", "pydantic", "neo4j", "qdrant-client", "redis", "orjson"} <= runs
    assert "prometheus-client" in runs
    assert {"testcontainers", "pytest"} <= tests


def _package(need: str) -> str:
    found = re.match(r"[a-z0-9-]+", need.lower())
    return found.group() if found else need


# --- the checks themselves, on small bad checkouts -----------------------------------------------------------------


@pytest.fixture
def checkout(tmp_path: Path) -> Callable[[str, str], Path]:
    """A checkout of one file."""

    def make(path: str, text: str) -> Path:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
        return tmp_path

    return make


BAD = [
    ("schemas/chat.py", "import agents.ports", "inwards"),
    ("schemas/chat.py", "import redis", "knows nothing of redis"),
    ("agents/stages/depth.py", "def f():\n    from streams.config import Settings", "inwards"),
    ("agents/stages/depth.py", "from agents.stages.planner import Planner", "talk by topic"),
    ("agents/stages/depth.py", "from agents import planner", "talk by topic"),
    ("agents/stages/depth.py", "import faust", "knows nothing of faust"),
    ("agents/stages/depth.py", "from aiokafka.errors import KafkaError", "knows nothing of aiokafka"),
    ("agents/stages/depth.py", "from . import planner", "absolute"),
    ("agents/core/depth/levels.py", "from agents.ports import Clock", "no port"),
    ("agents/stages/ingestion.py", "from agents.legal.references import legal_references", "left out"),
    ("agents/legal/references.py", "from agents.cognition.core import planner", "left out"),
    ("agents/cognition/core/planner.py", "from agents.ports.graph import GraphReader", "no port"),
    ("agents/errors.py", "from agents.core import text", "nothing of ours"),
    ("agents/core/depth/levels.py", "import neo4j", "knows nothing of neo4j"),
    ("agents/ports.py", "from agents.retrievers.base import Found", "only the rules"),
    ("agents/retrievers/base.py", "from agents.stages.depth import DepthAgent", "talk by topic"),
    ("streams/runtime/app.py", "import faust", "only the runtime"),
    ("streams/runtime/stage_runner.py", "from mode import Service", "only the runtime"),
    ("streams/runtime/app.py", "from tests.unit import x", "inwards"),
    ("streams/edges/cli/ask.py", "from bench.evaluation import words", "inwards"),
]


@pytest.mark.parametrize(("path", "text", "why"), BAD, ids=[f"{path}: {text}" for path, text, _ in BAD])
def test_a_wrong_import_is_found(checkout: Callable[[str, str], Path], path: str, text: str, why: str) -> None:
    found = wrong_imports(read(checkout(path, text)))
    assert len({line.split(": ")[2] for line in found}) == 1
    assert why in found[0]


@pytest.mark.parametrize(
    ("text", "relative", "described"),
    [
        ('"""A."""\n\nimport os\n', False, True),
        ('"""A."""\n\ndef f():\n    from .b import c\n', True, True),
        ('"""A."""\n\nfrom . import c\n', True, True),
        ("import os\n", False, False),
        ('"""A.""".strip()\n', False, False),
        ("", False, True),
    ],
)
def test_what_is_wrong_in_a_test_is_found(
    checkout: Callable[[str, str], Path], text: str, relative: bool, described: bool
) -> None:
    root = checkout("tests/unit/test_x.py", text)
    module = _test_module(root / "tests/unit/test_x.py", root)
    assert ([line.endswith("absolute") for line in wrong_imports([module])] != [], module.described) == (
        relative, described,
    )  # fmt: skip


GOOD = [
    ("schemas/codec.py", "import json\nimport orjson\nfrom pydantic import Field\nfrom schemas.base import Id"),
    ("agents/core/depth/levels.py", "from agents.core import text\nfrom agents.errors import Rejected\nimport Stemmer"),
    ("agents/ports.py", "from agents.core.conversation.memory import Turns"),
    (
        "agents/stages/depth.py",
        "from agents.core import depth\nfrom agents.errors import Rejected\nfrom agents.ports import Clock",
    ),
    (
        "agents/retrievers/persona.py",
        "from agents.retrievers.base import Found\nfrom agents.context import ContextManager",
    ),
    ("streams/faust/consumer_group.py", "import faust"),
    ("streams/faust/consumer.py", "from mode import Service"),
    ("streams/runtime/app.py", "from agents.stages.depth import DepthAgent\nimport aiokafka"),
]


@pytest.mark.parametrize(("path", "text"), GOOD, ids=[path for path, _ in GOOD])
def test_a_right_import_is_let_through(checkout: Callable[[str, str], Path], path: str, text: str) -> None:
    assert wrong_imports(read(checkout(path, text))) == []


@pytest.mark.parametrize(
    "text",
    ["import os\nos.environ['A']", "from os import environ", "import os\nos.getenv('A')", "import os as o\no.environ"],
)
def test_a_second_reader_of_the_environment_is_found(checkout: Callable[[str, str], Path], text: str) -> None:
    assert environment_readers(read(checkout("streams/runtime/app.py", text))) == ["streams.runtime.app"]
    assert environment_readers(read(checkout("streams/config.py", text))) == ["streams.runtime.app"]


@pytest.mark.parametrize(
    "text", ["from importlib import import_module\nimport_module('re' + 'dis')", "__import__('redis')"]
)
def test_an_import_by_name_is_found(checkout: Callable[[str, str], Path], text: str) -> None:
    assert hidden_imports(read(checkout("agents/stages/depth.py", text))) == ["agents.stages.depth"]
