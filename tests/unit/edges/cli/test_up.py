"""`fathom up` says at its start what tokens cannot keep apart."""

import json
import logging
from pathlib import Path

import pytest

from streams.edges.cli.up import warn_of_open_broker
from streams.edges.http.tokens import of_home


@pytest.mark.parametrize(
    ("tenants", "warned"), [(None, False), (["default"], False), (["acme"], True), (["acme", "evil"], True)]
)
def test_tokens_of_several_tenants_beside_an_open_broker_are_warned_of_in_one_line(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, tenants: list[str] | None, warned: bool
) -> None:
    file = None
    if tenants is not None:
        file = tmp_path / "tokens.json"
        file.write_text(json.dumps({f"{tenant}-token-0123456789": {"tenant": tenant} for tenant in tenants}))
    with caplog.at_level(logging.WARNING):
        warn_of_open_broker(of_home(tmp_path, file))
    said = [record.__dict__["fields"] for record in caplog.records if record.message == "broker.open"]
    assert len(said) == warned
    assert all("has no authentication" in each["why"] and "Apache Kafka" in each["next"] for each in said)
