"""The encoder of all these tests: it is loaded once, and remembers what it has read."""

import pytest

from streams.stores.passages.vectors import UseEmbedder


@pytest.fixture(scope="session")
def embedder() -> UseEmbedder:
    """The encoder of the product, not the one of tests."""
    return UseEmbedder()
