"""`fathom serve` as an OpenAI-compatible server beside one running `fathom up`: the official clients, a scripted model.

The clients know nothing of Fathom but its address and a token.
"""

import asyncio
import json
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import openai
import pytest

from streams import policies
from tests.builders.chat_model import DONE, KEY, ScriptedModel, chunk, completion, listening
from tests.builders.node_openai import modules
from tests.e2e.test_serve import ANA, EVA, TOKENS, reachable, records
from tests.e2e.test_up import UNHURRIED, running
from tests.servers.install import InstallError

MODELS = {"object": "list", "data": [{"id": "m", "object": "model", "created": 1, "owned_by": "o"}]}
NODE = Path(__file__).parent / "node" / "chat.mjs"


def answered(asked: dict[str, Any]) -> Any:
    """What the scripted model says to a request."""
    if "messages" not in asked:
        return MODELS
    said = str(asked["messages"][-1]["content"])
    if said.startswith("fail with 4") or said.startswith("fail with 5"):
        return int(said[-3:]), {"error": {"message": "the model's own words", "type": "t"}}, {"retry-after": "1"}
    if said == "fail with cut":
        return [chunk(content="so"), 0.05, None]
    if said == "leave early":
        return [chunk(content="early"), 60.0, DONE]
    if said.startswith("status"):
        call = {"name": "get_order", "arguments": "{}"}
        return completion({"content": None, "tool_calls": [{"id": "k", "type": "function", "function": call}]},
                          "tool_calls")  # fmt: skip
    words = f"Answer to: {said}"
    return [chunk(content=words), chunk(finish="stop"), DONE] if asked.get("stream") else completion({"content": words})


@contextmanager
def in_background(model: ScriptedModel, port: int = 0) -> Iterator[str]:
    """The address of a model that runs in a thread."""
    place: list[str] = []
    up, over = threading.Event(), threading.Event()

    async def story() -> None:
        async with listening(model, port) as address:
            place.append(address)
            up.set()
            await asyncio.to_thread(over.wait)

    thread = threading.Thread(target=lambda: asyncio.run(story()))
    thread.start()
    assert up.wait(30)
    try:
        yield f"{place[0]}/v1"
    finally:
        over.set()
        thread.join(30)


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    place = tmp_path_factory.mktemp("up")
    with running("up", "--data", str(place / "data"), "--port", "0", stderr=place / "err", **UNHURRIED) as process:
        yield process.ready()["bootstrap"]
        assert process.end()[0] == 0


@pytest.fixture(scope="module")
def model() -> ScriptedModel:
    return ScriptedModel([answered])


@pytest.fixture(scope="module")
def settings(model: ScriptedModel, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    place = tmp_path_factory.mktemp("settings")
    (place / "tokens.json").write_text(json.dumps(TOKENS))
    (place / "key").write_text(KEY)
    with in_background(model) as url:
        yield {
            "FATHOM_ASK_TOKENS_FILE": str(place / "tokens.json"), "FATHOM_UPSTREAM_KEY_FILE": str(place / "key"),
            "FATHOM_UPSTREAM_URL": url, "FATHOM_UPSTREAM_WAIT_MS": "60000",
            "FATHOM_TOOL_POLICY": str(policies.CHECKOUT / "tools.yaml"),
        }  # fmt: skip


@pytest.fixture(scope="module")
def url(broker: str, settings: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    errors = tmp_path_factory.mktemp("serve") / "err"
    with running("serve", "--port", "0", "--broker", broker, stderr=errors, **settings) as process:
        yield reachable(process).removesuffix("/ask") + "/v1"
        assert process.end() == (0, "")
        assert "Traceback" not in errors.read_text()
        assert not [secret for secret in (*TOKENS, KEY) if secret in errors.read_text()]


def client(url: str, token: str = ANA, conversation: str | None = None) -> openai.OpenAI:
    headers = {"Fathom-Conversation": conversation} if conversation else {}
    return openai.OpenAI(base_url=url, api_key=token, max_retries=0, timeout=90, default_headers=headers)


def ask(asking: openai.OpenAI, *said: str) -> Any:
    """The answer to the last of a dialogue's texts, users' and assistants' in turn."""
    roles = ("user", "assistant")
    messages = [{"role": roles[number % 2], "content": text} for number, text in enumerate(said)]
    return asking.chat.completions.with_raw_response.create(model="m", messages=messages)


def until(found: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + 60
    while not (come := found()):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    return come


def turns(broker: str, conversation: str) -> list[dict[str, Any]]:
    return [r["value"] for r in records(broker, "conversation.turns") if r["value"]["conversation_id"] == conversation]


def test_both_sides_of_a_chat_are_in_memory_for_the_next_question(broker: str, url: str, model: ScriptedModel):
    asking = client(url, conversation=f"c-{uuid4()}")
    first = ask(asking, "When is the deadline of the Atlas contract?")
    conversation = first.headers["fathom-conversation"]
    assert (first.headers["fathom-depth"][0], int(first.headers["fathom-tokens"]) > 0) == ("D", True)
    said = first.parse().choices[0].message.content
    [user, assistant] = until(lambda: len(found := turns(broker, conversation)) == 2 and found)
    assert (user["message_id"], user["user_id"]) == (first.headers["fathom-message-id"], "ana")
    assert (assistant["role"], assistant["content"]) == ("assistant", said)
    assert (assistant["answers"], assistant["pack_id"]) == (user["message_id"], first.headers["fathom-pack-id"])
    second = ask(asking, user["content"], said, "And who decides about it?")
    [pack] = [p["value"] for p in records(broker, "context-packs.out")
              if p["value"]["pack_id"] == second.headers["fathom-pack-id"]]  # fmt: skip
    assert said in [message["content"] for message in pack["working_set"]["recent_messages"]]
    # The model had the text of that pack, and its own words are in its memory.
    instructions = model.asked[-1]["messages"][0]["content"]
    assert pack["template"] == "context"
    assert (second.headers["fathom-status"], instructions) == (
        "context", f"<fathom-context>\n{pack['text']}\n</fathom-context>",
    )  # fmt: skip
    # Asked again, it is the same turn.
    assert ask(asking, user["content"]).headers["fathom-message-id"] == user["message_id"]
    assert [turn["role"] for turn in turns(broker, conversation)].count("user") == 2


def test_twenty_chats_of_two_tenants_at_once_keep_apart(broker: str, url: str):
    asking = {token: client(url, token) for token in (ANA, EVA)}

    def chat(number: int) -> tuple[str, str]:
        token = (ANA, EVA)[number % 2]
        done = ask(asking[token], f"The code word of chat {number} is canary-{number:02}, remember it please.")
        assert f"canary-{number:02}" in done.parse().choices[0].message.content
        return done.headers["fathom-pack-id"], done.headers["fathom-conversation"]

    with ThreadPoolExecutor(20) as pool:
        made = list(pool.map(chat, range(20)))
    assert len({conversation for _, conversation in made}) == 20
    packs = {p["value"]["pack_id"]: p for p in records(broker, "context-packs.out")}
    for number, (pack_id, conversation) in enumerate(made):
        pack = packs[pack_id]
        assert (pack["value"]["conversation_id"], pack["headers"]["tenant"]) == (
            conversation,
            ("acme", "beta")[number % 2],
        )
        others = [f"canary-{other:02}" for other in range(20) if other % 2 != number % 2]
        assert [word for word in others if word in json.dumps(pack["value"])] == []


def test_what_one_tenant_said_no_other_gets_in_a_conversation_of_the_same_name(broker: str, url: str):
    name = f"c-{uuid4()}"
    ask(client(url, ANA, name), "The secret code is canary-77.")
    question = "What did I say about the secret code?"
    found = {token: ask(client(url, token, name), question).headers["fathom-pack-id"] for token in (ANA, EVA)}
    packs = {p["value"]["pack_id"]: json.dumps(p["value"]) for p in records(broker, "context-packs.out")}
    assert "canary-77" in packs[found[ANA]]
    assert "canary-77" not in packs[found[EVA]]


def test_the_gate_completes_or_refuses_the_models_calls(url: str):
    asking = client(url, conversation=f"c-{uuid4()}")
    [refused] = ask(asking, "status, please").parse().choices
    assert refused.finish_reason == "stop"
    assert refused.message.tool_calls is None
    assert "ORD-1042" in refused.message.content  # as the policy's sentence has it
    [completed] = ask(asking, "status of ORD-2002, please").parse().choices
    [call] = completed.message.tool_calls
    assert json.loads(call.function.arguments) == {"order_id": "ORD-2002", "include_items": True}


def test_the_node_client_chats_streams_leaves_and_fails_as_it_does_with_openai(
    broker: str, url: str, model: ScriptedModel
):
    try:
        home = modules()
    except InstallError as error:
        pytest.skip(str(error))
    conversation = f"c-{uuid4()}"
    program = shutil.copy(NODE, home / NODE.name)
    ran = subprocess.run(
        ["node", str(program), url, ANA, conversation], capture_output=True, text=True, timeout=120, check=False
    )
    assert ran.returncode == 0, ran.stderr
    said = json.loads(ran.stdout)
    assert said["whole"] == "Answer to: When is the deadline of the Atlas contract?"
    assert said["streamed"] == "Answer to: Who decides about the Atlas contract?"
    assert said["models"] == ["m"]
    assert said["headers"]["fathom-conversation"] == conversation
    assert {why: (kind, status) for why, (kind, status, _) in said["failed"].items()} == {
        "401": ("AuthenticationError", 401), "429": ("RateLimitError", 429), "500": ("InternalServerError", 500),
        "cut": ("APIError", None),
    }  # fmt: skip
    assert "gave no whole answer" in said["failed"]["cut"][2]
    until(lambda: model.left)
    found = until(lambda: len(found := turns(broker, conversation)) == 11 and found)
    spoken = [(turn["content"], turn.get("status")) for turn in found if turn["role"] == "assistant"]
    assert sorted(spoken, key=str) == sorted(
        [(said["whole"], None), (said["streamed"], None), ("early", "incomplete"), ("so", "incomplete")], key=str
    )


def test_without_a_broker_the_model_answers_all_the_same(settings: dict[str, str], tmp_path: Path):
    with running("serve", "--port", "0", "--broker", "127.0.0.1:1", stderr=tmp_path / "err", **settings) as process:
        url = process.ready()["url"].removesuffix("/ask") + "/v1"
        done = ask(client(url), "Hello there")
        assert done.parse().choices[0].message.content == "Answer to: Hello there"
        assert done.headers["fathom-status"] == "passed-through; reason=broker"
        assert "fathom-message-id" not in done.headers
        assert process.end()[0] == 0
    assert "Traceback" not in (tmp_path / "err").read_text()
