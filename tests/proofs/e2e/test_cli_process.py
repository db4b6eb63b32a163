"""The command as a process of its own: what it costs to start, what it imports, what it says before it serves."""

import subprocess
import sys

from tests.checkout import ROOT
from tests.e2e.processes import fathom

HEAVY = ("pydantic", "aiokafka", "faust", "rich", "numpy", "uvloop", "fastapi")


def imported_by(*arguments: str) -> set[str]:
    """The modules that one command line needed; what decides how soon it answers, on any machine."""
    script = f"""
import sys
from streams.__main__ import main
sys.argv = ["fathom", *{list(arguments)!r}]
try:
    main()
except SystemExit as ended:
    assert not ended.code, ended.code
print(*sys.modules, sep="\\n", file=sys.stderr)
"""
    ended = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    return set(ended.stderr.split())


def test_the_version_is_said_without_the_command_line_library():
    imported = imported_by("--version")
    assert "streams.version" in imported
    assert imported & {*HEAVY, "typer", "click"} == set()


def test_help_imports_nothing_heavy():
    imported = imported_by("--help")
    assert "typer" in imported
    assert {name for name in imported if name.startswith("streams.edges.cli.")} == {"streams.edges.cli.main"}
    assert imported & set(HEAVY) == set()


def test_only_serve_imports_the_web_framework():
    script = "import sys, streams.edges.cli.up, streams.runtime.app, streams.edges.mcp.serving; print(*sys.modules)"
    ended = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert "streams.edges.mcp.serving" in ended.stdout.split()
    assert "fastapi" not in ended.stdout.split()


def test_a_broker_that_does_not_answer_is_named():
    ended = fathom("send", "oi", "--broker", "127.0.0.1:1")
    assert ended.returncode == 4
    assert "no broker answers at 127.0.0.1:1" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_an_unknown_group_is_a_usage_error_with_the_nearest_and_the_list():
    ended = fathom("worker", "lerning")
    assert ended.returncode == 2
    assert "did you mean learning?" in ended.stderr
    assert "there are: depth, learning, ingestion" in ended.stderr
