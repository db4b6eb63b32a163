"""MCP on stdio, or on stateless streamable HTTP: every request carries its token."""

from functools import partial

from mcp.server.stdio import stdio_server
from starlette.types import ASGIApp

from agents.stages.assessor import Assessor
from streams.config import Settings, listed
from streams.edges.client import assessing, clients
from streams.edges.console.address import console_url
from streams.edges.http import serve, tokens
from streams.edges.http.gate import GRANT, AuthMiddleware
from streams.edges.http.rate_limit import RateLimit
from streams.edges.http.tokens import Grant
from streams.edges.mcp import callers
from streams.edges.mcp.callers import Caller
from streams.edges.mcp.server import server_of
from streams.edges.mcp.tool import Context, ServerContext
from streams.edges.mcp.toolbox import TOOLS
from streams.runtime import data_dir
from streams.web_pages import LOOPBACK

PATH = "/mcp"
MAX_BYTES = 2_000_000


async def on_stdio(settings: Settings, broker: str | None) -> None:
    """Serve the client at stdin and stdout until it closes stdin; raises `ConfigError`."""
    caller = callers.of_settings(settings)
    allowance = RateLimit(settings.mcp_calls_per_minute)
    seconds, limits = settings.mcp_timeout_ms / 1000, settings.limits()
    async with assessing.assessor_of(settings) as assessor:
        server = server_of(
            TOOLS,
            ServerContext(
                lambda _: caller,
                partial(clients.bootstrap_of, broker),
                seconds,
                limits,
                assessor,
                allowance.take,
                partial(_console, settings),
            ),
        )
        assessing.warm()
        async with stdio_server() as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())


async def on_http(settings: Settings, broker: str | None, host: str, port: int) -> None:
    """Serve until SIGINT or SIGTERM; prints one JSON line with the URL when it listens. Raises `ConfigError`."""
    async with assessing.assessor_of(settings) as assessor:
        app = http_app(settings, broker, host, assessor)
        assessing.warm()
        await serve.serve(app, host, port, PATH)


def http_app(settings: Settings, broker: str | None, host: str, assessor: Assessor) -> ASGIApp:
    """The application behind `AuthMiddleware`; raises `ConfigError`."""
    site = ServerContext(
        _caller_of,
        partial(clients.bootstrap_of, broker),
        settings.mcp_timeout_ms / 1000,
        settings.limits(),
        assessor,
        console=partial(_console, settings),
    )
    app = server_of(TOOLS, site).streamable_http_app(
        streamable_http_path=PATH,
        json_response=True,
        stateless_http=True,
        max_request_body_size=MAX_BYTES,
        host="0.0.0.0",  # the middleware checks origin and host
    )
    return AuthMiddleware(
        app,
        tokens.of_file(settings.mcp_tokens_file, "mcp_tokens_file"),
        RateLimit(settings.mcp_calls_per_minute),
        origins=listed(settings.mcp_origins),
        origins_setting="mcp_origins",
        loopback=host in LOOPBACK,
    )


def _console(settings: Settings) -> str | None:
    """The address of the console that is set, else of the `fathom up` of the directory."""
    home = data_dir.home_of(settings.broker)
    up = None if home is None or settings.mcp_console_url else data_dir.running(home)
    return settings.mcp_console_url or (None if up is None else console_url(up.http))


def _caller_of(context: Context) -> Caller:
    """The caller of the request's token."""
    grant = context.request.scope[GRANT]  # type: ignore[union-attr]
    assert isinstance(grant, Grant)
    return callers.of_grant(grant)
