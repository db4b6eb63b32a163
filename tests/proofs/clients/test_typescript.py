"""The TypeScript client, built and run by Node against a `fathom up`; what its README shows compiles and runs."""

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.builders import compilers
from tests.checkout import ROOT
from tests.e2e.processes import IN_MEMORY, UNHURRIED, running
from tests.servers.install import InstallError

CLIENT = compilers.CLIENTS / "typescript"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package with its built files, as npm would lay it out for who depends on it."""
    try:
        compiler = compilers.tsc()
    except InstallError as error:
        pytest.skip(str(error))
    home = tmp_path_factory.mktemp("app")
    package = home / "node_modules" / "fathom-client"
    shutil.copytree(CLIENT, package)
    compilers.ran(*compiler, "--project", ".", folder=package)
    shutil.copytree(CLIENT / "tests", home / "tests")
    (home / "package.json").write_text('{"type": "module"}')
    return home


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The environment that names a server."""
    place = tmp_path_factory.mktemp("up")
    settings = {**UNHURRIED, **IN_MEMORY, "FATHOM_LOG_LEVEL": "error", "FATHOM_ASK_CALLS_PER_MINUTE": "6000"}
    with running("up", "--data", str(place / "data"), "--port", "0", stderr=place / "err", **settings) as process:
        address = process.ready()["http"]
        token = (place / "data" / "token").read_text().strip()
        yield {**os.environ, "FATHOM_URL": f"http://{address}", "FATHOM_TOKEN": token}
        assert process.end()[0] == 0
        assert token not in (place / "err").read_text()


@pytest.mark.parametrize(
    ("file", "least"), [("client.test.mjs", 30), ("memories.test.mjs", 4), ("browser.test.mjs", 2)]
)
def test_nodes_own_test_runner_finds_nothing_wrong(built: Path, server: dict[str, str], file: str, least: int) -> None:
    said = compilers.ran(
        "node", "--no-warnings", "--experimental-vm-modules", "--test", "--test-reporter=spec", f"tests/{file}",
        folder=built, environment=server,
    )  # fmt: skip
    counts = {name: int(number) for name, number in re.findall(r"^ℹ (pass|fail|skipped|cancelled) (\d+)$", said, re.M)}
    assert counts.pop("pass") >= least
    assert counts == {"fail": 0, "skipped": 0, "cancelled": 0}


def test_the_examples_of_the_page_compile_and_run(built: Path, server: dict[str, str]) -> None:
    first, loop, kafka = compilers.examples_of(CLIENT / "README.md", "ts")
    [overview] = compilers.examples_of(ROOT / "docs" / "clients.md", "ts")
    assert len(first.strip().splitlines()) <= 6
    declared = "declare const console: { log(...said: unknown[]): void };\n"
    (built / "first.ts").write_text(first)
    (built / "overview.ts").write_text(overview)
    (built / "loop.ts").write_text(f'import {{ Fathom }} from "fathom-client";\nconst fathom = new Fathom();\n{loop}')
    claim = '{"author": "user", "text": "day 15", "status": "contested"}'
    pack = f'{{"text": "T", "claims": {{"user_claims": [{claim}]}}}}'
    (built / "kafka.ts").write_text(f"{declared}{kafka}\nshow(new TextEncoder().encode(`{pack}`));\n")
    options = ["--strict", "--exactOptionalPropertyTypes", "--target", "es2022", "--module", "nodenext"]
    compilers.ran(
        *compilers.tsc(),
        *options,
        "--lib",
        "es2022,dom",
        "first.ts",
        "loop.ts",
        "kafka.ts",
        "overview.ts",
        folder=built,
    )
    assert "The team lead approves refunds" in compilers.ran("node", "first.js", folder=built, environment=server)
    assert "The team lead approves refunds" in compilers.ran("node", "overview.js", folder=built, environment=server)
    given = compilers.ran("node", "loop.js", folder=built, environment=server)
    assert re.fullmatch(r"(D[0-4] Who approves refunds\?\n){2}", given)  # of the overview, and its own
    assert compilers.ran("node", "kafka.js", folder=built, environment=server) == "T\nuser: day 15 (contested)\n"


def test_the_package_has_no_dependencies_and_holds_what_runs_it(built: Path) -> None:
    package = built / "node_modules" / "fathom-client"
    said = compilers.ran("npm", "pack", "--dry-run", "--json", "--ignore-scripts", folder=package)
    files = set(re.findall(r'"path": "([^"]+)"', said))
    assert {"dist/index.js", "dist/index.d.ts", "dist/types.d.ts", "package.json", "README.md"} <= files
    assert not [name for name in files if name.startswith(("src", "tests"))]
    assert "ependencies" not in (CLIENT / "package.json").read_text().replace('"devDependencies"', "")
    bundle = "".join(path.read_text() for path in (package / "dist").glob("*.js"))
    assert "node:" not in bundle
    assert "require(" not in bundle
