"""Request bodies as JSON, bounded in size and time."""

import asyncio

import orjson
from starlette.requests import ClientDisconnect, Request

from streams.edges.http.problems import Problem

SECONDS = 10.0
# Too large a body is read on to here and dropped: most clients read a refusal only once they have sent everything.
MAX_DISCARDED_BYTES = 32_000_000


async def read(request: Request, most: int) -> tuple[bytes, object]:
    """The body and what it says. Raises `Problem`: 415 no JSON is stated, 413 too large, 408 too slow, 400 no JSON."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json" or "content-encoding" in request.headers:
        raise _closing(415, "send JSON, not compressed, with `Content-Type: application/json`")
    stated = request.headers.get("content-length", "")
    if stated.isdecimal() and int(stated) > MAX_DISCARDED_BYTES:
        raise _too_large(most)
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
        raise _closing(408, f"the body did not come within {SECONDS:g} s; send it at once") from None
    except ClientDisconnect:
        raise _closing(400, "the connection ended before the body did") from None
    if size > most:
        raise _too_large(most)
    try:
        return bytes(body), orjson.loads(body)
    except orjson.JSONDecodeError as error:
        # Its message names the place, never the text.
        raise Problem(400, f"the body is no JSON: {error.msg} at character {error.pos}") from None


def _too_large(most: int) -> Problem:
    return _closing(413, f"the body has more than {most:,} bytes; send a shorter one")


def _closing(status: int, detail: str) -> Problem:
    """A refusal that closes the connection: the unread rest of the body must not be taken for the next request."""
    return Problem(status, detail, connection="close")
