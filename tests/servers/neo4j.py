"""One Neo4j Community server from a folder of jars, on loopback and a free port, Bolt only.

It is GPL-3: a tool of the tests, fetched to run as a process of its own, never shipped with Fathom.
"""

import contextlib
import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from neo4j import GraphDatabase
from neo4j.exceptions import DriverError, Neo4jError

from tests.servers.install import NEO4J_ARCHIVE, NEO4J_LIBS, neo4j_libs
from tests.servers.process import HOST, Server, free_port

USER = "neo4j"
PASSWORD = "only-for-tests"
QUICK_JVM = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xms512m", "-Xmx512m")
MODULES = (
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "--add-opens=java.base/java.io=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
    "-Dio.netty.tryReflectionSetAccessible=true",
    "-Dlog4j2.disable.jmx=true",
)

ONE_NODE = {
    "server.default_listen_address": HOST,
    "server.http.enabled": "false",
    "server.https.enabled": "false",
    "server.memory.pagecache.size": "128m",
    "dbms.usage_report.enabled": "false",
    # By default three wrong passwords shut everybody else's tests out for 5 s.
    "dbms.security.auth_max_failed_attempts": "0",
    "db.tx_log.rotation.retention_policy": "1 files",
    "db.tx_log.rotation.size": "16M",
    "db.tx_log.preallocate": "false",
    # The default makes a stop last 10 s.
    "internal.dbms.bolt.netty_server_shutdown_quiet_period": "0",
}
# Tests that wipe the graph change its counts so much that Neo4j would plan every query anew, every ten seconds. Not for
# what measures: plans that are made for an empty graph are slow on a full one.
PLANNED_ONCE = {"dbms.cypher.min_replan_interval": "1h"}
# What a read returns does not hang on how busy the machine is: the first read of a query waits for its plan.
READ_S = 60.0


@dataclass(frozen=True, slots=True)
class Neo4jAddress:
    """Where a Neo4j answers, and to whom."""

    url: str
    user: str
    password: str


class Neo4jServer(Server):
    """A Neo4j that keeps its directory and port over `kill` and `start`; `settings` are lines of its file."""

    name = "Neo4j"
    start_limit = 120.0
    pause = 0.1

    def __init__(
        self,
        directory: Path,
        *,
        password: str = PASSWORD,
        libs: Path = NEO4J_LIBS,
        jvm: tuple[str, ...] = QUICK_JVM,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(directory)
        self.port = free_port()
        self.user, self.password = USER, password
        self._libs = libs
        self._java = ["java", *jvm, *MODULES, "-cp", f"{libs}/*"]
        self._settings = dict(settings or {})

    @property
    def url(self) -> str:
        """Where clients connect."""
        return f"bolt://{HOST}:{self.port}"

    @property
    def address(self) -> Neo4jAddress:
        """What a client needs."""
        return Neo4jAddress(self.url, self.user, self.password)

    def answers(self) -> bool:
        """Whether a query of its database is answered."""
        try:
            with (
                GraphDatabase.driver(self.url, auth=(self.user, self.password), connection_timeout=2.0) as driver,
                driver.session() as session,
            ):
                session.run("RETURN 1").consume()
                return True
        except (DriverError, Neo4jError):
            return False

    def stop(self, limit: float = 60.0) -> bool:
        """End it in order; by force, and False, when that takes longer than `limit` seconds."""
        in_order = super().stop(limit)
        if not in_order:
            self._new_archive.unlink(missing_ok=True)
        # Renamed when it is whole: a server that starts meanwhile must not read half of it.
        with contextlib.suppress(FileNotFoundError):
            self._new_archive.replace(self._archive)
        return in_order

    @property
    def _archive(self) -> Path:
        return self._libs.parent / NEO4J_ARCHIVE

    @property
    def _new_archive(self) -> Path:
        return self._libs.parent / f"{self.port}-{NEO4J_ARCHIVE}"

    def _command(self) -> Sequence[str]:
        if neo4j_libs(self._libs) is None:
            raise RuntimeError("Neo4j is not installed: python -m tests.servers.install neo4j")
        config = self.directory / "conf"
        config.mkdir(exist_ok=True)
        settings = {**ONE_NODE, "server.bolt.listen_address": f"{HOST}:{self.port}", **self._settings}
        (config / "neo4j.conf").write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
        if not (self.directory / "data" / "dbms").exists():
            self._set_password(config)
        if self._archive.exists():
            classes = f"-XX:SharedArchiveFile={self._archive}"
        else:
            classes = f"-XX:ArchiveClassesAtExit={self._new_archive}"
        entry = "org.neo4j.server.CommunityEntryPoint"
        return [*self._java, classes, entry, f"--home-dir={self.directory}", f"--config-dir={config}"]

    def _set_password(self, config: Path) -> None:
        tool = ["org.neo4j.cli.AdminTool", "dbms", "set-initial-password", self.password]
        places = {"NEO4J_HOME": str(self.directory), "NEO4J_CONF": str(config)}
        with self.log.open("ab") as log:
            done = subprocess.run(
                [*self._java, *tool], env={**os.environ, **places}, stdout=log, stderr=log, check=False
            )
        if done.returncode != 0:
            raise RuntimeError(f"{self.name} did not start, see {self.log}: its password was not set")
