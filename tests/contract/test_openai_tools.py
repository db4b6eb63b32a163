"""Tool calls of the model behind `/v1` at the tool gate: what it refuses never reaches the caller as a call."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from schemas import codec
from schemas.topics import TOOLS_CALLS_IN
from streams.edges.client.records import OutgoingRecord
from streams.edges.http.pending_replies import ExpectedReply
from streams.edges.http.request_reply import NotReachable
from tests.builders import chat_model, customs
from tests.builders.chat_model import DONE, USER, Front, Packed, chunk, completion, packed
from tests.builders.http_server import until

POLICED, FREE = "consultar_status_processo", "weather"
WORDS = "Nenhum processo mencionado."
fronted = partial(chat_model.fronted, **customs.NAMED)


def verdict(**said: Any) -> Packed:
    """Packs for questions, and this verdict for every call."""

    def reply(prepared: OutgoingRecord, wanted: ExpectedReply) -> bytes | Exception | None:
        if wanted.topic == "context-packs.out":
            return packed(prepared, wanted)
        fields = {"call_id": wanted.message_id, "client_id": "openai", "session_id": "s", "nome_tool": POLICED}
        return json.dumps({**fields, **said}).encode()

    return reply


def no_gate(answer: Exception | None) -> Packed:
    def reply(prepared: OutgoingRecord, wanted: ExpectedReply) -> bytes | Exception | None:
        return packed(prepared, wanted) if wanted.topic == "context-packs.out" else answer

    return reply


RESOLVED = verdict(status="resolved", args_resolvidos={"processo_referencia": "ALH.0002/26"})
REFUSED = verdict(status="error", erro=WORDS, erro_codigo="contexto_ausente")
PREVIEW = {"texto": "Enviar?", "args": {}, "expires_at": "2030-01-01T00:00:00Z"}
TO_CONFIRM = verdict(status="confirmation_required", preview=PREVIEW)


def call(name: str, arguments: str = "{}", call_id: str = "k1") -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def calling(*calls: dict[str, Any], text: str | None = None) -> dict[str, Any]:
    return completion({"content": text, "tool_calls": list(calls)}, "tool_calls")


def streamed(*calls: dict[str, Any], text: str = "") -> list[bytes]:
    """A stream in which each call comes in pieces."""
    pieces = [chunk(role="assistant", content=text)]
    for index, each in enumerate(calls):
        name, arguments = each["function"]["name"], each["function"]["arguments"]
        begun = {**each, "function": {"name": name, "arguments": ""}}
        pieces.append(chunk(tool_calls=[{"index": index, **begun}]))
        pieces += [chunk(tool_calls=[{"index": index, "function": {"arguments": each}}]) for each in arguments]
    return [*pieces, chunk(finish="tool_calls"), DONE]


async def heard(front: Front) -> tuple[str, list[tuple[str, str, str]], str | None]:
    """Text, calls and finish of a stream, as the official client puts them together."""
    text, calls, finish = "", {}, None
    stream = await front.client().chat.completions.create(model="m", messages=[USER], stream=True)
    async for part in stream:
        for choice in part.choices:
            text += choice.delta.content or ""
            finish = choice.finish_reason or finish
            for each in choice.delta.tool_calls or ():
                known = calls.setdefault(each.index, ["", "", ""])
                known[0] += each.id or ""
                known[1] += each.function.name or ""
                known[2] += each.function.arguments or ""
    return text, [tuple(calls[index]) for index in sorted(calls)], finish


def gated(front: Front) -> list[Any]:
    """The calls that the gate was asked about."""
    return [
        codec.decode(TOOLS_CALLS_IN, r.key, r.value, r.headers, partition=0, offset=0, timestamp=1_700_000_000_000)
        for r, wanted in front.exchange.asked
        if wanted.topic == "tools.calls.out"
    ]


def test_a_completed_call_has_the_gates_arguments(tmp_path: Path):
    async def story(front: Front) -> None:
        said = (await front.complete()).json()
        assert said == calling(call(POLICED, '{"processo_referencia":"ALH.0002/26"}'), text="Let me look.")
        [asked] = gated(front)
        assert (asked.event.tool_name, asked.event.args) == (POLICED, {"incluir_documentos": True})
        question = front.exchange.asked[0][0]
        assert asked.event.message_id == question.name
        assert (asked.envelope.tenant, asked.envelope.user_id, asked.key) == ("acme", "ana", question.key.decode())
        assert front.exchange.sent == []

    fronted(
        tmp_path, [calling(call(POLICED, '{"incluir_documentos":true}'), text="Let me look.")], story, reply=RESOLVED
    )


@pytest.mark.parametrize(
    ("reply", "words", "status"),
    [
        (REFUSED, WORDS, "error"),
        (TO_CONFIRM, "Enviar?", "confirmation_required"),
        (no_gate(None), "the tool gate did not answer within 0.3 s", "error"),
        (no_gate(NotReachable("down")), "the tool gate cannot be reached", "error"),
        (verdict(status="resolved"), "the tool gate cannot read it", "error"),
    ],
)
@pytest.mark.parametrize("stream", [True, False])
def test_a_refused_call_is_the_gates_words(tmp_path: Path, reply: Packed, words: str, status: str, stream: bool):
    async def story(front: Front) -> None:
        if stream:
            text, calls, finish = await heard(front)
            assert calls == []
        else:
            [choice] = (await front.complete()).json()["choices"]
            assert choice["message"].keys() == {"role", "content", "fathom_calls"}
            [told] = choice["message"]["fathom_calls"]
            assert (told["name"], told["status"]) == (POLICED, status)
            text, finish = choice["message"]["content"], choice["finish_reason"]
        assert words in text
        assert finish == "stop"
        await until(lambda: front.exchange.sent)
        assert json.loads(front.exchange.sent[0].value)["content"] == text

    says = streamed(call(POLICED, '{"a":1}')) if stream else calling(call(POLICED, '{"a":1}'))
    fronted(tmp_path, [says], story, reply=reply, FATHOM_UPSTREAM_WAIT_MS="300")


def test_what_our_answers_add_does_not_go_back_to_the_model(tmp_path: Path):
    async def story(front: Front) -> None:
        said = (await front.complete()).json()["choices"][0]["message"]
        assert "fathom_calls" in said
        for reply in (REFUSED, no_gate(NotReachable("down"))):
            front.exchange.reply = reply
            await front.complete(USER, said, {"role": "user", "content": "Why?"})
            assert front.model.asked[-1]["messages"][-2] == {"role": "assistant", "content": WORDS}

    fronted(tmp_path, [calling(call(POLICED))], story, reply=REFUSED)


def test_in_a_stream_text_flows_and_completed_calls_follow(tmp_path: Path):
    async def story(front: Front) -> None:
        text, calls, finish = await heard(front)
        assert (text, finish) == ("Let me look.", "tool_calls")
        assert calls == [("k0", FREE, '{"city":"Porto"}'), ("k1", POLICED, '{"processo_referencia":"ALH.0002/26"}'),
                         ("k2", FREE, "{}")]  # fmt: skip
        assert len(gated(front)) == 1

    says = streamed(call(FREE, '{"city":"Porto"}', "k0"), call(POLICED, "{}", "k1"), call(FREE, "{}", "k2"),
                    text="Let me look.")  # fmt: skip
    fronted(tmp_path, [says], story, reply=RESOLVED)


@pytest.mark.parametrize("stream", [True, False])
def test_of_several_calls_the_others_are_made(tmp_path: Path, stream: bool):
    async def story(front: Front) -> None:
        if stream:
            text, calls, finish = await heard(front)
        else:
            [choice] = (await front.complete()).json()["choices"]
            text, finish = choice["message"]["content"], choice["finish_reason"]
            calls = [(c["id"], c["function"]["name"], c["function"]["arguments"])
                     for c in choice["message"]["tool_calls"]]  # fmt: skip
        assert (text, calls, finish) == (WORDS, [("k2", FREE, "{}")], "tool_calls")

    both = (call(POLICED, "{}", "k1"), call(FREE, "{}", "k2"))
    fronted(tmp_path, [streamed(*both) if stream else calling(*both)], story, reply=REFUSED)


@pytest.mark.parametrize("make", [streamed, calling])
def test_a_tool_that_no_policy_names_is_not_touched(tmp_path: Path, make: Callable[..., Any]):
    says = make(call(FREE, '{"city": "São Paulo"}'))

    async def story(front: Front) -> None:
        said = await front.complete(stream=make is streamed)
        assert said.content == (b"".join(says) if make is streamed else json.dumps(says).encode())
        assert gated(front) == []

    fronted(tmp_path, [says], story, reply=REFUSED)


@pytest.mark.parametrize("arguments", ['{"a":', "[1]", "null"])
def test_arguments_that_are_no_object_are_refused(tmp_path: Path, arguments: str):
    async def story(front: Front) -> None:
        text, calls, finish = await heard(front)
        assert (calls, finish) == ([], "stop")
        assert "its arguments are no JSON object" in text

    fronted(tmp_path, [streamed(call(POLICED, arguments))], story, reply=RESOLVED)


def test_other_forms_of_calls_do_not_pass_the_gate_by(tmp_path: Path):
    older = {"name": POLICED, "arguments": "{}"}
    custom = {"id": "k1", "type": "custom", "custom": {"name": POLICED, "input": "anything"}}
    whole = chunk(tool_calls=[{"index": 0, **call(POLICED)}], finish="tool_calls")
    pieces = [[chunk(function_call=older), chunk(finish="function_call")], [whole, DONE],
              [chunk(tool_calls=[{"index": 0, **custom}]), chunk(finish="stop")],
              [chunk(tool_calls=[{"index": 0, **call(POLICED)}]), DONE]]  # fmt: skip

    async def story(front: Front) -> None:
        for _ in range(4):
            said = (await front.complete(stream=True)).content
            chunks = [json.loads(line[5:]) for line in said.splitlines() if line.startswith(b"data: {")]
            deltas = [choice["delta"] for each in chunks for choice in each["choices"]]
            assert [delta for delta in deltas if {"tool_calls", "function_call"} & delta.keys()] == []
        for _ in range(2):
            [choice] = (await front.complete()).json()["choices"]
            assert choice["message"].keys() == {"role", "content", "fathom_calls"}

    bodies = [completion({"content": None, "function_call": older}, "function_call"), calling(custom)]
    fronted(tmp_path, [*pieces, *bodies], story, reply=REFUSED)


def test_an_operators_policy_names_the_tools(tmp_path: Path):
    policy = tmp_path / "tools.yaml"
    policy.write_text("tools:\n  session: {}\n  tools:\n    weather:\n      arguments:\n        city: {}\n")

    async def story(front: Front) -> None:
        assert (await front.complete()).json()["choices"][0]["message"]["content"] == WORDS

    fronted(tmp_path, [calling(call(FREE))], story, reply=REFUSED, FATHOM_TOOL_POLICY=str(policy))


def test_the_shipped_sample_holds_for_nobodys_tools_until_it_is_named(tmp_path: Path):
    asked = calling(call("send_email", '{"recipients":["ana"]}'))

    async def story(front: Front) -> None:
        assert (await front.complete()).json() == asked

    chat_model.fronted(tmp_path, [asked], story, reply=REFUSED)
