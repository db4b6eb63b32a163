"""Refusals over HTTP: problem details (RFC 9457), one sentence that says what to do next."""

from http import HTTPStatus

import orjson
from starlette.responses import Response

MEDIA_TYPE = "application/problem+json"


class Problem(Exception):
    """A refused request; `detail` never quotes the request, keywords are response headers."""

    def __init__(self, status: int, detail: str, **headers: str) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.headers = {name.replace("_", "-"): text for name, text in headers.items()}

    def response(self) -> Response:
        """The response that carries it."""
        body = {"title": HTTPStatus(self.status).phrase, "status": self.status, "detail": self.detail}
        return Response(orjson.dumps(body), self.status, {"content-type": MEDIA_TYPE, **self.headers})
