"""stdout of a command whose reader may end before it, as `head` does."""

import io
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import orjson
from pydantic import BaseModel

from streams.edges.client.errors import FAILURE, INTERRUPTED, CommandFailed


class ReaderMayEnd(io.FileIO):
    """A file that takes what nobody reads any more: what the command does and its exit code stay the same."""

    def write(self, data: Any, /) -> int:
        """Write; the length of the data where the reader has ended. Raises `CommandFailed`."""
        try:
            return super().write(data)
        except BrokenPipeError:
            return len(memoryview(data))
        except OSError as error:
            why = f"the output could not be written: {error.strerror}; write it to another place"
            raise CommandFailed(why, FAILURE) from None


def print_json(shown: object) -> None:
    """Print one value as JSON in one line; `streams.edges.cli.outputs` publishes the schema of each verb's."""
    print(orjson.dumps(shown, default=_model).decode())


def _model(shown: object) -> object:
    if isinstance(shown, BaseModel):
        return shown.model_dump(mode="json")
    raise TypeError


@contextmanager
def piped_output() -> Iterator[None]:
    """The context of a command: its output is written out at the end, where an error still has its sentence.

    From here on an interrupt is an exception: the command may have to clean up.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.unraisablehook = _ended_if_interrupted
    own = sys.stdout
    try:
        file = ReaderMayEnd(own.fileno(), "wb", closefd=False)
    except io.UnsupportedOperation:
        yield  # no file: a test's
        return
    assert isinstance(own, io.TextIOWrapper)
    own.flush()
    to = file if isinstance(own.buffer, io.RawIOBase) else io.BufferedWriter(file)
    unbuffered = {"line_buffering": own.line_buffering, "write_through": own.write_through}
    sys.stdout = io.TextIOWrapper(to, own.encoding, own.errors, **unbuffered)  # type: ignore[arg-type]
    try:
        yield
    finally:
        try:
            sys.stdout.flush()
        finally:
            sys.stdout = own


def _ended_if_interrupted(unraisable: "sys.UnraisableHookArgs") -> None:
    """End the process at an interrupt that compiled code has swallowed: else the command would just go on."""
    if unraisable.exc_type is KeyboardInterrupt:
        os._exit(INTERRUPTED)
    sys.__unraisablehook__(unraisable)
