"""The application of the HTTP interface: all its routes, behind bearer tokens."""

from collections.abc import Callable
from functools import partial

from starlette.types import ASGIApp

from agents.ports.memories import RememberedReader
from agents.stages.assessor import Assessor
from streams import config
from streams.config import Settings, listed
from streams.documents.process import DocumentProcess
from streams.edges.client import clients
from streams.edges.http.app.door import door_of
from streams.edges.http.ask import ask_router
from streams.edges.http.endpoints.answers import answers_router
from streams.edges.http.endpoints.assess import assess_router
from streams.edges.http.endpoints.conversations import forgetting_router
from streams.edges.http.endpoints.decisions import decisions_router
from streams.edges.http.endpoints.documents import documents_router
from streams.edges.http.endpoints.explanations import explanations_router
from streams.edges.http.endpoints.judgements import judgements_router
from streams.edges.http.endpoints.lists import lists_router
from streams.edges.http.endpoints.memories import memories_router
from streams.edges.http.endpoints.messages import messages_router
from streams.edges.http.endpoints.operations import operations_router
from streams.edges.http.endpoints.packs import reading_router
from streams.edges.http.endpoints.profiles import profiles_router
from streams.edges.http.endpoints.search import search_router
from streams.edges.http.events.progress_tail import ProgressTail
from streams.edges.http.events.routes import events_router
from streams.edges.http.gate import AuthMiddleware
from streams.edges.http.openai.routes import openai_router
from streams.edges.http.openapi import HttpApi
from streams.edges.http.pending_replies import PendingReplies
from streams.edges.http.rate_limit import RateLimit
from streams.edges.http.request_reply import Exchange
from streams.edges.http.sending import CallSender
from streams.edges.http.tokens import Tokens
from streams.telemetry.clock import SystemClock
from streams.web_pages import LOOPBACK

Decisions = Callable[[], RememberedReader | None]


def application(
    settings: Settings,
    exchange: Exchange,
    tail: ProgressTail,
    assessor: Assessor,
    allowed: Tokens,
    host: str,
    decisions: Decisions = lambda: None,
) -> ASGIApp:
    """The application behind `AuthMiddleware`, for a server at this host."""
    return AuthMiddleware(
        api(settings, exchange, tail, assessor, decisions),
        allowed,
        RateLimit(settings.ask_calls_per_minute),
        origins=listed(settings.ask_origins),
        origins_setting="ask_origins",
        loopback=host in LOOPBACK,
        admit=door_of(settings, exchange.shedding),
    )


def api(
    settings: Settings,
    exchange: Exchange,
    tail: ProgressTail,
    assessor: Assessor,
    decisions: Decisions = lambda: None,
) -> HttpApi:
    """The routes, which describe themselves."""
    made = HttpApi()
    seconds, deep_s = settings.ask_timeout_ms / 1000, settings.ask_deep_timeout_ms / 1000
    made.include_router(ask_router(exchange, seconds, deep_s))
    made.include_router(assess_router(assessor, settings.limits()))
    sender = CallSender(exchange)
    made.include_router(search_router(sender, seconds))
    made.include_router(messages_router(sender, seconds, deep_s))
    made.include_router(documents_router(sender, DocumentProcess()))
    made.include_router(profiles_router(sender))
    made.include_router(judgements_router(sender))
    made.include_router(reading_router(sender, seconds))
    made.include_router(answers_router(sender, seconds))
    made.include_router(decisions_router(decisions))
    made.include_router(lists_router(sender, decisions, seconds))
    made.include_router(memories_router(sender, decisions))
    made.include_router(explanations_router(sender, decisions, seconds))
    made.include_router(operations_router(lambda: exchange.bootstrap()))
    made.include_router(forgetting_router(sender))
    made.include_router(events_router(tail, settings.events_most_streams))
    made.include_router(openai_router(settings, exchange))
    return made


def document() -> dict[str, object]:
    """The OpenAPI document, of routes that nothing serves."""
    bootstrap = partial(clients.bootstrap_of, None)
    settings = config.load({})
    exchange, tail = Exchange(bootstrap, PendingReplies(0)), ProgressTail(bootstrap, settings.cognition())
    return api(settings, exchange, tail, Assessor(SystemClock())).openapi()
