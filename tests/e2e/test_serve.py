"""`fathom serve` beside one running `fathom up`: questions over HTTP through the topics, and back."""

import json
import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.e2e.test_up import IN_MEMORY, UNHURRIED, Process, fathom, running
from tests.health.site import until

TOKENS = {"acme-ana-0123456789": {"tenant": "acme", "user": "ana"}, "beta-eva-0123456789": {"tenant": "beta"}}
ANA, EVA = TOKENS


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


def serving(broker: str, tokens: str, stderr: Path) -> Any:
    settings = {"FATHOM_ASK_TOKENS_FILE": tokens, "FATHOM_ASK_TIMEOUT_MS": "60000"}
    return running("serve", "--port", "0", "--broker", broker, stderr=stderr, **settings)


def reachable(process: Process) -> str:
    """The URL, once the server has its broker."""
    said = process.ready()
    assert said.keys() == {"event", "url", "console", "http"}
    deadline = time.monotonic() + 60
    while httpx.get(f"http://{said['http']}/health/ready").status_code != 200:
        assert time.monotonic() < deadline, process.said()
        time.sleep(0.05)
    return str(said["url"])


@pytest.fixture(scope="module")
def url(broker: str, tokens: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    place = tmp_path_factory.mktemp("serve") / "err"
    with serving(broker, tokens, place) as process:
        yield reachable(process)
        assert process.end() == (0, "")
        assert "Traceback" not in place.read_text()
        assert not [token for token in TOKENS if token in place.read_text()]


def question(text: str, conversation: str, **fields: Any) -> dict[str, Any]:
    return {"question": text, "conversation_id": conversation, "nickname": "Ana", "client_id": "web", **fields}


def post(url: str, body: dict[str, Any], token: str = ANA, **headers: str) -> httpx.Response:
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    return httpx.post(url, json=body, headers={"authorization": f"Bearer {token}", **named}, timeout=90)


def records(broker: str, topic: str) -> list[dict[str, Any]]:
    said = fathom("tail", topic, "--from-beginning", "--no-follow", "--json", "--broker", broker)
    assert said.returncode == 0, said.stderr
    return [json.loads(line) for line in said.stdout.splitlines()]


def test_the_pack_over_http_is_the_record_of_the_topic_in_the_callers_trace(broker: str, url: str):
    trace = "0af7651916cd43dd8448eb211c80319c"
    said = post(f"{url}?wait=pack", question("Qual o prazo?", "c1"), traceparent=f"00-{trace}-b7ad6b7169203331-01")
    assert said.status_code == 200
    pack = said.json()
    assert (pack["message_id"], pack["user_id"]) == (said.headers["fathom-message-id"], "ana")
    [record] = [
        each for each in records(broker, "context-packs.out") if each["value"]["message_id"] == pack["message_id"]
    ]
    assert record["value"] == pack
    assert trace in record["headers"]["traceparent"]


@pytest.mark.covers("S1-15", "S1-30", "S1-32", "S1-33")
def test_the_answer_is_that_of_the_assistant_in_exactly_four_fields(broker: str, url: str):
    conversation = str(uuid4())
    answers: list[httpx.Response] = []
    body = question("Qual o prazo do contrato?", conversation)
    asking = threading.Thread(target=lambda: answers.append(post(url, body)))
    asking.start()
    # The assistant reads packs, and answers their messages.
    deadline = time.monotonic() + 60
    while not (
        mine := [p for p in records(broker, "context-packs.out") if p["value"]["conversation_id"] == conversation]
    ):
        assert time.monotonic() < deadline
    said = ["Dia 20.", "--role", "assistant", "--answers", mine[0]["value"]["message_id"]]
    whose = ["--tenant", "acme", "--client", "web", "--conversation", conversation, "--broker", broker]
    assert fathom("send", *said, *whose).returncode == 0
    asking.join(90)
    [answer] = answers
    assert answer.status_code == 200
    assert answer.json().keys() == {"status", "results", "meta", "answer"}
    assert answer.json()["answer"] == "Dia 20."
    assert answer.json()["meta"]["answers"] == answer.headers["fathom-message-id"]
    assert "contrato" not in answer.text


def test_who_asks_again_under_the_same_key_waits_for_the_same_message(
    broker: str, url: str, tokens: str, tmp_path: Path
):
    conversation = str(uuid4())
    body = question("Bom dia!", conversation)
    late = post(url, body, idempotency_key="k1", prefer="wait=0")
    assert late.status_code == 504
    first = post(f"{url}?wait=pack", body, idempotency_key="k1")
    again = post(f"{url}?wait=pack", body, idempotency_key="k1")
    assert (first.status_code, first.content) == (200, again.content)
    ids = {each.headers["fathom-message-id"] for each in (late, first, again)}
    assert len(ids) == 1
    # Another server, which has just begun, knows what came before it.
    with serving(broker, tokens, tmp_path / "err") as other:
        elsewhere = post(f"{reachable(other)}?wait=pack", body, idempotency_key="k1", prefer="wait=30")
        assert (elsewhere.status_code, elsewhere.content) == (200, first.content)
        assert other.end()[0] == 0
    packs = [p["value"]["message_id"] for p in records(broker, "context-packs.out")]
    assert packs.count(ids.pop()) == 1


def test_what_one_tenant_said_no_other_gets(url: str):
    assert post(f"{url}?wait=pack", question("O codigo secreto é canario-7", "shared")).status_code == 200
    same = question("O que eu disse sobre o codigo secreto?", "shared")
    assert "canario-7" in post(f"{url}?wait=pack", same).text
    other = post(f"{url}?wait=pack", same, EVA)
    assert other.status_code == 200
    assert "canario-7" not in other.text


def test_a_server_without_its_broker_says_so_and_ends_in_order(tokens: str, tmp_path: Path):
    with serving("127.0.0.1:1", tokens, tmp_path / "err") as process:
        said = process.ready()
        deadline = time.monotonic() + 60
        while "no broker answers" not in (refused := post(said["url"], question("oi", "c"))).text:
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
        asking = threading.Thread(target=lambda: answers.append(post(url, body)))
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


@pytest.mark.parametrize(
    ("settings", "says"),
    [({}, "FATHOM_ASK_TOKENS_FILE is not set"), ({"FATHOM_ASK_TOKENS_FILE": "/nowhere"}, "No such file")],
)
def test_without_tokens_there_is_no_server(settings: dict[str, str], says: str):
    said = fathom("serve", "--port", "0", **settings)
    assert said.returncode == 3
    assert says in said.stderr
