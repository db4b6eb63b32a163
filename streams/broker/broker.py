"""A single-node broker that speaks Kafka's protocol, for first runs, demos and tests; production is Apache Kafka.

One directory, one owner: `lock` holds the pid, `topics.jsonl` and `offsets.jsonl` are journals, the records are in
`logs/<topic>-<partition>/`. Loopback only; without authentication and transactions.
"""

import asyncio
import fcntl
import ipaddress
import os
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from streams.broker.admin_api import AdminApi
from streams.broker.errors import BrokerFailed
from streams.broker.groups import Groups
from streams.broker.groups_api import GroupsApi
from streams.broker.offsets import Offsets
from streams.broker.records_api import RecordsApi
from streams.broker.server import Connection, Handler
from streams.broker.topics import Topics

TICK_S = 0.1


@dataclass(frozen=True)
class BrokerSettings:
    directory: Path
    host: str = "127.0.0.1"
    port: int = 0
    partitions: int = 1
    auto_create: bool = False
    connections: int = 1_000
    retention_check_s: float = 5.0


class Broker:
    def __init__(self, settings: BrokerSettings) -> None:
        self._settings = settings
        self._host = _loopback(settings.host)
        self._lock = _locked(settings.directory)
        self._topics = Topics(settings.directory, settings.partitions, settings.auto_create)
        self._offsets = Offsets(settings.directory)
        self._groups = Groups(time.monotonic)
        self._admin = AdminApi(self._topics, self._offsets)
        self._connections: set[Connection] = set()
        self._retained_at = 0.0

    async def start(self) -> str:
        """Start listening; returns the bootstrap address."""
        connect = partial(Connection, self.handlers(), self._connections, self._settings.connections)
        port = self._settings.port
        try:
            self._server = await asyncio.get_running_loop().create_server(connect, self._host, port, backlog=1024)
        except OSError as e:
            raise BrokerFailed(f"Port {port} on {self._host} is taken.") from e
        self._admin.host, self._admin.port = self._server.sockets[0].getsockname()[:2]
        self._tick()
        return f"{self._admin.host}:{self._admin.port}"

    def _tick(self) -> None:
        # The next tick is scheduled first, so that an error below does not end the ticks.
        self._timer = asyncio.get_running_loop().call_later(TICK_S, self._tick)
        self._groups.tick()
        if time.monotonic() - self._retained_at > self._settings.retention_check_s:
            self._retained_at = time.monotonic()
            self._topics.retain(time.time())

    async def stop(self) -> None:
        """Close the connections, then sync everything to disk."""
        self._timer.cancel()
        self._server.close()
        for connection in list(self._connections):
            connection.transport.abort()
        self._topics.close()
        self._offsets.close()
        os.close(self._lock)
        await asyncio.sleep(0)

    def handlers(self) -> Mapping[str, Handler]:
        records = RecordsApi(self._topics)
        groups = GroupsApi(self._topics, self._groups, self._offsets)
        admin = self._admin
        return {
            "Produce": records.produce,
            "InitProducerId": records.init_producer,
            "Fetch": records.fetch,
            "ListOffsets": records.list_offsets,
            "Metadata": admin.metadata,
            "FindCoordinator": admin.find_coordinator,
            "CreateTopics": admin.create_topics,
            "DeleteTopics": admin.delete_topics,
            "CreatePartitions": admin.create_partitions,
            "DescribeConfigs": admin.describe_configs,
            "IncrementalAlterConfigs": admin.alter_configs,
            "JoinGroup": groups.join,
            "SyncGroup": groups.sync,
            "Heartbeat": groups.heartbeat,
            "LeaveGroup": groups.leave,
            "DescribeGroups": groups.describe,
            "ListGroups": groups.list_all,
            "OffsetCommit": groups.commit,
            "OffsetFetch": groups.fetch_offsets,
        }


def _locked(directory: Path) -> int:
    """The descriptor of the directory's lock, which is held until it is closed."""
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        directory.chmod(0o700)
        lock = os.open(directory / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as e:
        raise BrokerFailed(f"The broker's directory {directory} cannot be written: {e.strerror}.") from e
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as e:
        owner = os.pread(lock, 32, 0).decode().strip() or "unknown"
        os.close(lock)
        raise BrokerFailed(f"{directory} is in use by another broker, process {owner}.") from e
    os.ftruncate(lock, 0)
    os.pwrite(lock, f"{os.getpid()}\n".encode(), 0)
    return lock


def _loopback(host: str) -> str:
    address = "127.0.0.1" if host == "localhost" else host
    with suppress(ValueError):
        if ipaddress.ip_address(address).is_loopback:
            return address
    raise BrokerFailed(
        f"The embedded broker has no authentication and binds to loopback only, not to {host}; "
        "use Apache Kafka for other hosts."
    )
