"""Exit codes of commands, for every error one sentence with the next step, and when an interrupt may strike."""

import difflib
import os
import signal
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from errno import ENOSPC

OK, FAILURE, USAGE, CONFIG, DOWN, CHECK, INTERRUPTED = 0, 1, 2, 3, 4, 5, 130

# By name: importing the modules that define these would cost every command, `--help` included, a second.
CODES = {
    "ConfigError": CONFIG,
    "BrokerRejected": CONFIG,
    "KeysNeeded": CONFIG,
    "BrokerFailed": CONFIG,
    "DirectoryInUse": CONFIG,
    "AlreadyRunning": CONFIG,
    "BadDirectory": CONFIG,
    "UnsupportedUrl": CONFIG,
    "TopicError": CONFIG,
    "FathomError": CONFIG,
    "Unavailable": DOWN,
    "GroupError": DOWN,
    "KafkaError": DOWN,
    "TooManyDeadLettersError": FAILURE,
    "OSError": FAILURE,
}
# The next step, for errors whose text does not name one.
NEXT = {
    "Unavailable": "start it, or set FATHOM_BROKER and the store URLs to where they run",
    "GroupError": "`fathom topics plan` shows what is missing",
    "KafkaError": "check FATHOM_BROKER, or name the broker with --broker",
}


class CommandFailed(Exception):
    """A failed command: one sentence with the reason and the next step, and the exit code."""

    def __init__(self, sentence: str, code: int = FAILURE) -> None:
        super().__init__(sentence)
        self.code = code


@contextmanager
def exit_codes() -> Iterator[None]:
    """The context of a command: errors become a sentence on stderr and an exit code, never a traceback.

    With `FATHOM_LOG_LEVEL=debug` the traceback is shown instead.
    """
    try:
        yield
    except (SystemExit, GeneratorExit):
        raise
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except BaseException as error:
        # Read from the environment: the settings themselves may be invalid.
        if os.environ.get("FATHOM_LOG_LEVEL", "").lower() == "debug":
            raise
        sys.exit(told(error))


@contextmanager
def interrupted_later() -> Iterator[None]:
    """The context of imports: an interrupt is raised at their end.

    Compiled code that makes classes may die of an exception, swallow it, or raise an error of its own for it.
    """
    interrupts: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: interrupts.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if interrupts:
        raise KeyboardInterrupt


def told(error: BaseException) -> int:
    """Say an error on stderr, on a terminal with the page about its kind; its exit code."""
    sentence, code = explain(error)
    sys.stderr.write(f"fathom: {sentence}\n")
    kind = _kind(error)
    # A program or a log has the sentence alone, in one line.
    if kind is not None and sys.stderr.isatty():
        sys.stderr.write(f"        see {error_page(kind)}\n")
    return code


def error_page(code: str) -> str:
    """The page of an error: its section of `docs/errors.md`, by its code."""
    return f"docs/errors.md#{code.lower().replace(' ', '-')}"


def _kind(error: BaseException) -> str | None:
    """The name in `CODES` of an error; None for a bug, and for a `CommandFailed`, whose page says no more than it."""
    return next((cls.__name__ for cls in type(error).__mro__ if cls.__name__ in CODES), None)


def explain(error: BaseException) -> tuple[str, int]:
    """One sentence and an exit code for any error."""
    if isinstance(error, CommandFailed):
        return str(error), error.code
    if (name := _kind(error)) is not None:
        return _sentence(error, name), CODES[name]
    return (
        f"unexpected {type(error).__name__}: {error}; this is a bug: run it again with FATHOM_LOG_LEVEL=debug "
        "and report what it prints",
        FAILURE,
    )


def _sentence(error: BaseException, name: str) -> str:
    if isinstance(error, OSError) and error.strerror:
        place = f"{error.filename}: " if error.filename else ""
        if error.errno == ENOSPC:
            return f"{place}the disk is full; free some of it (`df -h` shows which), or use another place"
        if place:
            return f"{place}{error.strerror}; check the path and its permissions"
        # As of a clock that is set to what the system does not take, or a connection.
        return (
            f"{error.strerror} (error {error.errno} in {_raised_in(error)}, which names no file); check the clock and "
            "the network of this machine, or run it again with FATHOM_LOG_LEVEL=debug to see what was called"
        )
    said = (str(error) or type(error).__name__).rstrip(".")
    if name == "BrokerFailed" and said.endswith("is taken"):
        return f"{said}; choose another with --port, or --port 0 for any that is free"
    return f"{said}; {NEXT[name]}" if name in NEXT else said


def _raised_in(error: BaseException) -> str:
    """The function that an error was raised in."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return "an unknown place" if trace is None else trace.tb_frame.f_code.co_qualname


def nearest(wrong: str, known: Iterable[str]) -> str:
    """`; did you mean X?` where a known name is near, else an empty text."""
    near = difflib.get_close_matches(wrong, list(known), n=1, cutoff=0.5)
    return f"; did you mean {near[0]}?" if near else ""
