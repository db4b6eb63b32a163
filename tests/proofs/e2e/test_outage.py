"""A store that is away: packs go on, degraded and named; what stores memory waits, skips nothing, and goes on after."""

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from streams.stores.sessions.valkey import Valkey
from tests.checkout import ROOT
from tests.e2e.processes import Process, clean

PATIENCE_S = 60.0
TRIES = 10


def ask(data: Path, text: str) -> dict:
    command = [sys.executable, "-m", "streams", "ask", text, "--broker", f"embedded://{data}", "--json"]
    done = subprocess.run(command, cwd=ROOT, env=clean(), capture_output=True, text=True, timeout=60, check=True)
    answer = json.loads(done.stdout)
    return answer.get("pack", answer)


def page(http: str, path: str) -> str:
    try:
        with urlopen(f"http://{http}{path}", timeout=5) as reply:
            return reply.read().decode()
    except HTTPError as error:
        return error.read().decode()  # readiness has a body when it is 503, too


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
        # The first packs of a process may miss other parts too: a deadline of 200 ms meets caches that are empty.
        packs = [ask(data, "Qual o email do João Silva?")]
        while packs[-1]["missing_sections"] != ["working_set"] and len(packs) < TRIES:
            packs.append(ask(data, "Qual o email do João Silva?"))
        assert all(pack["degraded"] and "working_set" in pack["missing_sections"] for pack in packs)
        assert packs[-1]["missing_sections"] == ["working_set"]
        assert "working_set" in packs[-1]["degraded_reasons"][0]
        assert "store.down" in up.said()
        said = json.loads(page(http, "/health/ready"))
        assert not said["ready"]
        assert said["why"] == [said["stores"]["working_set"]]
        assert "working_set is unavailable" in said["why"][0]
        assert json.loads(page(http, "/health/live"))["live"]
        assert metric(http, 'fathom_store_up{store="working_set"}') == 0
        # A mere question is no passage: what says something waits for the turns around it.
        assert ask(data, "O ramal da Marta Reis é 7731.")["degraded"]
        waiting = 'fathom_uncommitted_records{group="index-writers"}'
        until(lambda: metric(http, waiting) > 0, "the indexer should wait with the turn in hand")

        valkey.start()
        link.symlink_to(valkey.socket)
        until(
            lambda: json.loads(page(http, "/health/ready"))["stores"]["working_set"] == "ok", "it should be found again"
        )
        assert json.loads(page(http, "/health/ready"))["ready"]
        assert metric(http, 'fathom_store_up{store="working_set"}') == 1
        until(lambda: metric(http, waiting) == 0, "the indexer should go on where it waited")
        until(lambda: not ask(data, "Qual o prazo do contrato?")["degraded"], "packs should be whole again")
        assert metric(http, "fathom_dead_letters_total") == 0
        assert up.end()[0] == 0
    finally:
        up.child.kill()
        valkey.stop()
