"""All groups and `fathom serve`, each as its own user, and callers who use every route that asks the broker."""

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from typing import Any

import httpx

from deploy.docs import examples
from schemas.topics import CORRECTIONS_IN
from streams.runtime.up import consuming
from streams.topology import GROUPS, stages_of
from tests.checkout import ROOT
from tests.proofs.rights.site import Site, user_of

TOKEN = "token-of-the-rights-test"
PATIENCE_S = 60.0


@asynccontextmanager
async def all_groups(on: Site) -> AsyncIterator[None]:
    """A worker for each group, in this process, with stores of its own in memory."""
    async with AsyncExitStack() as stack:
        for group in GROUPS:
            await stack.enter_async_context(consuming(on.settings(user_of(group)), stages_of([group])))
        yield


@contextmanager
def served(on: Site) -> Iterator[str]:
    """`fathom serve` as its user; its address."""
    tokens = on.password.parent / "tokens"
    tokens.write_text(json.dumps({TOKEN: {"tenant": "aurora", "client": "intranet-web", "user": "ana.souza"}}))
    tokens.chmod(0o600)
    own = {name: text for name, text in os.environ.items() if not name.startswith(("FATHOM_", "RAG_"))}
    given = {**on.environment(user_of("serve")), "FATHOM_ASK_TOKENS_FILE": str(tokens)}
    command = [sys.executable, "-m", "streams", "serve", "--port", "0"]
    with subprocess.Popen(command, cwd=ROOT, env={**own, **given}, stdout=subprocess.PIPE, text=True) as child:
        try:
            assert child.stdout is not None
            yield str(json.loads(child.stdout.readline())["url"]).removesuffix("/ask")
        finally:
            child.terminate()


def call_all(base: str) -> dict[str, int]:
    """The status of each call."""
    client = httpx.Client(base_url=base, headers={"authorization": f"Bearer {TOKEN}"}, timeout=PATIENCE_S)
    said: dict[str, int] = {}

    def call(method: str, path: str, **options: Any) -> httpx.Response:
        answer = client.request(method, path, **options)
        said[f"{method} {path.partition('?')[0]}"] = answer.status_code
        return answer

    asked = {"question": "Qual o prazo do projeto Farol?", "conversation_id": "k", "nickname": "Ana",
             "client_id": "intranet-web"}  # fmt: skip
    deadline = time.monotonic() + PATIENCE_S
    # It listens before it is connected to the broker, and says so.
    while (answer := call("POST", "/ask", json=asked)).status_code == 503 and time.monotonic() < deadline:
        time.sleep(0.5)
    assert answer.status_code == 200, answer.text
    pack = answer.json()
    told = pack.get("message_id", "none")
    call("GET", f"/packs/{told}")
    call("GET", f"/answers/{told}")
    call("GET", "/conversations/k")
    call("POST", "/documents", content="# Farol\n\nO prazo é 20 de abril.", headers={"content-type": "text/markdown"})
    call("DELETE", "/documents/nosuch")
    rated = {"message_id": told, "pack_id": pack.get("pack_id"), "rating": 5, "expected_depth": "D1",
             "conversation_id": "k"}  # fmt: skip
    call("POST", "/feedback", json=rated)
    for example in examples.load(topics=[CORRECTIONS_IN]):
        assert isinstance(example.value, dict)
        call("POST", "/corrections", json={k: v for k, v in example.value.items() if k != "usuario_id"})
    with client.stream("GET", f"/events?message_id={told}") as events:
        said["GET /events"] = events.status_code
    call("DELETE", "/conversations/k")
    return said


async def calls(on: Site) -> dict[str, int]:
    """What callers hear while all groups work."""
    async with all_groups(on):
        with served(on) as base:
            return await asyncio.to_thread(call_all, base)


def sealed(on: Site) -> int:
    """The exit code of `fathom audit seal` as its user."""
    return _ran(on, "seal", "audit", "seal")


def switched(on: Site, layout: str) -> int:
    """The exit code of `fathom layout` as its user."""
    return _ran(on, "layout", "layout", layout)


def _ran(on: Site, user: str, *command: str) -> int:
    own = {name: text for name, text in os.environ.items() if not name.startswith(("FATHOM_", "RAG_"))}
    done = subprocess.run(
        [sys.executable, "-m", "streams", *command], cwd=ROOT, env={**own, **on.environment(user_of(user))},
        capture_output=True, timeout=PATIENCE_S,
    )  # fmt: skip
    return done.returncode
