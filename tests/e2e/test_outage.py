"""A store that is away: packs go on, degraded and named; what stores memory waits, skips nothing, and goes on after."""

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from urllib.request import urlopen

import pytest

from streams.stores.valkey import Valkey
from tests.e2e.test_up import ROOT, Process, _clean

PATIENCE_S = 60.0


def ask(data: Path, text: str) -> dict:
    command = [sys.executable, "-m", "streams", "ask", text, "--broker", f"embedded://{data}", "--json"]
    done = subprocess.run(command, cwd=ROOT, env=_clean(), capture_output=True, text=True, timeout=60, check=True)
    answer = json.loads(done.stdout)
    return answer.get("pack", answer)


def page(http: str, path: str) -> str:
    with urlopen(f"http://{http}{path}", timeout=5) as reply:
        return reply.read().decode()


def until(holds: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < deadline, what
        time.sleep(0.2)


def metric(http: str, name: str) -> float:
    """The sum of a metric's samples."""
    lines = [line for line in page(http, "/metrics").splitlines() if line.startswith(name)]
    return sum(float(line.rsplit(" ", 1)[1]) for line in lines)


@pytest.mark.covers("AC-37", "AC-27", "CF-75", "S0-03")
def test_without_the_working_set_packs_are_degraded_and_afterwards_everything_is_stored(tmp_path: Path):
    data, link = tmp_path / "home", tmp_path / "valkey.sock"
    up = Process("up", "--data", str(data), "--port", "0", stderr=tmp_path / "err", FATHOM_REDIS_URL=f"unix://{link}")
    valkey = Valkey(tmp_path / "valkey")
    try:
        http = up.ready()["http"]
        pack = ask(data, "Qual o email do João Silva?")
        assert (pack["degraded"], pack["missing_sections"]) == (True, ["working_set"])
        assert "working_set" in pack["degraded_reasons"][0]
        assert "store.down" in up.said()
        assert "unavailable" in json.loads(page(http, "/health/ready"))["stores"]["working_set"]
        waiting = 'fathom_uncommitted_records{group="index-writers"}'
        until(lambda: metric(http, waiting) > 0, "the indexer should wait with the turn in hand")

        valkey.start()
        link.symlink_to(valkey.socket)
        until(
            lambda: json.loads(page(http, "/health/ready"))["stores"]["working_set"] == "ok", "it should be found again"
        )
        until(lambda: metric(http, waiting) == 0, "the indexer should go on where it waited")
        assert not ask(data, "Qual o prazo do contrato?")["degraded"]
        assert metric(http, "fathom_dead_letters_total") == 0
        assert up.end()[0] == 0
    finally:
        up.child.kill()
        valkey.stop()
