"""An embedded broker on a directory of its own, to be killed, damaged and started again."""

from pathlib import Path

from aiokafka.protocol import commit, metadata

from streams.broker.process import BrokerProcess
from tests.contract.broker_cluster import batch, put, wire


class Node:
    """One broker on one directory, ended and started again at will."""

    def __init__(self, directory: Path) -> None:
        self.directory, self.process = directory, BrokerProcess()

    def start(self, **options: float) -> str:
        return self.process.start(self.directory, **options)  # type: ignore[arg-type]

    def crash(self) -> str:
        self.process.kill()
        return self.start()

    def segments(self, topic: str, partition: int = 0) -> list[Path]:
        return sorted((self.directory / "logs" / f"{topic}-{partition}").glob("*.log"))


async def partitions(address: str, topic: str) -> int:
    async with wire(address) as connection:
        return len((await connection.ask(metadata.MetadataRequest_v4([topic], False))).topics[0][3])


async def fill(address: str, topic: str, *values: bytes) -> list[tuple[int, int]]:
    async with wire(address) as connection:
        return [await put(connection, topic, batch(value)) for value in values]


async def committed(address: str, group: str, topic: str) -> int:
    async with wire(address) as connection:
        request = commit.OffsetFetchRequest_v1(group, [(topic, [0])])
        return (await connection.ask(request)).topics[0][1][0][1]


async def commit_offset(address: str, group: str, topic: str, offset: int) -> int:
    async with wire(address) as connection:
        request = commit.OffsetCommitRequest_v2(group, -1, "", -1, [(topic, [(0, offset, "")])])
        return (await connection.ask(request)).topics[0][1][0][1]
