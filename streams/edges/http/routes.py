"""The base of all routes: a bounded JSON body, and refusals that name the field and never quote a value."""

import logging
import re
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Annotated, ClassVar
from uuid import uuid4

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute, iter_route_contexts
from pydantic import BaseModel, Field
from pydantic.json_schema import SkipJsonSchema
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from schemas.base import JsonObject, sentence_of
from streams.edges.client.arguments import NAME_CHARS, wrong
from streams.edges.client.console_output import shortened
from streams.edges.http import bodies
from streams.edges.http.gate import GRANT
from streams.edges.http.problems import OPENAI, Problem
from streams.edges.http.tracing import trace_id_of, traceparent_of
from streams.telemetry import metrics

LOG = logging.getLogger("fathom.ask")
LONGEST_ID = 200
VISIBLE = r"^[\x21-\x7e]+$"
# Errors of the body itself, not of a field of it.
NO_OBJECT = ("missing", "model_attributes_type", "model_type")

VisibleId = Annotated[str, Field(min_length=1, max_length=LONGEST_ID, pattern=VISIBLE)]
# A header is not sent, rather than null.
Unsent = SkipJsonSchema[None]
Handler = Callable[[Request], Coroutine[object, object, Response]]


class BoundedRoute(APIRoute):
    """A route whose body is JSON of at most `max_bytes`, which the operator changes by `max_bytes_setting`, if any.

    `sentences` are the refusals of parameters and headers, by name; the one of "" is for unknown parameters.
    """

    max_bytes: ClassVar[int] = 256_000
    max_bytes_setting: ClassVar[str | None] = None
    sentences: ClassVar[Mapping[str, str]] = {}

    def get_route_handler(self) -> Handler:
        handle = super().get_route_handler()

        async def bounded(request: Request) -> Response:
            return await handle(_JsonRequest(request, self.max_bytes, self.max_bytes_setting))

        return bounded


class LoggedRoute(BoundedRoute):
    """Names and logs every response, refusals too, with the ids of request and trace."""

    sentences: ClassVar[Mapping[str, str]] = {
        "X-Request-Id": f"the header x-request-id is 1 to {LONGEST_ID} visible ASCII characters",
        "Idempotency-Key": f"the header idempotency-key is 1 to {LONGEST_ID} visible ASCII characters",
    }

    def get_route_handler(self) -> Handler:
        handle = super().get_route_handler()

        async def logged(request: Request) -> Response:
            began = time.monotonic()
            state = request.state
            stated = request.headers.get("x-request-id", "")
            state.request_id = stated if len(stated) <= LONGEST_ID and re.fullmatch(VISIBLE, stated) else str(uuid4())
            state.traceparent = traceparent_of(None, request.headers)
            try:
                answer = await handle(request)
            except (HTTPException, RequestValidationError) as error:
                answer = await refusal(request, error)
            self.answered(request, answer, time.monotonic() - began)
            return answer

        return logged

    def answered(self, request: Request, answer: Response, seconds: float) -> None:
        """Name a response by its ids, and log it in one line."""
        answer.headers["x-request-id"] = request.state.request_id
        answer.headers["traceparent"] = request.state.traceparent
        metrics.log(
            LOG, logging.INFO, self.name, status=answer.status_code, tenant=request.scope[GRANT].tenant,
            message_id=answer.headers.get("fathom-message-id"), request_id=request.state.request_id,
            trace_id=trace_id_of(request.state.traceparent), duration_s=round(seconds, 4),
        )  # fmt: skip


class _JsonRequest(Request):
    """A request whose body is read and parsed by `bodies`; raises `Problem`."""

    def __init__(self, request: Request, most: int, setting: str | None) -> None:
        super().__init__(request.scope, request.receive)
        self._most = most
        self._setting = setting

    async def body(self) -> bytes:
        read, self._document = await bodies.read_json(self, self._most, self._setting)
        return read

    async def json(self) -> object:
        return self._document


async def refusal(request: Request, error: Exception) -> Response:
    """Refusals of the routes, of FastAPI and of the router as problem details."""
    path = request.url.path
    if isinstance(error, Problem):
        metrics.refused(error.status_code)
        return error.response(path)
    if isinstance(error, RequestValidationError):
        return Problem(422, _sentence(error, request.scope["route"])).response(path)
    assert isinstance(error, HTTPException)
    detail = error.detail
    if error.status_code == 404:
        detail = f"there is no such path; there are {', '.join(_paths(request.app, path))}"
    elif error.status_code == 405:
        detail = "use the method that Allow names"
    return Problem(error.status_code, detail, **(dict(error.headers) if error.headers else {})).response(path)


def _paths(app: FastAPI, near: str) -> Sequence[str]:
    """The paths of the interface; for a client of OpenAI's those of that one, which have a document of their own."""
    if not near.startswith(OPENAI):
        return [*app.openapi()["paths"]]
    routes = (context.original_route for context in iter_route_contexts(app.routes))
    paths = (str(getattr(route, "path", "")).replace(":path}", "}") for route in routes)
    return sorted({path for path in paths if path.startswith(OPENAI)})


def _sentence(error: RequestValidationError, route: BoundedRoute) -> str:
    """The first error, by its name; FastAPI reports parameters and headers before the body."""
    place = error.errors()[0]["loc"][0]
    found = [{**each, "loc": each["loc"][1:]} for each in error.errors() if each["loc"][0] == place]
    if place != "body":
        unknown = next((each for each in found if each["type"] == "extra_forbidden"), None)
        first = unknown or found[0]
        name = str(first["loc"][0])
        known = route.sentences.get("" if unknown else name)
        return known or f"{place} {shortened(name, NAME_CHARS)}: {sentence_of(first)}"
    assert route.body_field is not None
    takes = route.body_field.field_info.annotation
    assert isinstance(takes, type)
    assert issubclass(takes, BaseModel)
    return wrong_body(found, takes)


def wrong_body(found: Sequence[JsonObject], model: type[BaseModel]) -> str:
    """The sentence for a body that does not fit its model, by pydantic's errors."""
    if not found[0]["loc"] and found[0]["type"] in NO_OBJECT:
        return _shape(model)
    return wrong(found, [field.alias or name for name, field in model.model_fields.items()], "field")


def _shape(model: type[BaseModel]) -> str:
    """What a body of this model is, field by field."""
    fields = {field.alias or name: field.is_required() for name, field in model.model_fields.items()}
    needed = [name for name, required in fields.items() if required]
    free = [name for name, required in fields.items() if not required]
    more = f"; it may have {', '.join(free)}" if free else ""
    return f"the body is a JSON object with {', '.join(needed) or 'some of these fields'}{more}"
