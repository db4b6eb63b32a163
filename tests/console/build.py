"""Build the console's page: `python -m tests.console.build`, or `make console`.

Its packages are those of its lock file, by digest, in `.servers`; the page is built from a copy of the sources, so that
nothing but them is in it.
"""

import hashlib
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.checkout import ROOT
from tests.servers.install import SERVERS, InstallError, ensure_tool

CONSOLE = ROOT / "streams" / "edges" / "console"
WEB, STATIC = CONSOLE / "web", CONSOLE / "static"
# What a browser gets of others, and under which licence.
BUNDLED = ("preact",)


def packages() -> Path:
    """The `node_modules` of the lock file; raises `InstallError`."""
    ensure_tool("npm", "The console's page", "npm")
    lock = (WEB / "package-lock.json").read_bytes()
    home = SERVERS / "console" / hashlib.sha256(lock).hexdigest()[:16]
    if not home.exists():
        home.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=home.parent) as scratch:
            for name in ("package.json", "package-lock.json"):
                shutil.copy(WEB / name, scratch)
            _run("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", folder=Path(scratch))
            Path(scratch).rename(home)
            Path(scratch).mkdir()
    return home / "node_modules"


def sources(folder: Path) -> Path:
    """A copy of the sources with their packages beside them."""
    copy = folder / "web"
    shutil.copytree(WEB, copy, ignore=shutil.ignore_patterns("node_modules", "dist"))
    (copy / "node_modules").symlink_to(packages())
    return copy


def build(target: Path) -> None:
    """Check the types and build the page into a folder; raises `InstallError`."""
    with tempfile.TemporaryDirectory() as scratch:
        web = sources(Path(scratch))
        tool(web, "typescript/bin/tsc", "--noEmit", "--project", ".")
        tool(web, "vite/bin/vite.js", "build", "--outDir", str(target))
    licences = [f"{name}\n\n{(packages() / name / 'LICENSE').read_text().strip()}\n" for name in BUNDLED]
    (target / "licences.txt").write_text("\n".join(licences))


def tool(web: Path, script: str, *arguments: str) -> str:
    """Run a package's script with Node; what it writes. Raises `InstallError` with it when it fails."""
    return _run("node", str(web / "node_modules" / script), *arguments, folder=web)


def _run(*command: str, folder: Path) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise InstallError(f"{' '.join(command[:3])} failed: {done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done.stdout


def main(arguments: Sequence[str]) -> int:
    """Build into the folder of what ships, or the named one."""
    target = Path(arguments[0]).resolve() if arguments else STATIC
    try:
        build(target)
    except InstallError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{target}: {', '.join(sorted(path.name for path in target.iterdir()))}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
