"""The OpenAI front of `fathom serve` and a scripted model behind it."""

import asyncio
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import openai

from streams import policies
from tests.builders.chat_model import DONE, KEY, ScriptedModel, chunk, completion, listening
from tests.e2e.calls import records

MODELS = {"object": "list", "data": [{"id": "m", "object": "model", "created": 1, "owned_by": "o"}]}


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


def settings(upstream: str, tokens: Mapping[str, Any], place: Path) -> dict[str, str]:
    """Those of a `fathom serve` before a model, for these tokens; what they name is written in a folder."""
    (place / "tokens.json").write_text(json.dumps(tokens))
    (place / "key").write_text(KEY)
    return {
        "FATHOM_ASK_TOKENS_FILE": str(place / "tokens.json"), "FATHOM_UPSTREAM_KEY_FILE": str(place / "key"),
        "FATHOM_UPSTREAM_URL": upstream, "FATHOM_UPSTREAM_WAIT_MS": "60000",
        "FATHOM_TOOL_POLICY": str(policies.CHECKOUT / "tools.yaml"),
    }  # fmt: skip


def client(url: str, token: str, conversation: str | None = None) -> openai.OpenAI:
    """The official client, which knows nothing of Fathom but its address and a token."""
    headers = {"Fathom-Conversation": conversation} if conversation else {}
    return openai.OpenAI(base_url=url, api_key=token, max_retries=0, timeout=90, default_headers=headers)


def ask(asking: openai.OpenAI, *said: str, **more: Any) -> Any:
    """The answer to the last of a dialogue's texts, users' and assistants' in turn; `more` is of the request."""
    roles = ("user", "assistant")
    messages = [{"role": roles[number % 2], "content": text} for number, text in enumerate(said)]
    return asking.chat.completions.with_raw_response.create(model="m", messages=messages, **more)


def turns(broker: str, conversation: str) -> list[dict[str, Any]]:
    """The turns of a conversation on their topic."""
    return [r["value"] for r in records(broker, "conversation.turns") if r["value"]["conversation_id"] == conversation]
