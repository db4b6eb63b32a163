"""`/v1/responses` at real sockets, between the official Python client and a scripted model."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import openai
import pytest

from tests.builders.chat_model import PACK_TEXT, Front, packed
from tests.builders.http_server import until
from tests.contract.test_openai_tools import POLICED, REFUSED, RESOLVED, WORDS, fronted, gated, no_gate

QUESTION = "When is the deadline?"
BLOCK = f"<fathom-context>\n{PACK_TEXT}\n</fathom-context>"
FREE = "weather"


def message(text: str, name: str = "msg_1") -> dict[str, Any]:
    part = {"type": "output_text", "text": text, "annotations": []}
    return {"id": name, "type": "message", "role": "assistant", "status": "completed", "content": [part]}


def call(name: str, arguments: str = "{}", call_id: str = "k1") -> dict[str, Any]:
    head = {"id": f"fc_{call_id}", "type": "function_call", "status": "completed"}
    return {**head, "call_id": call_id, "name": name, "arguments": arguments}


def response(*output: dict[str, Any], name: str = "resp_1", status: str = "completed") -> dict[str, Any]:
    about = {"object": "response", "created_at": 1, "model": "m", "parallel_tool_calls": True, "tools": []}
    return {"id": name, **about, "status": status, "output": list(output), "tool_choice": "auto", "error": None}


def events(*said: dict[str, Any]) -> list[bytes]:
    """The events of a stream, numbered as OpenAI numbers them."""
    numbered = [{**each, "sequence_number": number} for number, each in enumerate(said)]
    return [f"event: {each['type']}\ndata: {json.dumps(each)}\n\n".encode() for each in numbered]


def steps(place: int, item: dict[str, Any]) -> Iterable[dict[str, Any]]:
    """What a server streams of an item."""
    at = {"output_index": place}
    if item["type"] == "message":
        [part] = item["content"]
        of = {**at, "item_id": item["id"], "content_index": 0}
        yield {"type": "response.output_item.added", **at, "item": {**item, "content": [], "status": "in_progress"}}
        yield {"type": "response.content_part.added", **of, "part": {**part, "text": ""}}
        for word in part["text"].split(" "):
            yield {"type": "response.output_text.delta", **of, "delta": f"{word} ", "logprobs": []}
        yield {"type": "response.output_text.done", **of, "text": part["text"], "logprobs": []}
        yield {"type": "response.content_part.done", **of, "part": part}
    else:
        of = {**at, "item_id": item["id"]}
        yield {"type": "response.output_item.added", **at, "item": {**item, "arguments": "", "status": "in_progress"}}
        for letter in item["arguments"]:
            yield {"type": "response.function_call_arguments.delta", **of, "delta": letter}
        yield {"type": "response.function_call_arguments.done", **of, "arguments": item["arguments"]}
    yield {"type": "response.output_item.done", **at, "item": item}


def streamed(*items: dict[str, Any], name: str = "resp_1") -> list[bytes]:
    begun = response(name=name, status="in_progress")
    said = [each for place, item in enumerate(items) for each in steps(place, item)]
    ended = {"type": "response.completed", "response": response(*items, name=name)}
    return events({"type": "response.created", "response": begun}, *said, ended)


HELLO = response(message("It is day 20."))


def test_a_response_has_context_in_its_instructions_and_both_sides_are_filed(tmp_path: Path):
    async def story(front: Front) -> None:
        raw = await front.client().responses.with_raw_response.create(
            model="m", input=QUESTION, instructions="Be brief."
        )
        assert raw.parse().output_text == "It is day 20."
        assert raw.headers["fathom-depth"] == "D2"
        [asked] = front.model.asked
        assert asked == {"model": "m", "input": QUESTION, "instructions": f"Be brief.\n\n{BLOCK}"}
        await until(lambda: front.exchange.sent)
        question, answer = front.turns()
        assert question["question"] == QUESTION
        assert (answer["content"], answer["answers"]) == ("It is day 20.", raw.headers["fathom-message-id"])

    fronted(tmp_path, [HELLO], story)


def test_a_stream_of_events_comes_through_byte_for_byte(tmp_path: Path):
    whole = b"".join(streamed(message("It is day 20. ✓")))
    cut = [whole[at : at + 41] for at in range(0, len(whole), 41)]

    async def story(front: Front) -> None:
        said = await front.http.post("/v1/responses", json={"model": "m", "input": QUESTION, "stream": True})
        assert said.content == whole
        async with front.client().responses.stream(model="m", input=QUESTION) as stream:
            final = await stream.get_final_response()
        assert final.output_text == "It is day 20. ✓"
        await until(lambda: len(front.exchange.sent) == 2)
        assert json.loads(front.exchange.sent[0].value)["content"].strip() == "It is day 20. ✓"

    fronted(tmp_path, [cut], story)


def test_what_follows_a_response_is_in_its_conversation(tmp_path: Path):
    async def story(front: Front) -> None:
        client = front.client()
        first = await client.responses.create(model="m", input="Good morning!")
        await client.responses.create(model="m", input="Yes", previous_response_id=first.id)
        await client.responses.create(model="m", input="Yes", previous_response_id="resp_2")
        other = await client.responses.create(model="m", input="Yes", previous_response_id="resp_of_another_server")
        assert other.id == "resp_4"
        conversations = [turn["conversation_id"] for turn in front.turns() if "question" in turn]
        assert len(conversations) == 4
        assert len(set(conversations[:3])) == 1
        assert conversations[3] != conversations[0]
        # "Yes" twice in one talk is said twice.
        assert len({record.name for record, _ in front.exchange.asked}) == 4

    says = [response(message("Hello."), name=f"resp_{number}") for number in (1, 2, 3, 4)]
    fronted(tmp_path, says, story)


def test_after_its_tools_the_model_goes_on_with_the_same_context_and_its_answer_is_filed(tmp_path: Path):
    output = {"type": "function_call_output", "call_id": "k1", "output": "sunny"}

    async def story(front: Front) -> None:
        client = front.client()
        first = await client.responses.create(model="m", input="Weather?")
        # By the id of the response, and with everything sent again.
        await client.responses.create(model="m", input=[output], previous_response_id=first.id)  # type: ignore[list-item]
        sent = [{"role": "user", "content": "Weather?"}, call(FREE), output]
        await client.responses.create(model="m", input=sent)  # type: ignore[arg-type]
        assert len({record.name for record, _ in front.exchange.asked}) == 1
        assert [each["instructions"] for each in front.model.asked] == [BLOCK] * 3
        await until(lambda: len(front.exchange.sent) == 2)
        [first_answer, second] = [json.loads(each.value) for each in front.exchange.sent]
        assert first_answer["content"] == second["content"] == "It is sunny."

    said = response(message("It is sunny."), name="resp_2")
    fronted(tmp_path, [response(call(FREE)), said, said], story)


@pytest.mark.parametrize("stream", [False, True])
def test_the_gate_completes_a_call_or_says_its_words_instead(tmp_path: Path, stream: bool):
    items = (message("I look."), call(POLICED, '{"a": 1}'), call(FREE, "{}", "k2"))
    says = streamed(*items) if stream else response(*items)

    async def answered(front: Front) -> Any:
        if not stream:
            return await front.client().responses.create(model="m", input=QUESTION)
        async with front.client().responses.stream(model="m", input=QUESTION) as given:
            numbers = [event.sequence_number async for event in given]
            assert numbers == list(range(len(numbers)))
            return await given.get_final_response()

    async def completed(front: Front) -> None:
        made = (await answered(front)).output
        assert [item.type for item in made] == ["message", "function_call", "function_call"]
        assert json.loads(made[1].arguments) == {"processo_referencia": "ALH.0002/26"}
        assert (made[2].name, made[2].arguments) == (FREE, "{}")
        [asked] = gated(front)
        assert asked.event.args == {"a": 1}

    async def refused(front: Front) -> None:
        made = (await answered(front)).output
        assert [item.type for item in made] == ["message", "message", "function_call"]
        assert made[1].content[0].text == WORDS
        assert made[2].name == FREE

    fronted(tmp_path, [says], completed, reply=RESOLVED)
    fronted(tmp_path, [says], refused, reply=REFUSED)


@pytest.mark.parametrize("stream", [False, True])
def test_without_the_gate_no_policed_call_reaches_the_caller(tmp_path: Path, stream: bool):
    says = streamed(call(POLICED)) if stream else response(call(POLICED))

    async def story(front: Front) -> None:
        said = await front.http.post("/v1/responses", json={"model": "m", "input": QUESTION, "stream": stream})
        assert f"The tool {POLICED} was not called" in said.text
        assert '"function_call"' not in said.text
        await until(lambda: front.exchange.sent)
        assert "was not called" in json.loads(front.exchange.sent[0].value)["content"]

    fronted(tmp_path, [says], story, reply=no_gate(None), FATHOM_UPSTREAM_WAIT_MS="200")


def test_a_stream_that_ends_with_a_call_it_never_announced_is_decided_at_its_end(tmp_path: Path):
    begun = {"type": "response.created", "response": response(status="in_progress")}
    says = events(begun, {"type": "response.completed", "response": response(call(POLICED))})

    async def story(front: Front) -> None:
        said = await front.http.post("/v1/responses", json={"model": "m", "input": QUESTION, "stream": True})
        assert '"function_call"' not in said.text
        assert WORDS in said.text

    fronted(tmp_path, [says], story, reply=REFUSED)


def test_our_marks_are_taken_out_of_what_the_caller_sends_back(tmp_path: Path):
    mine = {**message("Sorry."), "fathom_calls": [{"call_id": "k"}]}

    async def story(front: Front) -> None:
        sent = [{"role": "user", "content": "Delete it"}, mine, {"role": "user", "content": [
            {"type": "input_text", "text": "And now?"}, {"type": "input_image", "image_url": "data:,"}]}]  # fmt: skip
        body = {"model": "m", "instructions": f"Be brief.\n\n{BLOCK}", "input": sent}
        assert (await front.http.post("/v1/responses", json=body)).status_code == 200
        [asked] = front.model.asked
        assert asked["instructions"] == f"Be brief.\n\n{BLOCK}"
        assert asked["input"] == [sent[0], message("Sorry."), sent[2]]
        assert front.turns()[0]["question"] == "And now?"

    fronted(tmp_path, [HELLO], story)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ({"model": "m", "prompt": {"id": "p"}}, "no-user-message"),
        ({"model": "m", "input": [{"type": "item_reference", "id": "x"}]}, "no-text"),
        ({"model": "m", "input": [{"role": "user", "content": [{"type": "input_image"}]}]}, "no-text"),
        ({"model": "m", "input": 7}, "no-user-message"),
        ([1], "no-user-message"),
    ],
)
def test_a_request_without_a_question_goes_to_the_model_as_it_came(tmp_path: Path, body: Any, reason: str):
    async def story(front: Front) -> None:
        said = await front.http.post("/v1/responses", json=body)
        assert said.headers["fathom-status"] == f"passed-through; reason={reason}"
        assert front.model.asked == [body]
        assert front.exchange.asked == []

    fronted(tmp_path, [HELLO], story)


def test_a_broken_stream_is_an_error_of_the_client_and_filed_as_incomplete(tmp_path: Path):
    pieces = streamed(message("It is day 20."))[:4]

    async def story(front: Front) -> None:
        async def listen() -> None:
            async with front.client().responses.stream(model="m", input=QUESTION) as stream:
                async for _ in stream:
                    pass

        with pytest.raises(openai.APIError, match="gave no whole answer"):
            await listen()
        await until(lambda: front.exchange.sent)
        said = json.loads(front.exchange.sent[0].value)
        assert (said["content"].strip(), said["status"]) == ("It", "incomplete")

    fronted(tmp_path, [[*pieces, 0.05, None]], story)


def test_an_error_of_the_model_is_the_callers_with_what_was_given(tmp_path: Path):
    error = {"error": {"message": "no such model", "type": "invalid_request_error", "param": "model", "code": None}}

    async def story(front: Front) -> None:
        with pytest.raises(openai.NotFoundError, match="no such model") as found:
            await front.client().responses.create(model="x", input=QUESTION)
        assert found.value.response.headers["fathom-depth"] == "D2"
        assert front.exchange.sent == []

    fronted(tmp_path, [(404, error, {})], story)


def test_packs_are_those_of_the_question(tmp_path: Path):
    def own(prepared: Any, wanted: Any) -> bytes:
        return packed(prepared, wanted, f"about {json.loads(prepared.value)['question']}")

    async def story(front: Front) -> None:
        await front.client().responses.create(model="m", input="one")
        await front.client().responses.create(model="m", input=[{"role": "user", "content": "two"}])
        first, second = (asked["instructions"] for asked in front.model.asked)
        assert "about one" in first
        assert "about two" in second

    fronted(tmp_path, [HELLO], story, reply=own)
