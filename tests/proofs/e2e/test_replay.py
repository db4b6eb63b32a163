"""`fathom replay`: packs made again on a topic of their own, byte for byte, and nothing else touched."""

import asyncio
import json
import os
import random
import shutil
import signal
import time
from pathlib import Path
from typing import Any

import pytest
import qdrant_edge as edge
from aiokafka.admin import AIOKafkaAdminClient

from schemas.base import Conversation
from schemas.topics import CONTEXT_PACKS, TOPICS
from streams.kafka.records import Record
from streams.replay.log import opened
from streams.replay.reconcile import Refs, found_in, take_out
from streams.stores.graph.embedded.engine import EmbeddedGraph
from streams.stores.passages.points import COLLECTIONS
from streams.stores.passages.qdrant_edge import QdrantEdgeIndex
from streams.stores.passages.vectors import HashingEmbedder
from streams.stores.sessions.redis_working_sets import RedisWorkingSets, connect
from streams.stores.sessions.valkey import Valkey
from streams.topology import STAGES
from tests.contract.test_stores_graph import contents
from tests.e2e.processes import fathom, running

# AC-33 says a thousand: `make proofs PART=e2e SIZE=full`.
MESSAGES = int(os.environ.get("FATHOM_TEST_MESSAGES", "150"))
TIMES = max(MESSAGES / 150, 1)
PATIENCE_S = 240.0 * TIMES
LOST_POINTS, LOST_NODES = 100, 20
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


async def _behind(bootstrap: str) -> int:
    """Records that the writers of graph and index have not stored yet."""
    admin, behind = AIOKafkaAdminClient(bootstrap_servers=bootstrap), 0
    await admin.start()
    try:
        async with opened(bootstrap) as log:
            for stage in STAGES:
                if stage.group_name in ("graph-writers", "index-writers"):
                    committed = await admin.list_consumer_group_offsets(stage.consumer_group)
                    for topic in stage.reads:
                        for span in await log.spans(topic.name):
                            behind += span.end - (committed[span.tp].offset if span.tp in committed else 0)
    finally:
        await admin.close()
    return behind


def until_quiet(bootstrap: str, count: int) -> dict[str, list[Record]]:
    """All topics, once every question has its pack, nothing more is written, and all of it is stored."""
    names = [topic.name for topic in TOPICS]
    deadline = time.monotonic() + PATIENCE_S
    found: dict[str, list[Record]] = {}
    while True:
        before, found = found, whole(bootstrap, *names)
        if len(found[CONTEXT_PACKS.name]) >= count and before == found and not asyncio.run(_behind(bootstrap)):
            return found
        assert time.monotonic() < deadline, f"{len(found[CONTEXT_PACKS.name])} of {count} packs"
        time.sleep(1.0)


async def _contents(data: Path) -> tuple[Any, Any]:
    """Every node, link and property of the embedded graph, and every point of the index with vectors and payload."""
    graph = EmbeddedGraph(data / "graph")
    found = await contents(graph)
    await graph.close()
    index = QdrantEdgeIndex(data / "index", HashingEmbedder())
    points = {name: [] for name in COLLECTIONS}
    for name, collected in points.items():
        records, _ = index._shards[name].scroll(edge.ScrollRequest(limit=100_000, with_payload=True, with_vector=True))
        collected += [(str(record.id), record.payload, _vectors(record.vector)) for record in records]
    await index.close()
    return found, points


def _vectors(found: Any) -> dict[str, Any]:
    """Vectors by name; of a sparse one, its numbers by their places, which come in any order."""
    return {
        name: sorted(zip(each.indices, each.values, strict=True)) if hasattr(each, "indices") else list(each)
        for name, each in found.items()
    }


async def _working_sets(data: Path) -> dict[str, Any]:
    """Of every conversation the session, the newest turns, and what was decided on each message."""
    server = Valkey(data / "valkey")
    server.start()
    sets, found = RedisWorkingSets(connect(f"unix://{server.socket}")), {}
    for name in sorted({message["conversation_id"] for message in messages(MESSAGES)}):
        whose = Conversation(tenant="aurora", client_id="web", conversation_id=name)
        asked = [m["message_id"] for m in messages(MESSAGES) if m["conversation_id"] == name]
        outcomes = [(await sets.open(whose, message_id, 0)).outcome for message_id in asked]
        turns = await sets.session_turns(whose, up_to_seq=10_000, limit=100)
        opened = await sets.open(whose, "", 100)
        found[name] = (opened.session, opened.turns, turns, outcomes)
    await sets.close()
    server.stop()
    return found


def chosen(chance: random.Random, there: Refs, points: int, nodes: int) -> Refs:
    """So many passages and nodes of what is there, by chance."""
    wanted = {"passages": points, "nodes": nodes}
    return frozenset(
        ref
        for kind, number in wanted.items()
        for ref in chance.sample(sorted(ref for ref in there if ref.kind == kind), number)
    )


async def _without(data: Path, points: int, nodes: int) -> None:
    """Take some points and nodes away, by chance."""
    chance = random.Random(7)
    graph, index = EmbeddedGraph(data / "graph"), QdrantEdgeIndex(data / "index", HashingEmbedder())
    there = await found_in({"aurora"}, graph, index)
    await take_out(chosen(chance, there, points, nodes), graph, index)
    await graph.close()
    await index.close()


def missing(said: dict[str, Any], kind: str) -> int:
    return sum(row["missing"] for row in said["reconciled"] if row["kind"] == kind)


@pytest.mark.timeout(900)
@pytest.mark.timeout(300 * TIMES)
@pytest.mark.covers("AC-33", "AC-44", "CF-84", "CD-11", "S1-L2", "B15")
def test_packs_and_views_are_made_again_and_what_was_lost_is_found_and_mended(data: Path, tmp_path: Path):
    broker = f"embedded://{data}"
    with running("up", "--data", str(data), "--port", "0", stderr=tmp_path / "err") as up:
        bootstrap = up.ready()["bootstrap"]
        fill(broker, tmp_path, MESSAGES)
        before = until_quiet(bootstrap, questions(MESSAGES))

        planned = said(fathom("replay", "--mode", "exact", "--broker", broker, "--json", "--id", "one"))
        assert planned["reads"][0]["records"] == len(before["packs.partial"])
        assert "context-packs.out.replay.one" in planned["writes"][0]
        assert whole(bootstrap, "context-packs.out.replay.one")["context-packs.out.replay.one"] == []

        done = fathom("replay", "--mode", "exact", "--execute", "--broker", broker, "--json", "--id", "one")
        verdict, packs = said(done), len(before[CONTEXT_PACKS.name])
        assert (verdict["made"], verdict["equal"], verdict["different"]) == (packs, packs, 0)
        assert "records" in done.stderr

        after = whole(bootstrap, *before, "context-packs.out.replay.one")
        again = after.pop("context-packs.out.replay.one")
        assert [plain(record) for record in again] == [plain(record) for record in before[CONTEXT_PACKS.name]]
        assert all(dict(record.headers)["fathom_replay"] == b"one" for record in again)
        assert after == before

        refused = fathom("replay", "--mode", "rebuild", "--execute", "--broker", broker)
        assert (refused.returncode, f"kill {up.child.pid}" in refused.stderr) == (3, True)
        healthy = said(fathom("doctor", "--broker", broker, "--json"))
        assert {check["state"] for check in healthy["checks"]} == {"ok", "skipped"}
        assert up.end(signal.SIGTERM) == (0, "")

    there, sets = asyncio.run(_contents(data)), asyncio.run(_working_sets(data))
    assert all(outcome for _, _, _, outcomes in sets.values() for outcome in outcomes)
    for name in ("graph", "index", "valkey"):
        shutil.rmtree(data / name)
    rebuilt = said(fathom("replay", "--mode", "rebuild", "--execute", "--broker", broker, "--json"))
    assert rebuilt["topics"]["conversation.turns"]["selected"] == len(before["conversation.turns"])
    assert asyncio.run(_contents(data)) == there
    assert rebuilt["redis"]["turns"] == len(before["conversation.turns"])
    assert asyncio.run(_working_sets(data)) == sets

    clean = said(fathom("doctor", "--reconcile", "--broker", broker, "--json"))
    assert (clean["left"], missing(clean, "nodes"), missing(clean, "passages")) == (0, 0, 0)
    asyncio.run(_without(data, LOST_POINTS, LOST_NODES))
    ill = said(fathom("doctor", "--reconcile", "--broker", broker, "--json"), code=5)
    assert (missing(ill, "passages"), missing(ill, "nodes")) == (LOST_POINTS, LOST_NODES)
    assert sum(row["orphans"] for row in ill["reconciled"]) == 0
    assert said(fathom("doctor", "--repair", "--broker", broker, "--json"))["left"] == 0
    assert asyncio.run(_contents(data)) == there
