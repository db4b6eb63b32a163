"""A search of memory, for the command, HTTP and MCP: what is sent to the topics, and what is awaited of them."""

from datetime import datetime
from uuid import uuid4

from pydantic import Field

from schemas.base import Id
from schemas.retrieval import MAX_RESULTS, SearchAsked, SearchKind
from schemas.topics import SEARCHES_IN, SEARCHES_OUT
from streams.edges.client import ask, records
from streams.edges.client.arguments import MAX_CHARS, Arguments
from streams.edges.client.ask import Awaited
from streams.edges.client.records import Identity, OutgoingRecord

FOUND = Awaited(SEARCHES_OUT, "request_id", "results", "search")


class SearchWanted(Arguments):
    """What is searched for, and what narrows it."""

    query: str = Field(min_length=1, max_length=MAX_CHARS)
    limit: int = Field(SearchAsked.model_fields["limit"].default, ge=1, le=MAX_RESULTS, description="the most results")
    kind: SearchKind | None = Field(None, description="only of this kind")
    document_id: Id | None = Field(None, description="only of this document")
    conversation_id: Id | None = Field(None, description="only of this conversation")
    since: datetime | None = Field(None, strict=False, description="only what was recorded then or later")
    until: datetime | None = Field(None, strict=False, description="only what was recorded then or before")

    def fields(self, client: str) -> dict[str, object]:
        """The fields of the event, for this client; each call is a search of its own."""
        stated = self.model_dump(mode="json", exclude_none=True, include={*SearchWanted.model_fields})
        return {"request_id": str(uuid4()), "client_id": client, **stated}


def record_of(wanted: SearchWanted, whose: Identity, client: str) -> OutgoingRecord:
    """The record of a search; raises `CommandFailed` for one that cannot be made."""
    return records.of_fields(SEARCHES_IN, wanted.fields(client), whose, refusal="this is no search")


async def found(prepared: OutgoingRecord, bootstrap: str, seconds: float) -> bytes:
    """The results; raises `CommandFailed` where none come in time."""
    return await ask.answer_to(prepared, FOUND, bootstrap, seconds)
