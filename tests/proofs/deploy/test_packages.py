"""The packages as they would be published, installed in empty folders without this checkout, and used there.

Their dependencies come from the registries that uv and npm are set up for.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.builders import compilers
from tests.checkout import ROOT

UV = (sys.executable, "-m", "uv", "--quiet")
DOCUMENT = "# Refunds\n\nThe team lead approves refunds up to 500 euros.\n"
TOLD = "The team lead approves refunds up to 500 euros."
PYTHON = """
import fathom_client
from fathom_client import Fathom

assert "site-packages" in fathom_client.__file__
with Fathom(user="ana") as fathom:
    pack = fathom.ask("Who approves refunds?", look_up="always")
    fathom.say("The team lead does [1].", answers=pack)
    print(pack.text)
"""
NODE = """
import { Fathom } from "fathom-client";

const fathom = new Fathom({ user: "bea" });
const pack = await fathom.ask("Who approves refunds?", { lookUp: "always" });
await fathom.say("The team lead does [1].", { answers: pack });
console.log(pack.text);
"""


def clean(**environment: str) -> dict[str, str]:
    """The environment of somebody who has no checkout and no settings."""
    dropped = ("FATHOM_", "RAG_", "PYTHON", "VIRTUAL_ENV")
    return {**{name: text for name, text in os.environ.items() if not name.startswith(dropped)}, **environment}


def ran(*command: str | Path, folder: Path, **environment: str) -> str:
    done = subprocess.run(
        command, cwd=folder, env=clean(**environment), capture_output=True, text=True, timeout=280, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def wheel_of(project: Path, out: Path) -> Path:
    ran(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(out), folder=project)
    [wheel] = out.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def uvx(tmp_path_factory: pytest.TempPathFactory) -> tuple[str | Path, ...]:
    """`uvx --from fathom-context`, of the wheel that would be published."""
    return *UV, "tool", "run", "--from", wheel_of(ROOT, tmp_path_factory.mktemp("wheel"))


@contextmanager
def up(command: tuple[str | Path, ...], folder: Path) -> Iterator[dict[str, str]]:
    """The ready line of a `fathom up` in an empty folder, which ends well."""
    with (folder / "err").open("w") as errors:
        process = subprocess.Popen(
            [*command, "up", "--port", "0"], cwd=folder, env=clean(FATHOM_HTTP_PORT="0"), text=True,
            stdout=subprocess.PIPE, stderr=errors,
        )  # fmt: skip
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert line, (folder / "err").read_text()
            yield json.loads(line)
            process.terminate()
            process.communicate(timeout=60)
            assert process.returncode == 0
        finally:
            process.kill()
            process.communicate()


@pytest.fixture(scope="module")
def running(
    uvx: tuple[str | Path, ...], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Path, dict[str, str]]]:
    """The folder of a `uvx … fathom up` that has read a document, and its ready line."""
    folder = tmp_path_factory.mktemp("empty")
    with up((*uvx, "fathom"), folder) as ready:
        (folder / "refunds.md").write_text(DOCUMENT)
        ran(*uvx, "fathom", "ingest", "refunds.md", folder=folder)
        yield folder, ready


def test_one_command_runs_it_and_messages_get_packs(
    uvx: tuple[str | Path, ...], running: tuple[Path, dict[str, str]]
) -> None:
    folder, _ = running
    ran(*uvx, "fathom", "send", "My locker code is 7781.", "--conversation", "c1", folder=folder)
    asked = ran(*uvx, "fathom", "ask", "Who approves refunds?", "--conversation", "c1", "--json", folder=folder)
    assert TOLD in json.loads(asked)["text"]


def test_the_installed_package_says_where_its_evaluation_is(uvx: tuple[str | Path, ...], tmp_path: Path) -> None:
    asked = subprocess.run(
        [*uvx, "fathom", "eval", "packs", "talks"],
        cwd=tmp_path,
        env=clean(),
        capture_output=True,
        text=True,
        timeout=280,
    )  # fmt: skip
    assert (asked.returncode, asked.stderr.partition(":")[0]) == (1, "fathom")
    assert "clone the repository" in asked.stderr


def test_the_python_client_of_its_wheel_asks_in_an_environment_of_its_own(
    running: tuple[Path, dict[str, str]], tmp_path: Path
) -> None:
    folder, _ = running
    wheel = wheel_of(ROOT / "clients/python", tmp_path / "dist")
    ran(*UV, "venv", "--python", sys.executable, tmp_path / "venv", folder=tmp_path)
    python = tmp_path / "venv/bin/python"
    ran(*UV, "pip", "install", "--python", python, wheel, folder=tmp_path)
    installed = {
        each["name"]
        for each in json.loads(ran(*UV, "pip", "list", "--format", "json", "--python", python, folder=tmp_path))
    }
    assert {"fathom-client", "httpx", "pydantic"} <= installed
    assert len(installed) < 20
    # In the folder of `fathom up`, which has its address and token.
    assert TOLD in ran(python, "-c", PYTHON, folder=folder)


def test_the_typescript_client_of_its_package_asks_in_a_folder_of_its_own(
    running: tuple[Path, dict[str, str]], tmp_path: Path
) -> None:
    folder, ready = running
    source, app = tmp_path / "source", tmp_path / "app"
    app.mkdir()
    shutil.copytree(ROOT / "clients/typescript", source, ignore=shutil.ignore_patterns("node_modules", "dist"))
    compiler = Path(compilers.tsc()[-1]).parent
    # `prepack` compiles it.
    [packed] = json.loads(
        ran(
            "npm",
            "pack",
            "--json",
            "--pack-destination",
            tmp_path,
            folder=source,
            PATH=f"{compiler}:{os.environ['PATH']}",
        )
    )
    (app / "package.json").write_text('{"type": "module"}')
    ran("npm", "install", "--no-audit", "--no-fund", tmp_path / packed["filename"], folder=app)
    assert [path.name for path in (app / "node_modules").iterdir() if not path.name.startswith(".")] == [
        "fathom-client"
    ]
    (app / "main.mjs").write_text(NODE)
    token = (folder / ".fathom/token").read_text().strip()
    said = ran("node", "main.mjs", folder=app, FATHOM_URL=f"http://{ready['http']}", FATHOM_TOKEN=token)
    assert TOLD in said
