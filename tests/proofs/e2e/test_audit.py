"""`fathom audit`: sealed and verified on a running broker; a log made anew is found out."""

import asyncio
import json
from collections.abc import Iterator

import httpx
import pytest
from aiokafka import AIOKafkaProducer
from aiokafka.admin import AIOKafkaAdminClient, NewTopic

from schemas.topics import MEMORY_CLAIMS, MEMORY_DECISIONS
from streams.kafka.security import PLAINTEXT
from streams.replay.log import opened
from tests.e2e.audited import audit, decide
from tests.e2e.processes import UNHURRIED, fathom, running


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A `fathom up` that has decided on some messages."""
    place = tmp_path_factory.mktemp("up")
    settings = {**UNHURRIED, "FATHOM_ASK_TIMEOUT_MS": "60000"}
    with running("up", "--data", str(place / "data"), "--port", "0", stderr=place / "err", **settings) as process:
        ready = process.ready()
        token = {"authorization": f"Bearer {(place / 'data' / 'token').read_text().strip()}"}
        with httpx.Client(base_url=f"http://{ready['http']}", headers=token, timeout=60) as calls:
            decide(calls)
        yield ready["bootstrap"]


@pytest.mark.covers("B25")
def test_a_sealed_log_verifies_and_one_made_anew_does_not(broker: str) -> None:
    assert "nothing is sealed yet" in audit(broker, "verify")
    assert "nothing is sealed yet" in audit(broker, "head", code=1)
    sealed = audit(broker, "seal")
    head = audit(broker, "head").strip()
    assert head in sealed
    assert "0 records sealed" in audit(broker, "seal")
    assert audit(broker, "head").strip() == head
    verdict = json.loads(audit(broker, "verify", "--head", head, "--json"))
    assert (verdict["head"], verdict["breaks"], verdict["unsealed"]) == (head, [], 0)
    assert verdict["verified"] >= 3
    other = f"{'0' * 64}:{head.partition(':')[2]}"
    assert "the anchored head 1 is not there" in audit(broker, "verify", "--head", other, code=5)
    assert "64 hex digits" in audit(broker, "verify", "--head", "x", code=2)
    asyncio.run(_made_anew(broker))
    said = audit(broker, "verify", "--head", head, code=5)
    assert "memory.claims[" in said.splitlines()[0]
    assert "it was changed, moved, or another stands in its place" in said.splitlines()[0]
    assert "exit" not in said
    down = fathom("audit", "verify", "--broker", "127.0.0.1:1")
    assert down.returncode == 4


async def _made_anew(broker: str) -> None:
    """The claims, deleted and written again with other words."""
    async with opened(broker, PLAINTEXT) as log:
        records = [each async for batch in log.read(await log.spans(MEMORY_CLAIMS.name)) for each in batch]
        count = log.partitions(MEMORY_DECISIONS.name)
    admin = AIOKafkaAdminClient(bootstrap_servers=broker)
    await admin.start()
    await admin.delete_topics([MEMORY_CLAIMS.name])
    await admin.create_topics([NewTopic(MEMORY_CLAIMS.name, count, 1)])
    await admin.close()
    async with AIOKafkaProducer(bootstrap_servers=broker) as producer:
        for each in records:
            value = each.value.replace(b"15 May", b"25 May")
            await producer.send_and_wait(
                each.topic, value, key=each.key, partition=each.partition, headers=list(each.headers),
                timestamp_ms=each.timestamp,
            )  # fmt: skip
