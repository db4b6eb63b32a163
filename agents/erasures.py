"""Whether what is about to be stored was erased meanwhile.

A writer looks before it stores and again after: an erasure is noted before anything is deleted, so either the writer
sees the note, or the deletion sees what was written. What is erased is removed at either look: an earlier attempt may
have stored it and have failed before its second look, after the deletion.
"""

from collections.abc import Sequence
from typing import Any

from agents.core.conversation.erasure import Erasure, stem_of
from agents.ports.graph import GraphEraser
from agents.ports.passages import Passage, PassageIndex
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


async def index_unless_erased(
    graph: GraphEraser, index: PassageIndex, record: Received[Any], collection: str, passages: Sequence[Passage]
) -> None:
    """Store passages, and leave none of the conversation that an erasure covers; raises `Unavailable`."""
    if is_erased(await erasure_of(graph, record), record):
        await remove_erased(graph, index, record, collection, passages)
        return
    await index.upsert(record.envelope.tenant, collection, passages)
    if is_erased(await erasure_of(graph, record), record):
        await remove_erased(graph, index, record, collection, passages)


async def remove_erased(
    graph: GraphEraser, index: PassageIndex, record: Received[Any], collection: str, passages: Sequence[Passage] = ()
) -> None:
    """Remove these passages, and all others of an erased record's conversation that the erasure covers."""
    stem, erasure = stem_of(record), await erasure_of(graph, record)
    assert stem is not None
    assert erasure is not None
    where = stem.conversation
    known = await index.of_conversation(where.tenant, collection, where.conversation_id)
    ids = [each.stored_as for each in known if is_covered(each, where.client_id, erasure)]
    await index.remove(where.tenant, collection, [*dict.fromkeys((*(each.stored_as for each in passages), *ids))])


def is_covered(passage: Passage, client_id: str, erasure: Erasure) -> bool:
    """Whether a passage is erased; one of an earlier version, which names no client, is found by the graph."""
    seq = passage.fields.get("to_seq", passage.fields.get("seq"))
    return passage.fields.get("client_id") == client_id and erasure.covers(seq, passage.recorded_at)
