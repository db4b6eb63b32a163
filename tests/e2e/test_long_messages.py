"""Messages as long as a record may be, some at a time: the process stays alive, and answers probes meanwhile."""

from tests.e2e.conftest import Tenant, Up
from tests.e2e.long_messages import late, sent

AT_A_TIME = 8


def test_liveness_is_answered_within_a_second_beside_eight_long_messages(up: Up, tenant: Tenant) -> None:
    said, waited = sent(up, tenant, AT_A_TIME)
    assert said == [200] * AT_A_TIME
    assert late(waited) < 1
