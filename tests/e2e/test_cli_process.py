"""The command as a process of its own: what it costs to start, what it imports, what it says before it serves."""

import resource
import subprocess
import sys

from tests.e2e.test_up import ROOT, fathom

HEAVY = ("pydantic", "aiokafka", "faust", "rich", "numpy", "uvloop")


def processor_seconds(*arguments: str) -> float:
    """Of the best of three runs: the machine may be busy with something else."""
    best = float("inf")
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert fathom(*arguments).returncode == 0
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        best = min(best, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return best


def test_version_and_help_come_at_once():
    assert processor_seconds("--version") <= 0.15
    assert processor_seconds("--help") <= 0.30


def test_help_imports_nothing_heavy():
    script = f"import sys\nfrom streams.edges import cli\ncli.commands()\nprint(*sys.modules.keys() & {set(HEAVY)})"
    ended = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert ended.stdout.split() == []


def test_a_broker_that_does_not_answer_is_named():
    ended = fathom("send", "oi", "--broker", "127.0.0.1:1")
    assert ended.returncode == 4
    assert "no broker answers at 127.0.0.1:1" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_an_unknown_group_is_a_usage_error_with_the_nearest_and_the_list():
    ended = fathom("worker", "asembler")
    assert ended.returncode == 2
    assert "did you mean assembler?" in ended.stderr
    assert "there are: depth, planner, retrieval" in ended.stderr
