"""What the broker's contract tests share: the broker under test, fresh names, and a raw Kafka connection.

FATHOM_TEST_KAFKA=host:port runs the suite on that broker instead of the embedded one. The raw connection speaks with
aiokafka's own schemas, not with the broker's, so a layout both ends got wrong would not pass unseen.
"""

import asyncio
import os
import struct
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.protocol import admin, commit, coordination, fetch, offset, produce
from aiokafka.record.default_records import DefaultRecordBatchBuilder

from streams.broker.process import BrokerProcess

EXTERNAL = os.environ.get("FATHOM_TEST_KAFKA", "")
GROUP_MIN_SESSION_MS = 1_000


@contextmanager
def broker_under_test() -> Iterator[str]:
    if EXTERNAL:
        asyncio.run(_coordinators_ready(EXTERNAL))
        yield EXTERNAL
        return
    with TemporaryDirectory() as directory, BrokerProcess() as broker:
        yield broker.start(Path(directory))


async def _coordinators_ready(bootstrap: str) -> None:
    # A cluster makes the topic behind groups when somebody first asks for a coordinator.
    groups = [fresh("warm") for _ in range(20)]
    async with wire(bootstrap) as connection:

        async def ready() -> bool:
            if (await connection.ask(coordination.FindCoordinatorRequest_v1("warm", 0))).error_code:
                return False
            asked = [await connection.ask(commit.OffsetFetchRequest_v2(group, [])) for group in groups]
            return all(answer.error_code == 0 for answer in asked)

        await eventually(ready, within=30)


def fresh(kind: str) -> str:
    return f"{kind}-{uuid.uuid4().hex[:12]}"


class Wire:
    """One connection on which requests are written and read one by one."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._correlation = 0

    def send(self, request: Any) -> int:
        self._correlation += 1
        head = struct.pack(">hhih4s", request.API_KEY, request.API_VERSION, self._correlation, 4, b"test")
        body = head + request.encode()
        self._writer.write(struct.pack(">i", len(body)) + body)
        return self._correlation

    async def receive(self, request: Any) -> Any:
        size = struct.unpack(">i", await self._reader.readexactly(4))[0]
        frame = await self._reader.readexactly(size)
        self.answered = struct.unpack_from(">i", frame)[0]
        return request.RESPONSE_TYPE.decode(frame[4:])

    async def ask(self, request: Any) -> Any:
        self.send(request)
        return await self.receive(request)

    def write(self, raw: bytes) -> None:
        self._writer.write(raw)

    async def read(self, size: int) -> bytes:
        return await self._reader.readexactly(size)

    async def ended(self) -> bool:
        return await self._reader.read(1) == b""


@asynccontextmanager
async def wire(bootstrap: str) -> AsyncIterator[Wire]:
    host, port = bootstrap.rsplit(":", 1)
    reader, writer = await asyncio.open_connection(host, int(port))
    try:
        yield Wire(reader, writer)
    finally:
        writer.close()


async def eventually(check: Callable[[], Awaitable[Any]], within: float = 10.0) -> Any:
    """The first true result of the check; what a cluster does a moment later than it answers."""
    deadline = time.monotonic() + within
    while not (result := await check()):
        assert time.monotonic() < deadline, "it did not come true in time"
        await asyncio.sleep(0.02)
    return result


async def create_topic(
    bootstrap: str, partitions: int = 1, configs: dict[str, str] | None = None, name: str = ""
) -> str:
    """A topic of its own for one test, ready to be written to."""
    name = name or fresh("topic")
    async with wire(bootstrap) as connection:
        row = (name, partitions, 1, [], list((configs or {}).items()))
        answer = await connection.ask(admin.CreateTopicsRequest_v2([row], 10_000, False))
        assert answer.topic_errors[0][1] == 0, answer

        async def ready() -> bool:
            # Metadata names a leader a moment before the leader itself answers.
            request = offset.OffsetRequest_v1(-1, [(name, [(p, -1) for p in range(partitions)])])
            [(_, answers)] = (await connection.ask(request)).topics
            return all(answer[1] == 0 for answer in answers)

        await eventually(ready)
    return name


def batch(
    *values: bytes | None,
    producer: tuple[int, int, int] = (-1, -1, -1),
    transactional: bool = False,
    codec: int = 0,
    timestamps: tuple[int, ...] = (),
) -> bytes:
    """A record batch; `producer` is (id, epoch, base sequence)."""
    builder = DefaultRecordBatchBuilder(2, codec, int(transactional), *producer, 1 << 24)
    now = int(time.time() * 1000)
    for at, value in enumerate(values):
        when = timestamps[at] if timestamps else now
        assert builder.append(at, when, None, value, []) is not None
    return bytes(builder.build())


async def put(connection: Wire, topic: str, raw: bytes, partition: int = 0) -> tuple[int, int]:
    """Error code and base offset of one produce request, of the first version that may bring zstd."""
    request = produce.ProduceRequest_v7(None, -1, 10_000, [(topic, [(partition, raw)])])
    [(_, [(_, code, base, _, _)])] = (await connection.ask(request)).topics
    return code, base


def fetch_request(
    parts: list[tuple[str, int, int]],
    max_wait: int = 0,
    max_bytes: int = 1 << 24,
    partition_bytes: int = 1 << 20,
) -> Any:
    """A fetch of (topic, partition, offset) items."""
    topics = [(topic, [(partition, at, partition_bytes)]) for topic, partition, at in parts]
    return fetch.FetchRequest_v4(-1, max_wait, 1, max_bytes, 0, topics)


async def bounds(connection: Wire, topic: str, partition: int = 0, timestamp: int | None = None) -> tuple[int, int]:
    """Earliest and latest offset, or (offset, timestamp) of a search by time."""

    async def at(when: int) -> tuple[int, int]:
        request = offset.OffsetRequest_v1(-1, [(topic, [(partition, when)])])
        [(_, [(_, code, found_at, found)])] = (await connection.ask(request)).topics
        assert code == 0
        return found, found_at

    if timestamp is not None:
        return await at(timestamp)
    return (await at(-2))[0], (await at(-1))[0]


@asynccontextmanager
async def producer(bootstrap: str, **options: Any) -> AsyncIterator[AIOKafkaProducer]:
    client = AIOKafkaProducer(bootstrap_servers=bootstrap, **options)
    await client.start()
    try:
        yield client
    finally:
        await client.stop()


@asynccontextmanager
async def consumer(bootstrap: str, *topics: str, **options: Any) -> AsyncIterator[AIOKafkaConsumer]:
    options = {"auto_offset_reset": "earliest", "enable_auto_commit": False, **options}
    client = AIOKafkaConsumer(*topics, bootstrap_servers=bootstrap, **options)
    await client.start()
    try:
        yield client
    finally:
        await client.stop()


async def read_values(
    bootstrap: str, topic: str, count: int, committed: bool = False, partition: int = 0
) -> list[bytes | None]:
    """The first `count` values of a partition, and proof by a short wait that no more follow."""
    isolation = "read_committed" if committed else "read_uncommitted"
    async with consumer(bootstrap, isolation_level=isolation) as client:
        client.assign([TopicPartition(topic, partition)])
        got: list[bytes | None] = []
        while len(got) < count:
            records = await asyncio.wait_for(client.getone(), 10)
            got.append(records.value)
        more = await client.getmany(timeout_ms=150)
        return got + [r.value for records in more.values() for r in records]
