"""What `make test` does about tests that failed while others ran beside them."""

import sys
from collections.abc import Sequence

import pytest

from tests.steps import MOST_RETRIED, Run

SAYS = (sys.executable, "-c", "import sys; print(*sys.argv[2:], sep='\\n'); sys.exit(int(sys.argv[1]))")
PASSES = (sys.executable, "-c", "import sys; print(f'1 passed in 0.1s {sys.argv[1]}')")
FAILS = (sys.executable, "-c", "import sys; print(f'FAILED {sys.argv[1]}\\n1 failed in 0.1s'); sys.exit(1)")
ONE = "tests/e2e/test_a.py::test_b[a b]"


def ran(tests: Sequence[str], status: int = 1) -> Run:
    """A run with one step in which these tests failed, and nine passed."""
    run = Run(lambda text: None)
    lines = [f"FAILED {test} - AssertionError: why" for test in tests]
    run.step("end to end", *SAYS, str(status), *lines, f"{len(tests)} failed, 9 passed in 1.0s")
    return run


def test_a_test_that_passes_alone_has_passed_and_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    run = ran([ONE])
    run.retry(*PASSES)
    assert run.report() == 0
    said = capsys.readouterr().out
    assert f"=== what failed beside others, and passed alone\nend to end: FAILED {ONE} - AssertionError: why" in said
    assert "\n10 passed, 0 failed" in said
    assert "what failed\n" not in said


def test_a_test_that_fails_alone_too_has_failed(capsys: pytest.CaptureFixture[str]) -> None:
    run = ran([ONE])
    run.retry(*FAILS)
    assert run.report() == 1
    said = capsys.readouterr().out
    assert f"=== what failed\nend to end: FAILED {ONE}" in said
    assert "\n9 passed, 1 failed" in said


@pytest.mark.parametrize(
    ("tests", "status"),
    [
        ([f"tests/e2e/test_a.py::test_{number}" for number in range(MOST_RETRIED + 1)], 1),
        (["tests/unit/test_a.py::test_b"], 1),
        ([ONE], 2),
    ],
    ids=["more than a few", "a unit test", "the step was cut off"],
)
def test_other_failures_stay(tests: Sequence[str], status: int) -> None:
    run = ran(tests, status)
    run.retry(*PASSES)
    assert run.report() == 1


def test_an_error_that_is_no_test_stays() -> None:
    run = ran([ONE])
    run.step("contract", *SAYS, "1", "ERROR tests/contract/test_c.py - ImportError", "1 error in 0.1s")
    run.retry(*PASSES)
    assert run.report() == 1
