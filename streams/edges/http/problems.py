"""Refusals over HTTP: problem details (RFC 9457), one sentence that says what to do next."""

from http import HTTPStatus

from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.responses import Response

MEDIA_TYPE = "application/problem+json"


class ProblemDetails(BaseModel):
    """Problem details (RFC 9457)."""

    title: str
    status: int
    detail: str


class Problem(HTTPException):
    """A refused request; `detail` never quotes the request, keywords are response headers."""

    def __init__(self, status: int, detail: str, **headers: str) -> None:
        super().__init__(status, detail, {name.replace("_", "-"): text for name, text in headers.items()})

    def response(self) -> Response:
        """The response that carries it."""
        status = self.status_code
        body = ProblemDetails(title=HTTPStatus(status).phrase, status=status, detail=self.detail)
        return Response(body.model_dump_json(), status, {"content-type": MEDIA_TYPE, **(self.headers or {})})
