"""How the unit tests run: with few generated cases, or with all of them (`FATHOM_TEST_EXAMPLES=full`)."""

import gc
import sys
import typing
from functools import cache

import pytest
from hypothesis import settings

from tests.builders.examples import FULL
from tests.unit.house import tree

settings.register_profile("check", max_examples=20)
settings.register_profile("full", max_examples=100)
settings.load_profile("full" if FULL else "check")

# Modules, schemas and parsed sources live as long as the run: a collector that looks at them often takes a tenth of it.
gc.set_threshold(50_000, 20, 10)

# Python 3.12 keeps what 3.11 finds out anew whenever it asks whether something fits a protocol: a fifth of the start of
# a pipeline.
if sys.version_info < (3, 12):
    typing._get_protocol_attrs = cache(typing._get_protocol_attrs)

MANY = 1_000


def pytest_collection_finish(session: pytest.Session) -> None:
    """Parse the sources before forks share many tests: each of them would otherwise do it."""
    if session.config.getoption("processes", default=1) > 1 and len(session.items) > MANY:
        for path in tree.sources():
            tree.nodes(path)
