"""An MCP client and a Fathom that is not there, for tests of what MCP answers by itself."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from mcp import Client
from mcp_types import CallToolResult

from streams.edges.client.errors import DOWN, CommandFailed
from streams.edges.mcp.callers import Caller
from streams.edges.mcp.server import server_of
from streams.edges.mcp.tool import ServerContext
from streams.edges.mcp.toolbox import TOOLS

T = TypeVar("T")
ANA = Caller("acme", "agent", "ana")
MODES = {"2026-07-28": "auto", "2025-11-25": "legacy"}


def nowhere() -> str:
    raise CommandFailed("nothing is running in .fathom; start `fathom up`", DOWN)


def site(**known: Any) -> ServerContext:
    return ServerContext(**{"caller": lambda _: ANA, "bootstrap": nowhere, "seconds": 1.0, **known})


def talk(story: Callable[[Client], Awaitable[T]], *, mode: str = "auto", tools: Any = TOOLS, **known: Any) -> T:
    """What a client of the protocol's official SDK gets of a server in this process."""

    async def whole() -> T:
        async with Client(server_of(tools, site(**known)), mode=mode) as client:
            return await story(client)

    return asyncio.run(whole())


def call(name: str, arguments: dict[str, Any] | None = None, **known: Any) -> CallToolResult:
    return talk(lambda client: client.call_tool(name, arguments or {}), **known)


def text(result: CallToolResult) -> str:
    [content] = result.content
    return content.text
