"""All uses of aiokafka's private interface, for the one version they were written for.

`prepare` runs before a client is made; the functions below take an existing client.
"""

import math
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cache, wraps
from importlib.metadata import version
from time import monotonic
from typing import Any, Final
from weakref import WeakSet

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRecord, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.admin.config_resource import ConfigResourceType
from aiokafka.conn import AIOKafkaConnection, CloseReason
from aiokafka.consumer import fetcher
from aiokafka.errors import ConsumerStoppedError, KafkaConnectionError, KafkaTimeoutError, for_code
from aiokafka.protocol.api import Request, RequestStruct, Response
from aiokafka.protocol.commit import OffsetFetchRequest
from aiokafka.protocol.types import Array, Boolean, Int8, Int16, Int32, Schema, String
from aiokafka.structs import OffsetAndMetadata

from streams.config import ConfigError
from streams.kafka.fetched_records import FetchedBytes, FetchedRecords
from streams.stores.guard import is_closed_transport

VERSION: Final = "0.14.0"
STOCK_SEND: Final = AIOKafkaConnection.send
SET = 0
# How long the broker holds a fetch after so many that brought nothing.
IDLE_MS, EMPTY_FETCHES = 3_000, 4


# --- all clients


@cache
def prepare() -> None:
    """Check the version and patch the client, once in a process; raises `ConfigError` for another version."""
    check_version(version("aiokafka"))
    fetcher.MemoryRecords, fetcher.PartitionRecords = FetchedBytes, FetchedRecords
    if AIOKafkaConnection.send is STOCK_SEND:
        AIOKafkaConnection.send = sends(STOCK_SEND)
        AIOKafkaAdminClient._send_request = asks(AIOKafkaAdminClient._send_request)


def check_version(installed: str) -> None:
    """Raises `ConfigError` for an unreviewed version."""
    if installed != VERSION:
        raise ConfigError(
            f"aiokafka {installed} is installed, and Fathom works with parts of {VERSION} that are not public; "
            f"install aiokafka=={VERSION}"
        )


def sends(stock: Callable[..., Any]) -> Callable[..., Any]:
    """The method that sends a request, with an ended connection reported as aiokafka expects it.

    It expects an `OSError` on a write to an ended transport. uvloop raises `RuntimeError`, which is not caught there:
    the task that refreshes the metadata ends, and the client waits for its coordinator for ever.
    """

    @wraps(stock)
    def send(self: AIOKafkaConnection, *args: Any, **options: Any) -> Any:
        try:
            return stock(self, *args, **options)
        except RuntimeError as error:
            if not is_closed_transport(error):
                raise
            self.close(reason=CloseReason.CONNECTION_BROKEN)
            raise KafkaConnectionError(f"Connection at {self.host}:{self.port} broken: {error}") from error

    return send


def asks(stock: Callable[..., Any]) -> Callable[..., Any]:
    """The method that asks as an administrator, which raises what is wrong with a whole answer about offsets.

    aiokafka does not look there, and what a coordinator that is still loading answers reads as a group that has
    committed nothing.
    """

    @wraps(stock)
    async def ask(self: AIOKafkaAdminClient, request: "Request[Any]", node_id: int | None = None) -> Any:
        answer = await stock(self, request, node_id)
        if isinstance(request, OffsetFetchRequest) and (code := getattr(answer, "error_code", 0)):
            raise for_code(code)(f"Unable to get the offsets of {request._consumer_group}")
        return answer

    return ask


# --- producers


class PendingBatches:
    """The unacknowledged batches of a producer; they never expire by age, only by `give_up`.

    By default a batch expires when its partition has had no leader for half a minute, after it got its number: the next
    one is refused for the gap, and one whose acknowledgement was lost is sent twice.
    """

    def __init__(self, producer: AIOKafkaProducer) -> None:
        self._accumulator = producer._message_accumulator
        self._given_up: WeakSet[Any] = WeakSet()
        self._reenqueue = self._accumulator.reenqueue
        self._accumulator._batch_ttl = math.inf
        self._accumulator.reenqueue = self._again

    def _again(self, batch: Any) -> None:
        """Requeue a failed batch, unless it was given up meanwhile."""
        if batch in self._given_up:
            self._accumulator._pending_batches.discard(batch)
        else:
            self._reenqueue(batch)

    def give_up_all(self) -> None:
        """Fail all batches that are not acknowledged, and never send them again."""
        self.give_up({*self._accumulator._batches, *(each.tp for each in self._accumulator._pending_batches)})

    def give_up(self, partitions: Collection[TopicPartition]) -> None:
        """Fail the queued batches of these partitions, and never resend them."""
        for tp in set(partitions) & self._accumulator._batches.keys():
            for batch in self._accumulator._batches.pop(tp):
                batch.failure(KafkaTimeoutError("given up"))
        for batch in [each for each in self._accumulator._pending_batches if each.tp in partitions]:
            self._given_up.add(batch)
            batch.failure(KafkaTimeoutError("given up"))


# --- consumers of a group


def generation(client: AIOKafkaConsumer) -> int:
    """The generation of the group that this member is in."""
    found: int = client._coordinator.generation
    return found


def on_heartbeat(client: AIOKafkaConsumer, alive: Callable[[float], None]) -> None:
    """Call `alive` after each heartbeat answered by the broker, with the monotonic time of its sending."""
    beat = client._coordinator._do_heartbeat

    async def watched() -> bool:
        asked = monotonic()
        answered: bool = await beat()
        if answered:
            alive(asked)
        return answered

    client._coordinator._do_heartbeat = watched


async def committed_offsets(
    client: AIOKafkaConsumer, partitions: Iterable[TopicPartition]
) -> Mapping[TopicPartition, OffsetAndMetadata]:
    """The group's committed offsets at the broker, without partitions that have none."""
    found: Mapping[TopicPartition, OffsetAndMetadata] = await client._coordinator.fetch_committed_offsets(
        list(partitions)
    )
    return found


async def cut(client: AIOKafkaConsumer) -> None:
    """Close the connections of a client whose stop hangs."""
    await client._client.close()


def metadata_task(client: AIOKafkaConsumer) -> Any:
    """The task that refreshes the metadata; once it has ended, the client cannot find a coordinator."""
    return client._client._sync_task


def raise_errors(client: AIOKafkaConsumer) -> None:
    """Raise a pending error of the coordination, which stops for good after one."""
    client._coordinator.check_errors()
    if client._closed:
        raise ConsumerStoppedError


def is_reassigning(client: AIOKafkaConsumer) -> bool:
    """Whether an assignment is in progress."""
    return bool(client._subscription.reassignment_in_progress)


async def fetched_records(
    client: AIOKafkaConsumer, partitions: Collection[TopicPartition], limit: int
) -> dict[TopicPartition, list[ConsumerRecord]]:
    """The buffered records of these partitions, taken without suspending."""
    found: dict[TopicPartition, list[ConsumerRecord]] = await client._fetcher.fetched_records(partitions, 0, limit)
    return found


def fetch_waiter(client: AIOKafkaConsumer) -> Any:
    """A future of the next fetch response."""
    return client._fetcher._create_fetch_waiter()


def fetch_patiently(client: AIOKafkaConsumer, batches: tuple[int, int] | None = None) -> None:
    """Let the broker hold fetches for longer once nothing has come for a while.

    With `batches`, a size and a time in ms, something that comes is fetched in batches of these. No partition may be
    paused: a resumed one is not fetched before the fetch of the others has come back.
    """
    fetcher = client._fetcher
    stock, empty = fetcher._proc_fetch_request, 0
    eager = (fetcher._fetch_min_bytes, fetcher._fetch_max_wait_ms)

    async def fetched(*request: Any) -> bool:
        nonlocal empty
        found: bool = await stock(*request)
        empty = 0 if found or client.paused() else empty + 1
        idle = (eager[0], IDLE_MS) if empty >= EMPTY_FETCHES else eager
        fetcher._fetch_min_bytes, fetcher._fetch_max_wait_ms = batches if batches and found else idle
        return found

    fetcher._proc_fetch_request = fetched


def readable_end(state: Any) -> int | None:
    """The offset up to which a partition can be read now: records of a transaction that is not over come later."""
    end: int | None = state.highwater if state.lso is None or state.lso < 0 else state.lso
    return end


def partition_state(client: AIOKafkaConsumer, tp: TopicPartition) -> Any | None:
    """Position and highwater of an assigned partition; None for another one."""
    assignment = getattr(client._subscription.subscription, "assignment", None)
    return assignment and assignment.state_value(tp)


# --- administration


class _AlterResponse(Response):  # type: ignore[misc]
    API_KEY = 44
    API_VERSION = 0
    SCHEMA = Schema(
        ("throttle_time_ms", Int32),
        (
            "resources",
            Array(("code", Int16), ("message", String("utf-8")), ("kind", Int8), ("name", String("utf-8"))),
        ),
    )


class _AlterStruct(RequestStruct):  # type: ignore[misc]
    API_KEY = 44
    API_VERSION = 0
    RESPONSE_TYPE = _AlterResponse
    SCHEMA = Schema(
        (
            "resources",
            Array(
                ("kind", Int8),
                ("name", String("utf-8")),
                ("configs", Array(("name", String("utf-8")), ("operation", Int8), ("value", String("utf-8")))),
            ),
        ),
        ("validate_only", Boolean),
    )


class _IncrementalAlterConfigs(Request[_AlterStruct]):  # type: ignore[misc]
    """Set some configs of topics: aiokafka has only the request that resets all others."""

    API_KEY = 44

    def __init__(self, configs: Mapping[str, Mapping[str, str]]) -> None:
        self._resources = [
            (ConfigResourceType.TOPIC, topic, [(name, SET, value) for name, value in changed.items()])
            for topic, changed in configs.items()
        ]

    def build(self, request_struct_class: type[_AlterStruct]) -> _AlterStruct:
        """The request to send."""
        return request_struct_class(self._resources, False)


async def alter_configs(admin: AIOKafkaAdminClient, configs: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """Set these configs of topics and leave the others; returns the refusals by topic."""
    answer = await admin._send_request(_IncrementalAlterConfigs(configs))
    return {name: message or f"error {code}" for code, message, _, name in answer.resources if code}


async def ask_broker(admin: AIOKafkaAdminClient, request: "Request[Any]") -> Any:
    """The answer of any broker to a request that aiokafka has no method for; raises its errors."""
    return await admin._send_request(request)


def api_versions(admin: AIOKafkaAdminClient) -> dict[int, tuple[int, int]]:
    """The oldest and newest version of each request that the broker knows, as it said on connecting."""
    for connection in admin._client._conns.values():
        if connection._versions:
            return dict(connection._versions)
    return {}
