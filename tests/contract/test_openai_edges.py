"""What `/v1` keeps apart and away: end users of one token, other paths of the model's server, bodies without end."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from schemas import codec
from schemas.envelope import Envelope
from schemas.topics import MESSAGES_IN
from tests.builders.chat_model import KEY, USER, Front, completion, fronted
from tests.builders.http_server import CONFINED, TOKEN

HELLO = completion({"content": "It is day 20."})
APP = {"authorization": f"Bearer {CONFINED}"}
OPEN_WEB_UI = "X-OpenWebUI-User-Id"


def turn(front: Front, number: int = -1) -> tuple[Envelope, str]:
    """The envelope and the conversation of a question."""
    record, _ = front.exchange.asked[number]
    received = codec.decode(
        MESSAGES_IN, record.key, record.value, record.headers, partition=0, offset=0, timestamp=1_700_000_000_000
    )
    return received.envelope, json.loads(record.value)["conversation_id"]


# --- who asks --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("headers", "body", "user"),
    [
        ({}, {"user": "ann"}, "ann"),
        ({}, {"safety_identifier": "ann"}, "ann"),
        ({}, {"safety_identifier": "ann", "user": "cache-7"}, "ann"),
        ({OPEN_WEB_UI: "ann"}, {}, "ann"),
        ({OPEN_WEB_UI: "ann"}, {"user": "web"}, "ann"),
        ({"Fathom-User": "ann", OPEN_WEB_UI: "b"}, {"user": "c", "safety_identifier": "d"}, "ann"),
        ({}, {"user": "São João"}, "São João"),
        ({OPEN_WEB_UI: ""}, {"user": "", "safety_identifier": None, "metadata": {"a": "b"}}, None),
    ],
)
@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/responses"])
def test_the_user_is_who_the_application_says_it_is(
    tmp_path: Path, headers: dict[str, str], body: dict[str, Any], user: str | None, path: str
):
    said = {"messages": [USER]} if path.endswith("completions") else {"input": USER["content"]}

    async def story(front: Front) -> None:
        answer = await front.http.post(path, json={"model": "m", **said, **body}, headers={**APP, **headers})
        assert answer.status_code == 200
        envelope, _ = turn(front)
        if user is not None:
            assert envelope.user_id == user
        else:
            assert envelope.user_id not in (None, "", "app", "openai")
        # The model gets it as it came.
        assert {name: front.model.asked[0].get(name) for name in body} == body

    fronted(tmp_path, [HELLO], story)


def test_a_token_of_one_user_stays_that_users(tmp_path: Path):
    async def story(front: Front) -> None:
        stated = await front.complete(user="eva", safety_identifier="eva", headers={OPEN_WEB_UI: "eva"})
        assert stated.status_code == 200
        assert turn(front)[0].user_id == "ana"
        refused = await front.complete(headers={"Fathom-User": "eva"})
        assert (refused.status_code, refused.json()["error"]["type"]) == (403, "permission_error")

    fronted(tmp_path, [HELLO], story)


def test_the_header_of_a_chat_front_end_is_a_setting(tmp_path: Path):
    async def story(front: Front) -> None:
        await front.complete(headers={**APP, "X-Forwarded-User": "ann", OPEN_WEB_UI: "eva"})
        assert turn(front)[0].user_id == "ann"

    fronted(tmp_path, [HELLO], story, FATHOM_UPSTREAM_USER_HEADER="X-Forwarded-User")


@pytest.mark.parametrize("wrong", [{"user": "a\tb"}, {"user": 7}, {"safety_identifier": "x" * 257}])
def test_a_user_that_can_be_none_is_refused_and_not_taken_for_nobody(tmp_path: Path, wrong: dict[str, Any]):
    async def story(front: Front) -> None:
        refused = await front.complete(headers=APP, **wrong)
        assert (refused.status_code, refused.json()["error"]["code"]) == (400, "fathom")
        assert next(iter(wrong)) in refused.json()["error"]["message"]
        assert (await front.complete(headers={**APP, OPEN_WEB_UI: "a\tb"})).status_code == 400
        assert front.exchange.asked == []

    fronted(tmp_path, [HELLO], story)


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/responses"])
def test_without_a_user_a_question_shares_nothing_with_any_other(tmp_path: Path, path: str):
    async def story(front: Front) -> None:
        async def ask(*said: Any, **more: Any) -> None:
            name, headers = ("messages" if "chat" in path else "input"), more.pop("headers", {})
            body = {"model": "m", name: list(said), **more}
            assert (await front.http.post(path, json=body, headers={**APP, **headers})).status_code == 200

        answer, salary = {"role": "assistant", "content": "Hi!"}, {"role": "user", "content": "My salary is 4711."}
        await ask(USER)
        await ask(USER, answer, salary)
        await ask(USER, answer, {"role": "user", "content": "What is my salary?"})
        found = [turn(front, number) for number in range(3)]
        assert len({conversation for _, conversation in found}) == 3
        assert len({envelope.user_id for envelope, _ in found}) == 3
        # What follows the model's tools, and a retry, are the same question.
        call = {"role": "assistant", "content": None, "tool_calls": [], "type": "message"}
        await ask(USER, answer, salary, call)
        await ask(USER, answer, salary)
        assert len({envelope.id for envelope, _ in (turn(front, n) for n in range(len(front.exchange.asked)))}) == 3
        # A conversation that the application names has a memory of its own.
        for _ in range(2):
            await ask(USER, headers={"Fathom-Conversation": "c-1"})
        await ask(salary, headers={"Fathom-Conversation": "c-1"})
        await ask(salary, headers={"Fathom-Conversation": "c-2"})
        (first, one), (second, same), (third, _) = (turn(front, number) for number in (-3, -2, -1))
        assert (one, first.user_id) == (same, second.user_id)
        assert first.user_id != third.user_id

    fronted(tmp_path, [{**HELLO, "id": "resp-1", "output": []}], story)


def test_without_a_user_two_who_begin_alike_do_not_meet_later_on(tmp_path: Path):
    async def story(front: Front) -> None:
        for number in range(2):
            front.model.says[:] = [{"id": f"resp-{number}", "object": "response", "status": "completed", "output": []}]
            body: dict[str, Any] = {"model": "m", "input": "Hello"}
            await front.http.post("/v1/responses", json=body, headers=APP)
            body = {"model": "m", "input": "And now?", "previous_response_id": f"resp-{number}"}
            await front.http.post("/v1/responses", json=body, headers=APP)
        assert turn(front, -1)[1] != turn(front, 1)[1]
        assert turn(front, -1)[0].user_id != turn(front, 1)[0].user_id

    fronted(tmp_path, [HELLO], story)


# --- the model's server ----------------------------------------------------------------------------------------------

ELSEWHERE = (
    "..%2ffiles", "..%2F..%2Fadmin", "%2e%2e/files", "%2e%2e%2ffiles", ".", "..", "../files", "%2e", "%2E%2e", "a/b",
    "", "m%2f..%2f..%2ffiles", "m/../../files", "%2f%2fhost", "m%2f", "m%5c..%5cfiles", "a%00b", "a%0ab", "a%20b",
    "m%2f.", "%ff", "a%3fb", "a%23b",
)  # fmt: skip


@pytest.mark.parametrize("path", ELSEWHERE)
def test_nothing_of_the_models_server_is_reached_but_its_models(tmp_path: Path, path: str):
    async def story(front: Front) -> None:
        # As bytes: clients take dots out.
        address = front.http.base_url
        reading, writing = await asyncio.open_connection(address.host, address.port)
        named = f"Host: {address.host}\r\nAuthorization: Bearer {TOKEN}\r\nConnection: close"
        writing.write(f"GET /v1/models/{path} HTTP/1.1\r\n{named}\r\n\r\n".encode())
        answer = await reading.read()
        writing.close()
        assert (answer.split()[1], front.model.asked) == (b"404", [])
        assert json.loads(answer.partition(b"\r\n\r\n")[2])["error"]["code"] == "fathom"

    fronted(tmp_path, [HELLO], story)


def test_a_model_is_one_segment_whose_slash_is_encoded(tmp_path: Path):
    async def story(front: Front) -> None:
        await front.client().models.retrieve("org/m")
        await front.client().models.retrieve("ft:gpt-4o:acme::9,x@1+2")
        assert [asked["raw"] for asked in front.model.asked] == [
            "/v1/models/org%2Fm",
            "/v1/models/ft%3Agpt-4o%3Aacme%3A%3A9%2Cx%401%2B2",
        ]
        assert {each["authorization"] for each in front.model.headers} == {f"Bearer {KEY}"}

    fronted(tmp_path, [{"id": "m", "object": "model", "created": 1, "owned_by": "o"}], story)


# --- bodies ----------------------------------------------------------------------------------------------------------


def test_a_body_is_of_one_megabyte_at_most_and_more_is_a_setting(tmp_path: Path):
    async def story(front: Front) -> None:
        long = {"role": "system", "content": " " * 1_000_000}
        refused = await front.complete(long, USER)
        assert (refused.status_code, refused.json()["error"]["code"]) == (413, "fathom")
        assert refused.json()["error"]["type"] == "invalid_request_error"
        assert "FATHOM_UPSTREAM_MAX_BYTES" in refused.json()["error"]["message"]
        assert (await front.complete({**long, "content": "x" * 900_000}, USER)).status_code == 200
        assert len(front.model.asked) == 1

    fronted(tmp_path, [HELLO], story)

    async def larger(front: Front) -> None:
        assert (await front.complete({"role": "system", "content": "x" * 1_500_000}, USER)).status_code == 200

    fronted(tmp_path, [HELLO], larger, FATHOM_UPSTREAM_MAX_BYTES="2000000")
