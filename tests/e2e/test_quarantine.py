"""Sources that are quarantined by command: a wrong name is told, a plan changes nothing, and each is lifted again."""

import pytest

from tests.e2e.calls import MARKDOWN, taken
from tests.e2e.conftest import Tenant
from tests.e2e.poison import POISON, quarantine


@pytest.mark.covers("B23")
@pytest.mark.timeout(600)
def test_an_unknown_source_is_named_with_a_near_one_and_nothing_is_changed(tenant: Tenant) -> None:
    broker, mine = tenant.bootstrap, ("--tenant", tenant.name)
    taken(tenant.client().post("/documents?wait=visible&document_id=poison", content=POISON, headers=MARKDOWN), 200)
    said = quarantine("--source", "document:poisom", *mine, broker=broker, code=1)
    assert "no document 'poisom'; did you mean poison?" in said
    assert "write KIND:ID" in quarantine("--source", "poison", *mine, broker=broker, code=2)
    assert "did you mean document?" in quarantine("--source", "docment:poison", *mine, broker=broker, code=2)
    assert "name what with --source" in quarantine(*mine, broker=broker, code=2)
    assert quarantine("list", *mine, broker=broker)["quarantines"] == []
    planned = quarantine("--source", "document:poison", "--dry-run", *mine, broker=broker)
    assert (planned["quarantined"], planned["uses"], planned["stored"] > 0) == (False, [], True)
    assert quarantine("--source", "document:poison", *mine, broker=broker)["quarantined"] is True
    assert "quarantined already" in quarantine("--source", "document:poison", *mine, broker=broker, code=1)
    quarantine("--source", "document:poison", "--lift", *mine, broker=broker)
    assert "nothing was lifted" in quarantine("--source", "document:poison", "--lift", *mine, broker=broker, code=1)
