"""The context of a chat assistant's next answer, from a running Fathom."""

from fathom_client.aio import AsyncFathom
from fathom_client.client import Fathom
from fathom_client.errors import FathomError, NotFound, Refused, Unauthorized, Unavailable, Unreachable
from fathom_client.models import (
    Assessment,
    Conversation,
    Conversations,
    Decision,
    DeepAnswer,
    Document,
    Found,
    Item,
    Memories,
    Memory,
    Pack,
    PackSource,
    Receipt,
    Result,
    Section,
    Talk,
    Turn,
)

__all__ = [
    "Assessment",
    "AsyncFathom",
    "Conversation",
    "Conversations",
    "Decision",
    "DeepAnswer",
    "Document",
    "Fathom",
    "FathomError",
    "Found",
    "Item",
    "Memories",
    "Memory",
    "NotFound",
    "Pack",
    "PackSource",
    "Receipt",
    "Refused",
    "Result",
    "Section",
    "Talk",
    "Turn",
    "Unauthorized",
    "Unavailable",
    "Unreachable",
]
