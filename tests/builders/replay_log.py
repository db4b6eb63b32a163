"""The log of a pipeline in memory, as a replay reads it; `cut` is where retention has cut it."""

from collections.abc import AsyncGenerator, Sequence

from streams.kafka.records import Record, TopicPartition
from streams.replay.log import PartitionRange
from streams.testing.pipeline import MemoryLog


class LogInMemory:
    def __init__(self, log: MemoryLog, partitions: int = 3) -> None:
        self._log = log
        self._partitions = partitions
        self.cut: dict[TopicPartition, int] = {}
        self.read_of: list[Record] = []

    def partitions(self, topic: str) -> int:
        return self._partitions

    async def spans(self, topic: str, since: int | None = None) -> list[PartitionRange]:
        found = []
        for number in range(self._partitions):
            tp = TopicPartition(topic, number)
            kept, records = self.cut.get(tp, 0), self._log.records[tp]
            later = [r.offset for r in records if r.timestamp >= (since or 0)] or [len(records)]
            found.append(PartitionRange(topic, number, max(kept, later[0]), len(records), kept))
        return found

    async def read(self, spans: Sequence[PartitionRange], *, most: int = 500) -> AsyncGenerator[Sequence[Record], None]:
        for span in spans:
            for start in range(span.begin, span.end, most):
                batch = self._log.records[span.tp][start : min(start + most, span.end)]
                self.read_of += batch
                yield batch

    async def first(self, span: PartitionRange) -> Record | None:
        return self._log.records[span.tp][span.begin] if len(span) else None

    async def period(self, spans: Sequence[PartitionRange]) -> tuple[int, int] | None:
        times = [r.timestamp for s in spans for r in self._log.records[s.tp][s.begin : s.end]]
        return (min(times), max(times)) if times else None
