"""The stores that a replay or a check works on: those chosen by name, the others in memory."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from streams.config import Settings
from streams.runtime.stores import Stores, open_stores
from streams.runtime.up import store_settings
from streams.stage import Stage

URLS = {"redis": "redis_url", "graph": "neo4j_url", "index": "qdrant_url"}
MEMORY = "memory://"


@asynccontextmanager
async def opened_stores(settings: Settings, names: Sequence[str], stages: Sequence[Stage]) -> AsyncIterator[Stores]:
    """The wanted stores opened, the others in memory, so that nothing is written to them."""
    aside = {field: MEMORY for name, field in URLS.items() if name not in names}
    wanted = store_settings(settings.model_copy(update=aside), stages if "index" in names else ())
    stores = await asyncio.to_thread(open_stores, wanted)
    try:
        yield stores
    finally:
        await stores.close()
