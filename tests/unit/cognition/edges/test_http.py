"""`deep=true`: a pack and the answer by cognition in one response, and what is said where there is none."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from schemas.topics import ANSWERS_OUT, CONTEXT_PACKS
from streams.edges.client.deep_answers import failure_of
from streams.edges.client.records import OutgoingRecord
from streams.edges.http.pending_replies import ExpectedReply
from tests.builders.deep_answers import UNKNOWN, failure, pack_and_answer, renamed
from tests.builders.http_server import QUESTION, posted
from tests.unit.edges.http.test_ask import ANSWER, detail, received

TURN = {"role": "user", "content": "Qual o prazo?", "conversation_id": "c1", "client_id": "web"}


def replies(*, on: bool = True, answered: bool = True, **asked: str) -> Any:
    """What the stages answer to whatever is asked."""
    pack, answer = pack_and_answer(on=on, **asked)

    def reply(prepared: OutgoingRecord, wanted: ExpectedReply) -> bytes | None:
        if wanted.topic == CONTEXT_PACKS.name:
            return renamed(pack, prepared.name)
        assert wanted.topic == ANSWERS_OUT.name
        assert wanted.deep
        return renamed(answer, prepared.name) if answer is not None and answered else None

    return reply


@pytest.mark.parametrize(("path", "body"), [("/ask?deep=true", QUESTION), ("/messages?deep=true", TURN)])
def test_pack_and_answer_come_in_one_response(tmp_path: Path, path: str, body: dict[str, str]):
    response, exchange = posted(tmp_path, replies(), path, body)
    assert response.status_code == 200, response.text
    said = response.json()
    message_id = response.headers["fathom-message-id"]
    assert said["pack"]["message_id"] == said["answer"]["message_id"] == message_id
    answer = said["answer"]
    assert answer["status"] == "answered"
    assert [each["title"] for each in answer["sections"]] == ["Fundamento Legal", "Análise", "Conclusão"]
    assert set(answer["citations"]) == {"[lei:CLT-art59]", "[lei:CLT-art71]"}
    assert "em número não excedente de duas. [lei:CLT-art59]" in answer["text"]
    assert answer["missing"] == answer["conflicts"] == []
    assert 0 < answer["confidence"] <= 1
    assert {each["document_id"] for each in answer["sources"]} == {"clt"}
    assert answer["job_id"]
    record = received(exchange.asked[0][0])
    assert (record.envelope.options or record.event).deep is True
    assert {name for name in json.loads(exchange.asked[0][0].value) if name == "deep"} == (
        {"deep"} if path.startswith("/messages") else set()
    )


def test_markdown_is_the_text_of_the_answer(tmp_path: Path):
    response, _ = posted(tmp_path, replies(), "/ask?deep=true", headers={"accept": "text/markdown"})
    assert response.headers["content-type"].startswith("text/markdown")
    assert response.text.startswith("## Fundamento Legal\n- ")


def test_an_abstention_says_what_is_missing(tmp_path: Path):
    response, _ = posted(tmp_path, replies(question=UNKNOWN), "/ask?deep=true")
    answer = response.json()["answer"]
    assert (answer["status"], answer["citations"]) == ("abstained", [])
    assert {"ITBI", "IPTU"} <= {word for each in answer["missing"] for word in each.upper().split()}


def test_where_cognition_is_off_it_is_said_at_once(tmp_path: Path):
    response, exchange = posted(tmp_path, replies(on=False), "/ask?deep=true")
    said = detail(response, 409)
    assert "RAG_ENABLE_COGRAG" in said
    assert "ask without `deep`" in said
    assert response.headers["fathom-message-id"]
    assert [wanted.topic for _, wanted in exchange.asked] == [CONTEXT_PACKS.name]


def test_where_the_run_fails_it_is_said_at_once_and_why(tmp_path: Path):
    pack, letter = pack_and_answer()[0], failure("")

    def reply(prepared: OutgoingRecord, wanted: ExpectedReply) -> bytes | Exception | None:
        if wanted.topic == CONTEXT_PACKS.name:
            return renamed(pack, prepared.name)
        failed = failure_of([*letter, ("ce_correlationid", prepared.name.encode())])
        return failed and failed[2]

    response, _ = posted(tmp_path, reply, "/ask?deep=true")
    said = detail(response, 500)
    assert "its run could not go on: " in said
    assert "fathom tail dead-letters.cognition" in said
    assert "ask without `deep`" in said
    assert response.headers["fathom-message-id"]


def test_a_late_answer_is_said_to_be_late(tmp_path: Path):
    response, _ = posted(tmp_path, replies(answered=False), "/ask?deep=true", FATHOM_ASK_DEEP_TIMEOUT_MS="300")
    said = detail(response, 504)
    assert "no answer by cognition came on answers.out" in said
    assert "GET /answers/" in said


@pytest.mark.parametrize(
    ("path", "body", "says"),
    [
        ("/ask?deep=perhaps", QUESTION, "deep: is `true`"),
        ("/messages?deep=true", {**TURN, "role": "assistant"}, "deep: only a user's message"),
        ("/messages?deeper=true", TURN, "`deep`, which is `true`"),
    ],
)
def test_a_wrong_deep_is_refused(tmp_path: Path, path: str, body: dict[str, str], says: str):
    response, exchange = posted(tmp_path, replies(), path, body)
    assert says in detail(response, 422)
    assert exchange.asked == []


def test_without_deep_nothing_is_different(tmp_path: Path):
    response, exchange = posted(tmp_path, lambda _, __: ANSWER, "/ask?deep=false")
    assert isinstance(response, httpx.Response)
    assert (response.status_code, response.content) == (200, ANSWER)
    assert received(exchange.asked[0][0]).envelope.options is None
    assert exchange.asked[0][1].deep is False
