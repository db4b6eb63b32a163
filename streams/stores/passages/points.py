"""A passage as a point (names of vectors, payload) and back, for the embedded index and a Qdrant server alike."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar
from uuid import UUID

from agents.core.retrieval.search_terms import spelt_out
from agents.errors import FathomError
from agents.ports.passages import Passage
from schemas.items import ACCESS_ORDER
from streams.stores.passages.lexical import PassageTerms

# Mean terms of a passage as it is searched (its own twice, neighbours): BM25 weighs a text's length against it.
COLLECTIONS = {"semantic": 130.0, "episodic": 45.0, "consultas": 30.0}
# The two vectors of a point. What is searched as terms is ours (`lexical`): with another rule the points
# of before would be found by chance, so the rule is part of the name.
DENSE, TERMS = "dense", "terms_2"
# Where the id of a passage's document is in its payload.
OF_DOCUMENT = "fields.document_id"

# The collection whose passages come again, mostly unchanged, with each version of a document.
VERSIONED = "semantic"

# Points per write; other calls run between two writes.
CHUNK = 64

K = TypeVar("K", UUID, str)

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)


class IncompatibleIndex(FathomError):
    """The index was written with another embedder or by another version; the message names the next step."""


def embedded_text(passage: Passage) -> str:
    """The text to embed: the passage with its lead or title."""
    lead = passage.lead or str(passage.fields.get("title", ""))
    return spelt_out(f"{lead}\n{passage.text}" if lead else passage.text)


def payload_of(tenant: str, passage: Passage, terms: PassageTerms) -> dict[str, object]:
    return {
        "tenant_id": tenant,
        "id": passage.id,
        **({} if passage.key is None else {"key": passage.key}),
        "kind": passage.kind,
        "text": passage.text,
        "lang": passage.lang,
        "recorded_at": micros(passage.recorded_at),
        "access_level": passage.access_level,
        "access": ACCESS_ORDER[passage.access_level],
        # Empty means everybody: no user id is empty.
        "user_id": passage.user_id or "",
        "conversation_id": passage.conversation_id or "",
        # Absent while the passage is valid: no range matches an absent value.
        **({} if passage.retired_at is None else {"retired_at": micros(passage.retired_at)}),
        "fields": dict(passage.fields),
        # Read with the text: to find the stems again takes longer than both searches.
        "own": " ".join(dict.fromkeys(terms.own)),
        "around": " ".join(dict.fromkeys(terms.around)),
    }


def micros(at: datetime) -> int:
    return (at - EPOCH) // MICROSECOND


def ranked(points: Iterable[tuple[K, float]]) -> list[tuple[K, float]]:
    """Ids with their scores, best first."""
    # Points of one score come in any order: by id, a search gives the same list every time.
    return sorted(points, key=lambda each: (-each[1], each[0]))


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
        key=payload.get("key"),
    )


def stored_as(payload: Mapping[str, Any]) -> str:
    """The id that the passage of a payload is stored, listed and removed by."""
    return str(payload.get("key") or payload["id"])


def terms_in(payload: Mapping[str, Any]) -> PassageTerms:
    """The terms that were stored with a passage."""
    return PassageTerms(tuple(payload["own"].split()), tuple(payload["around"].split()))
