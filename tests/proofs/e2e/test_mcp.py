"""`fathom mcp` that refuses: too many calls over HTTP, and on stdio without a running Fathom."""

import json
import signal
from pathlib import Path

import pytest
from mcp import Client

from tests.e2e.mcp_clients import answered, post, refused, stdio
from tests.e2e.processes import running

TOKENS = {
    "acme-ana-0123456789": {"tenant": "acme", "client": "agent", "user": "ana"},
    "acme-bob-0123456789": {"tenant": "acme", "client": "agent", "user": "bob"},
}
ANA, BOB = TOKENS


@pytest.mark.covers("B28")
def test_over_http_too_many_calls_are_429_until_the_time_named(tmp_path: Path):
    (tmp_path / "tokens.json").write_text(json.dumps(TOKENS))
    settings = {"FATHOM_MCP_TOKENS_FILE": str(tmp_path / "tokens.json"), "FATHOM_MCP_CALLS_PER_MINUTE": "1"}
    with running("mcp", "--http", "--port", "0", stderr=tmp_path / "err", **settings) as process:
        url = process.ready()["url"]
        assert post(url, authorization=f"Bearer {ANA}")[0] == 400
        status, said = post(url, authorization=f"Bearer {ANA}")
        assert (status, "try again in" in said) == (429, True)
        assert post(url, authorization=f"Bearer {BOB}")[0] == 400
        assert process.end(signal.SIGINT) == (0, "")


def test_without_a_running_fathom_assessing_works_and_the_rest_says_what_to_do(tmp_path: Path):
    async def story(client: Client) -> None:
        assert (await answered(client, "assess_context_needs", query="Hello!"))["query_type"] == "greeting"
        for name, arguments in (("search_context", {"query": "x"}), ("explain_pack", {"pack_id": "p"})):
            assert "start `fathom up" in await refused(client, name, **arguments)

    stdio(f"embedded://{tmp_path / 'nothing' / 'broker'}", story)
