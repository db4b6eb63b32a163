"""One Prometheus from Debian's package on loopback and a free port, that scrapes one process every second."""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from urllib.request import urlopen

import yaml

from tests.servers.process import HOST, Server, free_port


class PrometheusServer(Server):
    """A Prometheus that scrapes `target` (HOST:PORT) as the job `fathom`."""

    name = "Prometheus"

    def __init__(self, directory: Path, target: str) -> None:
        super().__init__(directory)
        self.port = free_port()
        self.target = target

    def answers(self) -> bool:
        """Whether it is ready for queries."""
        try:
            with urlopen(f"http://{HOST}:{self.port}/-/ready", timeout=1) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False

    def query(self, expression: str) -> list[dict[str, Any]]:
        """The series that an expression has now."""
        asked = urlencode({"query": expression})
        with urlopen(f"http://{HOST}:{self.port}/api/v1/query?{asked}", timeout=10) as answer:
            found: list[dict[str, Any]] = json.load(answer)["data"]["result"]
            return found

    def _command(self) -> Sequence[str]:
        binary = shutil.which("prometheus")
        if binary is None:
            raise RuntimeError("Prometheus is not installed: python -m tests.servers.install prometheus")
        scraped = {"job_name": "fathom", "static_configs": [{"targets": [self.target]}]}
        file = self.directory / "prometheus.yml"
        file.write_text(yaml.safe_dump({"global": {"scrape_interval": "1s"}, "scrape_configs": [scraped]}))
        return [
            binary,
            f"--config.file={file}",
            f"--storage.tsdb.path={self.directory / 'data'}",
            f"--web.listen-address={HOST}:{self.port}",
        ]
