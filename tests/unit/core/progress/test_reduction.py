"""The reducer: each event once, a lost one noticed, and the recorded job reduces to what other languages find."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.core.progress.reduction import ReducedState, patched, pointer, reduced, set_to, snapshot
from schemas.progress import PatchOperation, ProgressMade
from tests.builders import progress_job
from tests.builders.examples import examples

RECORDED = json.loads(progress_job.EVENTS.read_text())
JOB = [ProgressMade(**{name: said for name, said in each.items() if name != "ts"}) for each in RECORDED]
WHOLE = json.loads(progress_job.REDUCED.read_text())
COGNITION = [event for event in JOB if event.stage == "cognition"]


def rounded(value: Any) -> Any:
    """Without the last digits of floats: since Python 3.12 `sum` makes up for what rounding loses."""
    if isinstance(value, dict):
        return {name: rounded(each) for name, each in value.items()}
    if isinstance(value, list):
        return [rounded(each) for each in value]
    return round(value, 12) if isinstance(value, float) else value


@pytest.mark.covers("S2-142", "S2-143", "S2-145", "AC-80")
def test_the_recorded_job_reduces_to_the_recorded_state() -> None:
    assert snapshot(JOB[0].message_id, JOB) == WHOLE
    nodes = WHOLE["cognition"]["nodes"]
    assert {name: node["state"] for name, node in nodes.items()} == {"0": "verified", "1": "verified", "2": "abstain"}
    assert nodes["1"]["conflict"]
    assert nodes["1"]["evidence"] == 3
    assert (nodes["2"]["searches"], nodes["2"]["missing"]) == (2, ["ITBI"])
    assert WHOLE["pack"]["nodes"]["semantic"]["state"] == "ok"
    assert {kept["section"] for kept in WHOLE["pack"]["kept"].values()} == {"persona", "semantic"}


@pytest.mark.covers("S2-145", "AC-80")
def test_the_status_goes_through_its_values_in_order() -> None:
    seen = ["idle"]
    state = ReducedState()
    for event in COGNITION:
        state = state.after(event)
        if state.document["status"] != seen[-1]:
            seen.append(state.document["status"])
        assert state.document["status"] == event.cograg_status
    again = ["retrieving", "refining", "verifying"]
    assert seen == ["idle", "decomposing", *again, *again, "complete"]


@settings(max_examples=examples(60), deadline=None, derandomize=True, database=None)
@given(st.integers(0, len(JOB)), st.integers(0, len(JOB)))
def test_any_prefix_and_a_resumption_that_overlaps_give_the_whole(cut: int, back: int) -> None:
    begin = max(0, cut - back)
    for stage in ("pack", "cognition"):
        first = reduced(event for event in JOB[:cut] if event.stage == stage)
        state = reduced((event for event in JOB[begin:] if event.stage == stage), first)
        assert state == reduced(event for event in JOB if event.stage == stage)
        assert not state.lost
        assert state.ended


@settings(max_examples=examples(60), deadline=None, derandomize=True, database=None)
@given(st.integers(0, len(COGNITION) - 2))
def test_a_lost_event_is_noticed_by_the_next_one(lost: int) -> None:
    state = reduced(COGNITION[:lost])
    assert not state.lost
    assert state.after(COGNITION[lost + 1]).lost


def test_an_event_applied_twice_is_applied_once() -> None:
    for event in JOB:
        once = patched({}, event.patch)
        assert patched(once, event.patch) == once
    state = reduced(JOB[:1])
    assert state.after(JOB[0]) is state


def test_a_patch_changes_a_copy() -> None:
    before: dict[str, Any] = {"nodes": {"1": {"state": "pending"}}}
    after = patched(before, [set_to({"state": "verified"}, "nodes", "1"), set_to("complete", "status")])
    assert before == {"nodes": {"1": {"state": "pending"}}}
    assert after == {"nodes": {"1": {"state": "verified"}}, "status": "complete"}


@pytest.mark.parametrize("key", ["a/b", "a~b", "~1", "~0/", "", "é"])
def test_a_key_with_the_signs_of_a_pointer_is_one_key(key: str) -> None:
    assert patched({}, [set_to(1, "kept", key)]) == {"kept": {key: 1}}
    assert pointer("kept", "a/b~c") == "/kept/a~1b~0c"


def test_an_operation_replaces_as_it_adds() -> None:
    assert patched({"a": 1}, [PatchOperation(op="replace", path="/a", value=2)]) == {"a": 2}


def test_a_message_without_events_has_no_states() -> None:
    assert snapshot("m", ()) == {"message_id": "m", "pack": None, "cognition": None}
