"""Which raw records may be wanted entries: the look before decoding loses none of them."""

import pytest

from deploy.docs.examples import Example, load
from schemas.topics import MEMORY_CLAIMS, MEMORY_CORRECTIONS, MEMORY_DECISIONS
from streams.audit.entries import AuditFilter, entries_of, may_hold
from streams.kafka.records import Record

AUDITED = load(topics=(MEMORY_DECISIONS, MEMORY_CLAIMS, MEMORY_CORRECTIONS))


def record(example: Example) -> Record:
    place = (example.topic.name, 0, 7, 1_770_000_000_000)
    return Record(*place, example.key.encode(), example.raw, tuple(example.raw_headers))


@pytest.mark.parametrize("example", AUDITED, ids=lambda each: f"{each.topic.name} {each.name}")
def test_a_record_that_is_wanted_is_never_passed_over(example: Example):
    one = record(example)
    tenant = example.received().envelope.tenant
    [entry], unreadable = entries_of(example.topic.name, [one], AuditFilter(tenant=tenant))
    assert unreadable == 0
    of = {"client_id": entry.client_id, "conversation_id": entry.conversation_id, "user_id": entry.user_id}
    for name, value in of.items():
        assert may_hold(one, AuditFilter(tenant=tenant, **{name: value}))
    assert may_hold(one, AuditFilter(tenant=tenant, **of))
    assert not may_hold(one, AuditFilter(tenant=tenant, conversation_id="of-another-conversation"))
    assert not may_hold(one, AuditFilter(tenant="of-another-tenant"))
