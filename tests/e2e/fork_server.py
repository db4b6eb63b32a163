"""Run `fathom` commands in forks of one process that has imported them: an import takes a second, a fork nothing.

Each fork has its own environment, folder, outputs and exit code, as a process started anew has. What a test says of
starting, signals or terminals needs such a process; every other command is the same from here.
"""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path

from streams.edges.cli.main import VERBS, Table
from tests.checkout import ROOT

# What commands import when they run.
PRELOADED = ("aiokafka", "aiokafka.admin", "uvloop", "httpx")


class ForkServer:
    """A child of this process that forks one command for each request."""

    def start(self) -> None:
        """Import everything; commands may be asked for at once."""
        self._folder = tempfile.TemporaryDirectory(prefix="fathom-fork-")
        self._socket = str(Path(self._folder.name) / "socket")
        listening = socket.socket(socket.AF_UNIX)
        listening.bind(self._socket)
        listening.listen(64)
        command = [sys.executable, "-m", "tests.e2e.fork_server", str(listening.fileno())]
        self._process = subprocess.Popen(command, cwd=ROOT, pass_fds=[listening.fileno()], stdin=subprocess.PIPE)
        listening.close()

    def stop(self) -> None:
        """End it; commands that run end by themselves."""
        self._process.kill()
        self._process.communicate()
        self._folder.cleanup()

    def run(
        self, *arguments: str, environment: Mapping[str, str], limit: float, folder: Path = ROOT
    ) -> subprocess.CompletedProcess[str]:
        """The ended command; raises `subprocess.TimeoutExpired` after `limit` seconds."""
        request = json.dumps({"arguments": arguments, "environment": dict(environment), "folder": str(folder)})
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors, socket.socket(socket.AF_UNIX) as ask:
            ask.connect(self._socket)
            outputs = [out.fileno(), errors.fileno()]
            socket.send_fds(ask, [len(request).to_bytes(4, "big")], outputs)
            ask.sendall(request.encode())
            pid = int.from_bytes(_exactly(ask, 4), "big")
            ask.settimeout(limit)
            try:
                code = int.from_bytes(_exactly(ask, 4), "big", signed=True)
            except TimeoutError:
                os.kill(pid, signal.SIGKILL)
                raise subprocess.TimeoutExpired(arguments, limit) from None
            out.seek(0)
            errors.seek(0)
            return subprocess.CompletedProcess(arguments, code, out.read().decode(), errors.read().decode())


def _exactly(stream: socket.socket, count: int) -> bytes:
    found = b""
    while len(found) < count:
        more = stream.recv(count - len(found))
        if not more:
            raise ConnectionError("the fork server has ended")
        found += more
    return found


def _serve(listening: socket.socket) -> None:
    """Fork for each request until the parent ends: a fork that waits, and in it one that is the command."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        connection, _ = listening.accept()
        if os.fork() == 0:
            listening.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            _answer(connection)
        connection.close()


def _answer(connection: socket.socket) -> None:
    try:
        size, outputs, _, _ = socket.recv_fds(connection, 4, 2)
        request = json.loads(_exactly(connection, int.from_bytes(size, "big")))
        pid = os.fork()
        if pid == 0:
            _become(request, outputs)
        connection.sendall(pid.to_bytes(4, "big"))
        _, status = os.waitpid(pid, 0)
        with contextlib.suppress(OSError):  # the caller gave up
            connection.sendall(os.waitstatus_to_exitcode(status).to_bytes(4, "big", signed=True))
    finally:
        os._exit(0)


def _become(request: dict[str, object], outputs: list[int]) -> None:
    """Run the command as the process that it would be."""
    code: object = 1
    try:
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        for number, descriptor in enumerate(outputs, start=1):
            os.dup2(descriptor, number)
        os.environ.clear()
        os.environ.update(request["environment"])  # type: ignore[call-overload]
        os.chdir(str(request["folder"]))
        sys.argv = ["fathom", *request["arguments"]]  # type: ignore[misc]
        from streams.__main__ import main

        main()
    except SystemExit as ended:
        code = ended.code
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        with contextlib.suppress(OSError):  # a reader that has gone
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code if isinstance(code, int) else int(code is not None))


def _import(verbs: Table) -> None:
    """Import the module of each verb, as its first call would."""
    for _, place, _ in verbs:
        if isinstance(place, str):
            import_module(f"streams.edges.cli.{place.partition(':')[0]}")
        else:
            _import(place)


def _main() -> None:
    _import(VERBS)
    for name in PRELOADED:
        import_module(name)
    _serve(socket.socket(fileno=int(sys.argv[1])))


if __name__ == "__main__":
    _main()
