"""How a passage is kept as a point: vectors by name, payload, and back. Alike on the embedded index and on a server."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import qdrant_edge as edge

from agents.errors import FathomError
from agents.ports import Passage
from schemas.items import ACCESS_ORDER

# Mean words of a passage as it is searched (own text twice, neighbours): BM25 weighs a text's length against it.
COLLECTIONS = {"semantic": 200.0, "episodic": 60.0, "consultas": 30.0}
STEMMERS = {"pt": "portuguese", "en": "english"}
OTHER_LANG = "en"

# What comes again with each version of a document, most of it as it was.
VERSIONED = "semantic"

# Points stored in one go, between which the loop has its turn.
CHUNK = 64

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)


class IncompatibleIndex(FathomError):
    """The files were written with another embedder; remove the directory and rebuild the view."""


def stemmers(average_words: float) -> Mapping[str, Any]:
    return {
        lang: edge.Bm25(edge.Bm25Config(language=name, ascii_folding=True, avg_len=average_words))
        for lang, name in STEMMERS.items()
    }


def known_lang(lang: str) -> str:
    return lang if lang in STEMMERS else OTHER_LANG


def sparse_vectors(lexical: Mapping[str, Any], passage: Passage) -> dict[str, Any]:
    """The passage's words by every stemmer: a question in one language finds names in a text of the other."""
    text = f"{passage.text}\n{passage.text}\n{passage.context}"
    return {f"bm25_{lang}": stemmer.embed_document(text) for lang, stemmer in lexical.items()}


def payload_of(tenant: str, passage: Passage) -> dict[str, Any]:
    return {
        "tenant_id": tenant,
        "id": passage.id,
        "kind": passage.kind,
        "text": passage.text,
        "lang": passage.lang,
        "recorded_at": micros(passage.recorded_at),
        "access_level": passage.access_level,
        "access": ACCESS_ORDER[passage.access_level],
        # Nobody's id is empty: this is everybody's.
        "user_id": passage.user_id or "",
        "conversation_id": passage.conversation_id or "",
        # Absent while it is found: no range holds what is not there.
        **({} if passage.retired_at is None else {"retired_at": micros(passage.retired_at)}),
        "fields": dict(passage.fields),
    }


def micros(at: datetime) -> int:
    return (at - EPOCH) // MICROSECOND


def ranked(points: Iterable[Any]) -> list[tuple[UUID, float]]:
    # Points of one score come in any order: by id, a search gives the same list every time.
    return sorted(((point.id, point.score) for point in points), key=lambda each: (-each[1], each[0]))


def passage_of(payload: Mapping[str, Any]) -> Passage:
    return Passage(
        id=payload["id"],
        kind=payload["kind"],
        text=payload["text"],
        lang=payload["lang"],
        recorded_at=EPOCH + payload["recorded_at"] * MICROSECOND,
        access_level=payload["access_level"],
        user_id=payload["user_id"] or None,
        conversation_id=payload["conversation_id"] or None,
        retired_at=EPOCH + payload["retired_at"] * MICROSECOND if "retired_at" in payload else None,
        fields=payload["fields"],
    )
