"""Fetch the real servers the tests run against: `python -m tests.servers.install kafka`.

Everything lands in `<repository>/.servers`; a second call finds it there and does nothing.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parent
SERVERS = HERE.parents[1] / ".servers"
KAFKA_LIBS = SERVERS / "kafka" / "libs"
KAFKA_POM = HERE / "kafka-pom.xml"
JAVA_AT_LEAST = 17
DEBIAN_JAVA = ("openjdk-17-jre-headless", "default-jre-headless")


class InstallError(Exception):
    """A server cannot be installed here; the text says in one sentence what to do about it."""


def kafka_version() -> str:
    """Return the Apache Kafka version the pom pins."""
    found = re.search(r"<kafka\.version>([^<]+)<", KAFKA_POM.read_text())
    if found is None:
        raise InstallError(f"{KAFKA_POM.name} pins no kafka.version.")
    return found.group(1)


def kafka_libs() -> Path | None:
    """Return the folder of Kafka's jars if the pinned version is complete there, else None."""
    return KAFKA_LIBS if (KAFKA_LIBS / f"kafka_2.13-{kafka_version()}.jar").exists() else None


def java_version() -> int | None:
    """Return the major version of the `java` on the path, None when there is none."""
    if shutil.which("java") is None:
        return None
    reply = subprocess.run(["java", "-version"], capture_output=True, text=True, check=False)
    found = re.search(r'version "(\d+)', reply.stderr)
    return int(found.group(1)) if found else None


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


def _ensure_java() -> None:
    if (java_version() or 0) >= JAVA_AT_LEAST:
        return
    for package in DEBIAN_JAVA:
        if _apt_install(package) and (java_version() or 0) >= JAVA_AT_LEAST:
            return
    raise InstallError(
        f"Apache Kafka needs Java {JAVA_AT_LEAST} or newer: install a JRE"
        f" (Debian: apt-get install {DEBIAN_JAVA[1]}) and run this again."
    )


def _ensure_maven() -> None:
    if shutil.which("mvn") is None and not _apt_install("maven"):
        raise InstallError(
            "Fetching Kafka's jars needs Maven: install mvn (Debian: apt-get install maven) and run this again."
        )


def _copy_dependencies(pom: Path, target: Path) -> None:
    """Let Maven fill `target` with the pom's jars; it appears whole or not at all."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
        jars = Path(scratch) / "libs"
        goal = ["dependency:copy-dependencies", f"-DoutputDirectory={jars}"]
        # The pom is copied so that Maven leaves no `target` folder in the source tree.
        copy = shutil.copy(pom, scratch)
        command = ["mvn", "-q", "-B", "-f", str(copy), *goal]
        reply = subprocess.run(command, capture_output=True, text=True, check=False)
        if reply.returncode != 0:
            lines = (reply.stdout + reply.stderr).strip().splitlines() or ["no output"]
            raise InstallError(f"Maven could not fetch the jars of {pom.name}: {lines[0]}")
        shutil.rmtree(target, ignore_errors=True)
        jars.rename(target)


def install_kafka(say: Callable[[str], object] = lambda _: None) -> Path:
    """Return the folder of Kafka's jars, fetching Java, Maven and the jars where missing.

    Raises `InstallError` when something is missing that this process may not install.
    """
    if (present := kafka_libs()) is not None and shutil.which("java"):
        say(f"Apache Kafka {kafka_version()} is in {present}.")
        return present
    say(f"Fetching Apache Kafka {kafka_version()} to {KAFKA_LIBS} ...")
    _ensure_java()
    if kafka_libs() is None:
        _ensure_maven()
        _copy_dependencies(KAFKA_POM, KAFKA_LIBS)
    if kafka_libs() is None:
        raise InstallError(f"Maven succeeded, but {KAFKA_LIBS} lacks Kafka's own jar.")
    say(f"Done: {len(list(KAFKA_LIBS.glob('*.jar')))} jars.")
    return KAFKA_LIBS


INSTALLERS: dict[str, Callable[[Callable[[str], object]], Path]] = {"kafka": install_kafka}


def main(names: Sequence[str]) -> int:
    """Install the named servers; the exit code is 0 only when all of them are there."""
    unknown = sorted(set(names) - INSTALLERS.keys())
    if unknown or not names:
        sys.stderr.write(f"Name at least one of: {', '.join(sorted(INSTALLERS))}.\n")
        return 2
    for name in names:
        try:
            INSTALLERS[name](lambda line: sys.stdout.write(line + "\n"))
        except InstallError as error:
            sys.stderr.write(f"{error}\n")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
