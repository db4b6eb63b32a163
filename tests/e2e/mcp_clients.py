"""The MCP SDK's own client on both transports of `fathom mcp`, and what its tools answer."""

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx2
from jsonschema import Draft202012Validator
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from tests.checkout import ROOT
from tests.e2e.processes import SMALL

PATIENT = {"FATHOM_MCP_TIMEOUT_MS": "60000"}
Story = Callable[[Client], Awaitable[Any]]


@asynccontextmanager
async def over_http(url: str, token: str, mode: str = "auto") -> AsyncIterator[Client]:
    async with (
        httpx2.AsyncClient(headers={"authorization": f"Bearer {token}"}, timeout=90) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode) as client,
    ):
        yield client


def http(url: str, story: Story, *, token: str, mode: str = "auto") -> Any:
    """What a story gives that is told to a server over HTTP."""

    async def whole() -> Any:
        async with over_http(url, token, mode) as client:
            return await story(client)

    return asyncio.run(whole())


def stdio(broker: str, story: Story, *, mode: str = "auto", **settings: str) -> Any:
    """What a story gives that is told to a server of its own on stdio; it speaks for user ana."""
    known = {"FATHOM_MCP_CLIENT": "agent", "FATHOM_MCP_USER": "ana", **SMALL, **PATIENT}
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "streams", "mcp", "--broker", broker],
        env={**known, **settings},
        cwd=ROOT,
    )

    async def whole() -> Any:
        async with Client(server, mode=mode) as client:
            return await story(client)

    return asyncio.run(whole())


async def answered(client: Client, name: str, /, **arguments: Any) -> dict[str, Any]:
    """The structured answer of a tool, valid by its schema, and its text as `said`."""
    result = await client.call_tool(name, arguments)
    assert not result.is_error, result.content
    [tool] = [tool for tool in (await client.list_tools()).tools if tool.name == name]
    Draft202012Validator(tool.output_schema).validate(result.structured_content)
    return {**result.structured_content, **result.meta, "said": result.content[0].text}


async def refused(client: Client, name: str, /, **arguments: Any) -> str:
    """Why a tool refused."""
    result = await client.call_tool(name, arguments)
    assert result.is_error
    assert result.structured_content is None
    return result.content[0].text


def post(url: str, body: bytes = b"{}", **headers: str) -> tuple[int, str]:
    """Status and text of a bare request."""
    sent = {"content-type": "application/json", "accept": "application/json, text/event-stream", **headers}
    answer = httpx2.post(url, content=body, headers=sent, timeout=30)
    return answer.status_code, answer.text
