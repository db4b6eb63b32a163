"""The embedded broker as a child process that exits with its parent, even after SIGKILL."""

from pathlib import Path
from typing import Self

import orjson

from streams.broker.errors import BrokerFailed
from streams.child_process import ChildProcess

START_TIMEOUT_S = 30.0
STOP_TIMEOUT_S = 15.0


class BrokerProcess(ChildProcess):
    """One child at a time; `start` again after `stop` or `kill` serves the same directory."""

    bootstrap = ""

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
        arguments = ["--supervised", "--data", str(data_dir.absolute())]
        arguments += ["--port", str(port), "--partitions", str(partitions), "--connections", str(connections)]
        arguments += ["--retention-check", str(retention_check_s), *(["--auto-create"] if auto_create else [])]
        self.start_module("streams.broker", *arguments)
        said = self._next_line()
        while said.get("event") == "loading":
            said = self._next_line()
        if said.get("event") != "listening":
            self.kill()
            raise BrokerFailed(said.get("reason", "The embedded broker ended before it could listen."))
        self.bootstrap = said["bootstrap"]
        return self.bootstrap

    def _next_line(self) -> dict[str, str]:
        try:
            line = self.ask(START_TIMEOUT_S)
        except TimeoutError:
            return {"reason": f"The embedded broker said nothing for {START_TIMEOUT_S:.0f} s and did not listen."}
        except OSError:
            return {}
        said: dict[str, str] = orjson.loads(line) if line.endswith(b"\n") else {}
        return said

    def stop(self, timeout: float = STOP_TIMEOUT_S) -> None:
        """Stop cleanly, with everything on disk; by force after `timeout` seconds."""
        self.terminate()
        self.end(timeout)

    def kill(self) -> None:
        """SIGKILL, as a crash would."""
        self.end()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
