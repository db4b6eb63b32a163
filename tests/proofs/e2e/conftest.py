"""The servers of these tests."""

from tests.e2e.four_servers import site  # noqa: F401
