"""The description of the HTTP interface: valid, whole, and what is really answered fits it."""

import json
from pathlib import Path
from typing import Any

import httpx
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator

from streams.edges.http import openapi
from tests.builders.http_server import Echo, posted, served
from tests.unit.edges.http.test_ask import ANSWER, answers

DOCUMENT = openapi.document("1")


def validator(name: str) -> Draft202012Validator:
    return Draft202012Validator({"$ref": f"#/components/schemas/{name}", "components": DOCUMENT["components"]})


def test_the_document_is_openapi():
    OpenAPIV31SpecValidator(DOCUMENT).validate()
    broken = {**DOCUMENT, "paths": {"/ask": {"post": {"responses": {"200": {}}}}}}
    assert list(OpenAPIV31SpecValidator(broken).iter_errors())


def test_it_is_served_and_names_every_path(tmp_path: Path):
    async def story(client: httpx.AsyncClient) -> Any:
        return (await client.get("/openapi.json")).json()

    shown = served(tmp_path, Echo(answers), story)
    assert shown["paths"].keys() == set(openapi.PATHS)
    assert shown["components"] == DOCUMENT["components"]


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
