"""The body of a request as JSON, bounded in size and time."""

import asyncio
from typing import Any

import orjson
from starlette.requests import ClientDisconnect, Request

from streams.edges.http.problems import Problem

MAX_BYTES = 256_000
SECONDS = 10.0
# A body that is too large is read to here all the same: most clients hear a refusal only once they have sent it all.
MAX_BYTES_PASSED_OVER = 32_000_000


async def json_of(request: Request, *, most: int = MAX_BYTES) -> Any:
    """What the body says. Raises `Problem`: 415 no JSON is stated, 413 too large, 408 too slow, 400 not JSON."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json" or "content-encoding" in request.headers:
        raise _closing(415, "send JSON, not compressed, with `Content-Type: application/json`")
    body = await _read(request, most)
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError as error:
        # Its message names the place, never the text.
        raise Problem(400, f"the body is no JSON: {error.msg} at character {error.pos}") from None


async def _read(request: Request, most: int) -> bytes:
    stated = request.headers.get("content-length", "")
    if stated.isdecimal() and int(stated) > MAX_BYTES_PASSED_OVER:
        raise _too_large(most)
    body = bytearray()
    size = 0
    try:
        async with asyncio.timeout(SECONDS):
            async for chunk in request.stream():
                size += len(chunk)
                if size > MAX_BYTES_PASSED_OVER:
                    break
                if size <= most:
                    body += chunk
    except TimeoutError:
        raise _closing(408, f"the body did not come within {SECONDS:g} s; send it at once") from None
    except ClientDisconnect:
        raise _closing(400, "the connection ended before the body did") from None
    if size > most:
        raise _too_large(most)
    return bytes(body)


def _too_large(most: int) -> Problem:
    return _closing(413, f"the body has more than {most:,} bytes; send a shorter one")


def _closing(status: int, detail: str) -> Problem:
    """A refusal of what was not read to its end: what is left of it is no next request."""
    return Problem(status, detail, connection="close")
