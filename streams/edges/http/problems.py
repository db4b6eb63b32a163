"""What an HTTP request is refused with: problem details (RFC 9457), in one sentence that says what to do next."""

from http import HTTPStatus

import orjson
from starlette.responses import Response

MEDIA_TYPE = "application/problem+json"


class Problem(Exception):
    """A request cannot be answered; `detail` never repeats what was sent."""

    def __init__(self, status: int, detail: str, **headers: str) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.headers = {name.replace("_", "-"): text for name, text in headers.items()}

    def response(self) -> Response:
        """The refusal as it is sent."""
        body = {"title": HTTPStatus(self.status).phrase, "status": self.status, "detail": self.detail}
        return Response(orjson.dumps(body), self.status, {"content-type": MEDIA_TYPE, **self.headers})
