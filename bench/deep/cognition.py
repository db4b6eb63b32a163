"""Time of a complex question of seven sub-questions among 10,000 passages, without a model, and of packs beside it.

    make bench-cognition          last line: JSON

The stage runs here, on the embedded graph; the index is a process of its own, as in a worker. A job is the whole run
from its tree to its end, all flags on, without the log between its steps. Of a pack the reads of the semantic memory
are timed, which are the slowest, at a steady rate: by themselves, and while a job begins every second in the same
process. `held_ms` is how long the loop was held at most by other work, sampled every millisecond.
"""

import asyncio
import contextlib
import random
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from agents.cognition.core.route import step_after
from agents.cognition.stage import CognitionAgent
from agents.core.language import text
from agents.document_search import CANDIDATES, COLLECTION, by_block
from agents.ports.cognition import CognitionOptions
from agents.ports.passages import Passage, PassageQuery
from bench import filling
from bench.filling import Texts
from bench.measure import finish, percentile, say, spread
from schemas.cognition import CognitionFlags, CognitionStep, CognitiveState, CognitiveTree, MindMapNode, Node
from schemas.envelope import Envelope, Outgoing, Received
from schemas.memory import ChunkEntry, EntityMention, KnowledgeRecorded, Theme
from streams.stores.graph.embedded.engine import EmbeddedGraph
from streams.stores.passages.index_process import IndexProcess

PASSAGES, DOCUMENT, LEAVES, JOBS, PER_SECOND = 10_000, 40, 7, 30, 50
# A worker gets a question of this size so often; one after the other without a pause would fill both cores.
EVERY_S = 1.0
TENANT = "bench"
AS_OF = filling.NOON + timedelta(days=30)
NAMES = 400
FLAGS = CognitionFlags(theme=True, refinement=True, memory=True, verification=True, hallucination_loop=True)


class WallClock:
    def now(self) -> datetime:
        """The wall clock, UTC."""
        return datetime.now(UTC)


async def filled(folder: Path, texts: Texts) -> tuple[IndexProcess, EmbeddedGraph, list[str]]:
    """A graph and an index of documents of forty passages, each naming two of four hundred things; the texts."""
    index = IndexProcess(folder / "index", "use")
    index.spawn()
    await asyncio.to_thread(index.wait)
    graph = EmbeddedGraph(folder / "graph")
    chosen = random.Random(1)
    said: list[str] = []
    for start in range(0, PASSAGES, DOCUMENT):
        heading = texts.sentence(2).capitalize()
        entries = []
        for number in range(start, start + DOCUMENT):
            names = [f"Nome {chosen.randrange(NAMES)}" for _ in range(2)]
            said.append(f"{texts.sentence(25)}, {names[0]}. {texts.sentence(25).capitalize()}, {names[1]}.")
            entries.append(
                ChunkEntry(
                    id=f"p{number}", document_id=f"d{start}", recency=filling.NOON, lang="pt", position=number,
                    title=f"Documento {start} › {heading}", text=said[-1],
                    entities=tuple(EntityMention(name=name, kind="nome") for name in names),
                )
            )  # fmt: skip
        themes = (Theme(name=heading, level="macro", description=heading, relevance=1.0),)
        event = KnowledgeRecorded(
            document_id=f"d{start}", title=f"Documento {start}", content_hash="h", batch=0, batches=1,
            entries=tuple(entries), themes=themes, recorded_at=filling.NOON,
        )  # fmt: skip
        await graph.write_knowledge([received(event, start)])
        await index.upsert(TENANT, COLLECTION, [_passage(entry) for entry in entries])
    return index, graph, said


def _passage(entry: ChunkEntry) -> Passage:
    fields = {"title": entry.title, "document_id": entry.document_id, "position": entry.position}
    return Passage(entry.id, "chunk", entry.text, "pt", filling.NOON, fields=fields)


def received(event: Any, number: int) -> Received[Any]:
    envelope = Envelope(f"e{number}", event.TYPE, "urn:bench", filling.NOON, TENANT, f"e{number}")
    return Received(event, envelope, "k", "bench", 0, number, int(AS_OF.timestamp() * 1000))


def question(said: list[str], chosen: random.Random) -> list[str]:
    """Seven questions, each in words of a passage and about a thing that it names."""
    asked = []
    for _ in range(LEAVES):
        passage = said[chosen.randrange(len(said))]
        words = chosen.sample(list(dict.fromkeys(text.surface_terms(passage, "pt"))), 6)
        asked.append(f"Qual é {' '.join(words)} de {passage.rpartition(', ')[2].rstrip('.')}?")
    return asked


def tree(asked: list[str]) -> CognitiveTree:
    """The questions under two nodes under a root, as a tree of seven leaves must be."""
    parts = {"1": asked[:4], "2": asked[4:]}
    nodes = [MindMapNode(node_id="0", question=" ".join(asked), level=0, children=(*parts,), kind="list")]
    for part, under in parts.items():
        names = tuple(f"{part}.{number}" for number in range(1, len(under) + 1))
        nodes.append(
            MindMapNode(
                node_id=part, question=" ".join(under), level=1, parent_id="0", children=names, kind="list"
            )
        )  # fmt: skip
        nodes += [
            MindMapNode(node_id=name, question=said, level=2, parent_id=part)
            for name, said in zip(names, under, strict=True)
        ]
    return CognitiveTree(root_question=nodes[0].question, nodes={node.node_id: node for node in nodes})


def opened(asked: list[str], number: int) -> CognitionStep:
    """The first step of a job."""
    ids = {f"{name}_id": f"{name}-{number}" for name in ("job", "client", "conversation", "message", "pack", "frame")}
    state = CognitiveState(
        query=" ".join(asked), lang="pt", tenant_id=TENANT, scope="tenant", user_id="u0", as_of=AS_OF,
        deadline_at=AS_OF + timedelta(days=1), flags=FLAGS, mind_map=tree(asked), **ids,
    )  # fmt: skip
    return step_after(state, Node.PLANNER, 1, AS_OF)


async def run(agent: CognitionAgent, step: CognitionStep) -> CognitiveState:
    """All steps of a job; other tasks run between them, as between two records."""
    number = 0
    while step.next is not Node.END:
        made = await agent.handle(received(step, number))
        step = next(each.event for each in made if isinstance(each, Outgoing) and isinstance(each.event, CognitionStep))
        number += 1
        await asyncio.sleep(0)
    return step.state


class Packs:
    """Reads of the semantic memory at a steady rate; their times, and how long the loop was held."""

    def __init__(self, index: IndexProcess, graph: EmbeddedGraph, asked: list[str]) -> None:
        self._index, self._graph, self._asked = index, graph, asked
        self.took: list[float] = []
        self.held = 0.0

    async def one(self, asked: str) -> None:
        """The reads of one pack."""
        began = time.perf_counter()
        await self._graph.persona(TENANT, "u0", AS_OF)
        query = PassageQuery(asked, "pt", CANDIDATES, AS_OF, kinds=("chunk",))
        found, _ = await asyncio.gather(
            self._index.search(TENANT, COLLECTION, query),
            self._graph.named(TENANT, reader="u0", terms=asked.split(), access_level="public", as_of=AS_OF, limit=10),
        )
        by_block(found)
        self.took.append((time.perf_counter() - began) * 1000)

    @contextlib.asynccontextmanager
    async def beside(self) -> AsyncIterator[None]:
        """Ask at the rate while the body runs."""
        tasks: set[asyncio.Task[None]] = set()

        async def ask() -> None:
            due = time.perf_counter()
            for asked in self._asked:
                tasks.add(asyncio.create_task(self.one(asked)))
                due += 1 / PER_SECOND
                await asyncio.sleep(max(due - time.perf_counter(), 0))

        async def watch() -> None:
            while True:
                began = time.perf_counter()
                await asyncio.sleep(0.001)
                self.held = max(self.held, (time.perf_counter() - began) * 1000 - 1)

        asking, watching = asyncio.create_task(ask()), asyncio.create_task(watch())
        try:
            yield
        finally:
            for task in (asking, watching):
                task.cancel()
            await asyncio.gather(asking, watching, *tasks, return_exceptions=True)


async def measured(folder: Path) -> dict[str, Any]:
    """The figures."""
    texts, chosen = Texts(), random.Random(2)
    index, graph, said = await filled(folder, texts)
    say(f"{PASSAGES} passages")
    agent = CognitionAgent(index, graph, CognitionOptions(enabled=True, flags=FLAGS), WallClock())
    steps = [opened(question(said, chosen), number) for number in range(2 * JOBS)]
    plain = [" ".join(chosen.sample(text.surface_terms(said[n], "pt"), 6)) for n in range(2_000)]
    for asked in plain[:50]:
        await Packs(index, graph, []).one(asked)
    took, claims = [], 0
    for step in steps[:JOBS]:
        began = time.perf_counter()
        state = await run(agent, step)
        took.append((time.perf_counter() - began) * 1000)
        claims += sum(len(each.claims) for each in state.sub_answers.values() if "." in each.node_id)
    alone, beside = Packs(index, graph, plain), Packs(index, graph, plain)
    async with alone.beside():
        await asyncio.sleep(JOBS * EVERY_S)
    async with beside.beside():
        for step in steps[JOBS:]:
            _, state = await asyncio.gather(asyncio.sleep(EVERY_S), run(agent, step))
    await index.close()
    await graph.close()
    rows = [
        {"what": "job of seven", **spread(took)},
        {"what": "pack's reads, alone", **spread(alone.took)},
        {"what": "pack's reads, beside jobs", **spread(beside.took)},
    ]
    slower = percentile(beside.took, 0.5) / percentile(alone.took, 0.5) - 1
    held = {"alone": round(alone.held, 1), "beside_jobs": round(beside.held, 1)}
    return {"ms": rows, "claims_per_job": round(claims / JOBS, 1), "packs_slower": round(slower, 3), "held_ms": held}


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="fathom-bench-") as folder:
        finish("cognition", "make bench-cognition", asyncio.run(measured(Path(folder))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
