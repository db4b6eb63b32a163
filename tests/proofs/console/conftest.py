"""The browser of these tests."""

from tests.console.conftest import browser  # noqa: F401
