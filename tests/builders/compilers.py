"""Compilers of the client libraries' languages, and their packages by exact version; outside the repository's files."""

import hashlib
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.builders.npm import npm_package
from tests.checkout import ROOT
from tests.servers.install import SERVERS, InstallError, copy_dependencies, ensure_tool

CLIENTS = ROOT / "clients"
TYPESCRIPT, TYPESCRIPT_SHA256 = "typescript@6.0.3", "33cd0ee1beaa8c9e9d15a9da836c62ddea4c34a42d7c2d349dbc80d94165d22a"
GO_AT_LEAST = 24
JAVA_POM = CLIENTS / "java" / "pom.xml"
JARS = {
    "jackson-annotations-2.22.jar": "21ddb598807d3a51a876704eb979d9296e1c6a6f47ab1826ff88c6d6a127a2d0",
    "jackson-core-2.22.1.jar": "941ff029bcdb93e83d209ce516c1a7fb8bbac07d0a2fa122f5bf194b2cd7b4f4",
    "jackson-databind-2.22.1.jar": "7dcd7e53bec1f56c7ad278bd1ca0840bebcc595d61ce44d6a8439abb75b965b2",
}


def ran(
    *command: str | Path, folder: Path = ROOT, given: str = "", environment: Mapping[str, str] | None = None
) -> str:
    """What a command writes; it must succeed."""
    done = subprocess.run(
        command, cwd=folder, input=given, capture_output=True, text=True, check=False, timeout=240, env=environment
    )
    assert done.returncode == 0, f"{done.stdout[-4000:]}{done.stderr[-4000:]}"
    return done.stdout


def tsc() -> Sequence[str]:
    """The command of the TypeScript compiler; raises `InstallError`."""
    ensure_tool("node", "The TypeScript client", "nodejs")
    home = npm_package(TYPESCRIPT, TYPESCRIPT_SHA256)
    return "node", str(home / "node_modules" / "typescript" / "bin" / "tsc")


def go() -> str:
    """The command `go`; raises `InstallError`."""
    ensure_tool("go", "The Go types", "golang-go")
    found = re.search(r"go1\.(\d+)", ran("go", "version"))
    if found is None or int(found[1]) < GO_AT_LEAST:
        raise InstallError(f"The Go types need Go 1.{GO_AT_LEAST} or newer, for its tag omitzero.")
    return "go"


def java() -> str:
    """The class path with Jackson; raises `InstallError`."""
    ensure_tool("javac", "The Java types", "default-jdk-headless")
    version = re.search(r"<jackson.version>(.+)<", JAVA_POM.read_text())
    assert version is not None
    home = SERVERS / "jackson" / version[1]
    if not home.exists():
        ensure_tool("mvn", "Fetching Jackson", "maven")
        copy_dependencies(JAVA_POM, home)
    found = {jar.name: hashlib.sha256(jar.read_bytes()).hexdigest() for jar in home.glob("*.jar")}
    if found != JARS:
        shutil.rmtree(home)
        raise InstallError(f"Jackson's jars are not the pinned ones, they are not run: {found}.")
    return f"{home}/*"


def examples_of(page: Path, fence: str) -> list[str]:
    """The code blocks of a page, in a language."""
    return re.findall(rf"```{fence}\n(.*?)```", page.read_text(), re.DOTALL)
