"""The context of a chat assistant's next answer, from a running Fathom."""

from fathom_client.aio import AsyncFathom
from fathom_client.client import Fathom
from fathom_client.connection import FathomError
from fathom_client.models import Conversation, Decision, Document, Item, Pack, PackSource, Receipt, Turn

__all__ = [
    "AsyncFathom",
    "Conversation",
    "Decision",
    "Document",
    "Fathom",
    "FathomError",
    "Item",
    "Pack",
    "PackSource",
    "Receipt",
    "Turn",
]
