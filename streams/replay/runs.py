"""The runs of the log's messages that can be compared: the recorded one, and replays on topics of their own."""

from collections import defaultdict
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any

import orjson
from aiokafka import ConsumerRecord

from schemas import codec
from schemas.codec import Undecodable
from schemas.depth import DepthClassified
from schemas.envelope import Received, header_map
from schemas.packs import ContextPack
from schemas.topics import BY_NAME, CONTEXT_PACKS, DEPTH_CLASSIFIED
from streams.replay.differences import Answer, Differences, answer
from streams.replay.log import Log, PartitionRange
from streams.replay.selection import Selection, topic_of

TOOK_HEADER = "fathom_replay_ms"
# The settings that differed from those of the process, as JSON.
SETTINGS_HEADER = "fathom_replay_settings"
REPLAYS = ".replay."


def name_of(topic: str, replay_id: str | None) -> str:
    """The topic of a run; None is the recorded one."""
    return topic if replay_id is None else topic_of(topic, replay_id)


async def events(
    log: Log, spans: list[PartitionRange], kind: str
) -> AsyncIterator[tuple[Received[Any], ConsumerRecord]]:
    """The events of a run's topic, as those of the topic `kind`; undecodable records are an outsider's."""
    async for batch in log.read(spans):
        for record in batch:
            try:
                yield codec.decode_record(BY_NAME[kind], record), record
            except Undecodable:
                continue


@dataclass(frozen=True, slots=True)
class Run:
    """One run: the recorded one, or a replay by its id."""

    replay_id: str | None = None

    async def answers(self, log: Log, partition: int, selection: Selection) -> Mapping[str, Answer]:
        """The answers of a partition by message; of a pack's revisions the last."""
        packs: dict[str, tuple[ContextPack, float | None]] = {}
        for received, record in [each async for each in self._of(log, CONTEXT_PACKS.name, partition, selection)]:
            if isinstance(received.event, ContextPack):
                took = header_map(record.headers).get(TOOK_HEADER)
                packs[received.event.message_id] = received.event, None if took is None else float(took)
        found: dict[str, Answer] = {}
        for received, _ in [each async for each in self._of(log, DEPTH_CLASSIFIED.name, partition, selection)]:
            if isinstance(received.event, DepthClassified) and selection.has(received):
                classified = received.event
                found[classified.message_id] = answer(classified, *packs.get(classified.message_id, (None, None)))
        return found

    async def _of(
        self, log: Log, kind: str, partition: int, selection: Selection
    ) -> AsyncIterator[tuple[Received[Any], ConsumerRecord]]:
        # A replay's records are as young as the replay.
        since = selection.since if self.replay_id is None else None
        spans = await log.spans(name_of(kind, self.replay_id), since)
        async for each in events(log, [span for span in spans if span.partition == partition], kind):
            yield each

    def partitions(self, log: Log) -> int:
        """The partition count of the run; 0 where there is none of that id."""
        return log.partitions(name_of(DEPTH_CLASSIFIED.name, self.replay_id))


async def compare(log: Log, was: Run, now: Run, selection: Selection) -> Differences:
    """Compare what two runs made, partition by partition, for the messages that `now` has."""
    found = Differences()
    for partition in range(now.partitions(log)):
        before, after = [await run.answers(log, partition, selection) for run in (was, now)]
        for message_id, made in after.items():
            found.add(message_id, before.get(message_id), made)
    return found


async def settings_of(log: Log, replay_id: str) -> dict[str, str]:
    """The settings of a replay that differed from the process's own, without passwords, by its first record."""
    for span in await log.spans(name_of(DEPTH_CLASSIFIED.name, replay_id)):
        if (record := await log.first(span)) is not None:
            return dict(orjson.loads(header_map(record.headers).get(SETTINGS_HEADER, "{}")))
    return {}


def replays(topics: Mapping[str, int]) -> dict[str, list[str]]:
    """The topics of each replay, by its id."""
    found: dict[str, list[str]] = defaultdict(list)
    for topic in sorted(topics):
        _, mark, replay_id = topic.partition(REPLAYS)
        if mark:
            found[replay_id].append(topic)
    return dict(found)
