"""A pack as its record or as the text for a prompt, by the `Accept` header of a call."""

import orjson
from starlette.requests import Request
from starlette.responses import Response

from streams.edges.http.problems import Problem

MARKDOWN = "text/markdown"
JSON = "application/json"
PACK_HEADERS = ("Fathom-Pack-Id", "Fathom-Depth", "Fathom-Tokens")


def wants_text(request: Request) -> bool:
    """Whether the caller accepts Markdown, and JSON less gladly or not at all."""
    qualities = dict(map(_quality, request.headers.get("accept", "").split(",")))
    return qualities.get(MARKDOWN, 0.0) > qualities.get(JSON, 0.0)


def of_pack(request: Request, value: bytes, headers: dict[str, str]) -> Response:
    """The record of a pack as it is, or its text; raises `Problem` (406) for a pack without a text."""
    if not wants_text(request):
        return Response(value, headers=headers, media_type=JSON)
    pack = orjson.loads(value)
    text = pack.get("text")
    if not isinstance(text, str):
        raise Problem(
            406, "this pack has no text: it was made by an earlier version; send `Accept: application/json`", **headers
        )
    named = zip(PACK_HEADERS, (pack["pack_id"], pack["depth_level"], str(pack["total_tokens_estimated"])), strict=True)
    return Response(text, headers={**headers, **dict(named)}, media_type=MARKDOWN)


def _quality(part: str) -> tuple[str, float]:
    kind, *parameters = (piece.strip() for piece in part.split(";"))
    stated = next((text.removeprefix("q=") for text in parameters if text.startswith("q=")), "1")
    try:
        return kind.lower(), float(stated)
    except ValueError:
        return kind.lower(), 0.0
