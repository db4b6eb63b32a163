"""`fathom audit` on a running broker: what was decided is shown and exported."""

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.e2e.audited import audit, decide
from tests.e2e.conftest import Tenant


def test_what_was_decided_and_claimed_is_shown_and_exported(tenant: Tenant, stranger: Tenant, tmp_path: Path) -> None:
    decide(tenant.client())
    broker, mine = tenant.bootstrap, ("--tenant", tenant.name)
    shown = [json.loads(line) for line in audit(broker, "show", "--json", *mine).splitlines()]
    assert {each["kind"] for each in shown} >= {"decision", "claim"}
    assert [each["kind"] for each in shown if each["conversation_id"] == "c1"] == ["decision"]
    assert "memory.decisions[" in audit(broker, "show", "--conversation", "c1", *mine)
    assert "nothing was decided" in audit(broker, "show", "--tenant", stranger.name)
    assert "nothing was decided" in audit(broker, "show", "--user", "bia", *mine)
    assert "nothing was decided" in audit(broker, "show", "--until", "2020-01-01T00:00:00Z", *mine)
    newest = [json.loads(line) for line in audit(broker, "show", "--json", "--limit", "2", *mine).splitlines()]
    assert newest == shown[-2:]
    for name in ("out.csv", "out.json", "out.parquet"):
        assert f"{len(shown)} entries in" in audit(broker, "export", str(tmp_path / name), *mine)
    assert not [*tmp_path.glob("*.part")]
    by_place = {(each["topic"], each["partition"], each["offset"]): each for each in shown}
    for row in _rows(tmp_path):
        assert by_place[row["topic"], int(row["partition"]), int(row["offset"])]["id"] == row["id"]
    assert len([*_rows(tmp_path)]) == 3 * len(shown)
    assert "does not say which" in audit(broker, "export", str(tmp_path / "out.xls"), code=2)


def _rows(place: Path) -> Iterator[dict[str, Any]]:
    from pyarrow import parquet

    with (place / "out.csv").open() as file:
        yield from csv.DictReader(file)
    yield from map(json.loads, (place / "out.json").read_text().splitlines())
    yield from parquet.read_table(place / "out.parquet").to_pylist()
