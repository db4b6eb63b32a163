"""Additions to FastAPI's description of the HTTP interface: the token, and refusals as problem details."""

from collections.abc import Mapping

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.telemetry import TelemetryConfig
from starlette.exceptions import HTTPException

from streams.edges.http.problems import MEDIA_TYPE, ProblemDetails
from streams.edges.http.routes import refusal
from streams.version import version

PROBLEM = "Problem"
PROBLEMS = {
    400: "the body is no JSON in UTF-8, or ended too early",
    401: "no token, or none that is known",
    403: "a foreign web origin or host name, or a token for another client_id",
    408: "the body came too slowly",
    413: "the body is too large",
    415: "the body is not stated to be JSON, or is compressed",
    422: "a field, parameter or header that is missing, wrong or unknown, by name",
    429: "too many requests of this token, or too many questions wait; `Retry-After` says when to try again",
}
SEND_PROBLEMS = {
    **PROBLEMS,
    503: "the broker cannot be reached or did not take the record; `Retry-After` says when to try again",
    504: "the broker did not say in time whether it has the record; send it again with the same Idempotency-Key",
}
READ_PROBLEMS = {
    **{status: PROBLEMS[status] for status in (401, 403, 422, 429)},
    404: "there is nothing of this id that the token may see",
    503: "the broker cannot be reached; `Retry-After` says when to try again",
}
DELETE_PROBLEMS = {
    **{status: SEND_PROBLEMS[status] for status in (401, 403, 422, 429, 503, 504)},
    404: "there is nothing of this id that the token may forget",
}
SEARCH_PROBLEMS = {
    **PROBLEMS,
    503: "the broker cannot be reached or did not take the search; `Retry-After` says when to try again",
    504: "no results came in time; search again",
}
ASK_PROBLEMS = {
    **PROBLEMS,
    406: "only Markdown is accepted, and the pack has no text",
    409: "with `deep=true`: cognition is off, so that there is only the pack",
    500: "with `deep=true`: the run of cognition failed, so that there is only the pack",
    503: "the broker cannot be reached or did not take the question, or too many wait for this one to be answered in "
    "time; `Retry-After` says when to try again",
    504: "no answer came in time; ask again with the same Idempotency-Key to go on waiting",
}
MARKDOWN_PACK: dict[str, object] = {"text/markdown": {"schema": {"type": "string"}}}
# FastAPI's own spans, metrics and logs contain request contents; an environment variable would export them.
NO_TELEMETRY: TelemetryConfig = {
    "tracing": False,
    "metrics": False,
    "logs": False,
    "operation_spans": False,
    "auto_configure": False,
}


def problems(known: Mapping[int, str]) -> dict[int | str, dict[str, object]]:
    """The refusals of a route, for its `responses`."""
    content = {MEDIA_TYPE: {"schema": {"$ref": f"#/components/schemas/{PROBLEM}"}}}
    return {str(status): {"description": said, "content": content} for status, said in known.items()}


class HttpApi(FastAPI):
    """The routes of the HTTP interface, their refusals and their document; without FastAPI's pages and telemetry."""

    def __init__(self) -> None:
        super().__init__(
            title="Fathom",
            version=version(),
            license_info={"name": "Apache-2.0", "identifier": "Apache-2.0"},
            docs_url=None,
            redoc_url=None,
            telemetry=NO_TELEMETRY,
            generate_unique_id_function=lambda route: route.name,
            exception_handlers={HTTPException: refusal, RequestValidationError: refusal},
        )

    def openapi(self) -> dict[str, object]:
        """The OpenAPI 3.1 document."""
        if self.openapi_schema is None:
            made = super().openapi()
            made["security"] = [{"token": []}]
            made["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
            made["components"]["schemas"][PROBLEM] = ProblemDetails.model_json_schema()
            made["paths"][self.openapi_url] = {"get": _DESCRIBE}
        return super().openapi()


_DESCRIBE = {
    "operationId": "describe",
    "summary": "This document",
    "responses": {
        "200": {"description": "OpenAPI 3.1", "content": {"application/json": {"schema": {"type": "object"}}}},
        **problems({401: PROBLEMS[401]}),
    },
}
