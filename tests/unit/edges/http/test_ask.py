"""`/ask` over HTTP: what is sent to the topics, what comes back, what is refused; at a real socket."""

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from agents.ports.models import ExpansionContext
from agents.stages.assessor import Assessor
from schemas import codec
from schemas.chat import AskPayload
from schemas.depth import RequestOptions
from schemas.topics import MESSAGES_IN
from streams.edges.client.records import OutgoingRecord
from streams.edges.http.pending_replies import ExpectedReply
from streams.edges.http.request_reply import NotReachable
from streams.telemetry.clock import SystemClock
from tests.builders.http_server import CONFINED, QUESTION, Echo, Standing, posted, served, until

ANSWER = json.dumps(
    {"status": "ok", "results": None, "meta": {"intent": None, "entity": None, "lang": "pt", "frame_id": "f"},
     "answer": "dia 20"}
).encode()  # fmt: skip
JSON = {"content-type": "application/json"}


def answers(_: OutgoingRecord, __: ExpectedReply) -> bytes:
    return ANSWER


def never(_: OutgoingRecord, __: ExpectedReply) -> None:
    return None


def received(prepared: OutgoingRecord) -> Any:
    """The record as the depth stage will read it."""
    return codec.decode(
        MESSAGES_IN, prepared.key, prepared.value, prepared.headers, partition=0, offset=0, timestamp=1_700_000_000_000
    )


def detail(response: httpx.Response, status: int) -> str:
    """The sentence of a refusal, which is whole and of one form."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    problem = response.json()
    assert problem.keys() == {"type", "title", "status", "detail"}
    assert problem["type"].startswith("docs/errors.md#")
    assert problem["status"] == status
    return problem["detail"]


# --- what is sent -----------------------------------------------------------------------------------------------------


@pytest.mark.covers("S1-30", "S1-32", "CF-57")
def test_a_question_becomes_a_record_with_its_four_fields_and_the_answer_is_the_record_unchanged(tmp_path: Path):
    stated = {"x-request-id": "r-1", "fathom-tier": "deep"}
    response, exchange = posted(tmp_path, answers, "/ask?wait=answer", headers=stated)
    assert (response.status_code, response.content) == (200, ANSWER)
    [(prepared, wanted)] = exchange.asked
    record = received(prepared)
    assert record.event == AskPayload(**QUESTION)
    assert json.loads(prepared.value) == QUESTION
    envelope = record.envelope
    assert (envelope.tenant, envelope.user_id, envelope.request_id, envelope.tier) == ("acme", "ana", "r-1", "deep")
    assert (wanted.topic, wanted.message_id) == ("answers.out", envelope.id)
    assert wanted.key == prepared.key == record.conversation("web", "c1").key().encode()
    assert response.headers["x-request-id"] == "r-1"
    assert response.headers["fathom-message-id"] == envelope.id
    assert response.headers["traceparent"] == envelope.traceparent


def test_what_the_caller_decides_is_in_the_headers_of_the_record_and_not_in_its_four_fields(tmp_path: Path):
    stated = {"fathom-min-depth": "D1", "fathom-max-depth": "D2", "fathom-look-up": "always"}
    stated |= {"fathom-max-tokens": "800", "fathom-have": "p1, p2", "fathom-template": "support"}
    response, exchange = posted(tmp_path, answers, headers=stated)
    assert response.status_code == 200
    [(prepared, _)] = exchange.asked
    assert json.loads(prepared.value) == QUESTION
    assert received(prepared).envelope.options == RequestOptions(
        min_depth="D1", max_depth="D2", look_up="always", max_tokens=800, have=("p1", "p2"), template="support"
    )


@pytest.mark.parametrize("path", ["/ask", "/ask?wait=pack"])
def test_a_question_gets_its_pack_unless_the_caller_wants_an_answer(tmp_path: Path, path: str):
    response, exchange = posted(tmp_path, answers, path)
    assert response.status_code == 200
    assert exchange.asked[0][1].topic == "context-packs.out"


def test_the_trace_of_the_caller_goes_on(tmp_path: Path):
    trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    response, exchange = posted(tmp_path, answers, headers={"traceparent": trace, "tracestate": "a=1"})
    envelope = received(exchange.asked[0][0]).envelope
    assert (envelope.traceparent, envelope.tracestate, response.headers["traceparent"]) == (trace, "a=1", trace)


def test_without_a_nickname_it_is_a_question_too(tmp_path: Path):
    response, exchange = posted(tmp_path, answers, body={k: v for k, v in QUESTION.items() if k != "nickname"})
    assert response.status_code == 200
    assert received(exchange.asked[0][0]).event.nickname is None


def test_a_token_of_one_client_asks_for_no_other(tmp_path: Path):
    headers = {"authorization": f"Bearer {CONFINED}"}
    response, exchange = posted(tmp_path, answers, headers=headers)
    assert "another client_id" in detail(response, 403)
    assert exchange.asked == []
    response, exchange = posted(tmp_path, answers, body={**QUESTION, "client_id": "app"}, headers=headers)
    envelope = received(exchange.asked[0][0]).envelope
    assert (response.status_code, envelope.tenant, envelope.user_id) == (200, "beta", None)


@pytest.fixture(scope="module")
def standing(tmp_path_factory: pytest.TempPathFactory) -> Standing:
    return Standing(tmp_path_factory.mktemp("ask"), answers)


# --- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.covers("S1-30", "S1-31")
@pytest.mark.parametrize(
    ("body", "says"),
    [
        ({**QUESTION, "history": []}, "there is no field 'history'"),
        ({**QUESTION, "tenant": "other"}, "there is no field 'tenant'"),
        ({**QUESTION, "user_id": "eva"}, "there is no field 'user_id'"),
        ({"question_": "x", "conversation_id": "c", "client_id": "w"}, "'question_'; did you mean question?"),
        ({**QUESTION, "question": ""}, "question: "),
        ({**QUESTION, "question": " \n\t"}, "question: there is no text in it"),
        ({**QUESTION, "question": 7}, "question: "),
        ({**QUESTION, "client_id": ""}, "client_id: "),
        ({**QUESTION, "conversation_id": "a\nb"}, "conversation_id: "),
        ({**QUESTION, "conversation_id": None}, "conversation_id: "),
        ({"question": "x"}, "(and 1 more)"),
        ([], "the body is a JSON object with question, conversation_id, client_id; it may have nickname"),
        ("text", "the body is a JSON object with question"),
        (None, ""),
    ],
)
def test_what_is_no_question_is_refused_by_the_name_of_its_field(standing: Standing, body: Any, says: str):
    said = detail(standing.posted("/ask", json.dumps(body).encode()), 422)
    assert says in said
    assert "other" not in said
    assert "eva" not in said
    assert standing.exchange.asked == []


@pytest.mark.parametrize(
    ("raw", "headers", "status", "says"),
    [
        (b"{", {}, 400, "no JSON"),
        (b"", {}, 400, "no JSON"),
        (b'{"question": "\xff\xfe"}', {}, 400, "no JSON"),
        (b'{"question": "\xed\xa0\x80"}', {}, 400, "no JSON"),
        (b'{"question": NaN}', {}, 400, "no JSON"),
        (b"[" * 200_000, {}, 400, "no JSON"),
        (b"{}", {"content-type": "text/plain"}, 415, "application/json"),
        (b"{}", {"content-type": ""}, 415, "application/json"),
        (b"{}", {"content-encoding": "gzip"}, 415, "not compressed"),
        (b" " * 256_001, {}, 413, "256,000 bytes"),
        (b"{}", {"content-length": "32000001"}, 413, "256,000 bytes"),
        (b"{}", {"x-request-id": "a b"}, 422, "x-request-id"),
        (b"{}", {"x-request-id": "a" * 201}, 422, "x-request-id"),
        (json.dumps(QUESTION).encode(), {"idempotency-key": "a\tb"}, 422, "idempotency-key"),
        (b"{}", {"fathom-tier": "deepest"}, 422, "minimal, standard, deep"),
        (json.dumps(QUESTION).encode(), {"fathom-min-depth": "D9"}, 422, "min_depth: Input should be 'D0', 'D1'"),
        (
            json.dumps(QUESTION).encode(),
            {"fathom-max-tokens": "all"},
            422,
            "max_tokens: Input should be a valid integer",
        ),
        (
            json.dumps(QUESTION).encode(),
            {"fathom-min-depth": "D3", "fathom-max-depth": "D1"},
            422,
            "min_depth D3 is above max_depth D1; lower the one or raise the other",
        ),
    ],
)
def test_a_body_or_header_that_is_none_is_refused(
    standing: Standing, raw: bytes, headers: dict[str, str], status: int, says: str
):
    assert says in detail(standing.posted("/ask", raw, headers), status)
    assert standing.exchange.asked == []


@pytest.mark.parametrize("path", ["/ask?wait=none", "/ask?wait=", "/ask?timeout=5", "/ask?wait=pack&x=1"])
def test_a_parameter_that_is_none_is_refused(standing: Standing, path: str):
    assert "wait" in detail(standing.posted(path, json.dumps(QUESTION).encode()), 422)
    assert standing.exchange.asked == []


def test_another_path_or_method_is_a_problem_too(tmp_path: Path):
    async def story(client: httpx.AsyncClient) -> None:
        assert "/ask, /assess" in detail(await client.post("/asks"), 404)
        of_openai = await client.post("/v1/embeddings", json={"input": "x"})
        assert of_openai.status_code == 404
        assert of_openai.json()["error"]["message"] == (
            "there is no such path; there are /v1/chat/completions, /v1/models, /v1/models/{model}, /v1/responses"
        )
        refused = await client.get("/ask")
        assert "Allow" in detail(refused, 405)
        assert refused.headers["allow"] == "POST"
        for method in ("POST", "GET", "OPTIONS"):
            without = await client.request(method, "/ask", headers={"authorization": ""})
            assert "Bearer" in detail(without, 401)
        assert "FATHOM_ASK_ORIGINS" in detail(await client.get("/ask", headers={"origin": "https://evil.example"}), 403)
        assert not [name for name in refused.headers if name.startswith("access-control-")]

    served(tmp_path, Echo(answers), story)


# --- deadlines, pressure, repeats -------------------------------------------------------------------------------------


def test_what_is_not_answered_in_time_says_where_the_question_is(tmp_path: Path):
    response, exchange = posted(tmp_path, never, FATHOM_ASK_TIMEOUT_MS="150")
    said = detail(response, 504)
    assert "messages.in[3]@42" in said
    assert "context-packs.out within 0.15 s" in said
    assert "same Idempotency-Key" in said
    assert response.headers["fathom-message-id"] == exchange.asked[0][0].name
    assert exchange.waiting == 0


def test_an_answer_that_nobody_gives_says_where_the_pack_is(tmp_path: Path):
    response, _ = posted(tmp_path, never, "/ask?wait=answer", FATHOM_ASK_TIMEOUT_MS="150")
    said = detail(response, 504)
    assert "answers.out within 0.15 s" in said
    assert "for the context pack leave out `wait=answer`" in said


@pytest.mark.parametrize(
    ("prefer", "seconds"),
    [("wait=0", "0 s"), ("respond-async, wait=0", "0 s"), ('wait="0"', "0 s"), ("wait=9", "0.1 s")],
)
def test_a_caller_may_name_a_shorter_time_and_no_longer_one(tmp_path: Path, prefer: str, seconds: str):
    response, _ = posted(tmp_path, never, headers={"prefer": prefer}, FATHOM_ASK_TIMEOUT_MS="100")
    assert f"within {seconds}" in detail(response, 504)


def test_when_as_many_wait_as_may_the_next_is_told_when_to_come_back(tmp_path: Path):
    exchange = Echo(never, most=2)

    async def story(client: httpx.AsyncClient) -> httpx.Response:
        waiting = [asyncio.create_task(client.post("/ask", json=QUESTION)) for _ in range(2)]
        await until(lambda: exchange.waiting == 2)
        refused = await client.post("/ask", json=QUESTION)
        for task in waiting:
            task.cancel()
        return refused

    refused = served(tmp_path, exchange, story)
    assert "too many questions wait" in detail(refused, 429)
    assert refused.headers["retry-after"] == "1"
    assert len(exchange.asked) == 2


def test_a_token_has_so_many_requests_a_minute(tmp_path: Path):
    async def story(client: httpx.AsyncClient) -> list[httpx.Response]:
        return [await client.post("/ask", json=QUESTION) for _ in range(3)]

    *allowed, refused = served(tmp_path, Echo(answers), story, FATHOM_ASK_CALLS_PER_MINUTE="2")
    assert [response.status_code for response in allowed] == [200, 200]
    assert "too many calls" in detail(refused, 429)
    assert refused.headers["retry-after"] == "30"


def test_a_broker_that_is_not_there_is_said_with_when_to_try_again(tmp_path: Path):
    response, _ = posted(tmp_path, lambda _, __: NotReachable("no broker answers at h:1; check that it runs"))
    assert "no broker answers at h:1" in detail(response, 503)
    assert response.headers["retry-after"] == "1"


def test_the_same_key_is_the_same_message_and_another_question_under_it_is_refused(tmp_path: Path):
    exchange = Echo(answers)

    async def story(client: httpx.AsyncClient) -> None:
        async def ask(body: dict[str, Any], token: str | None = None, **headers: str) -> httpx.Response:
            own = {"authorization": f"Bearer {token}"} if token else {}
            return await client.post("/ask", json=body, headers={**headers, **own})

        key = {"idempotency-key": "k1"}
        first, again = await ask(QUESTION, **key), await ask(QUESTION, **key)
        assert first.headers["fathom-message-id"] == again.headers["fathom-message-id"]
        other = await ask({**QUESTION, "question": "Qual o orçamento?"}, **key)
        assert "used for something else" in detail(other, 422)
        deeper = await ask(QUESTION, **key, **{"fathom-min-depth": "D2"})
        assert "used for something else" in detail(deeper, 422)
        assert "used for something else" in detail(await ask(QUESTION, **key, **{"fathom-tier": "minimal"}), 422)
        by_another = await ask({**QUESTION, "client_id": "app"}, CONFINED, **key)
        without, also_without = await ask(QUESTION), await ask(QUESTION)
        ids = [each.headers["fathom-message-id"] for each in (first, by_another, without, also_without)]
        assert len(set(ids)) == 4

    served(tmp_path, exchange, story)


# --- the other paths --------------------------------------------------------------------------------------------------


@pytest.mark.covers("S3-10", "REQ-017.1")
def test_a_query_is_assessed_over_http(tmp_path: Path):
    body = {"query": "How should I structure the repository layer?", "available_context": ["billing"]}
    response, exchange = posted(tmp_path, never, "/assess", body)
    said = response.json()
    assert response.status_code == 200
    assert (said["needs_deep_context"], said["query_type"], said["recommended_tier"]) == (True, "architectural", "deep")
    assert said["recommended_tools"][0]["name"] == "search_context"
    assert said["max_tokens"] > 0
    assert exchange.asked == []


@pytest.mark.parametrize(
    ("body", "status", "says"),
    [
        ({}, 422, "query: "),
        ({"query": 1}, 422, "query: "),
        ({"query": "x", "summary": "y"}, 422, "'summary'"),
        ({"query": "x" * 60_000}, 422, "query: "),
        (b"\xff", 400, "no JSON"),
        (b" " * 2_100_000, 413, "2,000,000"),
    ],
)
def test_what_cannot_be_assessed_is_refused(standing: Standing, body: Any, status: int, says: str):
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    assert says in detail(standing.posted("/assess", raw), status)


def test_an_assessment_over_http_is_that_of_the_operators_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    class Engine:
        async def check_if_expansion_needed(self, statement: str, context: ExpansionContext) -> tuple[bool, str]:
            return True, f"{statement} of {context.user_id}"

    monkeypatch.setattr("tests.builders.http_server.ASSESSOR", Assessor(SystemClock(), Engine()))
    response, _ = posted(tmp_path, never, "/assess", {"query": "Hello!"})
    said = response.json()
    assert (said["classifier"], said["needs_deep_context"], said["reason"]) == ("engine", True, "Hello! of ana")
