"""OpenAI's official client for Node, fetched by name and pinned, outside the repository's files."""

from pathlib import Path

from tests.builders.npm import npm_package

PACKAGE, SHA256 = "openai@6.49.0", "e48de0f4c5dbecebdeb864233f5ea49be07cd3e0ff3bd3e1e6745dc5e168cced"


def modules() -> Path:
    """The folder of `node_modules` with the client; raises `InstallError` where it cannot be had."""
    return npm_package(PACKAGE, SHA256)
