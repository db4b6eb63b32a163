"""The OpenAPI 3.1 document of the HTTP interface; its schemas are those of the models.

Written out, not derived by FastAPI: two routes do not pay for 0.3 s of import and 2.3 times the processor time of a
request, and bounded bodies, problem details and the token are outside what it derives.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import JsonSchemaMode, models_json_schema

from schemas.answers import AnswerGiven
from schemas.chat import AskPayload
from schemas.json_schema import Untitled
from schemas.packs import ContextPack
from streams.edges.client.assessing import AssessArguments, Assessed
from streams.edges.http.problems import MEDIA_TYPE

PATHS = ("/ask", "/assess", "/openapi.json")
MODELS: Sequence[tuple[type[BaseModel], JsonSchemaMode]] = (
    (AskPayload, "validation"),
    (AssessArguments, "validation"),
    (AnswerGiven, "serialization"),
    (ContextPack, "serialization"),
    (Assessed, "serialization"),
)
PROBLEMS = {
    400: "the body is no JSON in UTF-8, or ended too early",
    401: "no token, or none that is known",
    403: "a foreign web origin or host name, or a token for another client_id",
    408: "the body came too slowly",
    413: "the body is too large",
    415: "the body is not stated to be JSON, or is compressed",
    422: "a field, parameter or header that is missing, wrong or unknown, by name",
    429: "too many requests of this token, or too many questions wait; `Retry-After` says when to try again",
}
ASK_PROBLEMS = {
    **PROBLEMS,
    503: "the broker cannot be reached or did not take the question; `Retry-After` says when to try again",
    504: "no answer came in time; ask again with the same Idempotency-Key to go on waiting",
}


def document(version: str) -> dict[str, Any]:
    """The OpenAPI document."""
    return {
        "openapi": "3.1.0",
        "info": {"title": "Fathom", "version": version, "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"}},
        "security": [{"token": []}],
        "paths": dict(zip(PATHS, ({"post": _ask()}, {"post": _assess()}, {"get": _described()}), strict=True)),
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": {**_schemas(), "Problem": _PROBLEM},
        },
    }


def _ask() -> dict[str, Any]:
    return {
        "operationId": "ask",
        "summary": "Ask a question and wait for its answer, or for its context pack",
        "description": (
            "The question becomes a user turn of its conversation, on `messages.in`. With `wait=answer` the response "
            "is the record of `answers.out` that answers it, which comes once an assistant has published its turn "
            "with `answers` set to the message's id; with `wait=pack` it is the record of `context-packs.out`. "
            "The tenant is the token's."
        ),
        "parameters": [
            _parameter("wait", "query", {"enum": ["answer", "pack"], "default": "answer"}, "what to wait for"),
            _parameter("Idempotency-Key", "header", _ID, "the same question with the same key is asked once"),
            _parameter("X-Request-Id", "header", _ID, "names the request in logs and in the turn"),
            _parameter("Prefer", "header", {"type": "string"}, "`wait=N`: for how many seconds to wait at most"),
            _parameter(
                "Fathom-Tier", "header", {"enum": ["minimal", "standard", "deep"]}, "the most that may be retrieved"
            ),
            _parameter("traceparent", "header", {"type": "string"}, "W3C trace context"),
        ],
        "requestBody": _body("AskPayload"),
        "responses": {
            "200": {
                **_json_of(
                    {"oneOf": [_ref("AnswerGiven"), _ref("ContextPack")]}, "the answer, or the pack, as on the topic"
                ),
                "headers": {
                    name: {"schema": {"type": "string"}}
                    for name in ("X-Request-Id", "Fathom-Message-Id", "traceparent")
                },
            },
            **_problems(ASK_PROBLEMS),
        },
    }


def _assess() -> dict[str, Any]:
    return {
        "operationId": "assess",
        "summary": "Say whether a query needs deep context",
        "description": "By rules, in milliseconds; nothing is read or stored.",
        "requestBody": _body("AssessArguments"),
        "responses": {"200": _json_of(_ref("Assessed"), "the assessment"), **_problems(PROBLEMS)},
    }


def _described() -> dict[str, Any]:
    return {
        "operationId": "describe",
        "summary": "This document",
        "responses": {"200": _json_of({"type": "object"}, "OpenAPI 3.1"), **_problems({401: PROBLEMS[401]})},
    }


_ID = {"type": "string", "minLength": 1, "maxLength": 200}
_PROBLEM = {
    "type": "object",
    "description": "Problem details (RFC 9457).",
    "properties": {"title": {"type": "string"}, "status": {"type": "integer"}, "detail": {"type": "string"}},
    "required": ["title", "status", "detail"],
}


def _schemas() -> dict[str, Any]:
    _, made = models_json_schema(MODELS, ref_template="#/components/schemas/{model}", schema_generator=Untitled)
    return dict(sorted(made["$defs"].items()))


def _ref(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}


def _parameter(name: str, place: str, schema: Mapping[str, Any], description: str) -> dict[str, Any]:
    return {"name": name, "in": place, "required": False, "description": description, "schema": schema}


def _body(name: str) -> dict[str, Any]:
    return {"required": True, "content": {"application/json": {"schema": _ref(name)}}}


def _json_of(schema: Mapping[str, Any], description: str) -> dict[str, Any]:
    return {"description": description, "content": {"application/json": {"schema": schema}}}


def _problems(known: Mapping[int, str]) -> dict[str, Any]:
    return {
        str(status): {"description": said, "content": {MEDIA_TYPE: {"schema": _ref("Problem")}}}
        for status, said in known.items()
    }
