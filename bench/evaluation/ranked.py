"""Rankings of corpora by the retrieval stages: indexed as turns and documents, queried at depth D2."""

import asyncio
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

from agents.core.packs.planning import Limits, make_plan
from agents.retrievers.base import RetrievalRequest, Retriever
from bench.evaluation import questions
from bench.evaluation.measures import Item as LabelledItem
from bench.evaluation.predictions import embedder
from schemas.base import Conversation
from schemas.depth import DepthClassified, DepthLevel
from schemas.items import Chunk, Item, TimePoint
from schemas.retrieval import MemoryClass
from schemas.topics import DEPTH_CLASSIFIED
from streams.stores.passages.qdrant_edge import QdrantEdgeIndex
from streams.testing.pipeline import Pipeline
from streams.topology import BESIDE, CHAINED_PATH, SPLIT_PATH

TENANT, CLIENT, USER = "corpus", "eval", "reader"
ASKED = (MemoryClass.SEMANTIC, MemoryClass.EPISODIC)
LONGEST, TOKENS = 60, 100_000
LATER_S = 86_400.0
SAID_IN = "talk"


def rankings(corpus: LabelledItem) -> Iterator[tuple[str, list[str]]]:
    """The ids of the documents found for each query id; queries are not stored in the memory."""
    memory = [CHAINED_PATH[0], *BESIDE]
    with (
        _index() as index,
        Pipeline(stages=memory, tenant=TENANT, client=CLIENT, replace={"index": index}) as fathom,
        Pipeline(stages=CHAINED_PATH[:1], tenant=TENANT, client=CLIENT) as asker,
    ):
        known = _teach(fathom, corpus)
        asker.clock.advance(LATER_S)
        built = fathom.dependencies()
        names = [f"retrieval-{memory_class.value}" for memory_class in ASKED]
        retrievers = [cast("Retriever", stage.handler(built)) for stage in SPLIT_PATH if stage.name in names]
        for number, query in enumerate(corpus["queries"]):
            message_id = asker.say(query["text"], conversation=f"q{number}", headers={"user_id": USER})
            classified = asker.one(DEPTH_CLASSIFIED, message_id=message_id)
            items = asyncio.run(_fetched(retrievers, classified.model_copy(update={"depth_level": DepthLevel.D2})))
            yield query["id"], list(dict.fromkeys(name for item in items if (name := known.get(_source(item)))))


@contextmanager
def _index() -> Iterator[QdrantEdgeIndex]:
    """The default embedded index in a temporary folder."""
    with tempfile.TemporaryDirectory(prefix="fathom-eval-") as folder:
        index = QdrantEdgeIndex(Path(folder) / "index", embedder())
        try:
            yield index
        finally:
            asyncio.run(index.close())


def _teach(fathom: Pipeline, corpus: LabelledItem) -> dict[str, str]:
    """Publish every document or turn; the corpus id by message or document id."""
    documents, talked = corpus["documents"], list(questions.spoken(corpus["documents"]))
    known = {f"{SAID_IN}-{number}": str(document["id"]) for number, document in enumerate(documents)}
    if not talked:
        for name, document in zip(known, documents, strict=True):
            fathom.document(name, questions.title_of(document), document["text"])
    for name, (session, turn) in zip(known, talked, strict=False):
        about: dict[str, Any] = {"created_at": turn.at.isoformat()} if turn.at else {}
        about |= {"message_id": name, "headers": {"user_id": USER}}
        fathom.say(turn.text, role=turn.role, conversation=f"s-{session}", **about)
    return known


async def _fetched(retrievers: Sequence[Retriever], classified: DepthClassified) -> list[Item]:
    """The items of the stages with raised limits, in their order, which may differ from that of scores."""
    conversation = Conversation(tenant=TENANT, client_id=CLIENT, conversation_id=classified.conversation_id)
    plan = make_plan(classified, conversation, Limits())
    found: list[Item] = []
    for retriever in retrievers:
        for source in plan.sources:
            if source.memory_class is retriever.memory:
                wide = source.model_copy(update={"limit": LONGEST, "max_tokens": TOKENS})
                found += (await retriever.fetch(RetrievalRequest(plan, wide, conversation))).items
    return found


def _source(item: Item) -> str:
    """The id of an item's message or document."""
    if isinstance(item, Chunk):
        return item.document_id
    return item.id if isinstance(item, TimePoint) else ""
