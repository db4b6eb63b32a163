"""The brokers the chaos tests run on."""

from tests.chaos.conftest import servers  # noqa: F401
