"""Whatever a client sends, it gets a bounded answer that fits its schema, or a bounded sentence; the server goes on."""

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from mcp import Client
from mcp.shared.exceptions import MCPError

from streams.edges.mcp.server import server_of
from streams.edges.mcp.toolbox import TOOLS
from tests.builders.examples import examples
from tests.builders.mcp_client import site

NAMES = [tool.name for tool in TOOLS]
FIELDS = sorted({name for tool in TOOLS for name in tool.input_schema()["properties"]})
TEXTS = st.one_of(
    st.text(max_size=20),
    st.builds(lambda text, times: text * times, st.sampled_from("aç\x00€𝄞"), st.integers(1, 60_000)),
    st.sampled_from(["Hello!", "How should I structure this?", "\ud800", "\u202e", "$where", "a|b", "_public", "-"]),
)
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), TEXTS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=2),
    max_leaves=4,
)
FITTING = st.dictionaries(st.sampled_from(FIELDS), VALUES, max_size=4)
MISNAMED = st.dictionaries(TEXTS | st.sampled_from(["tenant", "x" * 500]), VALUES, min_size=1, max_size=3)
# The client's own transport cannot write half a character into a name.
UNKNOWN = TEXTS.filter(str.isprintable)
LONGEST_REFUSAL = 1_000
VALID = {tool.name: Draft202012Validator(tool.output_schema()) for tool in TOOLS}


@pytest.fixture(scope="module")
def answered() -> Iterator[Callable[[str, dict[str, Any]], Any]]:
    """One client that talks to one server for all calls; a protocol error is returned."""
    with asyncio.Runner() as runner:
        client = Client(server_of(TOOLS, site()))
        ready, done = asyncio.Event(), asyncio.Event()

        async def hold() -> None:
            async with client:
                ready.set()
                await done.wait()

        async def one(name: str, arguments: dict[str, Any]) -> Any:
            try:
                return await client.session.call_tool(name, arguments)
            except MCPError as refused:
                return refused.error

        held = runner.get_loop().create_task(hold())
        runner.run(ready.wait())
        yield lambda name, arguments: runner.run(one(name, arguments))
        done.set()
        runner.get_loop().run_until_complete(held)


def check(name: str, result: Any) -> None:
    if name not in NAMES:
        assert result.code == -32602
        assert len(result.message) < LONGEST_REFUSAL
    elif result.is_error:
        [content] = result.content
        assert 0 < len(content.text) < LONGEST_REFUSAL
        assert "bug" not in content.text
    else:
        assert name == "assess_context_needs"
        VALID[name].validate(result.structured_content)


@pytest.mark.covers("B28")
@settings(max_examples=examples(2_000), deadline=None, suppress_health_check=list(HealthCheck), phases=[Phase.generate])
@given(arguments=FITTING | MISNAMED, unknown=UNKNOWN)
def test_calls_of_anything_are_answered_within_bounds(
    answered: Callable[[str, dict[str, Any]], Any], arguments: dict[str, Any], unknown: str
):
    for name in (*NAMES, unknown):
        check(name, answered(name, arguments))


@pytest.mark.parametrize("shape", [lambda: "x" * 5_000_000, lambda: ["x" * 8_000] * 100, lambda: {"a": {"b": [1]}}])
def test_what_is_huge_is_refused_at_once(answered: Callable[[str, dict[str, Any]], Any], shape: Callable[[], Any]):
    for name, field in (("assess_context_needs", "available_context"), ("search_context", "query")):
        result = answered(name, {"query": "x", field: shape()})
        assert result.is_error
        check(name, result)
    check("assess_context_needs", answered("assess_context_needs", {"query": "Hello!"}))
