"""Deep answers of a running `fathom up` with cognition on: by the command, over HTTP, and whose they are."""

import asyncio
import json
from typing import Any
from uuid import uuid4

import httpx
import pytest

from streams.edges.mcp import tool_reason
from streams.edges.mcp.callers import Caller
from streams.edges.mcp.tool import Call, ServerContext
from streams.edges.mcp.tool_reason import ReasonArguments
from tests.builders.deep_answers import LAW, QUESTION
from tests.e2e.calls import MARKDOWN, records, refused, taken, until
from tests.e2e.conftest import OTHER_USER, Tenant


@pytest.fixture(scope="module")
def client(tenant: Tenant) -> httpx.Client:
    """A client with the tenant's token; the law is there."""
    made = tenant.client()
    taken(made.post("/documents?wait=visible&document_id=clt", content=LAW, headers=MARKDOWN), 200)
    return made


def issued_for(tenant: Tenant) -> list[Any]:
    """The corrections of the tenant that were issued."""
    found = records(tenant.bootstrap, "memory.corrections")
    return [each for each in found if each["headers"]["tenant"] == tenant.name]


def test_the_answer_comes_with_its_pack_and_can_be_read_again_by_whom_it_is_for(
    client: httpx.Client, tenant: Tenant, stranger: Tenant
):
    asked = {"question": QUESTION, "conversation_id": str(uuid4()), "client_id": "web"}
    said = taken(client.post("/ask?deep=true", json=asked, headers={"fathom-user": "ana"}), 200)
    answer = said["answer"]
    assert said["pack"]["options"] == {"deep": True, "clamped": []}
    assert answer["status"] == "answered"
    assert set(answer["citations"]) == {"[lei:CLT-art59]", "[lei:CLT-art71]"}
    path = f"/answers/{answer['message_id']}"
    assert taken(client.get(path), 200) == answer
    for whose in (stranger.bearer(), tenant.bearer(OTHER_USER)):
        assert "no answer by cognition" in refused(client.get(path, headers=whose), 404)
    assert "no answer by cognition" in refused(client.get(f"/answers/{uuid4()}"), 404)


def test_the_command_shows_sections_citations_and_where_they_are_from(client: httpx.Client, tenant: Tenant):
    ended = tenant.fathom("ask", "--deep", "--timeout", "120", QUESTION)
    assert ended.returncode == 0, ended.stderr
    for expected in ("answered, confidence 0.", "Fundamento Legal", "Análise", "Conclusão", "citations"):
        assert expected in ended.stdout
    assert "› Art. 71 · document clt · recorded 20" in " ".join(ended.stdout.split())
    said = json.loads(tenant.fathom("ask", "--deep", "--json", "Quanto dura o intervalo de almoço?").stdout)
    assert said.keys() == {"pack", "answer"}
    assert "[lei:CLT-art71]" in said["answer"]["citations"]
    unknown = tenant.fathom("ask", "--deep", "Qual é a alíquota do ITBI?")
    assert unknown.returncode == 0, unknown.stderr
    assert "abstained" in unknown.stdout
    assert "missing\n" in unknown.stdout
    assert "itbi" in unknown.stdout.partition("missing\n")[2].lower()


def test_decisions_of_the_last_days_are_in_the_graph_of_the_process(
    client: httpx.Client, tenant: Tenant, stranger: Tenant
):
    asked = {"question": "Quanto dura o intervalo?", "conversation_id": str(uuid4()), "client_id": "web"}
    pack = taken(client.post("/ask", json=asked, headers={"fathom-user": "ana"}), 200)
    for _ in range(100):
        said = taken(client.get("/decisions?days=1"), 200)
        if pack["message_id"] in [each["message_id"] for each in said["latest"]]:
            break
    [row] = [each for each in said["latest"] if each["message_id"] == pack["message_id"]]
    assert (row["level"], row["tokens"]) == (pack["depth_level"], pack["total_tokens_estimated"])
    assert said["days"][-1]["messages"] >= 1
    for whose in (stranger.bearer(), tenant.bearer(OTHER_USER)):
        assert taken(client.get("/decisions", headers=whose), 200)["latest"] == []


def test_an_agent_gets_the_answer_over_mcp(client: httpx.Client, tenant: Tenant):
    site = ServerContext(lambda _: Caller(tenant.name, "mcp", "ana"), lambda: tenant.bootstrap, 120.0)
    call = Call(Caller(tenant.name, "mcp", "ana"), f"00-{'a' * 32}-{'b' * 16}-01", site)
    found = asyncio.run(tool_reason.TOOL.answer(ReasonArguments(question=QUESTION, conversation_id="mcp-1"), call))
    assert (found.status, found.conversation_id) == ("answered", "mcp-1")
    assert set(found.citations) == {"[lei:CLT-art59]", "[lei:CLT-art71]"}


def test_a_deep_answer_is_corrected_by_its_job_and_asked_again(client: httpx.Client, tenant: Tenant, stranger: Tenant):
    asked = {"question": QUESTION, "client_id": "web"}
    first = taken(client.post("/ask?deep=true", json={**asked, "conversation_id": "wrong-1"}), 200)["answer"]
    wrong = "O intervalo mudou por acordo coletivo."
    theirs = client.post(
        "/corrections", json={"consultation_id": first["job_id"], "text": wrong}, headers=stranger.bearer()
    )
    assert theirs.status_code == 422
    said = ("--consultation", first["job_id"], "--user", "ana", "--type", "legal")
    corrected = tenant.fathom("correct", wrong, *said)
    assert corrected.returncode == 0, corrected.stderr
    assert "corrections.in[" in corrected.stdout
    body = {"consultation_id": first["job_id"], "text": wrong, "kind": "formatting"}
    assert taken(client.post("/corrections", json=body, headers={"fathom-user": "ana"}))["event_id"]
    unknown = tenant.fathom("correct", wrong, "--consultation", str(uuid4()), "--user", "ana")
    assert (unknown.returncode, unknown.stdout) == (1, "")
    assert "take the job_id of a deep answer" in unknown.stderr
    issued = until(lambda: len(found := issued_for(tenant)) >= 2 and found)
    assert {wrong in json.dumps(each, ensure_ascii=False) for each in issued} == {True}
    again = taken(client.post("/ask?deep=true", json={**asked, "conversation_id": "wrong-2"}), 200)["answer"]
    assert again["status"] in ("answered", "partial", "abstained")
    assert again["job_id"] != first["job_id"]
