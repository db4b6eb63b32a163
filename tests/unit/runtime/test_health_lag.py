"""Readiness by how groups keep up."""

import pytest

from streams.kafka.lag_status import LagJudged, LagStatus, stands
from streams.runtime.health import GroupState, Health


def health(**group: object) -> Health:
    state: GroupState = {"healthy": True, "partitions": 3, **group}  # type: ignore[typeddict-item]
    found = Health(lambda: {"groups": {"depth": state}})
    found.started = True
    return found


@pytest.mark.covers("B18")
def test_a_group_that_packs_wait_for_in_vain_makes_the_process_not_ready() -> None:
    status, told = health(status="ERROR", lag=5, why="STALL: messages.in[0] has 5 to read", stuck=True).ready()
    assert (status, told["why"]) == (503, ["group depth: STALL: messages.in[0] has 5 to read"])
    assert health(status="ERROR", lag=5, why="STALL: messages.in[0] has 5 to read", stuck=False).ready()[0] == 200
    assert health(status="OK", lag=0, why="read to its end").ready()[0] == 200


def test_a_group_stands_where_it_moves_in_no_partition_that_has_records() -> None:
    stall = LagJudged(LagStatus.STALL, 5, "")
    well, behind = LagJudged(LagStatus.OK, 0, ""), LagJudged(LagStatus.WARN, 7, "")
    assert stands({"a": stall, "b": well})
    assert not stands({"a": stall, "b": behind})
    assert not stands({"b": well})
    assert not stands({})
