"""How far a long command is: plain lines now and then, on a terminal a bar."""

import io

import pytest

from streams.edges.cli.progress import Progress, SendProgress, StatusLine


class Clock:
    def __init__(self) -> None:
        self.at = 0.0

    def __call__(self) -> float:
        return self.at


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_is_said_every_two_seconds_and_at_the_end():
    said, clock = io.StringIO(), Clock()
    with Progress(300, to=said, now=clock) as progress:
        for clock.at in (1.0, 2.0):
            progress.advance(100, "memory.claims")
    assert said.getvalue() == "200 of 300 records, 100/s  memory.claims\n200 of 300 records, 100/s\n"


def test_what_is_sent_is_said_once_it_takes_longer_than_a_second_and_then_every_five():
    said, clock = io.StringIO(), Clock()
    with SendProgress(1_000, to=said, now=clock) as progress:
        for clock.at in (0.5, 1.0, 2.0, 5.9, 6.0):
            progress.position += 100
            progress.advance()
    assert said.getvalue() == "2 sent, 2 per second, 20%, 4 s left\n5 sent, 1 per second, 50%, 6 s left\n"


def test_of_a_size_that_is_not_known_only_the_rate_is_said():
    said, clock = io.StringIO(), Clock()
    with SendProgress(to=said, now=clock) as progress:
        clock.at = 2.0
        progress.position += 10
        progress.advance(1_000)
    assert said.getvalue() == "1,000 sent, 500 per second\n"


def test_what_is_quick_says_nothing():
    said, clock = io.StringIO(), Clock()
    with SendProgress(10, to=said, now=clock) as progress:
        clock.at = 0.9
        progress.advance()
    assert said.getvalue() == ""


def test_on_a_terminal_it_is_one_line_with_a_bar_and_the_cursor_comes_back():
    said, clock = Terminal(), Clock()

    def breaks_off() -> None:
        with SendProgress(1_000, to=said, now=clock) as progress:
            for clock.at in (1.0, 1.1, 1.2):
                progress.position += 250
                progress.advance()
            raise RuntimeError

    with pytest.raises(RuntimeError):
        breaks_off()
    assert "1 sent, 1 per second, 25%, 3 s left" in said.getvalue()
    assert "2 sent" not in said.getvalue()
    assert "3 sent, 2 per second, 75%, 0 s left" in said.getvalue()
    assert said.getvalue().rstrip().endswith("\x1b[?25h")


def test_what_is_done_now_is_a_line_each_where_no_terminal_is_and_what_changes_often_is_left_out():
    said = io.StringIO()
    with StatusLine(to=said) as status:
        status.say("reading 3 documents")
        status.tick("message 1 of 29")
        status.clear()
    assert said.getvalue() == "reading 3 documents\n"


def test_on_a_terminal_the_line_is_drawn_and_gone_at_the_end(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TERM", "xterm")
    said = Terminal()
    with StatusLine(to=said) as status:
        status.tick("message 1 of 29")
    shown, _, after = said.getvalue().partition("message 1 of 29")
    assert shown
    assert "\x1b[2K" in after  # erased
