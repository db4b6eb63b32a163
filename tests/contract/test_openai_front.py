"""`/v1/chat/completions` at real sockets, between the official Python client and a scripted model."""

import asyncio
import json
import logging
from pathlib import Path
from typing import Any

import openai
import pytest

from schemas import codec
from schemas.base import Conversation
from schemas.chat import AskPayload, ChatMessage
from schemas.topics import MESSAGES_IN
from streams.edges.client.records import OutgoingRecord
from streams.edges.http.load_shedding import LoadShedding
from streams.edges.http.pending_replies import ExpectedReply, TooMany
from streams.edges.http.request_reply import NotReachable
from tests.builders.chat_model import (
    DONE,
    KEY,
    PACK_TEXT,
    USER,
    Front,
    chunk,
    completion,
    fronted,
    packed,
    spoken,
)
from tests.builders.http_server import CONFINED, TOKEN, until

HELLO = completion({"content": "It is day 20."})
BLOCK = f"<fathom-context>\n{PACK_TEXT}\n</fathom-context>"


def received(record: OutgoingRecord) -> Any:
    return codec.decode(
        MESSAGES_IN, record.key, record.value, record.headers, partition=0, offset=0, timestamp=1_700_000_000_000
    )


def test_one_line_gives_a_client_context_and_files_both_sides(tmp_path: Path):
    async def story(front: Front) -> None:
        raw = await front.client().chat.completions.with_raw_response.create(model="m", messages=[USER])
        assert raw.parse().choices[0].message.content == "It is day 20."
        [asked] = front.model.asked
        assert asked == {"model": "m", "messages": [{"role": "system", "content": BLOCK}, USER]}
        assert front.model.headers[0]["authorization"] == f"Bearer {KEY}"
        await until(lambda: front.exchange.sent)
        [(question, wanted)], [answer] = front.exchange.asked, front.exchange.sent
        user, assistant = received(question), received(answer)
        assert user.event == AskPayload(
            question=USER["content"], client_id="openai", conversation_id=raw.headers["fathom-conversation"]
        )
        assert (user.envelope.tenant, user.envelope.user_id, wanted.topic) == ("acme", "ana", "context-packs.out")
        said = assistant.event
        assert isinstance(said, ChatMessage)
        assert (said.role, said.content, said.status) == ("assistant", "It is day 20.", None)
        assert (said.answers, said.pack_id) == (question.name, f"pack-of-{question.name}")
        assert answer.key == question.key
        assert assistant.envelope.tenant == "acme"
        assert {name: raw.headers[name] for name in raw.headers if name.startswith("fathom-")} == {
            "fathom-status": "context", "fathom-message-id": question.name, "fathom-pack-id": said.pack_id,
            "fathom-depth": "D2", "fathom-tokens": "42", "fathom-conversation": user.event.conversation_id,
        }  # fmt: skip
        assert raw.headers["x-request-id"] == "req-upstream"

    fronted(tmp_path, [HELLO], story)


def test_a_stream_comes_through_byte_for_byte_while_it_is_made(tmp_path: Path):
    pieces = [b": comment\n\n", *spoken("It is ", "day ", "20. ✓")]
    whole = b"".join(pieces)
    # In pieces that split events and characters.
    cut = [whole[at : at + 37] for at in range(0, len(whole), 37)]

    async def story(front: Front) -> None:
        said = await front.complete(stream=True)
        assert said.content == whole
        assert said.headers["content-type"] == "text/event-stream; charset=utf-8"
        assert said.headers["fathom-depth"] == "D2"
        stream = await front.client().chat.completions.create(model="m", messages=[USER], stream=True)
        text = [part.choices[0].delta.content async for part in stream if part.choices[0].delta.content]
        assert "".join(text) == "It is day 20. ✓"
        await until(lambda: len(front.exchange.sent) == 2)
        # The same request, the same words: the same turns.
        first, second = front.exchange.sent
        assert (first.name, json.loads(first.value)["content"]) == (second.name, "It is day 20. ✓")
        assert len({record.name for record, _ in front.exchange.asked}) == 1

    fronted(tmp_path, [cut], story)


def test_the_first_words_arrive_before_the_last_are_made(tmp_path: Path):
    async def story(front: Front) -> None:
        stream = await front.client().chat.completions.create(model="m", messages=[USER], stream=True)
        async for part in stream:
            if part.choices[0].delta.content:
                assert part.choices[0].delta.content == "early"
                break
        await stream.close()
        await until(lambda: front.model.left and front.exchange.sent)
        said = json.loads(front.exchange.sent[0].value)
        assert (said["content"], said["status"]) == ("early", "incomplete")
        assert said["answers"] == front.exchange.asked[0][0].name

    fronted(tmp_path, [[chunk(content="early"), 60.0, chunk(content="late"), DONE]], story)


def test_who_leaves_before_anything_is_said_ends_the_models_work_and_files_nothing(tmp_path: Path):
    async def story(front: Front) -> None:
        asking = asyncio.create_task(front.client().chat.completions.create(model="m", messages=[USER]))
        await until(lambda: front.model.asked)
        asking.cancel()
        await until(lambda: front.model.left)
        assert front.exchange.sent == []

    fronted(tmp_path, [[60.0, *spoken("late")]], story)


def test_a_stream_that_breaks_is_said_to_be_broken_and_filed_as_what_was_said(tmp_path: Path):
    async def story(front: Front) -> None:
        stream = await front.client().chat.completions.create(model="m", messages=[USER], stream=True)
        heard: list[str] = []

        async def listen() -> None:
            async for part in stream:
                heard.extend(choice.delta.content or "" for choice in part.choices)

        with pytest.raises(openai.APIError, match="gave no whole answer"):
            await listen()
        assert heard == ["It is"]
        await until(lambda: front.exchange.sent)
        said = json.loads(front.exchange.sent[0].value)
        assert (said["content"], said["status"]) == ("It is", "incomplete")

    fronted(tmp_path, [[chunk(content="It is"), 0.05, None]], story)


def test_an_answer_is_filed_once_the_broker_is_back_and_one_too_long_is_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    async def story(front: Front) -> None:
        front.exchange.refusals.append(NotReachable("down"))
        assert (await front.complete()).status_code == 200
        await until(lambda: front.exchange.sent)
        assert (await front.complete()).status_code == 200
        await until(lambda: "chat.not_filed" in caplog.text)
        assert len(front.exchange.sent) == 1

    with caplog.at_level(logging.WARNING, "fathom.ask"):
        fronted(tmp_path, [HELLO, completion({"content": "word " * 1_000_000})], story)
    assert "word" not in caplog.text


# --- what goes to the model ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([{"role": "system", "content": "Be brief."}, USER], {"role": "system", "content": f"Be brief.\n\n{BLOCK}"}),
        ([{"role": "developer", "content": "Be brief."}, USER],
         {"role": "developer", "content": f"Be brief.\n\n{BLOCK}"}),
        ([{"role": "system", "content": [{"type": "text", "text": "Be brief."}]}, USER],
         {"role": "system", "content": [{"type": "text", "text": "Be brief."}, {"type": "text", "text": BLOCK}]}),
        ([{"role": "system", "content": f"Be brief.\n\n{BLOCK.replace('20', '15')}"}, USER],
         {"role": "system", "content": f"Be brief.\n\n{BLOCK}"}),
        ([USER], {"role": "system", "content": BLOCK}),
    ],
)  # fmt: skip
def test_the_context_is_once_in_the_callers_instructions(tmp_path: Path, messages: Any, expected: Any):
    async def story(front: Front) -> None:
        extra = {"temperature": 0.2, "metadata": {"a": "b"}, "seed": 7}
        assert (await front.complete(*messages, **extra)).status_code == 200
        assert front.model.asked == [{"model": "m", "messages": [expected, USER], **extra}]

    fronted(tmp_path, [HELLO], story)


def test_the_text_of_parts_is_the_question_and_images_pass(tmp_path: Path):
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    parts = [{"type": "text", "text": "What is"}, image, {"type": "text", "text": "on it?"}]

    async def story(front: Front) -> None:
        assert (await front.complete({"role": "user", "content": parts})).headers["fathom-status"] == "context"
        assert front.model.asked[0]["messages"][1]["content"] == parts
        assert front.turns()[0]["question"] == "What is\non it?"
        only = await front.complete({"role": "user", "content": [image]})
        assert only.headers["fathom-status"] == "passed-through; reason=no-text"

    fronted(tmp_path, [HELLO], story)


def test_the_tools_of_the_model_are_not_a_new_turn_and_see_the_same_context(tmp_path: Path):
    call = {"id": "k1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}
    calling = {"role": "assistant", "content": "Let me look.", "tool_calls": [call]}
    result = {"role": "tool", "tool_call_id": "k1", "content": "sunny"}
    says = [completion({"content": "Let me look.", "tool_calls": [call]}, "tool_calls"), HELLO]
    number = iter(range(9))

    async def story(front: Front) -> None:
        first = await front.complete()
        assert first.json() == completion({"content": "Let me look.", "tool_calls": [call]}, "tool_calls")
        second = await front.complete(USER, calling, result)
        await until(lambda: front.exchange.sent)
        assert [turn.get("question", turn.get("content")) for turn in front.turns()] == [
            USER["content"],
            "It is day 20.",
        ]
        assert first.headers["fathom-message-id"] == second.headers["fathom-message-id"]
        instructions = [asked["messages"][0] for asked in front.model.asked]
        assert instructions[0] == instructions[1]
        third = await front.complete(USER, calling, result, {"role": "assistant", "content": "ok"}, USER)
        assert third.headers["fathom-message-id"] != first.headers["fathom-message-id"]
        assert third.headers["fathom-conversation"] == first.headers["fathom-conversation"]

    fronted(tmp_path, says, story, reply=lambda p, w: packed(p, w, f"pack {next(number)}"))


# --- whose it is -----------------------------------------------------------------------------------------------------


def test_a_chat_is_one_conversation_and_two_chats_are_two(tmp_path: Path):
    async def story(front: Front) -> None:
        async def conversation(*messages: Any, **options: Any) -> str:
            return (await front.complete(*messages, **options)).headers["fathom-conversation"]

        answer, other = {"role": "assistant", "content": "Day 20."}, {"role": "user", "content": "Who decides?"}
        now = {"role": "system", "content": "It is 12:00."}
        later = {"role": "system", "content": "It is 12:01."}
        first = await conversation(now, USER)
        assert first == await conversation(later, USER, answer, other)
        assert first != await conversation(other)
        assert first != await conversation(USER, user="eva")
        assert first != await conversation(USER, headers={"authorization": f"Bearer {CONFINED}"})
        assert await conversation(USER, headers={"fathom-conversation": "c-1"}) == "c-1"
        named = await front.complete(USER, headers=[(b"fathom-conversation", "São Paulo".encode())])
        assert json.loads(front.exchange.asked[-1][0].value)["conversation_id"] == "São Paulo"
        assert dict(named.headers.raw)[b"fathom-conversation"] == "São Paulo".encode()
        refused = await front.complete(USER, headers={"fathom-conversation": "a\tb"})
        assert refused.status_code == 400
        assert "Fathom-Conversation" in refused.json()["error"]["message"]

    fronted(tmp_path, [HELLO], story)


def test_a_token_is_of_one_tenant_and_may_be_of_one_client_and_user(tmp_path: Path):
    async def story(front: Front) -> None:
        app = {"authorization": f"Bearer {CONFINED}"}
        assert (await front.complete(headers={**app, "fathom-client": "web"})).status_code == 403
        assert (await front.complete(headers=app)).status_code == 200
        [(record, _)] = front.exchange.asked
        assert (received(record).envelope.tenant, json.loads(record.value)["client_id"]) == ("beta", "app")
        assert (await front.complete(headers={"fathom-user": "eva"})).status_code == 403
        assert (await front.complete(headers={**app, "fathom-user": "eva"})).status_code == 200
        assert received(front.exchange.asked[1][0]).envelope.user_id == "eva"

    fronted(tmp_path, [HELLO], story)


def test_the_callers_own_key_goes_to_the_model_and_the_token_never(tmp_path: Path):
    async def story(front: Front) -> None:
        client = front.client("sk-of-the-caller", default_headers={"Fathom-Token": TOKEN})
        await client.chat.completions.create(model="m", messages=[USER])
        await front.client().chat.completions.create(model="m", messages=[USER])
        assert [each["authorization"] for each in front.model.headers] == ["Bearer sk-of-the-caller", f"Bearer {KEY}"]
        assert TOKEN not in json.dumps(front.model.headers)
        assert not [name for each in front.model.headers for name in each if name.startswith("fathom-")]

    fronted(tmp_path, [HELLO], story)


def test_without_a_known_token_the_client_gets_its_own_kind_of_error(tmp_path: Path):
    async def story(front: Front) -> None:
        with pytest.raises(openai.AuthenticationError) as refused:
            await front.client("sk-unknown-to-everybody").chat.completions.create(model="m", messages=[USER])
        assert "a known token is needed" in refused.value.message
        assert refused.value.code == "fathom"
        assert front.model.asked == []

    fronted(tmp_path, [HELLO], story)


def test_options_of_headers_are_those_of_the_question(tmp_path: Path):
    async def story(front: Front) -> None:
        named = {"fathom-min-depth": "D2", "fathom-max-tokens": "900", "fathom-tier": "deep"}
        assert (await front.complete(headers=named)).status_code == 200
        envelope = received(front.exchange.asked[0][0]).envelope
        assert envelope.tier == "deep"
        assert envelope.options.stated() == {
            **{"min_depth": "D2", "max_tokens": 900, "template": "context"},
            # What the front itself waits, less the way back.
            "wait_ms": 2_900,
        }
        await until(lambda: front.exchange.sent)
        assert received(front.exchange.sent[0]).envelope.options is None
        for wrong in ({"fathom-min-depth": "D9"}, {"fathom-tier": "much"}):
            refused = await front.complete(headers=wrong)
            assert (refused.status_code, refused.json()["error"]["code"]) == (400, "fathom")

    fronted(tmp_path, [HELLO], story)


def test_in_an_overload_a_chat_goes_on_at_once_without_context(tmp_path: Path):
    async def story(front: Front) -> None:
        front.exchange.shedding = LoadShedding(lambda: next(seconds))
        key = Conversation(tenant="acme", client_id="openai", conversation_id="c1").key().encode()
        for message_id in ("m1", "m2"):
            front.exchange.shedding.sent(key, message_id)
        answer = await front.complete()
        assert (answer.status_code, answer.headers["fathom-status"]) == (200, "passed-through; reason=busy")
        assert "fathom-message-id" not in answer.headers
        assert (len(front.model.asked), front.exchange.asked, front.exchange.sent) == (1, [], [])

    seconds = iter((0.0, 3.5, 4.0))
    fronted(tmp_path, [HELLO], story)


# --- without context -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reply", "reason", "filed"),
    [
        (lambda *_: NotReachable("down"), "broker", False),
        (lambda *_: TooMany(), "busy", False),
        (lambda *_: None, "timeout", True),
        (lambda p, w: packed(p, w, ""), "empty-pack", True),
    ],
)
def test_without_a_pack_the_request_goes_on_unchanged_and_says_so(tmp_path: Path, reply: Any, reason: str, filed: bool):
    raw = b'{"messages":  [{"content": "Hi", "role": "user"}], "model": "m", "top_p": 1.0}'

    async def story(front: Front) -> None:
        said = await front.http.post("/v1/chat/completions", content=raw, headers={"content-type": "application/json"})
        assert (said.status_code, said.json()) == (200, HELLO)
        assert said.headers["fathom-status"] == f"passed-through; reason={reason}"
        assert front.model.asked == [json.loads(raw)]
        assert front.model.headers[0]["content-length"] == str(len(raw))
        if filed:
            await until(lambda: front.exchange.sent)
        await asyncio.sleep(0.05)
        assert len(front.exchange.sent) == int(filed)
        assert ("fathom-message-id" in said.headers) == filed

    fronted(tmp_path, [HELLO], story, reply=reply, FATHOM_UPSTREAM_WAIT_MS="100")


@pytest.mark.parametrize(
    "body", [{"model": "m", "messages": []}, {"model": "m"}, [], {"messages": "hi"}, {"messages": [1]}]
)
def test_what_only_the_model_can_judge_goes_to_it(tmp_path: Path, body: Any):
    wrong = {"error": {"message": "messages is required", "type": "invalid_request_error"}}

    async def story(front: Front) -> None:
        said = await front.http.post("/v1/chat/completions", json=body)
        assert (said.status_code, said.json()) == (400, wrong)
        assert said.headers["fathom-status"] == "passed-through; reason=no-user-message"
        assert front.exchange.asked == []

    fronted(tmp_path, [(400, wrong, {})], story)


# --- the model's errors ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "kind", "headers"),
    [
        (401, openai.AuthenticationError, {}),
        (429, openai.RateLimitError, {"retry-after": "7", "x-ratelimit-remaining-requests": "0"}),
        (500, openai.InternalServerError, {}),
    ],
)
@pytest.mark.parametrize("stream", [True, False])
def test_an_error_of_the_model_is_the_callers(
    tmp_path: Path, status: int, kind: type[openai.APIStatusError], headers: dict[str, str], stream: bool
):
    wrong = {"error": {"message": "the model's own words", "type": "t", "param": None, "code": "c"}}

    async def story(front: Front) -> None:
        with pytest.raises(kind) as failed:
            await front.client().chat.completions.create(model="m", messages=[USER], stream=stream)
        assert failed.value.body == wrong["error"]
        assert failed.value.response.headers.items() >= {**headers, "fathom-status": "context"}.items()
        assert front.exchange.sent == []

    fronted(tmp_path, [(status, wrong, headers)], story)


def test_an_answer_that_is_no_json_comes_as_it_is(tmp_path: Path):
    async def story(front: Front) -> None:
        said = await front.complete()
        assert (said.status_code, said.content) == (200, b"<html>")
        assert front.exchange.sent == []

    fronted(tmp_path, [(200, b"<html>", {})], story)


def test_a_model_that_refuses_connections_is_named_in_one_sentence(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    async def story(front: Front) -> None:
        with pytest.raises(openai.InternalServerError) as failed:
            await front.client().chat.completions.create(model="m", messages=[USER])
        assert failed.value.status_code == 502
        assert "the model's server cannot be reached; start it" in failed.value.message

    with caplog.at_level(logging.DEBUG):
        fronted(tmp_path, None, story)
    assert [secret for secret in (KEY, TOKEN) if secret in caplog.text] == []
    assert [each for each in caplog.records if each.exc_info and each.name.startswith(("fathom", "uvicorn"))] == []


def test_a_model_that_is_silent_is_given_up(tmp_path: Path):
    async def story(front: Front) -> None:
        said = await front.complete(stream=True)
        assert said.status_code == 200
        assert "silent for 0.3 s" in said.text
        await until(lambda: front.exchange.sent)

    fronted(tmp_path, [[chunk(content="It"), 30.0]], story, FATHOM_UPSTREAM_TIMEOUT_MS="300")


def test_without_a_model_the_client_is_told_who_can_name_one(tmp_path: Path):
    async def story(front: Front) -> None:
        with pytest.raises(openai.APIStatusError, match="FATHOM_UPSTREAM_URL") as failed:
            await front.client(max_retries=5).chat.completions.create(model="m", messages=[USER])
        assert failed.value.status_code == 501
        assert front.exchange.asked == []

    fronted(tmp_path, [HELLO], story, FATHOM_UPSTREAM_URL="")


def test_models_are_those_of_the_models_server(tmp_path: Path):
    models = {"object": "list", "data": [{"id": "m", "object": "model", "created": 1, "owned_by": "o"}]}

    async def story(front: Front) -> None:
        assert [model.id async for model in front.client().models.list()] == ["m"]
        await front.client().models.retrieve("org/m")
        assert [asked["path"] for asked in front.model.asked] == ["/v1/models", "/v1/models/org/m"]

    fronted(tmp_path, [models, models, models["data"][0]], story)


# --- many at once ----------------------------------------------------------------------------------------------------


def test_twenty_chats_at_once_get_their_own_context_and_answers(tmp_path: Path):
    def own(prepared: OutgoingRecord, wanted: ExpectedReply) -> bytes:
        return packed(prepared, wanted, f"context of {json.loads(prepared.value)['question']}")

    def echo(asked: dict[str, Any]) -> list[Any]:
        return [chunk(content=asked["messages"][0]["content"]), 0.05, chunk(finish="stop"), DONE]

    async def story(front: Front) -> None:
        client = front.client()

        async def chat(number: int) -> str:
            messages = [{"role": "user", "content": f"question {number}"}]
            stream = await client.chat.completions.create(model="m", messages=messages, stream=True)
            return "".join([part.choices[0].delta.content or "" async for part in stream])

        said = await asyncio.gather(*(chat(number) for number in range(20)))
        expected = [f"<fathom-context>\ncontext of question {number}\n</fathom-context>" for number in range(20)]
        assert said == expected
        await until(lambda: len(front.exchange.sent) == 20)
        keys = {record.name: record.key for record, _ in front.exchange.asked}
        for record in front.exchange.sent:
            turn = json.loads(record.value)
            assert keys[turn["answers"]] == record.key
        assert len(set(keys.values())) == 20

    fronted(tmp_path, [echo], story, reply=own)
