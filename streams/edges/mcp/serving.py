"""MCP on stdio, or on streamable HTTP without sessions: every request shows its token and stands for itself."""

import asyncio
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import orjson
import uvicorn
from mcp.server.stdio import stdio_server
from starlette.types import ASGIApp

from streams.config import ConfigError, Settings
from streams.edges import cli_clients
from streams.edges.mcp import callers, tool_assess
from streams.edges.mcp.allowance import Allowance
from streams.edges.mcp.answering import Site, server_of
from streams.edges.mcp.gate import LOOPBACK, Gate, caller_of
from streams.edges.mcp.toolbox import TOOLS

PATH = "/mcp"
MOST_BYTES = 2_000_000
STOP_S = 5


async def on_stdio(settings: Settings, broker: str | None) -> None:
    """Serve the client at stdin and stdout until it closes stdin; raises `ConfigError`."""
    caller = callers.of_settings(settings)
    allowance = Allowance(settings.mcp_calls_per_minute)
    site = Site(lambda _: caller, _finder(broker), settings.mcp_timeout_ms / 1000, settings.limits(), allowance.take)
    server = server_of(TOOLS, site)
    tool_assess.warm()
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


async def on_http(settings: Settings, broker: str | None, host: str, port: int) -> None:
    """Serve until SIGINT or SIGTERM; prints one JSON line with the URL when it listens. Raises `ConfigError`."""
    app = http_app(settings, broker, host)
    tool_assess.warm()
    with _listening(host, port) as listener:
        server = _Server(
            uvicorn.Config(
                app, log_config=None, access_log=False, server_header=False, timeout_graceful_shutdown=STOP_S
            )
        )
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, server.end)
        shown = f"[{host}]" if ":" in host else host
        url = f"http://{shown}:{listener.getsockname()[1]}{PATH}"
        sys.stdout.write(orjson.dumps({"event": "ready", "url": url}).decode() + "\n")
        sys.stdout.flush()
        await server.serve([listener])


def http_app(settings: Settings, broker: str | None, host: str) -> ASGIApp:
    """The application behind its gate; raises `ConfigError`."""
    site = Site(caller_of, _finder(broker), settings.mcp_timeout_ms / 1000, settings.limits())
    app = server_of(TOOLS, site).streamable_http_app(
        streamable_http_path=PATH,
        json_response=True,
        stateless_http=True,
        max_request_body_size=MOST_BYTES,
        host="0.0.0.0",  # origin and host are the gate's to check
    )
    return Gate(
        app,
        callers.of_tokens(settings.mcp_tokens_file),
        Allowance(settings.mcp_calls_per_minute),
        origins=[origin.strip() for origin in settings.mcp_origins.split(",") if origin.strip()],
        loopback=host in LOOPBACK,
    )


class _Server(uvicorn.Server):
    """Signals only end it: uvicorn would raise them again when it has ended, and lose the exit code."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    def end(self) -> None:
        self.should_exit = True


@contextmanager
def _listening(host: str, port: int) -> Iterator[socket.socket]:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind, protocol)
    except OSError as error:
        raise ConfigError(f"--host {host}: {error.strerror}; name an address of this machine") from None
    with listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(address)
            # Now, not when uvicorn has started: who reads the ready line may call at once.
            listener.listen()
        except OSError as error:
            raise ConfigError(f"{host}:{port}: {error.strerror}; choose another with --host and --port") from None
        yield listener


def _finder(broker: str | None) -> Callable[[], str]:
    """Where Fathom runs, looked up at each call: it may be started after this server."""
    return lambda: cli_clients.bootstrap_of(broker)
