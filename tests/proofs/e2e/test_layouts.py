"""The pack path switches from split to chained and back at the start of `fathom up`, while messages wait and come."""

import asyncio
import json
import signal
from collections import Counter
from pathlib import Path

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition

from schemas.base import Conversation
from schemas.topics import CONTEXT_PACKS, MESSAGES_IN
from tests.e2e.processes import START_S, UNHURRIED, fathom, running

MESSAGES, CONVERSATIONS, PARTITIONS = 60, 20, 2
QUESTIONS = ("Qual o prazo do projeto {n}?", "Explica melhor a fase {n}", "Não, o prazo mudou para dia {n}")


async def send(bootstrap: str, named: str) -> set[str]:
    """Messages of some conversations, as fast as they go; their ids."""
    async with AIOKafkaProducer(bootstrap_servers=bootstrap, acks="all") as producer:
        ids = [f"{named}-{n}" for n in range(MESSAGES)]
        for n, message_id in enumerate(ids):
            where = {"conversation_id": f"c{n % CONVERSATIONS}", "client_id": "web"}
            content = QUESTIONS[n // CONVERSATIONS % len(QUESTIONS)].format(n=n)
            value = {"message_id": message_id, "role": "user", "content": content, **where}
            key = Conversation(tenant="acme", **where).key().encode()
            await producer.send(MESSAGES_IN.name, json.dumps(value).encode(), key=key, headers=[("tenant", b"acme")])
        await producer.flush()
    return set(ids)


async def packs(bootstrap: str, wanted: int) -> Counter[str]:
    """How often each message has a pack, once there are so many packs."""
    found: Counter[str] = Counter()
    if not wanted:
        return found
    consumer = AIOKafkaConsumer(bootstrap_servers=bootstrap, auto_offset_reset="earliest", enable_auto_commit=False)
    async with consumer:
        consumer.assign([TopicPartition(CONTEXT_PACKS.name, n) for n in range(PARTITIONS)])
        async with asyncio.timeout(START_S):
            while found.total() < wanted:
                for batch in (await consumer.getmany(timeout_ms=500)).values():
                    found.update(json.loads(record.value)["message_id"] for record in batch)
    return found


@pytest.mark.covers("CF-68")
def test_every_message_has_one_pack_over_switches_in_both_directions(tmp_path: Path) -> None:
    data, asked = str(tmp_path / "data"), set()
    for turn, (layout, end) in enumerate(
        (("split", signal.SIGKILL), ("chained", signal.SIGKILL), ("split", signal.SIGTERM), ("chained", signal.SIGTERM))
    ):
        environment = {**UNHURRIED, "FATHOM_LAYOUT": layout}
        with running("up", "--data", data, "--port", "0", stderr=tmp_path / f"err-{turn}", **environment) as process:
            bootstrap = process.ready()["bootstrap"]
            assert ("layout.switching" in process.said()) == (turn > 0 or layout == "split")
            found = asyncio.run(packs(bootstrap, len(asked)))
            assert found == Counter(asked)
            if turn == 3:
                replayed = fathom("replay", "--mode", "exact", "--execute", "--broker", bootstrap, "--json")
                verdict = json.loads(replayed.stdout.strip().splitlines()[-1])
                assert (verdict["made"], verdict["equal"]) == (len(asked), len(asked)), verdict
                break
            asked |= asyncio.run(send(bootstrap, f"m{turn}"))
            asyncio.run(packs(bootstrap, len(asked) - MESSAGES + MESSAGES // 3))  # some are out, the others in hand
            process.end(end)
