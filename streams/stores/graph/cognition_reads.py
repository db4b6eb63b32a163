"""The reads of the graph for complex questions, behind the agents' port."""

import asyncio
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from agents.core.language.text import fold
from agents.ports.cognition import ChunkPenalty, PassageLink, PastAnswer, PastConsultation, ThemeFound
from schemas.items import ACCESS_ORDER, AccessLevel
from streams.stores.graph import cognition_queries as queries
from streams.stores.graph.knowledge_rows import entity_id
from streams.stores.graph.rows import Found
from streams.stores.tenant import natural_id, node_id, readable

# The kinds of entities that the links of themes come from.
_LEGAL = {"TRATA_DE": "processo", "SOBRE_TEMA": "jurisprudencia", "RELACIONADO_A": "dispositivo"}
# What is mentioned in more passages than this tells none of them from the others.
MENTIONS = 50
# How many cases, rulings and laws of some themes are looked for in passages.
MAX_LAW = 20


class CognitionReads:
    """Themes, mentions, consultations and penalties, over the read of a store."""

    async def themes(
        self, tenant: str, *, terms: Sequence[str], access_level: AccessLevel, as_of: datetime, limit: int
    ) -> tuple[ThemeFound, ...]:
        """Themes named by the question's terms, of documents that the asker may read, best first; also of `_public`."""
        asked = _asked(access_level, as_of, limit) | {"terms": sorted({fold(term) for term in terms})}
        rows = await self._read(queries.THEMES, tenant, asked)
        return tuple(
            ThemeFound(natural_id(row["id"]), row["name"], row["level"], row["met"], row["wanted"]) for row in rows
        )

    async def near_themes(
        self, tenant: str, *, ids: Sequence[str], access_level: AccessLevel, as_of: datetime, limit: int
    ) -> tuple[ThemeFound, ...]:
        """The themes above and below the given ones, one step away."""
        asked = _asked(access_level, as_of, limit) | {"ids": _nodes(tenant, ids)}
        rows = await self._read(queries.NEAR_THEMES, tenant, asked)
        return tuple(
            ThemeFound(natural_id(row["id"]), row["name"], row["level"], near=natural_id(row["near"])) for row in rows
        )

    async def passages_about(
        self, tenant: str, *, themes: Sequence[str], access_level: AccessLevel, as_of: datetime, limit: int
    ) -> tuple[PassageLink, ...]:
        """Passages of themes: of sections that bear their names, and what mentions the cases, rulings and laws of them.

        At most `limit` of either sort.
        """
        asked = _asked(access_level, as_of, limit) | {"ids": _nodes(tenant, themes)}
        sections, law = await asyncio.gather(
            self._read(queries.SECTIONS_ABOUT, tenant, asked),
            self._read(queries.LAW_ABOUT, tenant, {**asked, "limit": MAX_LAW}),
        )
        found = [PassageLink(natural_id(row["id"]), natural_id(row["by"])) for row in sections]
        themes_of = {(kind, name): natural_id(row["by"]) for row in law for kind, name in [_name(row)] if name}
        named = await self.passages_naming(
            tenant, names=sorted(themes_of), access_level=access_level, as_of=as_of, limit=limit
        )
        found += [PassageLink(each.chunk_uid, themes_of[each.kind, each.by], each.kind) for each in named]
        return tuple(dict.fromkeys(found))

    async def passages_naming(
        self, tenant: str, *, names: Sequence[tuple[str, str]], access_level: AccessLevel, as_of: datetime, limit: int
    ) -> tuple[PassageLink, ...]:
        """Passages that mention entities, given by kind and name; entities of too many passages lead nowhere."""
        of = {entity_id(*name): name for name in names}
        if not of:
            return ()
        asked = _asked(access_level, as_of, limit) | {"ids": _nodes(tenant, [*of])}
        rows = await self._read(queries.NAMING, tenant, {**asked, "most": MENTIONS})
        found = ((row["id"], of[natural_id(row["entity"])]) for row in rows)
        return tuple(PassageLink(natural_id(uid), name, kind) for uid, (kind, name) in found)

    async def passages_connected(
        self, tenant: str, *, chunk_uids: Sequence[str], access_level: AccessLevel, as_of: datetime, limit: int
    ) -> tuple[PassageLink, ...]:
        """Passages that mention what the given ones do, those with most in common first; two steps of the graph."""
        asked = _asked(access_level, as_of, limit) | {"ids": _nodes(tenant, chunk_uids)}
        rows = await self._read(queries.CONNECTED, tenant, {**asked, "most": MENTIONS})
        return tuple(PassageLink(natural_id(row["id"]), row["via"]) for row in rows)

    async def consultations(
        self, tenant: str, *, signature: str, as_of: datetime, limit: int
    ) -> tuple[PastConsultation, ...]:
        """The newest consultations whose question has this signature, newest first."""
        bounds = {"as_of": as_of.astimezone(UTC)}
        rows = await self._read(queries.CONSULTATIONS, tenant, {**bounds, "signature": signature, "limit": limit})
        if not rows:
            return ()
        asked = {**bounds, "ids": [row["id"] for row in rows]}
        answers, corrected = await asyncio.gather(
            self._read(queries.ANSWERS_OF, tenant, asked),
            self._read(queries.CONSULTATIONS_CORRECTED, tenant, asked),
        )
        wrong = {row["id"] for row in corrected}
        return tuple(_consultation(row, answers, corrected=row["id"] in wrong) for row in rows)

    async def penalties(self, tenant: str, *, chunk_uids: Sequence[str], as_of: datetime) -> tuple[ChunkPenalty, ...]:
        """What the tenant's corrections say against passages."""
        asked = {"ids": _nodes(tenant, chunk_uids), "as_of": as_of.astimezone(UTC)}
        rows = await self._read(queries.PENALTIES, tenant, asked)
        return tuple(
            ChunkPenalty(natural_id(row["id"]), row["weight"], row["question"], natural_id(row["correction"]))
            for row in rows
            if row["weight"] is not None
        )

    @abstractmethod
    async def _read(self, query: str, tenant: str, asked: Mapping[str, Any]) -> Sequence[Found]:
        """The rows of a query for a tenant."""


def _asked(access_level: AccessLevel, as_of: datetime, limit: int) -> dict[str, object]:
    return {"access": ACCESS_ORDER[access_level], "as_of": as_of.astimezone(UTC), "limit": limit}


def _nodes(tenant: str, ids: Sequence[str]) -> list[str]:
    """The ids of nodes that may be the tenant's or everybody's."""
    return [node_id(each, natural) for each in readable(tenant) for natural in ids]


def _name(row: Found) -> tuple[str, str | None]:
    """The kind and the name under which passages mention a case, a ruling or a law; None while it is only linked to."""
    kind = _LEGAL[row["link"]]
    if kind == "dispositivo":
        return kind, f"{row['law']}, art. {row['article']}" if row["article"] else row["law"]
    return kind, row["case"] if kind == "processo" else row["ruling"]


def _consultation(row: Found, answers: Sequence[Found], *, corrected: bool) -> PastConsultation:
    return PastConsultation(
        id=natural_id(row["id"]),
        question=row["question"],
        status=row["status"],
        access_level=row["access_level"],
        scope=row["scope"] or "",
        case_id=row["case_id"],
        corrected=corrected,
        answers=tuple(_answer(each) for each in answers if each["consultation"] == row["id"]),
    )


def _answer(row: Found) -> PastAnswer:
    return PastAnswer(
        question=row["question"],
        answer=row["answer"],
        signature=row["signature"] or "",
        chunks=tuple(row["chunks"] or ()),
        evidence=tuple(row["evidence"] or ()),
        confidence=row["confidence"],
        verified=row["verified"],
    )
