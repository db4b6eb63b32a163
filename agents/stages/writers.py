"""Store what was decided, asserted, corrected, summarised and learnt: a repeat changes nothing, order does not matter.

reads   conversation.turns, memory.decisions, .votes, .claims, .corrections, .summaries, .knowledge, .consultations
writes  nothing: the graph, the passage index where it is searched, the weights of depth
state   the graph, the passage index and the weights (write); when they are down the writer waits, and skips nothing
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Generic, TypeVar

from agents.concurrency import MicroBatcher
from agents.core.depth.votes import is_vote, vote_of
from agents.erasures import index_unless_erased
from agents.errors import Unavailable
from agents.ports.graph import GraphWriter
from agents.ports.passages import Passage, PassageIndex
from agents.ports.sessions import SignalWeights
from schemas.base import Event
from schemas.envelope import Outgoing, Received
from schemas.learning import ConsultationRecorded, DepthVote
from schemas.memory import (
    AuditDecision,
    ChunkEntry,
    ConceptEntry,
    DefinitionEntry,
    Entry,
    KnowledgeRecorded,
    PackDecision,
    ProcessEntry,
    SummaryMade,
)

E = TypeVar("E", bound=Event)
# Vectors of a few texts cost half of each alone; for more of them a question would have to wait.
TOGETHER = 4
MAX_BATCH = 500
# Of the records that a stage has in progress, so many are written without waiting for more.
ENOUGH = 32
SEMANTIC, EPISODIC, CONSULTATIONS = "semantic", "episodic", "consultas"


def batched(
    write: Callable[[Sequence[Received[E]]], Awaitable[None]], every: float = 0.0
) -> MicroBatcher[Received[E], None]:
    """Write together the records that arrive while a write is under way, or within `every` seconds.

    An outage is everybody's.
    """
    return MicroBatcher(write, MAX_BATCH, shared_errors=(Unavailable,), every=every, enough=ENOUGH)


class Writer(Generic[E]):
    """Stores records, and that is all; those of `every` seconds together."""

    def __init__(self, write: Callable[[Sequence[Received[E]]], Awaitable[None]], every: float = 0.0) -> None:
        self._stored = batched(write, every)

    async def handle(self, record: Received[E]) -> Sequence[Outgoing]:
        """Returns when the record is stored; raises `Unavailable` when it could not be."""
        await self._stored.add([record])
        return ()


class SummaryWriter:
    """The graph keeps a summary for reading in order, the index for finding."""

    def __init__(self, graph: GraphWriter, index: PassageIndex) -> None:
        self._graph = graph
        self._stored = batched(graph.write_summaries)
        self._index = index

    async def handle(self, record: Received[SummaryMade]) -> Sequence[Outgoing]:
        summary = record.event
        await self._stored.add([record])
        passage = Passage(
            id=summary.summary_id,
            kind="summary",
            text=summary.text,
            lang=summary.lang,
            recorded_at=summary.made_at,
            context=" ".join(summary.terms),
            user_id=summary.user_id,
            conversation_id=summary.conversation_id,
            fields={
                "client_id": summary.client_id,
                "topic": summary.topic,
                "from_seq": summary.from_seq,
                "to_seq": summary.to_seq,
            },
        )
        await index_unless_erased(self._graph, self._index, record, EPISODIC, [passage])
        return ()


class ConsultationWriter:
    """The graph keeps how a question was answered, the index finds the like of it again."""

    def __init__(self, graph: GraphWriter, index: PassageIndex) -> None:
        self._graph = graph
        self._stored = batched(graph.write_consultations)
        self._index = index

    async def handle(self, record: Received[ConsultationRecorded]) -> Sequence[Outgoing]:
        consultation = record.event
        await self._stored.add([record])
        passage = Passage(
            id=consultation.consultation_id,
            kind="consultation",
            text=consultation.user_question,
            lang=consultation.lang,
            recorded_at=consultation.consulted_at,
            access_level=consultation.access_level,
            fields={"verification_status": consultation.verification_status, "answer": consultation.final_answer},
        )
        await index_unless_erased(self._graph, self._index, record, CONSULTATIONS, [passage])
        return ()


class WeightWriter:
    """Stores votes on depth where depth reads them; also those that an earlier version recorded as decisions."""

    def __init__(self, weights: SignalWeights) -> None:
        self._weights = weights

    async def handle(self, record: Received[DepthVote | PackDecision | AuditDecision]) -> Sequence[Outgoing]:
        if (vote := vote_of(record.event)) is not None:
            await self._weights.add(record.envelope.tenant, vote)
        return ()

    def wants(self, event: DepthVote | PackDecision | AuditDecision) -> bool:
        """Whether the record holds a vote."""
        return is_vote(event)


class KnowledgeWriter:
    """The graph keeps documents, concepts, processes and personas; the index what is searched by text."""

    def __init__(self, graph: GraphWriter, index: PassageIndex) -> None:
        self._graph = graph
        self._stored = batched(graph.write_knowledge)
        self._index = index

    async def handle(self, record: Received[KnowledgeRecorded]) -> Sequence[Outgoing]:
        await self._stored.add([record])
        passages = [passage for entry in record.event.entries if (passage := searchable(entry)) is not None]
        if record.event.batch + 1 == record.event.batches:
            passages += await self._retired(record)
        for start in range(0, len(passages), TOGETHER):
            # A few at a time: embedding is computation, and the loop has packs to serve between two of them.
            await self._index.upsert(record.envelope.tenant, SEMANTIC, passages[start : start + TOGETHER])
            await asyncio.sleep(0)
        return ()

    async def _retired(self, record: Received[KnowledgeRecorded]) -> list[Passage]:
        """What this version no longer contains, to be found only as of a time before it."""
        event = record.event
        gone = await self._graph.retired(record.envelope.tenant, document_id=event.document_id, as_of=event.recorded_at)
        found = ((searchable(each.entry), each.at) for each in gone)
        return [replace(passage, retired_at=at) for passage, at in found if passage is not None]


def searchable(entry: Entry) -> Passage | None:
    place: dict[str, int] = {}
    match entry:
        case ChunkEntry():
            place = {name: at for name, at in (("page", entry.page), ("block", entry.block)) if at is not None}
            kind, title, text, context, position = "chunk", entry.title, entry.text, entry.context, entry.position
        case DefinitionEntry():
            kind, title, text, context, position = "definition", entry.title, entry.text, "", 0
        case ConceptEntry():
            kind, title, text, context, position = "concept", entry.name, entry.definition, "", 0
        case ProcessEntry():
            steps = "\n".join(step.text for step in entry.steps)
            kind, title, text, context, position = "process", entry.name, steps or entry.name, "", 0
        case _:
            return None
    return Passage(
        id=entry.id,
        kind=kind,
        text=text,
        lang=entry.lang,
        recorded_at=entry.recency,
        context=context,
        access_level=entry.access_level,
        fields={"title": title, "document_id": entry.document_id, "position": position, **place},
    )
