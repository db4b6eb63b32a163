"""`fathom demo` as a user runs it: on one screen, in his language, and ended by a key."""

import os
import pty
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.checkout import ROOT
from tests.e2e.calls import ESCAPE
from tests.e2e.processes import SMALL, START_S, UNHURRIED, fathom, running

MOST_LINES = 60
CTRL_C = b"\x03"


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    place = tmp_path_factory.mktemp("up")
    with running("up", "--data", str(place / "data"), "--port", "0", stderr=place / "err", **UNHURRIED) as process:
        yield process.ready()["bootstrap"]
        assert process.end()[0] == 0


class OnTerminal:
    """A command on a terminal of its own, whose output is read as it comes."""

    def __init__(self, *arguments: str, columns: int, **environment: str) -> None:
        self.keyboard, terminal = pty.openpty()
        self.said = ""
        self.child = subprocess.Popen(
            [sys.executable, "-m", "streams", *arguments],
            cwd=ROOT,
            env={**os.environ, **SMALL, **UNHURRIED, "TERM": "xterm", "COLUMNS": str(columns), **environment},
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
            preexec_fn=_own_terminal,
        )
        os.close(terminal)

    def until(self, text: str) -> str:
        """What it has said, once that has the text; or at its end."""
        began = time.monotonic()
        while text not in self.said and time.monotonic() < began + START_S:
            try:
                self.said += os.read(self.keyboard, 65_536).decode(errors="replace")
            except OSError:  # the end of a terminal
                break
        return self.said

    def ended(self) -> int:
        self.until("\0")
        os.close(self.keyboard)
        return self.child.wait(START_S)


def _own_terminal() -> None:
    """Make stdin the controlling terminal, as a shell does."""
    import fcntl
    import termios

    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def of_the_screen(said: str) -> list[str]:
    """The lines that stay, without what the spinner drew and erased."""
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", said.replace("\r\n", "\n"))
    return [line.rpartition("\r")[2] for line in plain.splitlines()]


def commands(lines: list[str]) -> list[str]:
    """What the screen says to type next, but for what goes on for ever and for the demo itself."""
    after = [line.strip() for line in lines[lines.index("next") :]]
    return [line.partition("   ")[0] for line in after if "fathom ingest " in line or "fathom ask " in line]


def test_piped_it_is_one_screen_of_plain_text_in_english_and_its_commands_work_as_typed(broker: str):
    shown = fathom("demo", LC_ALL="C.UTF-8", **UNHURRIED)
    assert (shown.returncode, ESCAPE in shown.stdout + shown.stderr) == (0, False), shown.stderr
    lines = shown.stdout.splitlines()
    assert len(lines) <= MOST_LINES
    assert max(map(len, lines)) <= 100
    assert "   │ ## Knowledge" in lines
    assert "24 months from the day of purchase" in shown.stdout
    assert "   │ - user: No, the end of the contract moved to 30 June. (asserted)" in lines
    assert "   │ - assistant: The end of the contract is 31 March. (contested)" in lines
    assert "   refused, tell the user: No order is mentioned. Say which order" in shown.stdout
    assert re.search(r"are in \d+ of 14 packs, and in \d+ of 14 such prompts", shown.stdout)
    assert re.search(r"[\d,]+ tokens instead of [\d,]+, \d+% (less|more)", shown.stdout)
    assert re.search(r"\S*fathom demo --all", lines[-1])
    for command, done in zip(commands(lines), ("3 documents", "24 months from the day of purchase"), strict=True):
        typed = {**os.environ, **SMALL, "PYTHONPATH": str(ROOT), "FATHOM_BROKER": broker}
        ended = subprocess.run(["sh", "-c", command], cwd=ROOT, env=typed, capture_output=True, text=True)
        assert (ended.returncode, done in ended.stdout + ended.stderr) == (0, True), (command, ended)
    [directory] = re.findall(r"in (/\S+fathom-demo-[^\s,]+)", shown.stderr)
    assert not Path(directory).exists()


def test_on_a_terminal_of_80_columns_it_is_in_the_language_of_the_locale_and_without_colours_where_none_are_wanted():
    terminal = OnTerminal("demo", columns=80, LC_ALL="pt_BR.UTF-8", NO_COLOR="1")
    assert terminal.ended() == 0
    # Of the codes only those that draw the spinner: neither colours nor bold.
    assert set(re.findall(r"\x1b\[[\d;]*m", terminal.said)) <= {"\x1b[0m"}
    lines = of_the_screen(terminal.said)
    shown = lines[next(n for n, line in enumerate(lines) if "atendimento" in line) :]
    assert max(map(len, shown)) <= 80
    for said in ("30 de junho. (afirmado)", "31 de março. (contestado)", "recusada, diga ao usuário:", "BM25"):
        assert any(said in line for line in shown), (said, shown)


@pytest.mark.parametrize(("key", "code"), [(b"q", 0), (CTRL_C, 130)])
def test_a_key_ends_it_at_once_and_without_a_word(broker: str, key: bytes, code: int):
    terminal = OnTerminal("demo", "--lang", "en", "--pause", "600", "--broker", broker, columns=100)
    assert "Knowledge" in terminal.until("Knowledge")
    os.write(terminal.keyboard, key)
    assert terminal.ended() == code
    assert "Traceback" not in terminal.said
    assert "fathom:" not in terminal.said
    assert "A follow-up" not in terminal.said
