"""Plain retrieval as users of each build it, in one process: what was said and given goes in, texts come out.

    python -m bench.peers.memories WHICH JOB RESULT    a JSON object of items and questions, one of times and texts

By words (BM25) and by vectors, fused, without a language model; a tenant has an index of its own. All have Fathom's
sentence encoder, with one thread.
"""

import json
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from streams.stores.passages.vectors import UseEmbedder, one_blas_thread

# Long texts are cut to about the same length: characters with the one splitter, tokens with the other.
CHARS, OVERLAP = 1_000, 200
TOKENS, TOKEN_OVERLAP = 256, 50
Item = dict[str, str]


class Memory(NamedTuple):
    """Takes items one by one, and answers a tenant's question with its best texts.

    `complete` makes anew what cannot be added to; a system that goes on has to after each item.
    """

    add: Callable[[Item], object]
    complete: Callable[[], object]
    ask: Callable[[str, str], list[str]]


def langchain(encoder: UseEmbedder, best: int) -> Memory:
    """`InMemoryVectorStore` and `BM25Retriever` in an `EnsembleRetriever`."""
    from langchain_classic.retrievers import EnsembleRetriever
    from langchain_community.retrievers import BM25Retriever
    from langchain_core.embeddings import Embeddings
    from langchain_core.vectorstores import InMemoryVectorStore
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    class Encoder(Embeddings):  # type: ignore[misc]
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            return encoder.encode(texts)

        def embed_query(self, text: str) -> list[float]:
            return encoder.encode([text])[0]

    splitter = RecursiveCharacterTextSplitter(chunk_size=CHARS, chunk_overlap=OVERLAP)
    stores: defaultdict[str, Any] = defaultdict(lambda: InMemoryVectorStore(Encoder()))
    said: defaultdict[str, list[Any]] = defaultdict(list)
    retrievers: dict[str, Any] = {}

    def add(item: Item) -> None:
        pieces = splitter.create_documents([item["text"]])
        stores[item["tenant"]].add_documents(pieces)
        said[item["tenant"]] += pieces

    def complete() -> None:
        for tenant, pieces in said.items():
            by_words = BM25Retriever.from_documents(pieces, k=best)
            by_vector = stores[tenant].as_retriever(search_kwargs={"k": best})
            retrievers[tenant] = EnsembleRetriever(retrievers=[by_words, by_vector], weights=[0.5, 0.5])

    return Memory(add, complete, lambda tenant, text: [one.page_content for one in retrievers[tenant].invoke(text)])


def llamaindex(encoder: UseEmbedder, best: int) -> Memory:
    """`VectorStoreIndex` and `BM25Retriever` in a `QueryFusionRetriever`."""
    from llama_index.core import VectorStoreIndex
    from llama_index.core.embeddings import BaseEmbedding
    from llama_index.core.llms import MockLLM
    from llama_index.core.node_parser import SentenceSplitter
    from llama_index.core.retrievers import QueryFusionRetriever
    from llama_index.core.schema import Document
    from llama_index.retrievers.bm25 import BM25Retriever

    class Encoder(BaseEmbedding):  # type: ignore[misc]
        def _get_text_embedding(self, text: str) -> list[float]:
            return encoder.encode([text])[0]

        _get_query_embedding = _get_text_embedding

        async def _aget_query_embedding(self, query: str) -> list[float]:
            return encoder.encode([query])[0]

    splitter = SentenceSplitter(chunk_size=TOKENS, chunk_overlap=TOKEN_OVERLAP)
    indexes: defaultdict[str, Any] = defaultdict(lambda: VectorStoreIndex([], embed_model=Encoder()))
    retrievers: dict[str, Any] = {}

    def add(item: Item) -> None:
        indexes[item["tenant"]].insert_nodes(splitter.get_nodes_from_documents([Document(text=item["text"])]))

    def complete() -> None:
        for tenant, index in indexes.items():
            nodes = list(index.docstore.docs.values())
            by_words = BM25Retriever.from_defaults(nodes=nodes, similarity_top_k=min(best, len(nodes)))
            both = [index.as_retriever(similarity_top_k=best), by_words]
            # One query: the question itself. More of them would be a language model's.
            how = {"llm": MockLLM(), "num_queries": 1, "mode": "reciprocal_rerank", "use_async": False}
            retrievers[tenant] = QueryFusionRetriever(both, similarity_top_k=best, **how)

    return Memory(add, complete, lambda tenant, text: [one.get_content() for one in retrievers[tenant].retrieve(text)])


def mem0(encoder: UseEmbedder, best: int) -> Memory:
    """`Memory` with `infer=False` and its local vector store, Qdrant's client on disk; by vectors alone.

    Words would need models that are downloaded at run time: fastembed's and spaCy's.
    """
    from langchain_text_splitters import RecursiveCharacterTextSplitter
    from mem0 import Memory as Mem0
    from mem0.embeddings.base import EmbeddingBase

    class Encoder(EmbeddingBase):  # type: ignore[misc]
        def embed(self, text: str, _action: str | None = None) -> list[float]:
            return encoder.encode([text])[0]

    # It wants both models named; none is ever called.
    unused = {"provider": "openai", "config": {"api_key": "unused"}}
    place = {"collection_name": "mem0", "path": "qdrant", "on_disk": True, "embedding_model_dims": encoder.size}
    stored = {"provider": "qdrant", "config": place}
    memory = Mem0.from_config({"llm": unused, "embedder": unused, "vector_store": stored})
    memory.embedding_model = Encoder()
    splitter = RecursiveCharacterTextSplitter(chunk_size=CHARS, chunk_overlap=OVERLAP)

    def add(item: Item) -> None:
        said = [{"role": "user", "content": piece} for piece in splitter.split_text(item["text"])]
        memory.add(said, user_id=item["tenant"], infer=False)

    def ask(tenant: str, text: str) -> list[str]:
        return [one["memory"] for one in memory.search(text, filters={"user_id": tenant}, top_k=best)["results"]]

    return Memory(add, lambda: None, ask)


MEMORIES = {"langchain": langchain, "llamaindex": llamaindex, "mem0": mem0}


def timed(call: Callable[..., Any], of: Sequence[tuple[Any, ...]]) -> tuple[dict[str, Any], list[Any]]:
    """The milliseconds of each call, the CPU of one, and what they returned."""
    took, found, cpu = [], [], time.process_time()
    for arguments in of:
        began = time.perf_counter()
        found.append(call(*arguments))
        took.append(1000 * (time.perf_counter() - began))
    return {"ms": took, "cpu_ms": 1000 * (time.process_time() - cpu) / max(1, len(of))}, found


def played(which: str, job: dict[str, Any]) -> dict[str, Any]:
    encoder = UseEmbedder()
    encoder.warm()
    memory = MEMORIES[which](encoder, job["best"])
    ingest, _ = timed(memory.add, [(item,) for item in job["items"]])
    memory.complete()  # what it loads once is not counted
    complete, _ = timed(memory.complete, [()])
    ask, texts = timed(memory.ask, [(each["tenant"], each["text"]) for each in job["questions"]])
    return {"ingest": ingest, "complete": complete, "ask": ask, "texts": texts}


if __name__ == "__main__":
    one_blas_thread()
    which, given, result = sys.argv[1:]
    Path(result).write_text(json.dumps(played(which, json.loads(Path(given).read_text()))))
