"""`make test` says of all that failed what it was, also of what names no test."""

import sys

from tests.steps import Run, Step

CRASH = "import os, signal; print('at the third one', flush=True); os.kill(os.getpid(), signal.SIGSEGV)"
FAILURE = "print('FAILED tests/a.py::test_b - no'); raise SystemExit(1)"


def said_of(code: str) -> tuple[int, str]:
    run = Run(lambda _: None)
    run.step(Step("a step", (sys.executable, "-c", code)))
    return run.report(), "\n".join(run.failures)


def test_a_process_that_dies_is_named_with_its_signal_and_its_last_lines() -> None:
    assert said_of(CRASH) == (1, "a step: exit code -11, last lines:\n  at the third one")


def test_a_test_that_fails_is_named_alone() -> None:
    assert said_of(FAILURE) == (1, "a step: FAILED tests/a.py::test_b - no")


def test_of_what_passes_nothing_is_said() -> None:
    assert said_of("print('1 passed in 1.0s')") == (0, "")
