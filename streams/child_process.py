"""A child process that exits with its parent, even after SIGKILL.

Only the parent holds the other end of the child's standard input: its death closes the pipe, also after SIGKILL, and
the child exits. Our own modules watch it themselves; other commands run beside a guardian that does.
"""

import contextlib
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from subprocess import DEVNULL, PIPE
from typing import IO, Any

# The root of our modules for `-m`, however the parent was started.
PACKAGE_ROOT = Path(__file__).resolve().parents[1]
PIECE_BYTES = 65_536
PRIVATE = 0o077

# The shell becomes the command, so that its exit is seen at once; the guardian keeps the other end of our pipe.
# `kill 0` reaches only this process group: a pid could have been reused meanwhile.
GUARDED = 'exec 3<&0; (cat <&3 >/dev/null; kill -TERM 0) & exec 3<&- </dev/null; exec "$@"'


class ChildProcess:
    """At most one child at a time, in a session of its own: a Ctrl-C in the terminal reaches only the parent."""

    def __init__(self) -> None:
        self._popen: subprocess.Popen[bytes] | None = None
        self._owner = 0

    def start_module(
        self, module: str, *arguments: str, stdin: int = PIPE, stdout: int | None = PIPE, stderr: int | None = None
    ) -> None:
        """Run a module that exits when its standard input closes. Raises `OSError`."""
        command = [sys.executable, "-m", module, *arguments]
        self._start(command, stdin=stdin, stdout=stdout, stderr=stderr, cwd=PACKAGE_ROOT)

    def start_guarded(self, *command: str, stderr: int | IO[bytes] = DEVNULL) -> None:
        """Run a command without input and output that gets SIGTERM when this process dies. Raises `OSError`."""
        guarded = ["/bin/sh", "-c", GUARDED, "guarded", *command]
        self._start(guarded, stdin=PIPE, stdout=DEVNULL, stderr=stderr)

    def _start(self, command: list[str], **options: Any) -> None:
        self.end()
        # What children keep is private: each writes files of a store.
        self._popen = subprocess.Popen(command, bufsize=0, start_new_session=True, umask=PRIVATE, **options)
        self._owner = os.getpid()

    @property
    def pid(self) -> int | None:
        """The process id of the child, until it is reaped."""
        return None if (child := self._popen) is None else child.pid

    @property
    def running(self) -> bool:
        return (child := self._popen) is not None and child.poll() is None

    @property
    def returncode(self) -> int | None:
        """The exit code of the child; None while it runs, and without one."""
        return None if (child := self._popen) is None else child.poll()

    def killed_by(self, within_s: float) -> int | None:
        """The signal that ends the child in so many seconds; None where it goes on, or ends by itself."""
        if (child := self._popen) is None:
            return None
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(within_s)
        return -child.returncode if child.returncode is not None and child.returncode < 0 else None

    def ask(self, timeout_s: float, *question: bytes) -> bytes:
        """The line that answers the question, if any; incomplete when the child exits first.

        Raises `TimeoutError`, and `OSError` when the child is gone.
        """
        child = self._popen
        if child is None:
            raise ProcessLookupError("there is no child process")
        deadline = time.monotonic() + timeout_s
        try:
            for part in question:
                _write(child.stdin, part, deadline)
            return _read_line(child.stdout, deadline)
        except ValueError as error:
            raise ProcessLookupError("another thread has ended the child process") from error

    def terminate(self) -> None:
        """Send SIGTERM, if it is running."""
        if (child := self._popen) is not None:
            child.terminate()

    def wait(self) -> None:
        """Block until the child has exited; its pid, and so its group, stays reserved until it is reaped."""
        if (pid := self.pid) is not None:
            with contextlib.suppress(ChildProcessError):  # reaped meanwhile
                os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)

    def end(self, timeout_s: float = 0.0) -> None:
        """Reap the child; its group is killed when the child has not ended by itself within `timeout_s` seconds."""
        child, self._popen = self._popen, None
        if child is None or os.getpid() != self._owner:
            return  # after a fork of its parent the child is not ours to end
        try:
            if timeout_s > 0:
                child.wait(timeout_s)
        except subprocess.TimeoutExpired:
            pass
        finally:
            if child.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(child.pid, signal.SIGKILL)
                child.wait()
            for pipe in (child.stdin, child.stdout):
                if pipe is not None:
                    pipe.close()


def _write(pipe: IO[bytes] | None, data: bytes, deadline: float) -> None:
    assert pipe is not None
    os.set_blocking(pipe.fileno(), False)
    rest = memoryview(data)
    while rest:
        _wait_for(pipe, select.POLLOUT, deadline)
        rest = rest[pipe.write(rest) :]


def _read_line(pipe: IO[bytes] | None, deadline: float) -> bytes:
    assert pipe is not None
    line = bytearray()
    while not line.endswith(b"\n"):
        _wait_for(pipe, select.POLLIN, deadline)
        piece = pipe.read(PIECE_BYTES)
        if not piece:
            break
        line += piece
    return bytes(line)


def _wait_for(pipe: IO[bytes], event: int, deadline: float) -> None:
    # Not `select`, which is limited to descriptors up to 1,023.
    ready = select.poll()
    ready.register(pipe, event)
    if not ready.poll(max(deadline - time.monotonic(), 0) * 1000):
        raise TimeoutError
