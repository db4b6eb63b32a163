"""The package as a product: what it may import, what its wheel holds, that both clients are one, and fit the server."""

import ast
import inspect
import json
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

import fathom_client
from fathom_client import AsyncFathom, Fathom, models

HERE = Path(__file__).parents[1]
ROOT = HERE.parents[1]
PACKAGE = HERE / "fathom_client"
SERVER = ("agents", "schemas", "streams")
ADAPTERS = {"langchain": "langchain_core", "llamaindex": "llama_index", "openai_agents": "agents"}
OPENAPI = json.loads((ROOT / "docs" / "openapi.json").read_text())["components"]["schemas"]
# What each model is called by the server.
SCHEMAS: dict[type[BaseModel], tuple[str, ...]] = {
    models.Pack: ("ContextPack",),
    models.PackSource: ("PackSource",),
    models.Receipt: ("MessageTaken",),
    models.Document: ("DocumentTaken",),
    models.Turn: ("Turn",),
    models.Decision: ("PackDecision",),
    models.Conversation: ("ConversationShown",),
    models.Assessment: ("Assessed",),
    models.DeepAnswer: ("DeepAnswerShown",),
    models.Section: ("Section",),
    models.Item: ("Chunk", "ClaimItem", "Concept", "Contradiction", "Knowledge", "MessageItem", "Step", "TimePoint"),
}


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield (node.module or "").partition(".")[0]


@pytest.mark.parametrize("path", sorted(PACKAGE.glob("*.py")), ids=lambda path: path.stem)
def test_a_module_imports_nothing_of_the_server_and_little_else(path: Path) -> None:
    allowed = {"fathom_client", "httpx", "pydantic", ADAPTERS.get(path.stem, "fathom_client")}
    assert set(imports(path)) - sys.stdlib_module_names <= allowed


def test_nothing_of_the_server_is_loaded_where_it_could_be() -> None:
    asked = f"import sys, fathom_client; print([name for name in {SERVER} if name in sys.modules])"
    told = subprocess.run(
        [sys.executable, "-c", asked], cwd=ROOT, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True
    )
    assert (told.stdout, told.stderr) == ("[]\n", "")


def test_what_is_called_agents_here_is_the_sdk() -> None:
    import agents

    assert agents.__file__ is not None
    assert "site-packages" in agents.__file__
    assert hasattr(agents, "Runner")


def test_two_packages_are_needed_and_the_version_is_the_servers() -> None:
    project = tomllib.loads((HERE / "pyproject.toml").read_text())["project"]
    assert [line.partition(">")[0] for line in project["dependencies"]] == ["httpx", "pydantic"]
    assert set(project["optional-dependencies"]) == {name.replace("_", "-") for name in ADAPTERS}
    assert project["version"] == tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]


def test_the_wheel_holds_every_module_and_says_that_it_is_typed(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=HERE, check=True, capture_output=True)
    [wheel] = tmp_path.glob("*.whl")
    held = {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("fathom_client/")}
    assert held == {f"fathom_client/{path.name}" for path in PACKAGE.iterdir() if path.is_file()}
    assert "fathom_client/py.typed" in held


@pytest.mark.parametrize("name", ADAPTERS)
def test_an_adapter_is_short(name: str) -> None:
    assert len((PACKAGE / f"{name}.py").read_text().splitlines()) <= 80


def public(kind: type) -> dict[str, Any]:
    return {name: member for name, member in inspect.getmembers(kind, inspect.isfunction) if name[0] != "_"}


def test_both_clients_have_the_same_methods_with_the_same_parameters_and_promises() -> None:
    blocking, coroutines = public(Fathom), public(AsyncFathom)
    coroutines["close"] = coroutines.pop("aclose")
    assert blocking.keys() == coroutines.keys()
    assert inspect.signature(Fathom) == inspect.signature(AsyncFathom)
    for name, method in blocking.items():
        other = coroutines[name]
        ours, theirs = inspect.signature(method), inspect.signature(other)
        assert ours.parameters == theirs.parameters, name
        assert str(ours.return_annotation) == str(theirs.return_annotation).replace("Async", ""), name
        assert method.__doc__ == other.__doc__, name
        assert inspect.iscoroutinefunction(other) or inspect.isasyncgenfunction(other), name


@pytest.mark.parametrize("model", SCHEMAS, ids=lambda model: model.__name__)
def test_a_model_has_only_fields_that_the_server_gives(model: type[BaseModel]) -> None:
    schemas = [OPENAPI[name] for name in SCHEMAS[model]]
    given = {field for schema in schemas for field in schema["properties"]}
    always = set.intersection(*({*schema.get("required", ())} for schema in schemas))
    # With `deep` the server gives the answer beside the pack.
    beside = {"answer"} & OPENAPI["DeepReply"]["properties"].keys() if model is models.Pack else set()
    assert set(model.model_fields) - beside <= given
    assert {name for name, field in model.model_fields.items() if field.is_required()} <= always | {"type"}


def test_all_that_is_public_is_named() -> None:
    answers = [value for value in vars(models).values() if inspect.isclass(value) and issubclass(value, models.Answer)]
    assert {kind.__name__ for kind in answers} - {"Answer"} <= set(fathom_client.__all__)
    assert all(hasattr(fathom_client, name) for name in fathom_client.__all__)
