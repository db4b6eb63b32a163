"""`fathom serve` beside a running `fathom up`: questions over HTTP through the topics, and back."""

import json
import threading
import time
from collections.abc import Iterator
from uuid import uuid4

import httpx
import pytest

from tests.e2e.calls import post, question, reachable, records, serving
from tests.e2e.conftest import Tenant
from tests.e2e.processes import fathom

ANA, EVA = "serve-ana-0123456789", "serve-eva-0123456789"


@pytest.fixture(scope="module")
def url(tenant: Tenant, stranger: Tenant, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    place = tmp_path_factory.mktemp("serve")
    tokens = {ANA: {"tenant": tenant.name, "user": "ana"}, EVA: {"tenant": stranger.name}}
    (place / "tokens.json").write_text(json.dumps(tokens))
    with serving(tenant.bootstrap, str(place / "tokens.json"), place / "err") as process:
        yield reachable(process)
        assert process.end() == (0, "")
        assert "Traceback" not in process.said()
        assert not [token for token in tokens if token in process.said()]


@pytest.fixture(scope="module")
def broker(tenant: Tenant) -> str:
    return tenant.bootstrap


def test_the_pack_over_http_is_the_record_of_the_topic_in_the_callers_trace(broker: str, url: str):
    trace = "0af7651916cd43dd8448eb211c80319c"
    said = post(url, question("Qual o prazo?", "c1"), ANA, traceparent=f"00-{trace}-b7ad6b7169203331-01")
    assert said.status_code == 200
    pack = said.json()
    assert (pack["message_id"], pack["user_id"]) == (said.headers["fathom-message-id"], "ana")
    [record] = [
        each for each in records(broker, "context-packs.out") if each["value"]["message_id"] == pack["message_id"]
    ]
    assert record["value"] == pack
    assert trace in record["headers"]["traceparent"]


@pytest.mark.covers("S1-15", "S1-30", "S1-32", "S1-33")
def test_the_answer_is_that_of_the_assistant_in_exactly_four_fields(tenant: Tenant, url: str):
    conversation = str(uuid4())
    answers: list[httpx.Response] = []
    body = question("Qual o prazo do contrato?", conversation)
    asking = threading.Thread(target=lambda: answers.append(post(f"{url}?wait=answer", body, ANA)))
    asking.start()
    # The assistant reads packs, and answers their messages.
    deadline = time.monotonic() + 60
    while not (
        mine := [
            p for p in records(tenant.bootstrap, "context-packs.out") if p["value"]["conversation_id"] == conversation
        ]
    ):
        assert time.monotonic() < deadline
    said = ["Dia 20.", "--role", "assistant", "--answers", mine[0]["value"]["message_id"]]
    whose = ["--client", "web", "--conversation", conversation]
    assert tenant.fathom("send", *said, *whose).returncode == 0
    asking.join(90)
    [answer] = answers
    assert answer.status_code == 200
    assert answer.json().keys() == {"status", "results", "meta", "answer"}
    assert answer.json()["answer"] == "Dia 20."
    assert answer.json()["meta"]["answers"] == answer.headers["fathom-message-id"]
    assert "contrato" not in answer.text


def test_what_one_tenant_said_no_other_gets(url: str):
    assert post(f"{url}?wait=pack", question("O codigo secreto é canario-7", "shared"), ANA).status_code == 200
    same = question("O que eu disse sobre o codigo secreto?", "shared")
    assert "canario-7" in post(f"{url}?wait=pack", same, ANA).text
    other = post(f"{url}?wait=pack", same, EVA)
    assert other.status_code == 200
    assert "canario-7" not in other.text


@pytest.mark.parametrize(
    ("settings", "says"),
    [({}, "FATHOM_ASK_TOKENS_FILE is not set"), ({"FATHOM_ASK_TOKENS_FILE": "/nowhere"}, "No such file")],
)
def test_without_tokens_there_is_no_server(settings: dict[str, str], says: str):
    said = fathom("serve", "--port", "0", **settings)
    assert said.returncode == 3
    assert says in said.stderr
