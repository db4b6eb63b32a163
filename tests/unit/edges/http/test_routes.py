"""What every route has from its class: a bounded body, refusals that name the field and hold no value."""

import asyncio
import json
from typing import Annotated, Any

import httpx
import pytest
from fastapi import APIRouter, Header, Query
from fastapi.routing import APIRoute, iter_route_contexts
from pydantic import BaseModel, ConfigDict

from agents.stages.assessor import Assessor
from streams import config
from streams.edges.http.app import api as app
from streams.edges.http.openapi import HttpApi
from streams.edges.http.routes import BoundedRoute
from streams.telemetry.clock import SystemClock
from tests.builders.http_server import Echo, HeldTail
from tests.unit.edges.http.test_ask import JSON, answers, detail


class Paging(BaseModel):
    model_config = ConfigDict(extra="forbid")

    size: int = 10


class Note(BaseModel):
    model_config = ConfigDict(extra="forbid")

    text: str
    stars: int = 0


def noting() -> HttpApi:
    """A route that states types and nothing else."""
    router = APIRouter(route_class=BoundedRoute)

    @router.post("/notes/{number}")
    async def note(
        number: int, taken: Note, page: Annotated[Paging, Query()], depth: Annotated[int, Header()] = 0
    ) -> Note:
        return taken

    made = HttpApi()
    made.include_router(router)
    return made


def posted(path: str, body: Any, **headers: str) -> httpx.Response:
    async def story() -> httpx.Response:
        transport = httpx.ASGITransport(noting())
        async with httpx.AsyncClient(base_url="http://127.0.0.1", transport=transport) as client:
            return await client.post(path, content=json.dumps(body), headers={**JSON, **headers})

    return asyncio.run(story())


def test_what_fits_its_types_is_taken():
    response = posted("/notes/1?size=2", {"text": "x"}, depth="3")
    assert (response.status_code, response.json()) == (200, {"text": "x", "stars": 0})


@pytest.mark.parametrize(
    ("path", "body", "headers", "says"),
    [
        ("/notes/secret", {"text": "x"}, {}, "path number: Input should be a valid integer"),
        ("/notes/1?size=secret", {"text": "x"}, {}, "query size: Input should be a valid integer"),
        ("/notes/1?sise=secret", {"text": "x"}, {}, "query sise: Extra inputs are not permitted"),
        ("/notes/1?size=secret&sise=1", {"text": "x"}, {}, "query sise: "),
        ("/notes/1", {"text": "x"}, {"depth": "secret"}, "header depth: Input should be a valid integer"),
        ("/notes/1?size=secret", {"text": 1}, {"depth": "secret"}, "query size: "),
        ("/notes/1", {"text": "x", "stars": "secret"}, {}, "stars: Input should be a valid integer"),
        ("/notes/1", {"txt": "secret"}, {}, "there is no field 'txt'; did you mean text?"),
        ("/notes/1", ["secret"], {}, "the body is a JSON object with text; it may have stars"),
        ("/notes/1", None, {}, "the body is a JSON object with text"),
        ("/notes/1", "secret" * 50_000, {}, "more than 256,000 bytes"),
    ],
)
def test_what_does_not_fit_is_refused_by_name_and_never_quoted(
    path: str, body: Any, headers: dict[str, str], says: str
):
    said = detail(posted(path, body, **headers), 413 if "bytes" in says else 422)
    assert says in said
    assert "secret" not in said


def test_every_route_of_the_interface_is_bounded():
    made = app.api(config.load({}), Echo(answers), HeldTail(), Assessor(SystemClock()))
    routes = [context.original_route for context in iter_route_contexts(made.routes)]
    ours = [route for route in routes if isinstance(route, APIRoute)]
    assert {route.path for route in ours} == {
        "/ask", "/assess", "/search", "/messages", "/documents", "/documents/{document_id:path}",
        "/profiles/{user:path}", "/feedback", "/corrections", "/packs/{message_id:path}",
        "/answers/{message_id:path}", "/decisions", "/conversations", "/users",
        "/documents/{document_id:path}/uses", "/memories", "/memories/{memory_id:path}",
        "/conversations/{conversation_id:path}", "/events", "/explain/{message_id:path}", "/operations/lag",
        "/operations/replays", "/operations/replays/{replay_id}",
        "/v1/chat/completions", "/v1/responses", "/v1/models", "/v1/models/{model:path}",
    }  # fmt: skip
    assert all(isinstance(route, BoundedRoute) for route in ours)
