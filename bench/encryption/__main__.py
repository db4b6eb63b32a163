"""CPU time of a record encrypted and decrypted, beside that of decoding and encoding it, which every stage does anyway.

python -m bench.encryption; the records are those of a conversation, as the stages make them.
"""

import asyncio
import tempfile
import time
from pathlib import Path
from statistics import median

from aiokafka import ConsumerRecord, TopicPartition

from schemas import codec
from schemas.topics import BY_NAME, TOPICS
from streams.encryption.records import RecordEncryption
from streams.encryption.subjects import subjects_of
from streams.stores.keys.master_key import made_master_key
from streams.stores.keys.sqlite_keys import SqliteKeyStore
from streams.testing.pipeline import Pipeline

ROUNDS, MESSAGES = 30, 20


def made() -> list[ConsumerRecord]:
    """The records of some messages of four users, of all topics that are encrypted."""
    with Pipeline() as fathom:
        for number in range(MESSAGES):
            fathom.say(
                f"The deadline of project {number} is {number + 1} April. How does the refund of its trip work?",
                conversation=f"c{number % 4}",
                headers={"user_id": f"u{number % 4}"},
            )
        fathom.wait(3)
        found = [(topic.name, each) for topic in TOPICS for each in fathom.log.of(topic.name)]
    return [
        ConsumerRecord(topic, 0, 0, each.timestamp, 0, each.key, each.value, None, 0, 0, tuple(each.headers))
        for topic, each in found
        if each.value is not None and subjects_of(topic, each.key, each.value, each.headers)
    ]


async def measured(records: list[ConsumerRecord], own: RecordEncryption) -> tuple[float, float, float]:
    """Seconds of CPU for all records: decoded and encoded, encrypted, decrypted."""
    began = time.process_time()
    for each in records:
        received = codec.decode_record(BY_NAME[each.topic], each)
        codec.dump(received.event)
        codec.to_headers(received.envelope)
    bare = time.process_time() - began
    began = time.process_time()
    sealed = [await own.encrypted(each.topic, each.key, each.value, each.headers) for each in records]
    encrypted = time.process_time() - began
    for each, (value, headers) in zip(records, sealed, strict=True):
        each.value, each.headers = value, tuple(headers)
    began = time.process_time()
    found = await own.decrypted({TopicPartition("all", 0): records})
    decrypted = time.process_time() - began
    records[:] = found[TopicPartition("all", 0)]
    return bare, encrypted, decrypted


async def run(records: list[ConsumerRecord]) -> None:
    """Print the figures."""
    size = sum(len(each.value or b"") for each in records) / len(records)
    with tempfile.TemporaryDirectory(prefix="fathom-bench-") as place:
        own = RecordEncryption(SqliteKeyStore(Path(place)), made_master_key(Path(place) / "master.key"))
        took = [await measured(records, own) for _ in range(ROUNDS)]
    bare, encrypted, decrypted = (median(each) / len(records) * 1e6 for each in zip(*took, strict=True))
    print(f"{len(records)} records of {size:,.0f} bytes on average, µs of CPU each, median of {ROUNDS} rounds")
    print(f"decoded and encoded {bare:.1f}, encrypted {encrypted:.1f}, decrypted {decrypted:.1f}")
    print(f"encryption is {(encrypted + decrypted) / bare:.2f} of decoding and encoding")


if __name__ == "__main__":
    asyncio.run(run(made()))
