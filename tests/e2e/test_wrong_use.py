"""Uses that nobody means: one sentence, the right code, never a traceback."""

import os
import random
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from streams.edges.cli.up import HTTP_PORT
from tests.checkout import HANG_S, ROOT
from tests.e2e.processes import IN_MEMORY, clean, fathom

# Before the command's first line there is only Python, which says in its own way that it was interrupted.
STARTED = """
from streams.__main__ import main
print("started", flush=True)
main()
"""


def ended(shell: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """What a line of bash ends with; `fathom` is the command."""
    command = f'fathom() {{ "{sys.executable}" -m streams "$@"; }}; set -o pipefail; {shell}'
    return subprocess.run(
        ["bash", "-c", command],
        cwd=ROOT,
        env={**clean(), **environment},
        capture_output=True,
        text=True,
        timeout=HANG_S,
    )


@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        (
            "fathom ask hi --broker localhost:notaport",
            3,
            "--broker='localhost:notaport': write embedded://DIR, or host",
        ),
        ("fathom ask hi --broker nowhere", 3, "--broker='nowhere': write embedded://DIR"),
        ("fathom ask hi --broker http://127.0.0.1:9092", 3, "a broker's address has no scheme; write host:port"),
        (
            r"printf '\xff\xfe' | fathom send - --broker 127.0.0.1:1",
            2,
            "standard input is no UTF-8 text; nothing was sent",
        ),
        (
            r"printf '\xff\xfe' | fathom ask - --broker 127.0.0.1:1",
            2,
            "standard input is no UTF-8 text; nothing was sent",
        ),
        (r"printf '\xff\xfe' | fathom assess -", 2, "standard input is no UTF-8 text; nothing was sent"),
        (
            r"printf '\xff\xfe' | fathom correct - --user a --claim c --broker 127.0.0.1:1",
            2,
            "standard input is no UTF-8 text; nothing was sent",
        ),
        (r"fathom send $'\xed\xa0\x80'", 2, "the argument after send is no UTF-8 text"),
        ("fathom ask hi --tenant ''", 2, "the value of --tenant is empty; give one, or leave --tenant out"),
        ("fathom ask hi --tenant=", 2, "the value of --tenant is empty"),
        ("fathom up --data ''", 2, "the value of --data is empty"),
    ],
)
def test_a_slip_is_one_sentence_with_its_code(line: str, code: int, said: str):
    found = ended(line)
    assert (found.returncode, found.stdout) == (code, "")
    assert said in found.stderr
    assert len(found.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"FATHOM_CONTEXT_POLICY": "none.yaml"}, "FATHOM_CONTEXT_POLICY: context policy none.yaml: No such file"),
        ({"FATHOM_REFERENCE_POLICY": "none.yaml"}, "FATHOM_REFERENCE_POLICY: references policy none.yaml: No such"),
        ({"FATHOM_NEO4J_URL": "http://x:1"}, "FATHOM_NEO4J_URL: a URL with scheme 'http' is not supported, use embed"),
        ({"FATHOM_LLM_URL": "ftp://x"}, "FATHOM_LLM_URL: write https://HOST/v1 or http://HOST:PORT/v1"),
        ({"FATHOM_KAFKA_CA_FILE": "ca.pem"}, "FATHOM_KAFKA_CA_FILE has no use with FATHOM_KAFKA_SECURITY=PLAINTEXT"),
        ({"FATHOM_NEO4J_PASSWORD_FILE": "none"}, "FATHOM_NEO4J_PASSWORD_FILE='none': No such file or directory"),
    ],
)
def test_settings_are_checked_before_anything_starts(settings: dict[str, str], said: str, tmp_path: Path):
    checked = fathom("config", "check", **settings)
    assert (checked.returncode, checked.stdout) == (3, "1 wrong\n")
    assert checked.stderr.startswith(said)
    started = fathom("up", "--data", str(tmp_path / "data"), "--port", "0", **settings)
    assert (started.returncode, started.stdout) == (3, "")
    assert started.stderr.startswith(f"fathom: {said}")
    assert len(started.stderr.splitlines()) == 1
    assert not (tmp_path / "data").exists()


def test_all_wrong_settings_are_listed_and_right_ones_are_fine():
    wrong = fathom("config", "check", FATHOM_PARTITIONS="0", FATHOM_BROKR="x")
    assert (wrong.returncode, len(wrong.stderr.splitlines()), wrong.stdout) == (3, 2, "2 wrong\n")
    wrong = fathom("config", "check", FATHOM_LLM_URL="ftp://x", FATHOM_TOOL_POLICY="none.yaml")
    assert (wrong.returncode, len(wrong.stderr.splitlines()), wrong.stdout) == (3, 2, "2 wrong\n")
    right = fathom("config", "check")
    assert (right.returncode, right.stdout, right.stderr) == (0, "all settings can be used\n", "")


@pytest.mark.parametrize("named", ["option", "setting", "default"])
def test_a_taken_http_port_is_named_with_its_owner_and_with_what_chooses_another(tmp_path: Path, named: str):
    with socket.socket() as taken:
        with suppress(OSError):  # somebody else has it: then it is taken, too
            taken.bind(("127.0.0.1", HTTP_PORT if named == "default" else 0))
            taken.listen()
        port = HTTP_PORT if named == "default" else taken.getsockname()[1]
        option = f" --http-port {port}" if named == "option" else ""
        settings = {"FATHOM_HTTP_PORT": str(port)} if named == "setting" else {}
        found = ended(f"fathom up --data {tmp_path}/data --port 0{option}", **settings)
    assert found.returncode == 3
    assert f"127.0.0.1:{port}: Address already in use" in found.stderr
    assert "choose another with --http-port or FATHOM_HTTP_PORT, where 0 picks a free port" in found.stderr
    assert named == "default" or f"by process {os.getpid()} (" in found.stderr
    assert len(found.stderr.splitlines()) == 1


def test_the_shipped_policy_is_found_from_any_folder(tmp_path: Path):
    found = subprocess.run(
        [sys.executable, "-m", "streams", "config", "check"],
        cwd=tmp_path, env={**clean(), "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=HANG_S,
    )  # fmt: skip
    assert (found.returncode, found.stdout, found.stderr) == (0, "all settings can be used\n", "")


def test_a_reader_that_has_ended_is_no_failure():
    found = ended("fathom config show | head -1")
    assert (found.returncode, found.stderr, len(found.stdout.splitlines())) == (0, "", 1)


def test_a_closed_output_is_no_failure_and_a_full_one_is_said():
    assert (ended("fathom assess hi >&-").returncode, ended("fathom assess hi >&-").stderr) == (0, "")
    full = ended("fathom assess hi > /dev/full")
    assert (full.returncode, full.stderr) == (
        1, "fathom: the output could not be written: No space left on device; write it to another place\n",
    )  # fmt: skip


@pytest.mark.parametrize("verb", [("ask", "hi", "--broker", "127.0.0.1:1"), ("up", "--port", "0", "--http-port", "0")])
def test_an_interrupt_at_any_moment_ends_it_silently(verb: tuple[str, ...], tmp_path: Path):
    chosen = random.Random(7)
    for number in range(8):
        more = ("--data", str(tmp_path / str(number))) if verb[0] == "up" else ()
        process = subprocess.Popen(
            [sys.executable, "-c", STARTED, *verb, *more],
            cwd=ROOT, env={**clean(), **IN_MEMORY}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert process.stdout is not None
        assert process.stdout.readline() == "started\n"
        time.sleep(chosen.uniform(0, 0.5))
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=HANG_S)
        assert process.returncode in (130, 0 if verb[0] == "up" else 4), said
        assert "Traceback" not in said
        assert "Error" not in said


SWALLOWED = """
from streams.edges.client.standard_output import piped_output

class Interrupted:
    def __del__(self):
        raise KeyboardInterrupt

with piped_output():
    Interrupted()
    print("went on")
"""


def test_an_interrupt_that_no_caller_gets_ends_the_command_too():
    found = subprocess.run([sys.executable, "-c", SWALLOWED], cwd=ROOT, capture_output=True, text=True, timeout=HANG_S)
    assert (found.returncode, found.stdout, found.stderr) == (130, "", "")


def test_a_doctor_without_a_broker_says_so_in_words_and_calls_nothing_reconciled():
    done = fathom("doctor", "--repair", "--broker", "127.0.0.1:1")
    assert done.returncode == 4
    assert "broker is unavailable: 127.0.0.1:1: no answer; start it" in done.stdout
    assert "KafkaConnectionError" not in done.stdout + done.stderr
    assert "reconciled" not in done.stdout
