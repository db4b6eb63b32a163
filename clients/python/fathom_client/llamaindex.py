"""Fathom in LlamaIndex: a retriever."""

import asyncio
from typing import Any

from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from fathom_client.client import Fathom

# What is for programs, not for the model.
FOR_PROGRAMS = ["number", "type", "score", "document_id", "conversation_id", "recorded_at"]


class FathomRetriever(BaseRetriever):
    """What memory has on a query, best first, with its source as metadata.

    The query is no message of a conversation, and nothing of it is stored; `options` are arguments of `search`.
    """

    def __init__(self, fathom: Fathom, **options: Any) -> None:
        super().__init__()
        self._fathom = fathom
        self._options = options

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        found = self._fathom.search(query_bundle.query_str, **self._options)
        return [
            NodeWithScore(
                node=TextNode(
                    id_=each.id,
                    text=each.text,
                    metadata=each.about(),
                    excluded_llm_metadata_keys=FOR_PROGRAMS,
                    excluded_embed_metadata_keys=FOR_PROGRAMS,
                ),
                score=each.score,
            )
            for each in found.results
        ]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._retrieve, query_bundle)
