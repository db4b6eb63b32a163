"""The first check of a question, by its headers: a refusal costs a third of what it does after the body is read."""

from collections.abc import Callable
from functools import partial

from starlette.datastructures import Headers, QueryParams
from starlette.types import Scope

from streams.config import Settings
from streams.edges.http.load_shedding import LoadShedding
from streams.edges.http.sending import patience
from streams.edges.http.tokens import Grant


def door_of(settings: Settings, shedding: LoadShedding) -> Callable[[Scope, Grant], None]:
    """The check of a call of a known token; raises `Problem` (503) where its answer would come too late."""
    return partial(_check, shedding, settings.ask_timeout_ms / 1000, settings.ask_deep_timeout_ms / 1000)


def _check(shedding: LoadShedding, seconds: float, deep_s: float, scope: Scope, grant: Grant) -> None:
    if scope["path"] not in ("/ask", "/messages") or scope.get("method") != "POST":
        return
    query, headers = QueryParams(scope["query_string"]), Headers(scope=scope)
    waits = scope["path"] == "/ask" or "wait" in query or "deep" in query
    # A question that is asked again may be in the log, or answered, already: the exchange knows.
    if waits and "idempotency-key" not in headers:
        shedding.check(grant.tenant, patience(headers.get("prefer"), deep_s if "deep" in query else seconds))
