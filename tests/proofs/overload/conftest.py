"""The brokers that the worker of these tests stands on."""

from tests.proofs.transport.conftest import broker  # noqa: F401
