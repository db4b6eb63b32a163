"""Serve an ASGI application until SIGINT or SIGTERM; a line of JSON on stdout says where it listens."""

import asyncio
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import uvicorn
from starlette.types import ASGIApp

from streams.edges.client.standard_output import print_json
from streams.listening import listening
from streams.runtime.health_server import server_config


async def serve(
    app: ASGIApp,
    host: str,
    port: int,
    path: str,
    ending: Callable[[], None] = lambda: None,
    pages: Mapping[str, str] = {},
    **told: str,
) -> None:
    """Serve until SIGINT or SIGTERM; prints one JSON line with the URL, those of `pages`, and `told` once it listens.

    `ending` is called on the signal; running requests have five seconds from then on. Raises `ConfigError`.
    """
    with listening(host, port, "--host", "--port") as listener:
        server = _Server(server_config(app))

        def end() -> None:
            server.should_exit = True
            ending()

        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, end)
        shown = f"[{host}]" if ":" in host else host
        base = f"http://{shown}:{listener.getsockname()[1]}"
        urls = {"url": path, **pages}
        print_json({"event": "ready", **{name: f"{base}{under}" for name, under in urls.items()}, **told})
        sys.stdout.flush()
        await server.serve([listener])


class _Server(uvicorn.Server):
    """Without uvicorn's own signal handling, which raises the signal again at the end and loses the exit code."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield
