"""The command line: options, help, settings and exit codes. What needs a process of its own is tested end to end."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from streams.__main__ import main
from streams.edges.cli import config
from streams.edges.cli.main import EVAL, VERBS, Table
from streams.edges.cli.up import settings_in
from streams.version import version
from tests.builders.commands import commands
from tests.checkout import ROOT

ESCAPE = "\x1b"


class Ended(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


Fathom = Callable[..., Ended]


@pytest.fixture
def fathom(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Fathom]:
    """Run a command line in this process, with just these settings in its environment."""
    for name in [name for name in os.environ if name.startswith(("FATHOM_", "RAG_"))]:
        monkeypatch.delenv(name)

    def run(*arguments: str, **environment: str) -> Ended:
        monkeypatch.setattr(sys, "argv", ["fathom", *arguments])
        for name, text in environment.items():
            monkeypatch.setenv(name, text)
        with pytest.raises(SystemExit) as end:
            main()
        said = capsys.readouterr()
        return Ended(end.value.code, said.out, said.err)

    was = signal.getsignal(signal.SIGINT)
    yield run
    signal.signal(signal.SIGINT, was)


def test_the_version_is_the_projects(fathom: Fathom):
    stated = re.search(r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    assert fathom("--version").stdout == f"fathom {stated.group(1)}\n" == f"fathom {version()}\n"


@pytest.mark.parametrize(
    "module",
    [
        "dlq.commands",
        "audit.show",
        "audit.explain",
        "replay.command",
        "cluster.topics",
        "cluster.layout",
        "lag",
        "tail",
        "ask",
        "send",
        "profile",
    ],
)
def test_a_command_that_only_talks_to_the_log_imports_no_stage(module: str):
    """They took a second of each such command, and as much again were the store clients behind them."""
    heavy = (
        "agents.stages",
        "agents.retrievers",
        "streams.builders",
        "streams.faust",
        "streams.runtime.app",
        "uvicorn",
    )
    asked = f"import sys, streams.edges.cli.{module}; print([n for n in sys.modules if n.startswith({heavy!r})])"
    done = subprocess.run([sys.executable, "-c", asked], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("line", [("ask", "hi", "--min-depth", "D9"), ("ask", "hi", "--max-tokens", "0")])
def test_a_value_that_is_none_is_refused_without_the_words_of_a_library(fathom: Fathom, line: tuple[str, ...]):
    ended = fathom(*line)
    assert ended.returncode == 2
    assert f"Invalid value for '{line[2]}': " in ended.stderr
    assert "Value error" not in ended.stderr


@pytest.mark.parametrize(
    ("line", "suggests"),
    [
        (("tail", "messages.in", "--timeout", "3"), None),
        (("tail", "messages.in", "--limt", "3"), "--limit"),
        (("ask", "hi", "--conv", "c1"), "--conversation"),
        (("dlq", "list", "--tenat", "acme"), "--tenant"),
        (("dlq", "list", "--timeout", "3"), None),
    ],
)
def test_only_an_option_that_is_nearly_the_same_is_suggested(
    fathom: Fathom, line: tuple[str, ...], suggests: str | None
):
    ended = fathom(*line)
    assert ended.returncode == 2
    assert "No such option: --" in ended.stderr
    if suggests is None:
        assert "ossible options" not in ended.stderr
        assert "Did you mean" not in ended.stderr
    else:
        assert suggests in ended.stderr


def test_a_python_that_is_too_old_is_told_so(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.setattr(sys, "version_info", (3, 10, 4))
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 3
    assert capsys.readouterr().err.startswith("fathom needs Python 3.11 or newer, this is 3.10.4: ")


def test_every_command_has_help_json_and_no_escape_codes(fathom: Fathom):
    for name, command in commands().items():
        leaves = command if isinstance(command, dict) else getattr(command, "commands", None) or {name: command}
        for leaf in leaves.values():
            assert "--json" in [flag for parameter in leaf.params for flag in parameter.opts], leaf.name
            assert leaf.help, leaf.name
    shown = fathom("--help")
    assert shown.returncode == 0
    assert ESCAPE not in shown.stdout
    assert "Exit codes: 0 ok" in shown.stdout


@pytest.mark.parametrize("table", [VERBS, EVAL])
def test_the_line_of_a_verb_in_the_list_is_that_of_its_own_help(table: Table):
    loaded = commands(table)
    for name, _, line in table:
        if not isinstance(loaded[name], dict):
            assert loaded[name].help.split("\n\n")[0].replace("\n", " ") == line


@pytest.mark.parametrize("words", [("--help",), ("eval", "--help")])
def test_a_list_of_verbs_names_all_of_them(fathom: Fathom, words: tuple[str, ...]):
    listed = re.findall(r"^  ([a-z]+)  ", fathom(*words).stdout.partition("Commands:")[2], re.MULTILINE)
    assert listed == [name for name, _, _ in (VERBS if len(words) == 1 else EVAL)]


def test_an_unknown_command_is_a_usage_error_with_the_nearest(fathom: Fathom):
    ended = fathom("sned", "oi")
    assert ended.returncode == 2
    assert "send" in ended.stderr
    assert ended.stdout == ""


def test_send_takes_exactly_one_thing_to_send(fathom: Fathom):
    for arguments in ((), ("oi", "--file", "x.jsonl")):
        ended = fathom("send", *arguments)
        assert (ended.returncode, ended.stdout) == (2, "")
        assert "one of TEXT, --file or --document" in ended.stderr


def test_a_client_without_a_broker_says_what_to_start(fathom: Fathom, tmp_path: Path):
    ended = fathom("send", "oi", "--broker", f"embedded://{tmp_path}")
    assert ended.returncode == 4
    assert f"nothing is running in {tmp_path}; start `fathom up --data {tmp_path}`" in ended.stderr
    assert len(ended.stderr.splitlines()) == 1


def test_the_address_of_a_process_that_is_gone_counts_as_nothing_running(fathom: Fathom, tmp_path: Path):
    gone = subprocess.Popen(["true"])
    gone.wait()
    (tmp_path / "up.json").write_text(f'{{"pid": {gone.pid}, "bootstrap": "127.0.0.1:1", "http": ""}}')
    assert fathom("ask", "oi", "--broker", f"embedded://{tmp_path}").returncode == 4


def test_an_unknown_setting_is_a_configuration_error_with_the_nearest(fathom: Fathom):
    ended = fathom("send", "oi", FATHOM_BROKR="x:1")
    assert ended.returncode == 3
    assert ended.stderr == "fathom: unknown setting FATHOM_BROKR; did you mean FATHOM_BROKER?\n"


def test_up_refuses_a_broker_of_somebody_else(fathom: Fathom):
    ended = fathom("up", FATHOM_BROKER="kafka:9092")
    assert ended.returncode == 3
    assert "fathom worker" in ended.stderr


def test_config_show_says_where_a_value_comes_from_and_hides_passwords(fathom: Fathom):
    shown = fathom("config", "show", FATHOM_REDIS_URL="redis://app:s3cret@cache:6379/0", FATHOM_PARTITIONS="4").stdout
    assert "s3cret" not in shown
    assert "redis://***@cache:6379/0  (environment)" in shown
    assert re.search(r"FATHOM_PARTITIONS +4  \(environment\)", shown)
    assert re.search(r"FATHOM_REPLICATION +1  \(default\)", shown)


def test_a_value_that_is_no_url_is_not_redacted():
    assert config.redacted("embedded://.fathom/broker") == "embedded://.fathom/broker"
    assert config.redacted(12) == 12


def test_broker_and_stores_lie_together_where_nothing_else_is_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("FATHOM_REDIS_URL", "redis://cache:6379")
    settings = settings_in(tmp_path)
    assert settings.broker == f"embedded://{tmp_path}/broker"
    assert (settings.redis_url, settings.neo4j_url) == ("redis://cache:6379", f"embedded://{tmp_path}")


def test_the_broker_of_the_environment_is_kept_by_a_worker(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("FATHOM_BROKER", "kafka:9092")
    settings = settings_in(None)
    assert (settings.broker, settings.qdrant_url) == ("kafka:9092", "embedded://.fathom")
