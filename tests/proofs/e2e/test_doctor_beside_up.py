"""`fathom doctor --reconcile` beside `fathom up`: what was lost is found and mended while packs go on."""

import asyncio
import json
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from streams.replay.reconcile import Refs, found_in, take_out
from streams.runtime import data_dir
from streams.stores.remote.client import RemoteGraph, RemoteIndex, connected
from tests.checkout import ROOT
from tests.e2e.processes import SMALL, UNHURRIED, Process, clean, running
from tests.proofs.e2e.test_replay import chosen, fill, missing, questions, said, until_quiet

PATIENCE_S = 400.0
MESSAGES, LOST_POINTS, LOST_NODES = 60, 30, 10
TENANT = "aurora"
# The graph as a command that looks at it has it, while it does.
COPY = "graph.copy"


async def _without(data: Path) -> Refs:
    """Take some points and nodes out of the stores of a running process, behind its back."""
    addresses = data_dir.running(data)
    assert addresses is not None
    async with connected(addresses.stores, addresses.pid) as calls:
        graph, index = RemoteGraph(calls), RemoteIndex(calls)
        async with graph.snapshot() as listed:
            lost = chosen(random.Random(7), await found_in({TENANT}, listed, index), LOST_POINTS, LOST_NODES)
        await take_out(lost, graph, index)
    assert not (data / COPY).exists()
    return lost


@contextmanager
def held(data: Path) -> Iterator[None]:
    """The stores, taken by another client."""
    addresses = data_dir.running(data)
    assert addresses is not None
    taken, ended = threading.Event(), threading.Event()

    async def hold() -> None:
        async with connected(addresses.stores, addresses.pid):
            taken.set()
            await asyncio.to_thread(ended.wait)

    thread = threading.Thread(target=asyncio.run, args=(hold(),))
    thread.start()
    assert taken.wait(20)
    try:
        yield
    finally:
        ended.set()
        thread.join()


class Asking:
    """Somebody who asks one question after the other over HTTP, while the context lasts."""

    def __init__(self, http: str, token: str) -> None:
        self.statuses: list[int] = []
        self._client = httpx.Client(
            base_url=f"http://{http}", headers={"authorization": f"Bearer {token}"}, timeout=120
        )
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._ask)

    def _ask(self) -> None:
        while not self._ended.is_set():
            question = f"Qual é o prazo do projeto {len(self.statuses)}?"
            body = {"question": question, "conversation_id": "beside", "nickname": "Ana", "client_id": "web"}
            self.statuses.append(self._client.post("/ask", json=body).status_code)
            time.sleep(0.5)

    def __enter__(self) -> "Asking":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Process, Path]]:
    folder = tmp_path_factory.mktemp("beside")
    data = folder / "data"
    with running("up", "--data", str(data), "--port", "0", stderr=folder / "err", **UNHURRIED) as up:
        ready = up.ready()
        fill(f"embedded://{data}", folder, MESSAGES)
        until_quiet(ready["bootstrap"], questions(MESSAGES))
        yield up, data


def doctor(data: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """It steps aside for whatever else runs, so that it takes long on a busy machine."""
    command = [sys.executable, "-m", "streams", "doctor", *arguments, "--broker", f"embedded://{data}"]
    environment = {**clean(), **SMALL}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=PATIENCE_S)


@pytest.mark.timeout(1200)
@pytest.mark.covers("AC-33", "B15")
def test_what_was_lost_is_found_and_mended_while_packs_go_on(site: tuple[Process, Path]) -> None:
    _, data = site
    clean = said(doctor(data, "--reconcile", "--json"))
    assert (clean["left"], missing(clean, "nodes"), missing(clean, "passages")) == (0, 0, 0)
    asyncio.run(_without(data))
    addresses = data_dir.running(data)
    assert addresses is not None
    with Asking(addresses.http, (data / "token").read_text().strip()) as asking:
        ill = said(doctor(data, "--reconcile", "--json"), code=5)
        assert (missing(ill, "passages"), missing(ill, "nodes")) == (LOST_POINTS, LOST_NODES)
        assert sum(row["orphans"] for row in ill["reconciled"]) == 0
        before = len(asking.statuses)
        mended = doctor(data, "--repair")
        assert mended.returncode == 0, mended.stdout + mended.stderr
        assert f"{TENANT}: nodes" in mended.stdout
        assert "0 findings left" in mended.stdout
        assert "records" in mended.stderr
        assert len(asking.statuses) > before
    assert set(asking.statuses) == {200}
    whole = said(doctor(data, "--reconcile", "--json"))
    assert whole["left"] == 0


@pytest.mark.timeout(900)
def test_a_second_doctor_is_refused_with_a_sentence(site: tuple[Process, Path]) -> None:
    _, data = site
    with held(data):
        refused = doctor(data, "--repair")
    assert (refused.returncode, refused.stdout) == (3, "")
    assert "another command works on these stores" in refused.stderr
    assert len(refused.stderr.splitlines()) == 1


@pytest.mark.timeout(900)
def test_ctrl_c_ends_it_and_the_next_one_finds_the_rest(site: tuple[Process, Path]) -> None:
    _, data = site
    asyncio.run(_without(data))
    command = [sys.executable, "-m", "streams", "doctor", "--repair", "--broker", f"embedded://{data}"]
    with subprocess.Popen(
        command, cwd=ROOT, env={**clean(), **SMALL}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as child:
        # Seen from outside: a client that tried the stores would be the one who holds them.
        copied, deadline = data / COPY, time.monotonic() + 60
        while not copied.exists() and child.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
        assert copied.exists()
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=60)
    assert (child.returncode, out) == (130, ""), err
    assert "Traceback" not in err
    assert said(doctor(data, "--repair", "--json"))["left"] == 0


@pytest.mark.timeout(900)
def test_an_up_of_an_earlier_release_is_named_with_what_to_do(site: tuple[Process, Path]) -> None:
    up, data = site
    file = data / data_dir.ADDRESSES
    now = file.read_text()
    addresses = json.loads(now)
    del addresses["stores"]
    file.write_text(json.dumps(addresses))
    try:
        refused = doctor(data, "--reconcile")
    finally:
        file.write_text(now)
    assert refused.returncode == 3
    assert f"process {up.child.pid}, is of an earlier release" in refused.stderr
    assert f"kill {up.child.pid}" in refused.stderr
