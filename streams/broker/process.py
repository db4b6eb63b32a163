"""The embedded broker as a child process that ends with its parent, however the parent ends."""

import select
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Self

import orjson

from streams.broker.errors import BrokerFailed

START_TIMEOUT_S = 30.0
STOP_TIMEOUT_S = 15.0
PACKAGE_ROOT = Path(__file__).resolve().parents[2]


class BrokerProcess:
    """One child at a time; `start` again after `stop` or `kill` serves the same directory."""

    def __init__(self) -> None:
        self._child: subprocess.Popen[bytes] | None = None
        self.bootstrap = ""

    def start(
        self,
        data_dir: Path,
        port: int = 0,
        *,
        partitions: int = 1,
        auto_create: bool = False,
        retention_check_s: float = 5.0,
        connections: int = 1_000,
    ) -> str:
        """The bootstrap address, once the broker listens; BrokerFailed with the reason when it cannot."""
        command = [sys.executable, "-m", "streams.broker", "--supervised", "--data", str(data_dir.absolute())]
        command += ["--port", str(port), "--partitions", str(partitions), "--connections", str(connections)]
        command += ["--retention-check", str(retention_check_s), *(["--auto-create"] if auto_create else [])]
        # Its own session: Ctrl-C in the terminal ends the parent, which then ends the broker in order.
        self._child = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=PACKAGE_ROOT,  # where `-m` finds us, however the parent found us
            start_new_session=True,
        )
        said = self._first_line()
        if said.get("event") != "listening":
            self.kill()
            raise BrokerFailed(said.get("reason", "The embedded broker ended before it could listen."))
        self.bootstrap = said["bootstrap"]
        return self.bootstrap

    def _first_line(self) -> dict[str, str]:
        assert self._child is not None
        assert self._child.stdout is not None
        deadline = time.monotonic() + START_TIMEOUT_S
        line = b""
        while not line.endswith(b"\n"):
            ready, _, _ = select.select([self._child.stdout], [], [], max(deadline - time.monotonic(), 0))
            if not ready:
                return {"reason": f"The embedded broker did not listen within {START_TIMEOUT_S:.0f} s."}
            piece = self._child.stdout.read1(65_536)  # type: ignore[attr-defined]
            if not piece:
                return {}
            line += piece
        said: dict[str, str] = orjson.loads(line)
        return said

    @property
    def pid(self) -> int | None:
        return None if self._child is None else self._child.pid

    @property
    def running(self) -> bool:
        return self._child is not None and self._child.poll() is None

    def stop(self, timeout: float = STOP_TIMEOUT_S) -> None:
        """End in order, everything on disk; by force after `timeout` seconds."""
        if self._child is None:
            return
        self._child.terminate()
        try:
            self._child.wait(timeout)
        except subprocess.TimeoutExpired:
            self._child.kill()
        self._reap()

    def kill(self) -> None:
        """SIGKILL, as a crash would."""
        if self._child is not None:
            self._child.kill()
            self._reap()

    def _reap(self) -> None:
        assert self._child is not None
        self._child.wait()
        for pipe in (self._child.stdin, self._child.stdout):
            if pipe is not None:
                pipe.close()
        self._child = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
