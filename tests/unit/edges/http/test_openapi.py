"""The description of the HTTP interface: valid, whole, and what is really answered fits it."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator
from opentelemetry import _logs, metrics, trace

from schemas.depth import RequestOptions
from streams.edges.http import openapi
from tests.builders.http_server import Echo, document, posted, served
from tests.unit.edges.http.test_ask import ANSWER, answers

DOCUMENT = document()
# Of a path with two methods the second is named with its method.
OPERATIONS = {
    path if number == 0 else f"{method} {path}": operation
    for path, item in DOCUMENT["paths"].items()
    for number, (method, operation) in enumerate(item.items())
}

OPERATION_IDS = {
    "/ask": "ask", "/assess": "assess", "/search": "search", "/messages": "message", "/documents": "document",
    "/documents/{document_id}": "forget_document",
    "/profiles/{user}": "profile", "/feedback": "feedback", "/corrections": "correct", "/packs/{message_id}": "pack",
    "/answers/{message_id}": "answer", "/decisions": "decisions", "/conversations": "conversations_list",
    "/users": "users_list", "/documents/{document_id}/uses": "document_uses",
    "post /operations/replays": "start_replay", "get /documents": "documents_list",
    "/explain/{message_id}": "explain",
    "/memories": "memories", "post /memories": "remember", "/memories/{memory_id}": "memory",
    "patch /memories/{memory_id}": "change_memory", "delete /memories/{memory_id}": "take_memory_back",
    "/conversations/{conversation_id}": "conversation",
    "/operations/lag": "lag", "/operations/replays": "replays",
    "/operations/replays/{replay_id}": "replay_difference",
    "delete /conversations/{conversation_id}": "forget_conversation", "/events": "events", "/openapi.json": "describe",
}  # fmt: skip


def validator(name: str) -> Draft202012Validator:
    return Draft202012Validator({"$ref": f"#/components/schemas/{name}", "components": DOCUMENT["components"]})


def test_the_document_is_openapi():
    OpenAPIV31SpecValidator(DOCUMENT).validate()
    broken = {**DOCUMENT, "paths": {"/ask": {"post": {"responses": {"200": {}}}}}}
    assert next(OpenAPIV31SpecValidator(broken).iter_errors(), None)


@pytest.fixture(scope="module")
def got(tmp_path_factory: pytest.TempPathFactory) -> dict[str, httpx.Response]:
    """What is answered at the paths where FastAPI would serve something."""

    async def story(client: httpx.AsyncClient) -> dict[str, httpx.Response]:
        paths = ("/docs", "/docs/oauth2-redirect", "/redoc", "/openapi.json")
        return {path: await client.get(path) for path in paths}

    return served(tmp_path_factory.mktemp("openapi"), Echo(answers), story)


def test_it_is_served_and_names_every_path(got: dict[str, httpx.Response]):
    shown = got["/openapi.json"].json()
    assert shown["paths"].keys() == {name for name in OPERATION_IDS if name.startswith("/")}
    assert shown["components"] == DOCUMENT["components"]


def test_every_operation_needs_the_token_and_refuses_with_problem_details():
    assert DOCUMENT["components"]["securitySchemes"] == {"token": {"type": "http", "scheme": "bearer"}}
    assert DOCUMENT["security"] == [{"token": []}]
    assert {path: operation["operationId"] for path, operation in OPERATIONS.items()} == OPERATION_IDS
    for path, operation in OPERATIONS.items():
        assert "security" not in operation
        assert "401" in operation["responses"]
        for status, response in operation["responses"].items():
            good = "text/event-stream" if path == "/events" else "application/json"
            media = good if status in ("200", "202") else "application/problem+json"
            assert response["content"].keys() - {"text/markdown", "text/html", "text/plain"} == {media}
            assert response["description"]


OPTIONS = [f"Fathom-{name.replace('_', '-').title()}" for name in RequestOptions.model_fields]


def test_the_headers_and_parameters_of_a_question_are_described():
    described = {each["name"]: each for each in OPERATIONS["/ask"]["parameters"]}
    assert {name: each["in"] for name, each in described.items()} == {
        "wait": "query", "deep": "query", "Idempotency-Key": "header", "X-Request-Id": "header", "Prefer": "header",
        **dict.fromkeys(OPTIONS, "header"),
        "Fathom-Tier": "header", "Fathom-User": "header", "traceparent": "header",
    }  # fmt: skip
    assert all(each["description"] and not each["required"] for each in described.values())
    assert described["wait"]["schema"]["enum"] == ["pack", "answer"]
    assert described["wait"]["schema"]["default"] == "pack"
    assert described["Fathom-Tier"]["schema"]["enum"] == ["minimal", "standard", "deep"]
    for name in ("Idempotency-Key", "X-Request-Id"):
        assert described[name]["schema"].items() >= {"type": "string", "minLength": 1, "maxLength": 200}.items()
    answered = OPERATIONS["/ask"]["responses"]["200"]
    assert answered["headers"].keys() == {"X-Request-Id", "Fathom-Message-Id", "traceparent"}


def test_nothing_but_the_document_is_served_of_fastapi(got: dict[str, httpx.Response]):
    assert {path: response.status_code for path, response in got.items()} == {
        "/docs": 404,
        "/docs/oauth2-redirect": 404,
        "/redoc": 404,
        "/openapi.json": 200,
    }


def test_no_request_is_traced_counted_or_exported_by_fastapi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Its spans and logs would hold what callers say; `streams.telemetry` says what may be said."""
    made: list[str] = []

    class Provider:
        def __getattr__(self, name: str) -> Any:
            def called(*_: Any, **__: Any) -> "Provider":
                made.append(name)
                return self

            return called

    monkeypatch.setenv("FASTAPI_OTEL_AUTO_CONFIGURE", "true")
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", Provider())
    monkeypatch.setattr(metrics._internal, "_METER_PROVIDER", Provider())
    monkeypatch.setattr(_logs._internal, "_LOGGER_PROVIDER", Provider())
    assert posted(tmp_path, answers)[0].status_code == 200
    assert posted(tmp_path, answers, body=[])[0].status_code == 422
    assert made == []


def test_what_is_asked_and_answered_fits_it(tmp_path: Path):
    assert validator("AnswerGiven").is_valid(json.loads(ANSWER))
    assert not validator("AnswerGiven").is_valid({**json.loads(ANSWER), "turns": []})
    assert not validator("AskPayload").is_valid({"question": "x", "conversation_id": "c", "client_id": "w", "x": 1})
    response, _ = posted(tmp_path, answers, "/assess", {"query": "Hello!"})
    assert validator("Assessed").is_valid(response.json())
    refused, _ = posted(tmp_path, answers, body=[])
    assert validator("Problem").is_valid(refused.json())
    known = DOCUMENT["paths"]["/ask"]["post"]["responses"]
    assert known.keys() == {"200", *map(str, openapi.ASK_PROBLEMS)}
