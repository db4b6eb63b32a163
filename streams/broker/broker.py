"""A single-node broker that speaks Kafka's protocol, for first runs, demos and tests; production is Apache Kafka.

One directory, one owner: `lock` holds the pid, `topics.jsonl` and `offsets.jsonl` are journals, the records are in
`logs/<topic>-<partition>/`. Loopback only; without authentication and transactions.
"""

import asyncio
import fcntl
import ipaddress
import logging
import os
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from streams.broker import clean_stop
from streams.broker.admin_api import AdminApi
from streams.broker.errors import BrokerFailed
from streams.broker.groups import Groups
from streams.broker.groups_api import GroupsApi
from streams.broker.offsets import Offsets
from streams.broker.records_api import RecordsApi
from streams.broker.server import Connection, Handler
from streams.broker.topics import Topics

LOGGER = logging.getLogger("fathom.broker")
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
    """The broker of a directory; `loading` is called while its logs are read."""

    def __init__(self, settings: BrokerSettings, loading: Callable[[], None] = lambda: None) -> None:
        self._settings = settings
        self._host = _loopback(settings.host)
        self._lock = _locked(settings.directory)
        self._disk = Disk()
        self._topics = Topics(
            settings.directory,
            settings.partitions,
            settings.auto_create,
            later=self._disk.do,
            drained=self._disk.wait,
            loading=loading,
        )
        self._offsets = Offsets(settings.directory)
        self._offsets.cut_to(self._end_of)
        self._compacting: asyncio.Task[None] | None = None
        self._groups = Groups(time.monotonic)
        self._admin = AdminApi(self._topics, self._offsets)
        self._connections: set[Connection] = set()
        self._retained_at = 0.0

    async def start(self) -> str:
        """Start listening; returns the bootstrap address."""
        connect = partial(Connection, self.handlers(), self._connections, self._settings.connections)
        port = self._settings.port
        open_port = partial(asyncio.get_running_loop().create_server, connect, self._host, port, backlog=1024)
        try:
            self._server = await open_port(start_serving=False)
        except OSError as e:
            raise BrokerFailed(f"Port {port} on {self._host} is taken.") from e
        # From here on something may be written.
        clean_stop.remove(self._settings.directory)
        await self._server.start_serving()
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
        if self._offsets.outgrown and (self._compacting is None or self._compacting.done()):
            self._compacting = asyncio.create_task(self._compact())

    async def _compact(self) -> None:
        """Compact the offsets, which puts them on the disk: the records below them first."""
        latest = self._offsets.latest()
        synced = [asyncio.wrap_future(self._disk.do(log.sync)) for log in self._topics.logs().values()]
        if all(await asyncio.gather(*synced)):
            self._offsets.compact(latest)

    def _end_of(self, topic: str, partition: int) -> int | None:
        log = self._topics.find(topic, partition)
        return None if log is None else log.end

    async def stop(self) -> None:
        """Close the connections, then put everything on the disk: logs, offsets, and the mark that it is there."""
        self._timer.cancel()
        self._server.close()
        for connection in list(self._connections):
            connection.transport.abort()
        if self._compacting is not None:
            self._compacting.cancel()
        self._disk.wait()
        if self._topics.close():
            self._disk.do(self._mark_clean).result()
        self._offsets.close(sync=False)
        os.close(self._lock)
        await asyncio.sleep(0)

    def _mark_clean(self) -> None:
        self._offsets.sync()
        clean_stop.write(self._settings.directory, {name: log.end for name, log in self._topics.logs().items()})

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


class Disk:
    """Work that waits for the disk, done in order in a thread: in the event loop it would hold up heartbeats."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="disk")

    def do(self, work: Callable[[], None]) -> "Future[bool]":
        """Have it done; the result is whether it was. An error is logged."""
        return self._thread.submit(_done, work)

    def wait(self) -> None:
        """Wait until all of it is done."""
        self.do(lambda: None).result()


def _done(work: Callable[[], None]) -> bool:
    try:
        work()
    except OSError as error:
        LOGGER.error("the disk refuses: %s; what was written is lost in a power cut, check the disk", error)
        return False
    except Exception:
        LOGGER.exception("work for the disk failed")
        return False
    return True


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
    except BlockingIOError as e:
        owner = os.pread(lock, 32, 0).decode().strip() or "unknown"
        os.close(lock)
        raise BrokerFailed(f"{directory} is in use by another broker, process {owner}.") from e
    except OSError as e:
        os.close(lock)
        raise BrokerFailed(f"{directory / 'lock'} cannot be locked: {e.strerror}; use a file system with locks.") from e
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
