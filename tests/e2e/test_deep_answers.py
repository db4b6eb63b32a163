"""Deep answers of one `fathom up` with cognition on: by the command, over HTTP, and whose they are."""

import asyncio
import json
from collections.abc import Iterator
from uuid import uuid4

import httpx
import pytest

from streams.edges.mcp import tool_reason
from streams.edges.mcp.callers import Caller
from streams.edges.mcp.tool import Call, ServerContext
from streams.edges.mcp.tool_reason import ReasonArguments
from tests.builders.deep_answers import LAW, QUESTION
from tests.e2e.test_http_interface import BETA, EVA, MARKDOWN, OTHERS, refused, taken
from tests.e2e.test_up import UNHURRIED, fathom, running

COGNITION = {"RAG_ENABLE_COGRAG": "on", "RAG_COGRAG_VERIFICATION_ENABLED": "on", "RAG_COGRAG_MEMORY_ENABLED": "on"}


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[httpx.Client, str]]:
    """A client with the token of tenant `default`, and the broker; the law is there."""
    place = tmp_path_factory.mktemp("up")
    others = place / "tokens.json"
    others.write_text(json.dumps(OTHERS))
    settings = {**UNHURRIED, **COGNITION, "FATHOM_ASK_TOKENS_FILE": str(others), "FATHOM_ASK_DEEP_TIMEOUT_MS": "120000"}
    with running("up", "--data", str(place / "data"), "--port", "0", stderr=place / "err", **settings) as process:
        ready = process.ready()
        token = (place / "data" / "token").read_text().strip()
        whose = {"authorization": f"Bearer {token}"}
        with httpx.Client(base_url=f"http://{ready['http']}", headers=whose, timeout=120) as client:
            taken(client.post("/documents?wait=visible&document_id=clt", content=LAW, headers=MARKDOWN), 200)
            yield client, ready["bootstrap"]
        assert process.end()[0] == 0
        assert "Traceback" not in (place / "err").read_text()


def test_the_answer_comes_with_its_pack_and_can_be_read_again_by_whom_it_is_for(up: tuple[httpx.Client, str]):
    client, _ = up
    asked = {"question": QUESTION, "conversation_id": str(uuid4()), "client_id": "web"}
    said = taken(client.post("/ask?deep=true", json=asked, headers={"fathom-user": "ana"}), 200)
    answer = said["answer"]
    assert said["pack"]["options"] == {"deep": True, "clamped": []}
    assert answer["status"] == "answered"
    assert set(answer["citations"]) == {"[lei:CLT-art59]", "[lei:CLT-art71]"}
    path = f"/answers/{answer['message_id']}"
    assert taken(client.get(path), 200) == answer
    for stranger in (BETA, EVA):
        assert "no answer by cognition" in refused(client.get(path, headers=stranger), 404)
    assert "no answer by cognition" in refused(client.get(f"/answers/{uuid4()}"), 404)


def test_the_command_shows_sections_citations_and_where_they_are_from(up: tuple[httpx.Client, str]):
    _, broker = up
    ended = fathom("ask", "--deep", "--timeout", "120", QUESTION, "--broker", broker)
    assert ended.returncode == 0, ended.stderr
    for expected in ("answered, confidence 0.", "Fundamento Legal", "Análise", "Conclusão", "citations"):
        assert expected in ended.stdout
    assert "› Art. 71 · document clt · recorded 20" in " ".join(ended.stdout.split())
    said = json.loads(
        fathom("ask", "--deep", "--json", "Quanto dura o intervalo de almoço?", "--broker", broker).stdout
    )
    assert said.keys() == {"pack", "answer"}
    assert "[lei:CLT-art71]" in said["answer"]["citations"]
    unknown = fathom("ask", "--deep", "Qual é a alíquota do ITBI?", "--broker", broker)
    assert unknown.returncode == 0, unknown.stderr
    assert "abstained" in unknown.stdout
    assert "missing\n" in unknown.stdout
    assert "itbi" in unknown.stdout.partition("missing\n")[2].lower()


def test_decisions_of_the_last_days_are_in_the_graph_of_the_process(up: tuple[httpx.Client, str]):
    client, _ = up
    asked = {"question": "Quanto dura o intervalo?", "conversation_id": str(uuid4()), "client_id": "web"}
    pack = taken(client.post("/ask?wait=pack", json=asked, headers={"fathom-user": "ana"}), 200)
    for _ in range(100):
        said = taken(client.get("/decisions?days=1"), 200)
        if pack["message_id"] in [each["message_id"] for each in said["latest"]]:
            break
    [row] = [each for each in said["latest"] if each["message_id"] == pack["message_id"]]
    assert (row["level"], row["tokens"]) == (pack["depth_level"], pack["total_tokens_estimated"])
    assert said["days"][-1]["messages"] >= 1
    for stranger in (BETA, EVA):
        assert taken(client.get("/decisions", headers=stranger), 200)["latest"] == []


def test_an_agent_gets_the_answer_over_mcp(up: tuple[httpx.Client, str]):
    site = ServerContext(lambda _: Caller("default", "mcp", "ana"), lambda: up[1], 120.0)
    call = Call(Caller("default", "mcp", "ana"), f"00-{'a' * 32}-{'b' * 16}-01", site)
    found = asyncio.run(tool_reason.TOOL.answer(ReasonArguments(question=QUESTION, conversation_id="mcp-1"), call))
    assert (found.status, found.conversation_id) == ("answered", "mcp-1")
    assert set(found.citations) == {"[lei:CLT-art59]", "[lei:CLT-art71]"}


def test_a_deep_answer_is_corrected_by_its_job_and_asked_again(up: tuple[httpx.Client, str]):
    client, broker = up
    asked = {"question": QUESTION, "client_id": "web"}
    first = taken(client.post("/ask?deep=true", json={**asked, "conversation_id": "wrong-1"}), 200)["answer"]
    wrong = "O intervalo mudou por acordo coletivo."
    stranger = client.post("/corrections", json={"consultation_id": first["job_id"], "text": wrong}, headers=BETA)
    assert stranger.status_code == 422
    said = ("--consultation", first["job_id"], "--user", "ana", "--type", "legal", "--broker", broker)
    corrected = fathom("correct", wrong, *said)
    assert corrected.returncode == 0, corrected.stderr
    assert "corrections.in[" in corrected.stdout
    body = {"consultation_id": first["job_id"], "text": wrong, "kind": "formatting"}
    assert taken(client.post("/corrections", json=body, headers={"fathom-user": "ana"}))["event_id"]
    unknown = fathom("correct", wrong, "--consultation", str(uuid4()), "--user", "ana", "--broker", broker)
    assert (unknown.returncode, unknown.stdout) == (1, "")
    assert "take the job_id of a deep answer" in unknown.stderr
    tail = ("tail", "memory.corrections", "--from-beginning", "--limit", "2", "--json", "--broker", broker)
    issued = [json.loads(line) for line in fathom(*tail).stdout.splitlines()]
    assert {wrong in json.dumps(each, ensure_ascii=False) for each in issued} == {True}
    again = taken(client.post("/ask?deep=true", json={**asked, "conversation_id": "wrong-2"}), 200)["answer"]
    assert again["status"] in ("answered", "partial", "abstained")
    assert again["job_id"] != first["job_id"]
