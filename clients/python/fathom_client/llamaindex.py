"""Fathom in LlamaIndex: a retriever."""

import asyncio
from typing import Any

from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from fathom_client.client import Fathom

# What is for programs, not for the model.
FOR_PROGRAMS = ["number", "type", "score", "document_id", "pack_id"]


class FathomRetriever(BaseRetriever):
    """The items of a query's pack, in the order of its sources, with source and pack as metadata.

    The query is a user's message of the client's conversation; `options` are arguments of `ask`.
    """

    def __init__(self, fathom: Fathom, **options: Any) -> None:
        super().__init__()
        self._fathom = fathom
        self._options: dict[str, Any] = {"look_up": "always", **options}

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        pack = self._fathom.ask(query_bundle.query_str, **self._options)
        return [
            NodeWithScore(
                node=TextNode(
                    id_=item.id,
                    text=str(item),
                    metadata=pack.about(source, item),
                    excluded_llm_metadata_keys=FOR_PROGRAMS,
                    excluded_embed_metadata_keys=FOR_PROGRAMS,
                ),
                score=item.score,
            )
            for source, item in pack.cited()
        ]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._retrieve, query_bundle)
