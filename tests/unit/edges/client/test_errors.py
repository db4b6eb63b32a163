"""Every error of a command is one sentence with a next step, and an exit code."""

import errno
import fcntl
import sys

import pytest
from aiokafka.errors import KafkaConnectionError

from agents.errors import Unavailable
from streams.broker.broker import Broker, BrokerSettings
from streams.broker.errors import BrokerFailed
from streams.config import ConfigError
from streams.edges.client.errors import (
    CONFIG,
    DOWN,
    FAILURE,
    INTERRUPTED,
    USAGE,
    CommandFailed,
    exit_codes,
    explain,
    nearest,
    told,
)
from streams.faust.consumer_group import GroupError
from streams.kafka.topics_plan import TopicError
from streams.runtime.data_dir import AlreadyRunning, BadDirectory
from streams.stores.ownership import Ownership
from streams.stores.settings import UnsupportedUrl


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (CommandFailed("no such topic", USAGE), USAGE),
        (ConfigError("unknown setting"), CONFIG),
        (BrokerFailed("Port 9092 on 127.0.0.1 is taken."), CONFIG),
        (AlreadyRunning("runs as process 12"), CONFIG),
        (BadDirectory("cannot be written"), CONFIG),
        (UnsupportedUrl("redis_url", "ftp://x", ("redis://",)), CONFIG),
        (TopicError("differs"), CONFIG),
        (Unavailable("broker", "refused"), DOWN),
        (GroupError("group depth did not start"), DOWN),
        (KafkaConnectionError("refused"), DOWN),
        (PermissionError(13, "Permission denied", "/x"), FAILURE),
        (ZeroDivisionError("division by zero"), FAILURE),
    ],
)
def test_each_kind_of_error_has_its_exit_code(error: Exception, code: int):
    assert explain(error)[1] == code


def test_a_taken_port_says_how_to_get_another():
    sentence, _ = explain(BrokerFailed("Port 9092 on 127.0.0.1 is taken."))
    assert sentence == "Port 9092 on 127.0.0.1 is taken; choose another with --port, or --port 0 for any that is free"


def test_a_file_error_names_the_file_and_the_reason():
    sentence, _ = explain(PermissionError(13, "Permission denied", "/x/y"))
    assert sentence.startswith("/x/y: Permission denied; ")


def test_a_bug_says_that_it_is_one_and_how_to_see_more():
    sentence, _ = explain(KeyError("frame"))
    assert "KeyError" in sentence
    assert "FATHOM_LOG_LEVEL=debug" in sentence


def test_an_error_ends_in_one_line_on_stderr_and_no_traceback(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as end, exit_codes():
        raise CommandFailed("there is no topic x; did you mean y?", USAGE)
    said = capsys.readouterr()
    assert (end.value.code, said.out, said.err) == (USAGE, "", "fathom: there is no topic x; did you mean y?\n")


def test_with_debug_the_traceback_is_left_to_show(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("FATHOM_LOG_LEVEL", "debug")
    with pytest.raises(ZeroDivisionError), exit_codes():
        raise ZeroDivisionError


def test_an_interrupt_ends_with_130():
    with pytest.raises(SystemExit) as end, exit_codes():
        raise KeyboardInterrupt
    assert end.value.code == INTERRUPTED


def test_the_nearest_known_name_is_offered_and_nothing_where_none_is_near():
    assert nearest("messages.im", ["messages.in", "documents.in"]) == "; did you mean messages.in?"
    assert nearest("zzz", ["messages.in"]) == ""


@pytest.mark.parametrize(
    ("error", "terminal", "last"),
    [
        (Unavailable("broker", "refused"), True, "        see docs/errors.md#unavailable"),
        (KafkaConnectionError("refused"), True, "        see docs/errors.md#kafkaerror"),
        (CommandFailed("no such topic", USAGE), True, "fathom: no such topic"),
        (ConfigError("unknown setting"), False, "fathom: unknown setting"),
    ],
)
def test_on_a_terminal_alone_an_error_names_its_page(
    error: Exception, terminal: bool, last: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    told(error)
    lines = capsys.readouterr().err.splitlines()
    assert lines[-1] == last
    assert len(lines) == (2 if "see" in last else 1)


def test_an_error_of_the_system_names_its_file_or_the_call_that_has_none(tmp_path):
    def asked_with_a_wrong_clock() -> None:
        raise OSError(errno.EINVAL, "Invalid argument")

    with pytest.raises(FileNotFoundError) as missing:
        (tmp_path / "missing").read_bytes()
    with pytest.raises(OSError, match="Invalid argument") as nameless:
        asked_with_a_wrong_clock()
    assert explain(missing.value) == (
        f"{tmp_path / 'missing'}: No such file or directory; check the path and its permissions", FAILURE
    )  # fmt: skip
    sentence, code = explain(nameless.value)
    assert code == FAILURE
    assert "asked_with_a_wrong_clock" in sentence
    assert "check the path" not in sentence
    assert "; check the clock and the network of this machine" in sentence


def test_a_directory_that_cannot_be_locked_is_named(tmp_path, monkeypatch):
    def no_locks(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", no_locks)
    with pytest.raises(OSError, match="No locks available") as refused:
        Ownership(tmp_path / "graph")
    assert explain(refused.value)[0].startswith(f"{tmp_path / 'graph' / 'owner.lock'}: cannot be locked: No locks")
    with pytest.raises(BrokerFailed, match=r"lock cannot be locked: No locks available"):
        Broker(BrokerSettings(tmp_path / "broker"))
