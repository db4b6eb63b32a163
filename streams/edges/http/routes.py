"""The base of all routes: a bounded JSON body, and refusals that name the field and never quote a value."""

from collections.abc import Callable, Coroutine, Mapping
from typing import ClassVar

from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from streams.edges.client.arguments import NAME_CHARS, wrong
from streams.edges.client.console_output import shortened
from streams.edges.http import bodies
from streams.edges.http.problems import Problem

# Errors of the body itself, not of a field of it.
NO_OBJECT = ("missing", "model_attributes_type")

Handler = Callable[[Request], Coroutine[object, object, Response]]


class BoundedRoute(APIRoute):
    """A route whose body is JSON of at most `max_bytes`.

    `sentences` are the refusals of parameters and headers, by name; the one of "" is for unknown parameters.
    """

    max_bytes: ClassVar[int] = 256_000
    sentences: ClassVar[Mapping[str, str]] = {}

    def get_route_handler(self) -> Handler:
        handle = super().get_route_handler()

        async def bounded(request: Request) -> Response:
            return await handle(_JsonRequest(request, self.max_bytes))

        return bounded


class _JsonRequest(Request):
    """A request whose body is read and parsed by `bodies`; raises `Problem`."""

    def __init__(self, request: Request, most: int) -> None:
        super().__init__(request.scope, request.receive)
        self._most = most

    async def body(self) -> bytes:
        read, self._document = await bodies.read(self, self._most)
        return read

    async def json(self) -> object:
        return self._document


async def refusal(request: Request, error: Exception) -> Response:
    """Refusals of the routes, of FastAPI and of the router as problem details."""
    if isinstance(error, Problem):
        return error.response()
    if isinstance(error, RequestValidationError):
        return Problem(422, _sentence(error, request.scope["route"])).response()
    assert isinstance(error, HTTPException)
    detail = error.detail
    if error.status_code == 404:
        detail = f"there is no such path; there are {', '.join(request.app.openapi()['paths'])}"
    elif error.status_code == 405:
        detail = "use the method that Allow names"
    return Problem(error.status_code, detail, **(dict(error.headers) if error.headers else {})).response()


def _sentence(error: RequestValidationError, route: BoundedRoute) -> str:
    """The first error, by its name; FastAPI reports parameters and headers before the body."""
    place = error.errors()[0]["loc"][0]
    found = [{**each, "loc": each["loc"][1:]} for each in error.errors() if each["loc"][0] == place]
    if place != "body":
        unknown = next((each for each in found if each["type"] == "extra_forbidden"), None)
        first = unknown or found[0]
        name = str(first["loc"][0])
        known = route.sentences.get("" if unknown else name)
        return known or f"{place} {shortened(name, NAME_CHARS)}: {first['msg']}"
    assert route.body_field is not None
    takes = route.body_field.field_info.annotation
    assert takes is not None
    if not found[0]["loc"] and found[0]["type"] in NO_OBJECT:
        return f"Input should be a valid dictionary or instance of {takes.__name__}"
    return wrong(found, takes.model_fields, "field")
