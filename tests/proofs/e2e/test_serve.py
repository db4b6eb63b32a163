"""`fathom serve` beside another of its kind, without its broker, with one that hangs, and at its end."""

import json
import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import httpx
import pytest

from tests.e2e.calls import post, question, reachable, records, serving
from tests.e2e.processes import IN_MEMORY, UNHURRIED, running
from tests.proofs.health.site import until

TOKENS = {"acme-ana-0123456789": {"tenant": "acme", "user": "ana"}, "beta-eva-0123456789": {"tenant": "beta"}}
ANA, _ = TOKENS


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    place = tmp_path_factory.mktemp("up")
    with running("up", "--data", str(place / "data"), "--port", "0", stderr=place / "err", **UNHURRIED) as process:
        yield process.ready()["bootstrap"]
        assert process.end()[0] == 0


@pytest.fixture(scope="module")
def tokens(tmp_path_factory: pytest.TempPathFactory) -> str:
    place = tmp_path_factory.mktemp("tokens") / "tokens.json"
    place.write_text(json.dumps(TOKENS))
    return str(place)


@pytest.fixture(scope="module")
def url(broker: str, tokens: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    place = tmp_path_factory.mktemp("serve") / "err"
    with serving(broker, tokens, place) as process:
        yield reachable(process)
        assert process.end() == (0, "")
        assert "Traceback" not in place.read_text()
        assert not [token for token in TOKENS if token in place.read_text()]


def test_who_asks_again_under_the_same_key_waits_for_the_same_message(
    broker: str, url: str, tokens: str, tmp_path: Path
):
    conversation = str(uuid4())
    body = question("Bom dia!", conversation)
    late = post(url, body, ANA, idempotency_key="k1", prefer="wait=0")
    assert late.status_code == 504
    first = post(f"{url}?wait=pack", body, ANA, idempotency_key="k1")
    again = post(f"{url}?wait=pack", body, ANA, idempotency_key="k1")
    assert (first.status_code, first.content) == (200, again.content)
    ids = {each.headers["fathom-message-id"] for each in (late, first, again)}
    assert len(ids) == 1
    # Another server, which has just begun, knows what came before it.
    with serving(broker, tokens, tmp_path / "err") as other:
        elsewhere = post(f"{reachable(other)}?wait=pack", body, ANA, idempotency_key="k1", prefer="wait=30")
        assert (elsewhere.status_code, elsewhere.content) == (200, first.content)
        assert other.end()[0] == 0
    packs = [p["value"]["message_id"] for p in records(broker, "context-packs.out")]
    assert packs.count(ids.pop()) == 1


def test_a_server_without_its_broker_says_so_and_ends_in_order(tokens: str, tmp_path: Path):
    with serving("127.0.0.1:1", tokens, tmp_path / "err") as process:
        said = process.ready()
        deadline = time.monotonic() + 60
        while "no broker answers" not in (refused := post(said["url"], question("oi", "c"), ANA)).text:
            assert refused.status_code == 503
            assert time.monotonic() < deadline
        assert refused.headers["retry-after"] == "1"
        assert httpx.get(f"http://{said['http']}/health/live").status_code == 200
        assert httpx.get(f"http://{said['http']}/health/ready").status_code == 503
        assert "fathom_ask_duration_seconds" in httpx.get(f"http://{said['http']}/metrics").text
        assert process.end() == (0, "")


@pytest.mark.covers("B18")
def test_a_broker_that_hangs_is_said_by_readiness_alone_and_only_as_long_as_it_hangs(tokens: str, tmp_path: Path):
    home = ("--data", str(tmp_path / "data"), "--port", "0")
    with (
        running("up", *home, stderr=tmp_path / "up.err", **IN_MEMORY) as up,
        serving(up.ready()["bootstrap"], tokens, tmp_path / "err") as process,
    ):
        said = process.ready()

        def status(page: str) -> int:
            return httpx.get(f"http://{said['http']}/health/{page}").status_code

        assert until(lambda: status("ready") == 200, 60) is not None
        (broker,) = (pid for pid in up.descendants() if b"streams.broker" in Path(f"/proc/{pid}/cmdline").read_bytes())
        os.kill(broker, signal.SIGSTOP)
        try:
            assert until(lambda: status("ready") == 503, 30) is not None
            assert status("live") == 200
            assert httpx.get(f"http://{said['http']}/health/ready").json()["broker"] is False
        finally:
            os.kill(broker, signal.SIGCONT)
        assert until(lambda: status("ready") == 200, 30) is not None
        assert process.end()[0] == 0


def test_when_the_server_ends_who_waits_is_told_to_ask_again(broker: str, tokens: str, tmp_path: Path):
    with serving(broker, tokens, tmp_path / "err") as process:
        url = reachable(process)
        answers: list[httpx.Response] = []
        body = question("Quem vai falar?", str(uuid4()))
        asking = threading.Thread(target=lambda: answers.append(post(url, body, ANA)))
        asking.start()
        deadline = time.monotonic() + 60
        while not [
            r for r in records(broker, "messages.in") if r["value"].get("conversation_id") == body["conversation_id"]
        ]:
            assert time.monotonic() < deadline
        assert process.end(signal.SIGTERM)[0] == 0
        asking.join(30)
        [answer] = answers
        assert answer.status_code == 503
        assert "ask again with the same Idempotency-Key" in answer.json()["detail"]
