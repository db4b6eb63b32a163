"""Progress of a long command, on stderr: a bar on a terminal, plain lines elsewhere."""

import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Self, TextIO

if TYPE_CHECKING:
    from rich import progress
    from rich.status import Status


_SHOWN = {"notes": True}


def be_quiet(quiet: bool) -> None:
    """Whether progress and notes are left out from now on; results and errors never are."""
    _SHOWN["notes"] = not quiet


def note(text: str) -> None:
    """A line on stderr about what is done or could be done next."""
    if _SHOWN["notes"]:
        sys.stderr.write(f"{text}\n")


class Progress:
    """The share of records done: a line every two seconds, and one at the end."""

    AFTER_S, EVERY_S, EVERY_TTY_S = 2.0, 2.0, 0.2
    ALWAYS_ENDS = True

    def __init__(self, total: int = 0, *, to: TextIO | None = None, now: Callable[[], float] = time.monotonic) -> None:
        self.total = total
        self.done = 0
        self._to = to or sys.stderr
        self._now = now
        self._began = now()
        self._due = self._began + self.AFTER_S
        self._bar: progress.Progress | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is None and (self.ALWAYS_ENDS or self._bar is not None):
                self._say()
        finally:
            if self._bar is not None:
                self._bar.stop()

    @property
    def seconds(self) -> float:
        return self._now() - self._began

    def advance(self, records: int = 1, what: str = "") -> None:
        """Count records as done; `what` names their topic."""
        self.done += records
        if self._now() >= self._due:
            self._say(what)

    def _rate(self) -> float:
        return self.done / self.seconds if self.seconds > 0 else 0.0

    def _line(self) -> str:
        return f"{self.done:,} of {self.total:,} records, {self._rate():,.0f}/s"

    def _share(self) -> float:
        """The share done, 0-1."""
        return min(self.done / self.total, 1.0) if self.total else 0.0

    def _say(self, what: str = "") -> None:
        if not _SHOWN["notes"]:
            return
        line = f"{self._line()}  {what}".rstrip()
        on_terminal = self._to.isatty()
        self._due = self._now() + (self.EVERY_TTY_S if on_terminal else self.EVERY_S)
        if not on_terminal:
            self._to.write(f"{line}\n")
            self._to.flush()
            return
        if self._bar is None:
            self._bar = bar(self._to)
        self._bar.update(self._bar.task_ids[0], completed=self._share(), description=line, refresh=True)


class SendProgress(Progress):
    """Progress of sending one or many files, shown after a second; `total` and `position` are in bytes."""

    AFTER_S, EVERY_S = 1.0, 5.0
    ALWAYS_ENDS = False
    position = 0

    def _line(self) -> str:
        line = f"{self.done:,} sent, {self._rate():,.0f} per second"
        if share := self._share():
            line += f", {share:.0%}, {self.seconds * (1 - share) / share:.0f} s left"
        return line

    def _share(self) -> float:
        return min(self.position / self.total, 1.0) if self.total else 0.0


class LeftProgress(Progress):
    """Progress of a wait, shown after a second: how much of what is left."""

    AFTER_S, EVERY_S = 1.0, 5.0
    ALWAYS_ENDS = False
    _what = ""

    def look(self, left: int, what: str) -> None:
        """Take the number left; a new kind of work starts from there."""
        if what != self._what:
            self._what, self.total = what, left
        self.done = max(self.total - left, 0)
        self.advance(0)

    def _line(self) -> str:
        return f"until they can be found: {self.total - self.done:,} {self._what}"

    def _share(self) -> float:
        return self.done / self.total if self.total else 0.0


class StatusLine:
    """What a command is doing, on stderr: a spinner on a terminal, plain lines elsewhere."""

    def __init__(self, *, to: TextIO | None = None) -> None:
        self._to = to or sys.stderr
        self._spinner: Status | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.clear()

    def say(self, text: str) -> None:
        """Say what is done now."""
        if not _SHOWN["notes"]:
            return
        if self._to.isatty():
            self.tick(text)
            return
        self._to.write(f"{text}\n")
        self._to.flush()

    def tick(self, text: str) -> None:
        """Say it on a terminal only: what changes too often for a line each."""
        if not self._to.isatty() or not _SHOWN["notes"]:
            return
        if self._spinner is None:
            self._spinner = spinner(self._to, text)
        self._spinner.update(text)

    def clear(self) -> None:
        """Remove the spinner, to print."""
        if self._spinner is not None:
            self._spinner.stop()
            self._spinner = None


def spinner(to: TextIO, text: str) -> "Status":
    """A started spinner, which is gone when it stops."""
    from rich.console import Console
    from rich.status import Status

    out = Console(file=to, highlight=False)
    begun = Status(text, console=Console(file=to, highlight=False, color_system=None) if out.no_color else out)
    begun.start()
    return begun


def bar(to: TextIO) -> "progress.Progress":
    """A started bar of one task, which counts to 1."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    begun = Progress(
        BarColumn(),
        TextColumn("{task.description}", markup=False),
        console=Console(file=to),
        auto_refresh=False,
        redirect_stdout=False,
        redirect_stderr=False,
    )
    begun.add_task("", total=1.0)
    begun.start()
    return begun
