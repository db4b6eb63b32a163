"""The assembler over a recorded `packs.partial` again, in a fresh group: what it makes, pack by pack."""

from collections.abc import Iterable
from datetime import UTC, datetime

from schemas.topics import CONTEXT_PACKS, PACKS_PARTIAL
from streams.stores.tokens import best_tokens
from streams.testing.pipeline import Pipeline
from streams.topology import stages_of
from tests.chaos.entries import Entry
from tests.chaos.servers import PARTITIONS


def packs_of(entries: Iterable[Entry]) -> dict[str, bytes]:
    """The recorded packs by id."""
    return {entry.event["pack_id"]: entry.value for entry in entries if entry.topic == CONTEXT_PACKS.name}


def replayed(log: Iterable[Entry]) -> dict[str, bytes]:
    """The packs that come of the same partial results at the same places and times."""
    partials = [entry for entry in log if entry.topic == PACKS_PARTIAL.name]
    tokens = best_tokens()
    with Pipeline(stages=stages_of(["assembler"]), partitions=PARTITIONS, replace={"tokens": tokens}) as pipeline:
        for entry in sorted(partials, key=lambda entry: (entry.partition, entry.offset)):
            pipeline.clock.at = datetime.fromtimestamp(entry.timestamp / 1000, UTC)
            headers = [(name, text.encode()) for name, text in entry.headers.items()]
            pipeline.log.append(entry.topic, entry.key.encode() or None, entry.value, headers, entry.partition)
        pipeline.settle()
        return packs_of(Entry.of(record) for record in pipeline.log.of(CONTEXT_PACKS.name))
