"""Refusals over HTTP: problem details (RFC 9457), one sentence that says what to do next."""

from http import HTTPStatus

import orjson
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.responses import Response

from streams.edges.client.errors import error_page

OPENAI = "/v1/"
MEDIA_TYPE = "application/problem+json"
# As they always were called: Python 3.13 has other names for them, and a title stays (RFC 9457).
TITLES = {
    413: "Request Entity Too Large",
    414: "Request-URI Too Long",
    416: "Requested Range Not Satisfiable",
    422: "Unprocessable Entity",
}


class ProblemDetails(BaseModel):
    """Problem details (RFC 9457); `type` is the page of the error in this project's documents, a relative reference."""

    type: str
    title: str
    status: int
    detail: str


class Problem(HTTPException):
    """A refused request; `detail` never quotes the request, keywords are response headers.

    `code` is that of `docs/errors.md`, where it is another than that of the status.
    """

    def __init__(self, status: int, detail: str, *, code: str | None = None, **headers: str) -> None:
        super().__init__(status, detail, {name.replace("_", "-"): text for name, text in headers.items()})
        self.page = error_page(code or f"HTTP {status}")

    def response(self, path: str = "") -> Response:
        """The response that carries it; under `/v1` as clients of OpenAI's interface read it."""
        status = self.status_code
        if path.startswith(OPENAI):
            error = orjson.dumps(openai_error(status, self.detail))
            return Response(error, status, {"content-type": "application/json", **(self.headers or {})})
        title = TITLES.get(status) or HTTPStatus(status).phrase
        body = ProblemDetails(type=self.page, title=title, status=status, detail=self.detail)
        return Response(body.model_dump_json(), status, {"content-type": MEDIA_TYPE, **(self.headers or {})})


def openai_error(status: int, sentence: str) -> dict[str, object]:
    """A refusal in the form of OpenAI's interface; its code tells it apart from the model's own."""
    kinds = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}
    kind = kinds.get(status, "api_error" if status >= 500 else "invalid_request_error")
    return {"error": {"message": sentence, "type": kind, "param": None, "code": "fathom"}}
