"""The environment of what Fathom is measured beside, and its programs in processes of their own."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.measure import ROOT, say

HOME = ROOT / ".cache" / "peers"
LIST = ROOT / "deploy" / "requirements" / "peers.txt"
SHOWN = 300


class Unmeasured(Exception):
    """A program that does not run here; the text gives the reason."""


def install() -> None:
    """What the list names, hashes checked; a second run finds its mark and does nothing."""
    mark, wanted = HOME / ".done", LIST.read_text()
    if mark.exists() and mark.read_text() == wanted:
        return
    say(f"installing {wanted.count('==')} pinned packages of {LIST.name} below {HOME.name}, hashes checked")
    uv = str(Path(sys.executable).parent / "uv")
    subprocess.run([uv, "venv", "--quiet", "--clear", "--python", sys.executable, str(HOME)], check=True)
    # Copied: NLTK, of LlamaIndex's words, reads no file that has a second link.
    into = [
        uv,
        "pip",
        "install",
        "--quiet",
        "--python",
        str(HOME / "bin" / "python"),
        "--no-deps",
        "--link-mode",
        "copy",
    ]
    subprocess.run([*into, "--require-hashes", "-r", str(LIST)], check=True)
    mark.write_text(wanted)


@contextmanager
def running(module: str, *arguments: str, own: bool = False) -> Iterator[subprocess.Popen[bytes]]:
    """A module in an environment of its own (`own`: Fathom's), in a folder of its own, until the context ends."""
    python = sys.executable if own else str(HOME / "bin" / "python")
    # Nothing is sent anywhere: they tell their makers how they are used.
    quiet = {"MEM0_TELEMETRY": "False", "LANGSMITH_TRACING": "false", "ANONYMIZED_TELEMETRY": "False"}
    with tempfile.TemporaryDirectory(prefix="fathom-peers-") as folder, (Path(folder) / "said").open("wb") as said:
        process = subprocess.Popen(
            [python, "-m", module, *arguments],
            stdout=said,
            stderr=said,
            cwd=folder,
            env={**os.environ, **quiet, "PYTHONPATH": str(ROOT), "HOME": folder, "MEM0_DIR": folder},
        )
        try:
            yield process
        except Unmeasured:
            if process.poll() is None:
                raise
            raise Unmeasured((Path(folder) / "said").read_text(errors="replace").strip()[-SHOWN:]) from None
        finally:
            process.terminate()
            process.wait(30)
