"""Play recorded dialogues through `messages.in`, ask their questions, and see how often the evidence was in the pack.

    python -m bench.evidence FILE [--dataset NAME] [--up DIR]

FILE is JSON lines (or .gz): one object per dialogue set with `documents` (id, text, speaker, at, session) and `queries`
(id, text, relevant: document ids). The first speaker of a dialogue is the user, the other the assistant; turns keep
their own times. Each query is asked in a new conversation of the same user. The data stays where it is: nothing of it
is kept. The last line is one JSON object.
"""

import argparse
import asyncio
import gzip
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer

from bench.measure import say, spread
from schemas.base import Conversation
from schemas.topics import CONTEXT_PACKS, CONVERSATION_TURNS, MESSAGES_IN
from streams.topology import STAGES

TENANT, CLIENT, USER = "evidence", "bench", "reader"


def sets(path: Path, dataset: str | None) -> list[dict[str, Any]]:
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt") as lines:
        found = [json.loads(line) for line in lines]
    return [one for one in found if dataset is None or one.get("dataset", one.get("source")) == dataset]


def turns(number: int, one: dict[str, Any]) -> Iterator[tuple[Conversation, dict[str, Any]]]:
    """The dialogue as chat messages: two speakers, their own times, kept in order."""
    first = next(d.get("speaker") for d in one["documents"])
    conversation = Conversation(tenant=TENANT, client_id=CLIENT, conversation_id=f"dialogue-{number}")
    for position, document in enumerate(one["documents"]):
        speaker = document.get("speaker")
        stated = document.get("at")
        at = datetime.fromisoformat(stated) if stated else datetime(2023, 1, 1, tzinfo=UTC)
        at = at if at.tzinfo else at.replace(tzinfo=UTC)
        yield (
            conversation,
            {
                "message_id": f"{number}:{document['id']}",
                "role": "user" if speaker == first else "assistant",
                "content": f"{speaker}: {document['text']}" if speaker else document["text"],
                "conversation_id": conversation.conversation_id,
                "client_id": CLIENT,
                # Turns of a session share their time: seconds keep them apart.
                "created_at": (at + timedelta(seconds=position % 3600)).isoformat(),
            },
        )


def headers() -> list[tuple[str, bytes]]:
    return [("tenant", TENANT.encode()), ("user_id", USER.encode())]


async def play(bootstrap: str, chosen: list[dict[str, Any]]) -> dict[str, Any]:
    producer = AIOKafkaProducer(bootstrap_servers=bootstrap, acks="all")
    letters = [stage.dead_letters for stage in STAGES]
    consumer = AIOKafkaConsumer(
        CONTEXT_PACKS.name, CONVERSATION_TURNS.name, *letters, bootstrap_servers=bootstrap, auto_offset_reset="earliest"
    )
    await producer.start()
    await consumer.start()
    seen = Seen()
    try:
        began = time.perf_counter()
        said = 0
        users = 0
        for number, one in enumerate(chosen):
            for conversation, message in turns(number, one):
                await producer.send_and_wait(
                    MESSAGES_IN.name, json.dumps(message).encode(), key=conversation.key().encode(), headers=headers()
                )
                said += 1
                users += message["role"] == "user"
        await seen.until(consumer, turns=said, packs=users)
        played = time.perf_counter() - began
        say(f"{said} turns played in {played:.1f} s; waiting for the index to settle")
        await asyncio.sleep(5)
        asked = time.perf_counter()
        questions = 0
        for number, one in enumerate(chosen):
            for query in one["queries"]:
                questions += 1
                await ask(producer, f"q-{number}-{query['id']}", query["text"])
                await seen.until(consumer, turns=said + questions, packs=users + questions)
        took = time.perf_counter() - asked
    finally:
        await consumer.stop()
        await producer.stop()
    return {**seen.figures(chosen), "turns": said, "play_s": round(played, 1), "ask_s": round(took, 1)}


async def ask(producer: AIOKafkaProducer, identifier: str, text: str) -> None:
    conversation = Conversation(tenant=TENANT, client_id=CLIENT, conversation_id=identifier)
    message = {
        "message_id": identifier,
        "role": "user",
        "content": text,
        "conversation_id": identifier,
        "client_id": CLIENT,
    }
    await producer.send_and_wait(
        MESSAGES_IN.name, json.dumps(message).encode(), key=conversation.key().encode(), headers=headers()
    )


class Seen:
    """What came out, by message."""

    def __init__(self) -> None:
        self.packs: dict[str, dict[str, Any]] = {}
        self.turns: set[str] = set()
        self.letters = 0
        self.repeats = 0

    async def until(self, consumer: AIOKafkaConsumer, *, turns: int, packs: int, limit: float = 300.0) -> None:
        deadline = time.monotonic() + limit
        while (len(self.turns) < turns or len(self.packs) < packs) and time.monotonic() < deadline:
            for tp, records in (await consumer.getmany(timeout_ms=200)).items():
                for record in records:
                    self.take(tp.topic, json.loads(record.value) if record.value else {})

    def take(self, topic: str, value: dict[str, Any]) -> None:
        if topic == CONTEXT_PACKS.name:
            self.repeats += value["message_id"] in self.packs
            self.packs[value["message_id"]] = value
        elif topic == CONVERSATION_TURNS.name:
            self.turns.add(value["message_id"])
        else:
            self.letters += 1

    def figures(self, chosen: list[dict[str, Any]]) -> dict[str, Any]:
        any_hit = all_hit = asked = 0
        levels: Counter[str] = Counter()
        hit_by_level: Counter[str] = Counter()
        tokens: list[float] = []
        latency = [pack["latency_ms"] for pack in self.packs.values()]
        for number, one in enumerate(chosen):
            for query in one["queries"]:
                pack = self.packs.get(f"q-{number}-{query['id']}")
                wanted = {f"{number}:{document}" for document in query["relevant"]}
                if pack is None or not wanted:
                    continue
                asked += 1
                found = wanted & {item["id"] for item in items(pack)}
                any_hit += bool(found)
                all_hit += found == wanted
                levels[pack["depth_level"]] += 1
                hit_by_level[pack["depth_level"]] += bool(found)
                tokens.append(pack["total_tokens_estimated"])
        return {
            "packs": len(self.packs),
            "turns_stored": len(self.turns),
            "repeated_packs": self.repeats,
            "dead_letters": self.letters,
            "degraded": sum(pack["degraded"] for pack in self.packs.values()),
            "pack_latency_ms": spread(latency),
            "queries": asked,
            "evidence_any": round(any_hit / max(asked, 1), 3),
            "evidence_all": round(all_hit / max(asked, 1), 3),
            "levels": dict(sorted(levels.items())),
            "evidence_any_by_level": {
                level: round(hit_by_level[level] / count, 3) for level, count in sorted(levels.items())
            },
            "query_pack_tokens": spread(tokens),
        }


def items(pack: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Every item of a pack, whatever its section."""
    for section in pack.values():
        if isinstance(section, dict):
            for listed in section.values():
                if isinstance(listed, list):
                    yield from (one for one in listed if isinstance(one, dict) and "id" in one)


def main() -> int:
    parser = argparse.ArgumentParser(description="How often the evidence of a question was in its pack.")
    parser.add_argument("file", type=Path)
    parser.add_argument("--dataset", help="only the sets of this dataset")
    options = parser.parse_args()
    chosen = sets(options.file, options.dataset)
    with tempfile.TemporaryDirectory(prefix="fathom-evidence-") as folder:
        up = subprocess.Popen(
            [sys.executable, "-m", "streams", "up", "--data", folder, "--port", "0"], stdout=subprocess.PIPE, text=True
        )
        try:
            assert up.stdout is not None
            bootstrap = json.loads(up.stdout.readline())["bootstrap"]
            figures = asyncio.run(play(bootstrap, chosen))
        finally:
            up.terminate()
            up.wait(30)
    print(json.dumps(figures))
    return 0


if __name__ == "__main__":
    sys.exit(main())
