"""`fathom audit`: shown, exported, sealed and verified on a running broker; a log made anew is found out."""

import asyncio
import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from aiokafka import AIOKafkaProducer
from aiokafka.admin import AIOKafkaAdminClient, NewTopic

from schemas.topics import MEMORY_CLAIMS, MEMORY_DECISIONS
from streams.kafka.security import PLAINTEXT
from streams.replay.log import opened
from tests.e2e.test_explain import until_stored
from tests.e2e.test_up import UNHURRIED, fathom, running

SAID = ("The deadline of the Aurora project is 15 May.", "=cmd|' /C calc'!A0 is no formula. How do I file a refund?")


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A `fathom up` that has decided on some messages."""
    place = tmp_path_factory.mktemp("up")
    settings = {**UNHURRIED, "FATHOM_ASK_TIMEOUT_MS": "60000"}
    with running("up", "--data", str(place / "data"), "--port", "0", stderr=place / "err", **settings) as process:
        ready = process.ready()
        token = {"authorization": f"Bearer {(place / 'data' / 'token').read_text().strip()}"}
        with httpx.Client(base_url=f"http://{ready['http']}", headers=token, timeout=60) as calls:
            for number, text in enumerate(SAID):
                body = {"content": text, "role": "user", "conversation_id": f"c{number}", "client_id": "default"}
                pack = calls.post("/messages?wait=pack", json=body, headers={"fathom-user": "ana"}).json()
                until_stored(calls, pack["message_id"])
        yield ready["bootstrap"]


def audit(broker: str, *arguments: str, code: int = 0) -> str:
    done = fathom("audit", *arguments, "--broker", broker)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout if code in (0, 5) else done.stderr


def test_what_was_decided_and_claimed_is_shown_and_exported(broker: str, tmp_path: Path) -> None:
    shown = [json.loads(line) for line in audit(broker, "show", "--json").splitlines()]
    assert {each["kind"] for each in shown} >= {"decision", "claim"}
    assert [each["kind"] for each in shown if each["conversation_id"] == "c1"] == ["decision"]
    assert "memory.decisions[" in audit(broker, "show", "--conversation", "c1")
    assert "nothing was decided" in audit(broker, "show", "--tenant", "beta")
    assert "nothing was decided" in audit(broker, "show", "--user", "bia")
    assert "nothing was decided" in audit(broker, "show", "--until", "2020-01-01T00:00:00Z")
    for name in ("out.csv", "out.json", "out.parquet"):
        assert f"{len(shown)} entries in" in audit(broker, "export", str(tmp_path / name))
    assert not [*tmp_path.glob("*.part")]
    by_place = {(each["topic"], each["partition"], each["offset"]): each for each in shown}
    for row in _rows(tmp_path):
        assert by_place[row["topic"], int(row["partition"]), int(row["offset"])]["id"] == row["id"]
    assert len([*_rows(tmp_path)]) == 3 * len(shown)
    assert "does not say which" in audit(broker, "export", str(tmp_path / "out.xls"), code=2)


def _rows(place: Path) -> Iterator[dict[str, Any]]:
    from pyarrow import parquet

    with (place / "out.csv").open() as file:
        yield from csv.DictReader(file)
    yield from map(json.loads, (place / "out.json").read_text().splitlines())
    yield from parquet.read_table(place / "out.parquet").to_pylist()


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
