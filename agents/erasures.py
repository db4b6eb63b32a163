"""Whether what is about to be stored was erased meanwhile.

A writer looks before it stores and again after: an erasure is noted before anything is deleted, so either the writer
sees the note, or the deletion sees what was written.
"""

from typing import Any

from agents.core.conversation.erasure import Erasure, stem_of
from agents.ports.graph import GraphEraser
from schemas.envelope import Received


async def erasure_of(graph: GraphEraser, record: Received[Any]) -> Erasure | None:
    """The erasure of the record's conversation, whether or not it covers the record; raises `Unavailable`."""
    stem = stem_of(record)
    return (
        None
        if stem is None
        else (await graph.erased(stem.conversation.tenant, [stem.conversation])).get(stem.conversation)
    )


def is_erased(erasure: Erasure | None, record: Received[Any]) -> bool:
    """Whether the erasure covers the record."""
    stem = stem_of(record)
    return erasure is not None and stem is not None and erasure.covers(stem.seq, stem.at)
