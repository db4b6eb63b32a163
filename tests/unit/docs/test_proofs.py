"""The page of proofs: a fault is never hidden, and nothing counts as shown that has not run at its size."""

import json
import tomllib
from collections.abc import Mapping
from typing import Any

import pytest

from deploy.docs import proofs
from deploy.docs.proofs import verdict
from tests import counters
from tests.checkout import ROOT
from tests.requirements.coverage import covered, known

ROWS = tomllib.loads((ROOT / proofs.ROWS).read_text())["row"]
ROW = {
    "id": "B1", "property": "Nothing is lost", "part": "chaos", "P": {"messages": 100}, "F": {"messages": 1_000},
    "limits": {"stop s": 10.0},
}  # fmt: skip
CLEAN = {"lost": 0, "duplicate effect": 0, "out of order": 0}


def entry(messages: int = 100, faults: Mapping[str, int] = CLEAN, **more: Any) -> dict[str, Any]:
    ran, measured = {"messages": messages, "kills": 3}, {"stop s": 2.5, "duplicate records": 4}
    whole = {
        "rows": ["B1"],
        "workload": "Apache Kafka",
        "ran": ran,
        "faults": faults,
        "measured": measured,
        "seeds": [1],
    }
    return {**whole, **more}


def result(*entries: dict[str, Any], **more: Any) -> dict[str, Any]:
    line = {
        "part": "chaos",
        "size": "small",
        "passed": True,
        "seconds": 7,
        "day": "2026-01-02",
        "commit": "0123456789ab",
    }
    tests = {"passed": 1, "failed": 0, "skipped": 0, "error": 0}
    return {**line, "changed": False, "tests": tests, "counters": list(entries), **more}


@pytest.mark.parametrize("fault", CLEAN)
def test_one_fault_in_one_slice_is_not_met_whatever_else_has_run(fault: str) -> None:
    slices = counters.merged([entry(5_000, {**CLEAN, fault: 1})], [entry(5_000)])
    assert verdict(ROW, [result(*slices, size="release"), result(entry())]) == f"**not met**: {fault} 1"


def test_a_tier_is_met_by_one_workload_of_its_size() -> None:
    assert verdict(ROW, [result(entry(100))]) == "met at P; F not shown: 100 of 1,000 messages"
    assert verdict(ROW, [result(entry(1_000))]) == "met at F"
    assert verdict(ROW, [result(entry(99))]) == "P not shown: 99 of 100 messages; F not shown: 99 of 1,000 messages"


@pytest.mark.covers("B30")
def test_workloads_on_different_brokers_are_not_added_up() -> None:
    others = [entry(60), entry(60, workload="embedded broker")]
    assert verdict(ROW, [result(*counters.merged((), others))]).startswith("P not shown: 60 of 100")


def test_what_is_measured_must_be_there_and_within_its_limit() -> None:
    assert "stop s 11.0, at most 10.0" in verdict(ROW, [result(entry(measured={"stop s": 11.0}))])
    assert "stop s not measured" in verdict(ROW, [result(entry(measured={}))])
    grows = {**ROW, "limits": {}, "shares": [["grown kB", "kB hours", 0.01]]}
    within, beyond = ({"grown kB": grown, "kB hours": 1_000} for grown in (10, 11))
    assert verdict(grows, [result(entry(1_000, measured=within))]) == "met at F"
    assert "at most 1% of kB hours" in verdict(grows, [result(entry(1_000, measured=beyond))])


def test_what_failed_has_not_run_or_has_a_gap_is_not_shown() -> None:
    assert verdict(ROW, [result(entry(1_000), passed=False)]) == "not shown: the part failed (small)"
    assert verdict(ROW, []) == "P, F not shown: has not run"
    assert verdict(ROW, [result()]) == "P, F not shown: was run before it was counted"
    assert verdict({**ROW, "open": {"P": "why", "F": "why"}}, [result(entry(1_000))]) == "P, F not shown: why"


def test_tests_that_are_the_proof_count_where_they_have_passed() -> None:
    tested = {"id": "B1", "property": "…", "part": "deploy", "tested": {"P": "deploy"}}
    assert verdict(tested, []) == "P not shown: has not run"
    assert verdict(tested, [result(part="deploy")]) == "met at P by its tests"
    daily = {**tested, "tested": {"P": proofs.DAILY}}
    assert verdict(daily, []) == "met at P by its tests"
    assert verdict({**daily, "part": "rules"}, [result(part="rules", passed=False)]).startswith("not shown")


def test_a_row_of_the_page_shows_what_was_counted_and_where(tmp_path: Any) -> None:
    for source in (proofs.ROWS, proofs.RESULTS):
        (tmp_path / source).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / proofs.ROWS).write_text((ROOT / proofs.ROWS).read_text())
    (tmp_path / proofs.RESULTS).write_text(json.dumps(result(entry(20_000, seeds=[1, 2, 3]))) + "\n")
    line = next(line for line in proofs.page(tmp_path).splitlines() if line.startswith("| B2 |"))
    assert "Apache Kafka" not in line
    line = next(line for line in proofs.page(tmp_path).splitlines() if line.startswith("| B1 |"))
    assert "Apache Kafka (3 seeds, 1 to 3), small: messages 20,000, kills 3" in line
    assert "lost 0, duplicate effect 0, out of order 0, stop s 2.5, duplicate records 4" in line
    assert "`012345678`, 2026-01-02" in line


def test_every_property_has_a_row_of_at_most_twelve_words() -> None:
    assert [row["id"] for row in ROWS] == [name for name in known() if name.startswith("B")]
    assert [row["id"] for row in ROWS if len(row["property"].split()) > 12] == []


def test_tests_are_a_proof_only_where_some_claim_the_row() -> None:
    daily = ("unit/", "contract/", "e2e/", "evidence/", "golden/", "chaos/", "console/")
    tests = covered()
    for row in ROWS:
        for part in row.get("tested", {}).values():
            folder = daily if part == proofs.DAILY else f"proofs/{part}/"
            assert any(test.startswith(folder) for test in tests[row["id"]]), row["id"]
