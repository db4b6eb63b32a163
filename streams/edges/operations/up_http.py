"""Calls of the HTTP interface of the `fathom up` of a directory, which alone reads its stores."""

from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from typing import Any
from urllib.parse import urlencode

import orjson

from streams import config
from streams.edges.client.errors import DOWN, FAILURE, USAGE, CommandFailed
from streams.runtime import data_dir

PROBLEM = "application/problem+json"
NOT_UP = (
    "no `fathom up` of this directory answers, and it alone reads its memory: start it, or name another with --broker; "
    "where workers run on servers, GET {path} of `fathom serve` shows the same"
)


@dataclass(frozen=True, slots=True)
class UpReply:
    """What came back; `sentence` is that of a refusal, and empty otherwise."""

    status: int
    body: bytes
    sentence: str


def call_up(
    address: str,
    method: str,
    path: str,
    query: Mapping[str, object],
    *,
    body: Any = None,
    user: str | None = None,
    seconds: float = 30.0,
) -> UpReply | None:
    """The answer to one call; None where no `fathom up` of this broker's address runs, or it has no interface."""
    # By the standard library: the page is one call away, and httpx takes as long to import as all else of it.
    from streams.edges.http.tokens import TOKEN_FILE

    home = data_dir.home_of(address)
    up = None if home is None else data_dir.running(home)
    if home is None or up is None:
        return None
    headers = {"content-type": "application/json"}
    if user is not None:
        headers["fathom-user"] = user
    try:
        headers["authorization"] = f"Bearer {(home / TOKEN_FILE).read_text().strip()}"
        server = HTTPConnection(up.http, timeout=seconds)
        content = None if body is None else orjson.dumps(body)
        server.request(method, f"{path}?{urlencode(query)}", content, headers)
        answer = server.getresponse()
        found = answer.read()
    except (HTTPException, OSError):
        return None
    refused = answer.headers.get("content-type") == PROBLEM
    return UpReply(answer.status, found, str(orjson.loads(found)["detail"]) if refused else "")


def answer_of_up(
    broker: str | None,
    method: str,
    path: str,
    query: Mapping[str, object],
    *,
    body: Any = None,
    user: str | None = None,
) -> Any:
    """The JSON that `fathom up` answers a command with; raises `CommandFailed`."""
    reply = call_up(config.load(broker=broker).broker, method, path, query, body=body, user=user)
    if reply is None:
        raise CommandFailed(NOT_UP.format(path=path), DOWN)
    if reply.sentence:
        wrong = reply.status in (HTTPStatus.UNPROCESSABLE_ENTITY, HTTPStatus.BAD_REQUEST)
        raise CommandFailed(reply.sentence, USAGE if wrong else FAILURE)
    return orjson.loads(reply.body)
