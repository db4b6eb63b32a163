"""Rankings of corpora by the retrieval stages: indexed as turns and documents, queried at depth D2."""

import asyncio
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import cast

from agents.core.packs.planning import Limits, make_plan
from agents.retrievers.base import RetrievalRequest, Retriever
from schemas.base import Conversation
from schemas.depth import DepthClassified, DepthLevel
from schemas.items import Chunk, Item, TimePoint
from schemas.retrieval import MemoryClass
from schemas.topics import DEPTH_CLASSIFIED
from streams.evaluation import questions
from streams.evaluation.measures import Item as LabelledItem
from streams.stores.language import best_language
from streams.stores.passages.qdrant_edge import QdrantEdgeIndex
from streams.stores.passages.vectors import UseEmbedder
from streams.testing.pipeline import Pipeline
from streams.topology import STAGES, stages_of

TENANT, CLIENT, USER = "corpus", "eval", "reader"
ASKED = (MemoryClass.SEMANTIC, MemoryClass.EPISODIC)
LONGEST, TOKENS = 60, 100_000
LATER_S = 86_400.0
SAID_IN = "talk"


def rankings(corpus: LabelledItem) -> Iterator[tuple[str, list[str]]]:
    """The ids of the documents found for each query id; queries are not stored in the memory."""
    memory = [stage for stage in STAGES if stage.group_name not in ("planner", "retrieval", "assembler")]
    language = best_language()
    with (
        _index() as index,
        Pipeline(stages=memory, tenant=TENANT, client=CLIENT, replace={"index": index, "language": language}) as fathom,
        Pipeline(stages=stages_of(["depth"]), tenant=TENANT, client=CLIENT, replace={"language": language}) as asker,
    ):
        known = _teach(fathom, corpus)
        asker.clock.advance(LATER_S)
        built = fathom.dependencies()
        names = [f"retrieval-{memory_class.value}" for memory_class in ASKED]
        retrievers = [cast("Retriever", stage.build(built)) for stage in stages_of(names)]
        for number, query in enumerate(corpus["queries"]):
            classified = _classified(asker, f"q{number}", query["text"])
            items = asyncio.run(_fetched(retrievers, classified))
            yield query["id"], list(dict.fromkeys(name for item in items if (name := known.get(_source(item)))))


@lru_cache(maxsize=1)
def _embedder() -> UseEmbedder:
    return UseEmbedder()


@contextmanager
def _index() -> Iterator[QdrantEdgeIndex]:
    """The default embedded index in a temporary folder."""
    with tempfile.TemporaryDirectory(prefix="fathom-eval-") as folder:
        index = QdrantEdgeIndex(Path(folder) / "index", _embedder())
        try:
            yield index
        finally:
            asyncio.run(index.close())


def _teach(fathom: Pipeline, corpus: LabelledItem) -> dict[str, str]:
    """Publish every document or turn; the corpus id by message or document id."""
    documents = corpus["documents"]
    speakers = [each["speaker"] for each in documents if each.get("speaker")]
    known = {}
    for number, document in enumerate(documents):
        name = f"{SAID_IN}-{number}"
        known[name] = document["id"]
        if not speakers:
            fathom.document(name, (document.get("session") or document["id"])[:200], document["text"])
            continue
        role = "user" if document.get("speaker") in (speakers[0], "user") else "assistant"
        at = questions.said_at(document)
        fields = {"created_at": at.isoformat()} if at else {}
        session = f"s-{document.get('session') or 0}"
        fathom.say(
            document["text"], role=role, conversation=session, message_id=name, headers={"user_id": USER}, **fields
        )
    return known


def _classified(asker: Pipeline, conversation: str, text: str) -> DepthClassified:
    message_id = asker.say(text, conversation=conversation, headers={"user_id": USER})
    decided: DepthClassified = asker.one(DEPTH_CLASSIFIED, message_id=message_id)
    return decided.model_copy(update={"depth_level": DepthLevel.D2})


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
