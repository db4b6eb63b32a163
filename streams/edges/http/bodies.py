"""Request bodies, bounded in size and time; JSON without duplicate keys."""

import asyncio
import json

import orjson
from starlette.requests import ClientDisconnect, Request

from streams.config import PREFIX
from streams.edges.http.problems import Problem

SECONDS = 10.0
# Too large a body is read on to here and dropped: most clients read a refusal only once they have sent everything.
MAX_DISCARDED_BYTES = 32_000_000


def kind_of(request: Request) -> str:
    """The media type of the body; raises `Problem` (415) for a compressed one."""
    if "content-encoding" in request.headers:
        raise closing(415, "send the body as it is, not compressed")
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


async def read_json(request: Request, most: int, setting: str | None = None) -> tuple[bytes, object]:
    """The body and what it says; `setting` is that of the most bytes.

    Raises `Problem`: 415 no JSON is stated, 413 too large, 408 too slow, 400 no JSON.
    """
    if "content-encoding" in request.headers or kind_of(request) != "application/json":
        raise closing(415, "send JSON, not compressed, with `Content-Type: application/json`")
    body = await read(request, most, setting)
    return body, parsed(body)


async def read(request: Request, most: int, setting: str | None = None) -> bytes:
    """The bytes of the body. Raises `Problem`: 413 too large, 408 too slow, 400 ended too early."""
    stated = request.headers.get("content-length", "")
    if stated.isdecimal() and int(stated) > MAX_DISCARDED_BYTES:
        raise _too_large(most, setting)
    body = bytearray()
    size = 0
    try:
        async with asyncio.timeout(SECONDS):
            async for chunk in request.stream():
                size += len(chunk)
                if size > MAX_DISCARDED_BYTES:
                    break
                if size <= most:
                    body += chunk
    except TimeoutError:
        raise closing(408, f"the body did not come within {SECONDS:g} s; send it at once") from None
    except ClientDisconnect:
        raise closing(400, "the connection ended before the body did") from None
    if size > most:
        raise _too_large(most, setting)
    return bytes(body)


def parsed(body: bytes) -> object:
    """What a JSON body says; raises `Problem` (400) for one that is no JSON or names a key twice."""
    try:
        said: object = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        # Its message names the place, never the text.
        raise Problem(400, f"the body is no JSON: {error.msg} at character {error.pos}") from None
    try:
        # orjson keeps the last of two equal keys. Numbers stay texts: Python's parser refuses long ones.
        json.loads(body, object_pairs_hook=_once, parse_int=str, parse_float=str)
    except RecursionError:
        raise Problem(400, "the body is nested too deeply; send a flat object") from None
    return said


def _once(pairs: list[tuple[str, object]]) -> None:
    """Raises `Problem` (400) for an object with two equal keys."""
    if len({name for name, _ in pairs}) < len(pairs):
        raise Problem(400, "the body names a key twice in one object; send each once")


def _too_large(most: int, setting: str | None) -> Problem:
    more = f", or have the operator raise {PREFIX}{setting.upper()}" if setting else ""
    return closing(413, f"the body has more than {most:,} bytes; send a shorter one{more}")


def closing(status: int, detail: str) -> Problem:
    """A refusal that closes the connection: the unread rest of the body must not be taken for the next request."""
    return Problem(status, detail, connection="close")
