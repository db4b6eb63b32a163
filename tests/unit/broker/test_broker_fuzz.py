"""Frames nobody should send: mutated real ones and noise. A connection may be closed, the broker must go on."""

import asyncio
import logging
import random
import struct
from pathlib import Path
from typing import Any

import pytest
from aiokafka.protocol import admin, commit, coordination, fetch, group, metadata, offset, produce, transaction
from aiokafka.record.default_records import DefaultRecordBatchBuilder

from streams.broker.broker import Broker, BrokerSettings
from streams.broker.server import Connection

FRAMES = 20_000


class Socket(asyncio.Transport):
    """Takes what a connection writes."""

    def __init__(self) -> None:
        super().__init__()
        self.written = b""
        self.closed = False

    def write(self, data: Any) -> None:
        self.written += bytes(data)

    def close(self) -> None:
        self.closed = True

    abort = close

    def is_closing(self) -> bool:
        return self.closed

    def pause_reading(self) -> None:
        """Nothing reads here."""

    def resume_reading(self) -> None:
        """Nothing reads here."""


def real_frames() -> list[bytes]:
    builder = DefaultRecordBatchBuilder(2, 0, 0, 1000, 0, 0, 1 << 16)
    builder.append(0, 1_700_000_000_000, b"k", b"value", [])
    raw = bytes(builder.build())
    requests = [
        produce.ProduceRequest_v3("tx", -1, 100, [("t", [(0, raw)])]),
        produce.ProduceRequest_v8(None, -1, 100, [("t", [(0, raw), (1, raw)])]),
        fetch.FetchRequest_v4(-1, 1, 1, 1000, 1, [("t", [(0, 0, 1000)])]),
        fetch.FetchRequest_v11(-1, 1, 1, 1000, 0, 0, -1, [("t", [(0, -1, 0, 0, 1000)])], [], ""),
        offset.OffsetRequest_v1(-1, [("t", [(0, -1), (1, 1_700_000_000_000)])]),
        metadata.MetadataRequest_v5(["t", "u"], True),
        commit.OffsetCommitRequest_v3("g", -1, "", -1, [("t", [(0, 3, "m")])]),
        commit.OffsetFetchRequest_v3("g", [("t", [0, 1])]),
        coordination.FindCoordinatorRequest_v1("g", 0),
        group.JoinGroupRequest_v5("g", 6000, 500, "", None, "consumer", [("range", b"m")]),
        group.JoinGroupRequest_v1("h", 6000, 500, "", "consumer", [("range", b"m")]),
        group.SyncGroupRequest_v3("g", 1, "m", None, [("m", b"a")]),
        group.HeartbeatRequest_v1("g", 1, "m"),
        group.LeaveGroupRequest_v1("g", "m"),
        admin.CreateTopicsRequest_v2([("u", 2, 1, [], [("retention.ms", "1000")])], 100, False),
        admin.DeleteTopicsRequest_v1(["u"], 100),
        admin.CreatePartitionsRequest_v0([("u", (3, None))], 100, False),
        admin.DescribeConfigsRequest_v1([(2, "t", None)], False),
        transaction.InitProducerIdRequest_v0("tx", 1000),
        transaction.InitProducerIdRequest_v0(None, 1000),
        admin.ApiVersionRequest_v0(),
    ]
    heads = [struct.pack(">hhih2s", r.API_KEY, r.API_VERSION, 1, 2, b"me") for r in requests]
    return [head + r.encode() for head, r in zip(heads, requests, strict=True)]


def mutated(frame: bytes, rng: random.Random) -> bytes:
    changed = bytearray(frame)
    for _ in range(rng.randrange(1, 4)):
        at = rng.randrange(len(changed))
        match rng.randrange(5):
            case 0:
                changed[at] = rng.randrange(256)
            case 1:
                changed[at] ^= 1 << rng.randrange(8)
            case 2:
                del changed[at:]
            case 3:
                changed[at:at] = rng.randbytes(rng.randrange(8))
            case _:
                changed[at : at + 4] = struct.pack(">i", rng.choice([-1, -2, 0, 1, 2**31 - 1, -(2**31)]))
        if not changed:
            return b"\0"
    return bytes(changed)


def framed(frame: bytes) -> bytes:
    return struct.pack(">i", len(frame)) + frame


async def ask(broker: Broker, frame: bytes) -> Socket:
    connection, socket = Connection(broker.handlers(), set(), 10), Socket()
    connection.connection_made(socket)
    connection.data_received(framed(frame))
    await asyncio.sleep(0)
    return socket


@pytest.mark.parametrize("seed", [1, 2])
def test_no_frame_stops_the_broker(tmp_path: Path, caplog: pytest.LogCaptureFixture, seed: int) -> None:
    async def scenario() -> None:
        broker = Broker(BrokerSettings(tmp_path))
        await broker.start()
        failures: list[Any] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, context: failures.append(context))
        handlers, rng, frames = broker.handlers(), random.Random(seed), real_frames()
        create = admin.CreateTopicsRequest_v2([("t", 2, 1, [], [])], 100, False)
        await ask(broker, struct.pack(">hhih", 19, 2, 1, -1) + create.encode())
        for frame in frames:
            assert not (await ask(broker, frame)).closed
        answered = closed = 0
        for number in range(FRAMES // 2):
            noise = rng.random() < 0.05
            frame = rng.randbytes(rng.randrange(60)) if noise else mutated(rng.choice(frames), rng)
            connection, socket = Connection(handlers, set(), 10), Socket()
            connection.connection_made(socket)
            connection.data_received(framed(frame))
            if number % 20 == 0:
                await asyncio.sleep(0)
            connection.connection_lost(None)
            answered, closed = answered + bool(socket.written), closed + socket.closed
        # Both must have happened often, or the mutations miss either the parser or what lies behind it.
        assert answered > FRAMES / 20
        assert closed > FRAMES / 20
        await asyncio.sleep(0.05)
        assert failures == []
        good = produce.ProduceRequest_v3(None, -1, 100, [("absent", [(0, b"")])])
        assert (await ask(broker, struct.pack(">hhih", 0, 3, 1, -1) + good.encode())).written
        await broker.stop()

    with caplog.at_level(logging.ERROR):
        asyncio.run(scenario())
    assert [r for r in caplog.records if r.levelno >= logging.ERROR] == []


def test_bytes_may_come_one_by_one(tmp_path: Path) -> None:
    async def scenario() -> bytes:
        broker = Broker(BrokerSettings(tmp_path))
        await broker.start()
        connection, socket = Connection(broker.handlers(), set(), 10), Socket()
        connection.connection_made(socket)
        for byte in framed(real_frames()[-1]) * 2:
            connection.data_received(bytes((byte,)))
        await broker.stop()
        return socket.written

    written = asyncio.run(scenario())
    assert written[: len(written) // 2] == written[len(written) // 2 :] != b""


def test_a_client_that_does_not_read_is_not_served_further(tmp_path: Path) -> None:
    async def scenario() -> tuple[int, int]:
        broker = Broker(BrokerSettings(tmp_path))
        await broker.start()
        connection, socket = Connection(broker.handlers(), set(), 10), Socket()
        connection.connection_made(socket)
        connection.pause_writing()
        connection.data_received(framed(real_frames()[-1]) * 3)
        before = len(socket.written)
        connection.resume_writing()
        await broker.stop()
        return before, len(socket.written)

    before, after = asyncio.run(scenario())
    assert before == 0 < after
