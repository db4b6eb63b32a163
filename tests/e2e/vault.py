"""Talks about the code of a vault, and the question whose pack shows what is remembered of it."""

import json
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import httpx

SECRET, OTHER = "zircônio", "turmalina"
QUESTION = "Explica o que sabemos do código do cofre Atlas."


def turn(
    client: httpx.Client, conversation: str, text: str, token: str | None = None, user: str = "ana", **more: Any
) -> Any:
    body = {"role": "user", "content": text, "conversation_id": conversation, "client_id": "web", **more}
    headers = {"fathom-user": user} if token is None else {"authorization": f"Bearer {token}"}
    wait = "?wait=pack" if body["role"] == "user" else ""
    answer = client.post(f"/messages{wait}", json=body, headers=headers)
    assert answer.status_code in (200, 202), answer.text
    return answer.json()


def offered(client: httpx.Client, token: str | None = None) -> str:
    """The pack of a question in a conversation of its own, as text."""
    return json.dumps(turn(client, str(uuid4()), QUESTION, token), ensure_ascii=False)


def until(found: Callable[[], bool]) -> None:
    assert any(found() for _ in range(60))


def talk(client: httpx.Client, conversation: str, word: str, user: str = "ana") -> list[str]:
    """Three turns that name the word; the ids of the messages with packs."""
    first = turn(client, conversation, f"O código do cofre Atlas é {word}.", user=user)
    turn(client, conversation, f"Anotado: {word}.", user=user, role="assistant", answers=first["message_id"])
    second = turn(client, conversation, f"Não, o código do cofre Atlas mudou para {word} dois.", user=user)
    return [first["message_id"], second["message_id"]]
