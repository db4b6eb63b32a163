"""Refusals over HTTP: problem details (RFC 9457), one sentence that says what to do next."""

from http import HTTPStatus

import orjson
from starlette.exceptions import HTTPException
from starlette.responses import Response

MEDIA_TYPE = "application/problem+json"


class Problem(HTTPException):
    """A refused request; `detail` never quotes the request, keywords are response headers."""

    def __init__(self, status: int, detail: str, **headers: str) -> None:
        super().__init__(status, detail, {name.replace("_", "-"): text for name, text in headers.items()})

    def response(self) -> Response:
        """The response that carries it."""
        body = {"title": HTTPStatus(self.status_code).phrase, "status": self.status_code, "detail": self.detail}
        return Response(orjson.dumps(body), self.status_code, {"content-type": MEDIA_TYPE, **(self.headers or {})})
