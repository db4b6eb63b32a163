"""The embedded broker with the interface of `tests.servers.kafka.KafkaServer`."""

from pathlib import Path
from typing import Self

from streams.broker.process import BrokerProcess


class EmbeddedServer:
    """A broker that keeps its directory and port over `kill` and `start`."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._process = BrokerProcess()
        self.bootstrap = ""

    def start(self) -> str:
        """Return the bootstrap address once the broker listens."""
        port = int(self.bootstrap.rpartition(":")[2] or 0)
        self.bootstrap = self._process.start(self._directory, port)
        return self.bootstrap

    def stop(self) -> None:
        """End the broker in order."""
        self._process.stop()

    def kill(self) -> None:
        """SIGKILL."""
        self._process.kill()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
