"""Fathom in LlamaIndex: a retriever."""

from typing import Any

from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from fathom_client.aio import AsyncFathom
from fathom_client.client import Fathom
from fathom_client.models import Pack

OPTIONS = {"look_up": "always"}


class FathomRetriever(BaseRetriever):
    """What memory holds on a query: an item of its pack each, with its source and the pack's id as metadata.

    `options` are keyword arguments of `ask`. Coroutines need `with_async`, another client of the same Fathom.
    """

    def __init__(self, fathom: Fathom, *, with_async: AsyncFathom | None = None, **options: Any) -> None:
        super().__init__()
        self._fathom = fathom
        self._async = with_async
        self._options = {**OPTIONS, **options}

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return nodes_of(self._fathom.ask(query_bundle.query_str, **self._options))

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        if self._async is None:
            return self._retrieve(query_bundle)
        return nodes_of(await self._async.ask(query_bundle.query_str, **self._options))


def nodes_of(pack: Pack) -> list[NodeWithScore]:
    """The items of a pack, in the order of its sources."""
    return [
        NodeWithScore(
            node=TextNode(
                id_=item.id,
                text=str(item),
                metadata={
                    "source": source.name,
                    "number": source.number,
                    "type": item.type,
                    "pack_id": pack.pack_id,
                },
            ),
            score=item.score,
        )
        for source, item in pack.cited()
    ]
