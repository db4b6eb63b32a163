"""What `/v1/chat/completions` adds to the latency of a pack and of the model behind it.

    make bench-front              last line: JSON

At 20 requests a second, in turn: a pack by `/ask`, an answer of a scripted model alone, whole and streamed,
and both by the front. What the front adds is its time less those of the other two; of a stream, to the first words.
"""

import asyncio
import json
import socket
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import uvicorn
import uvloop
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from bench.ask import SIMPLE, TOKEN, served
from bench.measure import finish, percentile, spread
from bench.pipeline import paced
from bench.running import fathom_up

RATE, SECONDS, WARM = 20, 60, 40
WAYS = ("ask", "model", "front", "model_stream", "front_stream")
WORDS = 20
PATH = "/v1/chat/completions"


async def model(scope: Scope, receive: Receive, send: Send) -> None:
    """A model that answers at once."""
    request = Request(scope, receive)
    asked = await request.json()
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "word " * WORDS}}
    whole: Response = JSONResponse({"id": "c", "object": "chat.completion", "model": "m", "choices": [choice]})

    async def words() -> AsyncIterator[str]:
        for number in range(WORDS + 1):
            delta = {"index": 0, "delta": {"content": "word "}, "finish_reason": "stop" if number == WORDS else None}
            yield f"data: {json.dumps({'id': 'c', 'object': 'chat.completion.chunk', 'choices': [delta]})}\n\n"
        yield "data: [DONE]\n\n"

    answer = StreamingResponse(words(), media_type="text/event-stream") if asked.get("stream") else whole
    await answer(scope, receive, send)


@asynccontextmanager
async def listening(listener: socket.socket) -> AsyncIterator[None]:
    server = uvicorn.Server(uvicorn.Config(model, log_config=None, lifespan="off"))
    running = asyncio.create_task(server.serve([listener]))
    try:
        yield
    finally:
        server.should_exit = True
        await running


async def figures(url: str, listener: socket.socket) -> dict[str, Any]:
    """Callers at an even rate, each in a conversation of its own, of each way in turn."""
    took: dict[str, list[float]] = {way: [] for way in WAYS}
    alone = f"http://127.0.0.1:{listener.getsockname()[1]}{PATH}"

    async def one(number: int) -> None:
        way, text = WAYS[number % len(WAYS)], SIMPLE[number // len(WAYS) % len(SIMPLE)].format(n=number)
        body: dict[str, Any] = {"question": text, "conversation_id": f"c{number}", "client_id": "web"}
        if way != "ask":
            body = {"model": "m", "messages": [{"role": "user", "content": text}], "stream": way.endswith("stream")}
        to = f"{url}/ask" if way == "ask" else f"{url}{PATH}" if way.startswith("front") else alone
        began = time.perf_counter()
        async with client.stream("POST", to, json=body, headers={"fathom-conversation": f"c{number}"}) as said:
            async for _ in said.aiter_bytes():
                took[way].append((time.perf_counter() - began) * 1000)
                break
            # A greeting's pack has nothing to say: it was waited for all the same.
            packed = said.headers.get("fathom-pack-id") is not None
            if said.status_code != 200 or (way.startswith("front") and not packed):
                raise SystemExit(f"a request failed: {said.status_code} {said.headers}")

    headers = {"authorization": f"Bearer {TOKEN}"}
    async with listening(listener), httpx.AsyncClient(headers=headers, timeout=60) as client:
        for number in range(WARM):
            await one(number)
        for times in took.values():
            times.clear()
        asking: list[asyncio.Task[None]] = []
        for due in paced(RATE * SECONDS, RATE):
            await due
            asking.append(asyncio.create_task(one(WARM + len(asking))))
        await asyncio.gather(*asking)
    at = {way: {share: percentile(took[way], share) for share in (0.5, 0.95)} for way in WAYS}
    added = {
        f"added{way}_p{round(share * 100)}_ms": round(
            at[f"front{way}"][share] - at["ask"][share] - at[f"model{way}"][share], 1
        )
        for way in ("", "_stream")
        for share in (0.5, 0.95)
    }
    return {"rate": RATE, **{f"{way}_ms": spread(took[way]) for way in WAYS}, **added}


def main() -> None:
    with socket.socket() as listener, fathom_up() as running:
        listener.bind(("127.0.0.1", 0))
        listener.listen(600)
        address = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
        with served(running.bootstrap, FATHOM_UPSTREAM_URL=address, FATHOM_UPSTREAM_WAIT_MS="30000") as url:
            finish("front", "make bench-front", uvloop.run(figures(url, listener)))


if __name__ == "__main__":
    main()
