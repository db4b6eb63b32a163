"""The memory graph behind the agents' ports, over an engine that runs queries and writes batches of rows."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from itertools import chain
from typing import Any, Protocol

from agents.core.conversation.erasure import Erasure
from agents.core.language.dates import Span
from agents.core.language.text import fold
from agents.ports.erasable import ConversationNodes
from agents.ports.graph import (
    ClaimsFound,
    ConsultationFound,
    MessageDecision,
    NamedFound,
    NodeFound,
    Persona,
    Playbook,
    Retired,
)
from schemas.base import Conversation, derive
from schemas.chat import Turn
from schemas.depth import DepthLevel
from schemas.envelope import Received
from schemas.items import ACCESS_ORDER, AccessLevel, Concept, ConversationSummary, Knowledge, TimePoint
from schemas.learning import ConsultationRecorded
from schemas.memory import (
    AuditDecision,
    ChunkEntry,
    ClaimAsserted,
    ConceptEntry,
    CorrectionIssued,
    DefinitionEntry,
    KnowledgeRecorded,
    PackDecision,
    SummaryMade,
)
from streams.stores.graph import event_rows as events
from streams.stores.graph import items, queries
from streams.stores.graph.cognition_reads import CognitionReads
from streams.stores.graph.cypher import LISTED, REMOVED
from streams.stores.graph.decision_reads import DecisionReads
from streams.stores.graph.document_reads import DocumentReads
from streams.stores.graph.erasing import ERASABLE, PERSONAL, GraphErasures, node_ids
from streams.stores.graph.knowledge_rows import knowledge_rows
from streams.stores.graph.learning_rows import consultation_rows, correction_rows
from streams.stores.graph.rows import ANYBODY, SHARED, Found, Properties, RowBatch, name_key, term_id
from streams.stores.tenant import node_id, readable, writable


class Engine(Protocol):
    async def read(self, query: str, parameters: Properties) -> Sequence[Found]:
        """The rows of one of `queries`; raises `Unavailable`."""

    async def read_all(self, several: Sequence[str], parameters: Sequence[Properties]) -> Sequence[Sequence[Found]]:
        """The rows of independent queries, each with its parameters; of a server in one round trip."""
        return await asyncio.gather(*map(self.read, several, parameters))

    async def write(self, rows: RowBatch) -> None:
        """Merge nodes, then links, then names; raises `Unavailable`, after which the whole batch may be repeated."""

    async def erase(self, statement: str, parameters: Properties) -> None:
        """Run one of `cypher.REMOVED`; raises `Unavailable`."""


class GraphStore(CognitionReads, DecisionReads, DocumentReads):
    """Reads and writes of the memory graph; `_public` is written only by an administrator."""

    def __init__(self, engine: Engine, *, admin: bool = False, looked_up_every: float = 0.0) -> None:
        self.engine = engine
        self._admin = admin
        self._erasures = GraphErasures(self._read, self._put, self.remove, looked_up_every)

    async def persona(self, tenant: str, user_id: str, as_of: datetime) -> Persona | None:
        """The user's profile and all current objectives."""
        rows = await self._by_id(queries.PERSONA, tenant, user_id, as_of)
        if not rows:
            return None
        if not rows[0]["current"]:
            earlier = await self._read(queries.PERSONA_THEN, tenant, {"user_id": user_id, "as_of": _utc(as_of)})
            return items.to_persona_then(earlier[0]) if earlier else None
        return items.to_persona(rows)

    async def summaries(
        self, tenant: str, *, user_id: str, conversation_id: str | None, as_of: datetime, limit: int
    ) -> tuple[ConversationSummary, ...]:
        """The newest summaries of one conversation, or with None of all conversations of the user, newest first.

        Only this user's in both cases: the conversation id may also exist for another client's user.
        """
        asked = {"user_id": user_id, "as_of": _utc(as_of), "limit": limit}
        if conversation_id is None:
            found = await self._read(queries.SUMMARIES_OF_USER, tenant, asked)
            return tuple(items.to_summary(row, "previous") for row in found)
        asked["conversation_id"] = conversation_id
        found = await self._read(queries.SUMMARIES_OF_CONVERSATION, tenant, asked)
        return tuple(items.to_summary(row, "current") for row in found)

    async def events(
        self, tenant: str, *, user_id: str, between: Span | None, as_of: datetime, limit: int
    ) -> tuple[TimePoint, ...]:
        """Points in time mentioned in the user's conversations, in a span or at any time; latest statement first."""
        asked = {"user_id": user_id, "as_of": _utc(as_of), "limit": limit}
        if between is None:
            found = await self._read(queries.EVENTS_OF_USER, tenant, asked)
        else:
            asked |= {"since": _utc(between.start), "until": _utc(between.end)}
            found = await self._read(queries.EVENTS_BETWEEN, tenant, asked)
        return tuple(map(items.to_event, found))

    async def claims(
        self, tenant: str, *, client_id: str, conversation_id: str, as_of: datetime, limit: int
    ) -> ClaimsFound:
        """Claims made in a conversation and their contradictions, newest first."""
        asked = {"client_id": client_id, "conversation_id": conversation_id, "as_of": _utc(as_of), "limit": limit}
        return await self._related(await self._read(queries.CLAIMS_OF_CONVERSATION, tenant, asked), tenant, as_of)

    async def claims_about(
        self, tenant: str, *, reader: str, subjects: Sequence[str], as_of: datetime, limit: int, shared: bool = False
    ) -> ClaimsFound:
        """Claims of any conversation of the tenant about these subjects that a user may read, newest first."""
        found = await self._read(queries.CLAIMS_ABOUT, tenant, _about(reader, subjects, as_of, limit, shared))
        return await self._related(found, tenant, as_of)

    async def playbooks(
        self, tenant: str, *, terms: Sequence[str], access_level: AccessLevel, as_of: datetime, limit: int
    ) -> tuple[Playbook, ...]:
        """Processes whose how-to terms match the question's, best first, steps in order; also of `_public`."""
        processes = await self._read(queries.PROCESSES, tenant, _named(terms, access_level, as_of, limit))
        if not processes:
            return ()
        steps = await self._read(queries.STEPS, tenant, {"ids": [row["id"] for row in processes]})
        return tuple(items.to_playbook(row, steps) for row in processes)

    async def named(
        self,
        tenant: str,
        *,
        reader: str,
        terms: Sequence[str],
        subjects: Sequence[str] = (),
        access_level: AccessLevel,
        as_of: datetime,
        limit: int,
        max_claims: int = 0,
        shared: bool = False,
    ) -> NamedFound:
        """Concepts and definitions named by the question's terms, also of `_public`, and claims about its subjects."""
        asked, about = _named(terms, access_level, as_of, limit), _about(reader, subjects, as_of, max_claims, shared)
        several = (queries.CONCEPTS, queries.DEFINITIONS, *((queries.CLAIMS_ABOUT,) if subjects else ()))
        concepts, definitions, *claims = await self._read_all(several, tenant, (asked, asked, about)[: len(several)])
        found: list[Concept | Knowledge] = [*map(items.to_concept, concepts), *map(items.to_definition, definitions)]
        best = sorted(found, key=lambda item: item.score, reverse=True)[:limit]
        return NamedFound(tuple(best), await self._related([*chain(*claims)], tenant, as_of))

    async def claim(self, tenant: str, claim_id: str, as_of: datetime) -> ClaimAsserted | None:
        """The claim as asserted; None until its event is stored."""
        rows = await self._by_id(queries.CLAIMS_BY_ID, tenant, claim_id, as_of)
        return items.to_assertion(claim_id, rows[0]) if rows else None

    async def consultation(self, tenant: str, consultation_id: str, as_of: datetime) -> ConsultationFound | None:
        """Where a consultation's answer came from; None until it is stored."""
        rows = await self._by_id(queries.CONSULTATION, tenant, consultation_id, as_of)
        if not rows:
            return None
        [row] = rows
        return ConsultationFound(tuple(row["paths"] or ()), row.get("client_id"), row.get("conversation_id"))

    async def decision(self, tenant: str, pack_id: str, as_of: datetime) -> MessageDecision | None:
        """The decision on the message of a pack; None until it is stored."""
        rows = await self._by_id(queries.DECISION, tenant, derive("decision", pack_id, 1), as_of)
        if not rows:
            return None
        [row] = rows
        return MessageDecision(row["message_id"], DepthLevel(row["depth_level"]), tuple(row["detected_signals"]))

    async def claims_of(
        self, tenant: str, *, user_id: str, as_of: datetime, after: str = "", limit: int
    ) -> ClaimsFound:
        """Claims made in a user's conversations, newest first; behind the claim `after` of the time `as_of`."""
        place = node_id(tenant, after) if after else ""
        asked = {"user_id": user_id, "as_of": _utc(as_of), "after": place, "limit": limit}
        found = await self._read(queries.CLAIMS_OF_USER, tenant, asked)
        return await self._related(found, tenant, datetime.now(UTC))

    async def _by_id(self, query: str, tenant: str, natural: str, as_of: datetime) -> Sequence[Found]:
        return await self._read(query, tenant, {"ids": [node_id(tenant, natural)], "as_of": _utc(as_of)})

    async def write_turns(self, rows: Sequence[Received[Turn]]) -> None:
        await self._erasures.write(rows, events.turn_rows)

    async def write_decisions(self, rows: Sequence[Received[PackDecision | AuditDecision]]) -> None:
        await self._erasures.write(rows, events.decision_rows)

    async def write_claims(self, rows: Sequence[Received[ClaimAsserted]]) -> None:
        await self._erasures.write(rows, events.claim_rows)

    async def write_corrections(self, rows: Sequence[Received[CorrectionIssued]]) -> None:
        await self._erasures.write(rows, correction_rows)

    async def write_consultations(self, rows: Sequence[Received[ConsultationRecorded]]) -> None:
        await self._erasures.write(rows, consultation_rows)

    async def write_summaries(self, rows: Sequence[Received[SummaryMade]]) -> None:
        await self._erasures.write(rows, events.summary_rows)

    async def write_knowledge(self, rows: Sequence[Received[KnowledgeRecorded]]) -> None:
        await self._erasures.write(rows, partial(knowledge_rows, admin=self._admin))

    async def erased(self, tenant: str, conversations: Collection[Conversation]) -> Mapping[Conversation, Erasure]:
        """The latest erasure of each conversation of the tenant that was ever erased."""
        return await self._erasures.erased(tenant, conversations)

    async def note_erasure(self, conversation: Conversation, erasure: Erasure) -> ConversationNodes | None:
        """Note an erasure, and list what it covers; None where a later one was noted before."""
        return await self._erasures.note(conversation, erasure)

    async def note_counts(
        self, conversation: Conversation, erasure: Erasure, counts: Mapping[str, int]
    ) -> Mapping[str, int]:
        """Keep how many of what an erasure found; the greatest numbers that it ever found."""
        return await self._erasures.note_counts(conversation, erasure, counts)

    async def profile_nodes(self, tenant: str, user_id: str) -> ConversationNodes:
        """The nodes that say who a user is, or was."""
        return await self._erasures.profile_nodes(tenant, user_id)

    async def erase(self, tenant: str, nodes: ConversationNodes) -> None:
        """Delete nodes with their relationships; a repeat changes nothing."""
        for label in (*ERASABLE, *PERSONAL):
            if ids := nodes.ids.get(label):
                await self.remove(tenant, label, node_ids(tenant, ids))

    async def retired(self, tenant: str, *, document_id: str, as_of: datetime) -> tuple[Retired, ...]:
        """The searchable entries of a document recorded by `as_of` and retired at or after it."""
        asked = {"document_id": document_id, "as_of": _utc(as_of)}
        chunks = await self._read(queries.RETIRED_CHUNKS, tenant, asked)
        definitions = await self._read(queries.RETIRED_DEFINITIONS, tenant, asked)
        concepts = await self._read(queries.RETIRED_CONCEPTS, tenant, asked)
        found = [items.to_retired(row, ChunkEntry) for row in chunks]
        found += [items.to_retired(row, DefinitionEntry) for row in definitions]
        return (*found, *(items.to_retired(row, ConceptEntry) for row in concepts))

    async def _read(self, query: str, tenant: str, asked: Mapping[str, Any]) -> Sequence[Found]:
        """The rows of a query for a tenant; no read of the engine lacks one."""
        return await self.engine.read(query, _asked_by(tenant, asked))

    async def _read_all(
        self, several: Sequence[str], tenant: str, asked: Sequence[Mapping[str, Any]]
    ) -> Sequence[Sequence[Found]]:
        """The rows of independent queries for a tenant."""
        return await self.engine.read_all(several, [_asked_by(tenant, each) for each in asked])

    async def listed(self, tenant: str, label: str, *, after: str = "", limit: int = 1000) -> tuple[NodeFound, ...]:
        """A page of the tenant's own nodes of a label after the id `after`, by id; the last has fewer than `limit`."""
        links: dict[str, list[tuple[str, str]]] = {}
        for row in await self._read(LISTED[label], tenant, {"after": after, "limit": limit}):
            found = links.setdefault(row["id"], [])
            if row["link"] is not None:
                found.append((row["link"], row["other"]))
        return tuple(NodeFound(node, tuple(sorted(each))) for node, each in links.items())

    async def remove(self, tenant: str, label: str, ids: Sequence[str]) -> None:
        """Delete nodes of the tenant with their links; absent ids are ignored."""
        asked = {"tenant": writable(tenant, admin=self._admin), "ids": list(ids)}
        await self.engine.erase(REMOVED[label], asked)

    async def _put(self, rows: RowBatch) -> None:
        # All rows were made before the first is written: a refused one leaves no partial write.
        if any((rows.facts, rows.latest, rows.links, rows.names, rows.versions)):
            await self.engine.write(rows)

    async def _related(self, claims: Sequence[Found], tenant: str, as_of: datetime) -> ClaimsFound:
        """Claims as items, with what contradicts, replaces and corrects them."""
        if not claims:
            return ClaimsFound((), ())
        bounds = {"as_of": _utc(as_of)}
        own = {**bounds, "ids": [row["id"] for row in claims]}
        of_own = (queries.CONTRADICTED_BY, queries.CONTRADICTING, queries.SUPERSEDED, queries.CORRECTED)
        by, against, superseded, corrected = await self._read_all(of_own, tenant, [own] * len(of_own))
        edges = {(row["new"], row["old"]): row for row in chain(by, against)}
        contested, sides = [*edges.values()], {row["id"]: row for row in claims}
        beyond = sorted({side for edge in edges for side in edge} - sides.keys())
        if beyond:
            far = {**bounds, "ids": beyond}
            of_far = (queries.CLAIMS_BY_ID, queries.CONTRADICTED_BY, queries.SUPERSEDED, queries.CORRECTED)
            others, by, over, mended = await self._read_all(of_far, tenant, [far] * len(of_far))
            sides.update((row["id"], row) for row in others)
            contested += by
            # Nothing is known of a claim that is linked but not stored yet.
            superseded = [*superseded, *(row for row in over if row["id"] in sides)]
            corrected = [*corrected, *(row for row in mended if row["id"] in sides)]
        status = items.statuses(sides.values(), contested, superseded, corrected)
        return items.to_claims_found(claims, [*edges.values()], superseded, sides, status)


def _asked_by(tenant: str, asked: Mapping[str, Any]) -> Properties:
    tenants = readable(tenant)
    whose: dict[str, object] = {"tenant": tenants[0], "tenants": list(tenants)}
    if "terms" in asked:
        whose["term_ids"] = [node_id(each, term_id(key)) for each in tenants for key in asked["terms"]]
    return {**asked, **whose}


def _about(reader: str, subjects: Sequence[str], as_of: datetime, limit: int, shared: bool) -> dict[str, object]:
    keys, readers = sorted(set(map(name_key, subjects))), {"reader": reader, "anybody": ANYBODY}
    return {**readers, "shared": SHARED if shared else ANYBODY, "subjects": keys, "as_of": _utc(as_of), "limit": limit}


def _utc(at: datetime) -> datetime:
    return at.astimezone(UTC)


def _named(terms: Sequence[str], access_level: AccessLevel, as_of: datetime, limit: int) -> dict[str, object]:
    return {
        "terms": sorted({fold(term) for term in terms}),
        "access": ACCESS_ORDER[access_level],
        "as_of": _utc(as_of),
        "limit": limit,
    }
