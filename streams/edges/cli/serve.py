"""`fathom serve` and `fathom mcp`: questions and assessments over HTTP, tools for agents over MCP."""

from typing import Annotated, Literal, NotRequired

import typer
from typing_extensions import TypedDict

from agents.core.caching.budget import set_budget
from streams import config
from streams.config import Settings
from streams.edges.cli.arguments import Broker, Json
from streams.edges.client import clients
from streams.runtime import preflight
from streams.telemetry import metrics

PORT, MCP_PORT = 8090, 8765


class ServerReady(TypedDict):
    """The line that says that a server listens, and where; `serve` has a console and answers probes at `http`."""

    event: Literal["ready"]
    url: str
    console: NotRequired[str]
    http: NotRequired[str]


def serve(
    host: Annotated[str, typer.Option("--host", help="The address to listen at.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="The port; 0 picks a free one.")] = PORT,
    broker: Broker = None,
    _: Json = False,
) -> None:
    """The HTTP interface, for assistants that do not speak Kafka; needs tokens.

    Prints one JSON line when it listens. It is a client of the topics: start `fathom up`, or name a broker.
    """
    from streams.edges.http.app import serving

    clients.run(serving.serve(_logging(), broker, host, port))


def mcp(
    http: Annotated[bool, typer.Option("--http", help="Streamable HTTP instead of stdio; needs tokens.")] = False,
    host: Annotated[str, typer.Option("--host", help="With --http: the address to listen at.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="With --http: the port; 0 picks a free one.")
    ] = MCP_PORT,
    broker: Broker = None,
    _: Json = False,
) -> None:
    """Tools for agents, over MCP: assess a query, search context, explain a pack, edit memories.

    On stdio for one client, in tenant `default` or FATHOM_MCP_TENANT; with --http the call's token says whose it is.
    """
    from streams.edges.mcp import serving

    settings = _logging()
    clients.run(serving.on_http(settings, broker, host, port) if http else serving.on_stdio(settings, broker))


def _logging() -> Settings:
    """The settings, with the logs set up as they say."""
    settings = config.load()
    preflight.check(settings)
    metrics.set_up_logging(settings.log_level, settings.log_format)
    set_budget(settings.cache_mb)
    return settings
