"""`fathom replay`: packs made again on a topic of their own, byte for byte, and nothing else touched."""

import asyncio
import json
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from schemas.topics import CONTEXT_PACKS, TOPICS
from streams.records import Record
from streams.replay.log import opened
from tests.e2e.test_up import fathom, running

PATIENCE_S = 90.0
HANDBOOK = """# Política de reembolso

O reembolso de viagem da Aurora é pago em dez dias depois da aprovação da diretoria financeira.
O formulário de reembolso fica no portal. A nota fiscal do reembolso é guardada por cinco anos.
"""
TALK = (
    ("user", "Qual é o prazo do projeto Aurora?"),
    ("assistant", "O prazo do projeto Aurora é dia 15."),
    ("user", "Não, o prazo do projeto Aurora mudou para dia 20"),
    ("user", "Explica melhor como funciona o reembolso de viagem"),
    ("user", "Compara o reembolso de viagem com o de hotel"),
    ("user", "Bom dia!"),
)


def messages(count: int) -> list[dict[str, Any]]:
    """The talk over and over, in several conversations."""
    return [
        {
            "message_id": f"m{number}",
            "role": TALK[number % len(TALK)][0],
            "content": TALK[number % len(TALK)][1],
            "conversation_id": f"c{number // len(TALK) % 7}",
            "client_id": "web",
        }
        for number in range(count)
    ]


def questions(count: int) -> int:
    return sum(message["role"] == "user" for message in messages(count))


def whole(bootstrap: str, *topics: str) -> dict[str, list[Record]]:
    """Every record of the topics, partition by partition."""

    async def read() -> dict[str, list[Record]]:
        found: dict[str, list[Record]] = {topic: [] for topic in topics}
        async with opened(bootstrap) as log:
            for topic in topics:
                async for batch in log.read(await log.spans(topic)):
                    found[topic] += batch
        return {topic: sorted(records, key=lambda r: (r.partition, r.offset)) for topic, records in found.items()}

    return asyncio.run(read())


def plain(record: Record) -> tuple[Any, ...]:
    """A record without its place in time and the mark of a replay."""
    headers = [header for header in record.headers if header[0] != "fathom_replay"]
    return record.partition, record.key, record.value, headers


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


def said(done: Any, code: int = 0) -> dict[str, Any]:
    """What a command printed as JSON."""
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout.strip().splitlines()[-1])


def fill(broker: str, folder: Path, count: int) -> None:
    """A document and messages."""
    (folder / "handbook.md").write_text(HANDBOOK)
    (folder / "talk.jsonl").write_text("".join(json.dumps(message) + "\n" for message in messages(count)))
    for arguments in (["--document", str(folder / "handbook.md")], ["--file", str(folder / "talk.jsonl")]):
        done = fathom("send", *arguments, "--broker", broker, "--tenant", "aurora", "--json")
        assert done.returncode == 0, done.stderr


def until_quiet(bootstrap: str, count: int) -> dict[str, list[Record]]:
    """All topics, once every question has its pack and nothing more is written."""
    names = [topic.name for topic in TOPICS]
    deadline = time.monotonic() + PATIENCE_S
    found: dict[str, list[Record]] = {}
    while True:
        before, found = found, whole(bootstrap, *names)
        if len(found[CONTEXT_PACKS.name]) >= count and before == found:
            return found
        assert time.monotonic() < deadline, f"{len(found[CONTEXT_PACKS.name])} of {count} packs"
        time.sleep(1.0)


@pytest.mark.covers("AC-33", "CF-84", "CD-11")
def test_packs_are_made_again_beside_running_workers_and_nothing_else_is_written(data: Path, tmp_path: Path):
    with running("up", "--data", str(data), "--port", "0", stderr=tmp_path / "err") as up:
        bootstrap = up.ready()["bootstrap"]
        broker = f"embedded://{data}"
        fill(broker, tmp_path, 60)
        before = until_quiet(bootstrap, questions(60))

        planned = said(fathom("replay", "--mode", "exact", "--broker", broker, "--json", "--id", "one"))
        assert planned["reads"][0]["records"] == len(before["packs.partial"])
        assert "context-packs.out.replay.one" in planned["writes"][0]
        assert whole(bootstrap, "context-packs.out.replay.one")["context-packs.out.replay.one"] == []

        done = fathom("replay", "--mode", "exact", "--execute", "--broker", broker, "--json", "--id", "one")
        verdict = said(done)
        packs = len(before[CONTEXT_PACKS.name])
        assert (verdict["made"], verdict["equal"], verdict["different"]) == (packs, packs, 0)
        assert "records" in done.stderr

        after = whole(bootstrap, *before, "context-packs.out.replay.one")
        again = after.pop("context-packs.out.replay.one")
        assert [plain(record) for record in again] == [plain(record) for record in before[CONTEXT_PACKS.name]]
        assert all(dict(record.headers)["fathom_replay"] == b"one" for record in again)
        assert after == before
        assert up.end(signal.SIGTERM) == (0, "")

    assert said(fathom("replay", "--mode", "exact", "--broker", broker, "--execute", "--json"))["equal"] == packs
