"""A `fathom up` for all tests, of the interpreter FATHOM_TEST_PYTHON in the checkout FATHOM_TEST_SERVER."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from fathom_client import Fathom

ROOT = Path(os.environ.get("FATHOM_TEST_SERVER", Path(__file__).parents[3]))
PYTHON = os.environ.get("FATHOM_TEST_PYTHON", str(ROOT / ".venv" / "bin" / "python"))
# The smallest process there is: no sentence encoder, stores in memory; and packs that wait for a busy machine.
SMALL = {
    **dict.fromkeys(("FATHOM_REDIS_URL", "FATHOM_QDRANT_URL", "FATHOM_NEO4J_URL"), "memory://"),
    **{f"FATHOM_PACK_DEADLINE_MS_D{level}": "20000" for level in range(5)},
    "FATHOM_EMBEDDER": "hashing",
    "FATHOM_PARTITIONS": "2",
    "FATHOM_LOG_LEVEL": "error",
}


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of a server that runs."""
    folder = tmp_path_factory.mktemp("fathom")
    clean = {name: text for name, text in os.environ.items() if not name.startswith(("FATHOM_", "PYTHONPATH"))}
    server = subprocess.Popen(
        [PYTHON, "-m", "streams", "up", "--port", "0", "--http-port", "0", "--data", str(folder)],
        cwd=ROOT,
        env={**clean, **SMALL, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=sys.stderr,
        text=True,
    )
    try:
        assert server.stdout is not None
        line = server.stdout.readline()
        assert json.loads(line or "{}").get("event") == "ready", "the server did not start; its words are above"
        yield folder
    finally:
        server.send_signal(signal.SIGTERM)
        server.communicate(timeout=60)


@pytest.fixture
def clean(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No server named in the environment, none in the folder."""
    for name in ("FATHOM_URL", "FATHOM_TOKEN", "FATHOM_TOKEN_FILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_AGENTS_DISABLE_TRACING", "1")
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def fathom(data: Path, clean: None) -> Iterator[Fathom]:
    """A client of a conversation of its own, and of a user whom no other test knows."""
    with Fathom(data=data, user=f"ana-{uuid4()}", wait_s=30) as client:
        yield client
