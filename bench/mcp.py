"""Time of one assessment over MCP on stdio, beside the same ones in this process and in one run: the protocol's share.

make bench-mcp
"""

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable

from mcp import Client, StdioServerParameters

from agents.core.assessment.context_needs import assess
from bench.classify import MESSAGES
from bench.measure import ROOT, finish, percentile
from streams.edges.mcp.callers import Caller
from streams.edges.mcp.server import server_of
from streams.edges.mcp.tool import ServerContext
from streams.edges.mcp.toolbox import TOOLS

ROUNDS = 60
SUMMARY = "Falamos do projeto X, do prazo e do orçamento"
Once = Callable[[str], Awaitable[object]]


def main() -> None:
    finish("mcp", "make bench-mcp", asyncio.run(figures()))


async def figures() -> dict[str, object]:
    """p50 and p99 of each way to ask, ms, and what the protocol costs beside the assessment."""
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "streams", "mcp"],
        env={"FATHOM_MCP_CALLS_PER_MINUTE": "1000000", "FATHOM_LOG_LEVEL": "warning"},
        cwd=ROOT,
    )
    site = ServerContext(lambda _: Caller("bench", "bench", "bench"), lambda: "", 1.0)
    began = time.perf_counter()
    async with Client(server) as stdio, Client(server_of(TOOLS, site)) as inside:
        started = (time.perf_counter() - began) * 1000
        ways: dict[str, Once] = {
            "function": _function,
            "mcp_in_process": _through(inside),
            "mcp_stdio": _through(stdio),
        }
        times = await timed(ways)
    spread = {
        f"{name}_{label}_ms": round(percentile(values, share), 3)
        for name, values in times.items()
        for label, share in (("p50", 0.5), ("p99", 0.99))
    }
    return {
        "calls": ROUNDS * len(MESSAGES),
        **spread,
        "stdio_over_in_process_p50": ratio(spread, "mcp_in_process", "p50"),
        "stdio_over_in_process_p99": ratio(spread, "mcp_in_process", "p99"),
        "stdio_over_function_p50": ratio(spread, "function", "p50"),
        "stdio_start_ms": round(started),
    }


def ratio(spread: dict[str, float], to: str, label: str) -> float:
    """How many times as long stdio takes."""
    return round(spread[f"mcp_stdio_{label}_ms"] / spread[f"{to}_{label}_ms"], 2)


async def _function(text: str) -> object:
    return assess(text, SUMMARY)


def _through(client: Client) -> Once:
    async def once(text: str) -> object:
        result = await client.call_tool("assess_context_needs", {"query": text, "conversation_summary": SUMMARY})
        if result.is_error:
            raise SystemExit(f"an assessment failed: {result.content}")
        return result

    return once


async def timed(ways: dict[str, Once]) -> dict[str, list[float]]:
    """How long each message takes each way, ms; the ways in turn, so that a busy moment meets all of them."""
    times: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(ROUNDS + 1):
        for _, text in MESSAGES:
            for name, once in ways.items():
                began = time.perf_counter()
                await once(text)
                if number:  # the first round warms up
                    times[name].append((time.perf_counter() - began) * 1000)
    return times


if __name__ == "__main__":
    main()
