"""`fathom mcp`: Fathom's tools for agents, over MCP."""

from typing import Annotated

import typer

from streams.edges.cli.arguments import Broker, Json

PORT = 8765


def mcp(
    http: Annotated[bool, typer.Option("--http", help="Streamable HTTP instead of stdio; needs tokens.")] = False,
    host: Annotated[str, typer.Option("--host", help="With --http: the address to listen at.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="With --http: the port; 0 picks a free one.")
    ] = PORT,
    broker: Broker = None,
    _: Json = False,
) -> None:
    """Tools for agents, over MCP: assess a query, search context, check conflicts, explain a pack.

    On stdio for one client, whose tenant is FATHOM_MCP_TENANT; with --http the token of each call says whose it is.
    """
    from streams import config
    from streams.edges.client import clients
    from streams.edges.mcp import serving
    from streams.telemetry import metrics

    settings = config.load()
    metrics.set_up_logging(settings.log_level, settings.log_format)
    clients.run(serving.on_http(settings, broker, host, port) if http else serving.on_stdio(settings, broker))
