"""Small makers of events for unit tests: what a test does not care about has a default here."""

from datetime import UTC, datetime, timedelta
from typing import Any

from agents.core.packs.planning import Limits, make_plan, open_join
from schemas.base import Conversation, Source
from schemas.depth import Anchor, DepthClassified, DepthLevel, Signal
from schemas.envelope import Envelope, Received
from schemas.items import Chunk, ClaimItem, ConversationSummary, MessageItem, PersonaItem, Provenance, TimePoint
from schemas.retrieval import JoinOpened, MemoryClass, PartFound, PartStatus, RetrievalPlan

AT = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
CONVERSATION = Conversation(tenant="acme", client_id="web", conversation_id="c1")
PLACE = Provenance(topic="messages.in", partition=0, offset=1)


def after(milliseconds: float) -> datetime:
    return AT + timedelta(milliseconds=milliseconds)


def classified(level: DepthLevel = DepthLevel.D2, **fields: Any) -> DepthClassified:
    known: dict[str, Any] = {
        "message_id": "m1",
        "conversation_id": "c1",
        "client_id": "web",
        "user_id": "ana",
        "query": "O que é a política de férias?",
        "depth_level": level,
        "confidence": 0.9,
        "signals": (Signal(name="explanation", evidence="o que é", level=level, weight=0.9),),
        "candidates": (level,),
        "classifier": "heuristic",
        "lang": "pt",
        "seq": 7,
        "source": Source(topic="messages.in", partition=0, offset=7),
        "frame_id": "f1",
        "anchor": Anchor(topic="férias", terms=("política", "férias")),
        "as_of": AT,
        "accepted_at": AT,
        "latency_ms": 0.2,
    }
    return DepthClassified(**{**known, **fields})


def plan(level: DepthLevel = DepthLevel.D2, limits: Limits | None = None, **fields: Any) -> RetrievalPlan:
    return make_plan(classified(level, **fields), CONVERSATION, limits or Limits())


def opened(level: DepthLevel = DepthLevel.D2, limits: Limits | None = None, **fields: Any) -> JoinOpened:
    event = classified(level, **fields)
    return open_join(make_plan(event, CONVERSATION, limits or Limits()), event)


def part(memory: MemoryClass, *items: Any, status: PartStatus | None = None, **fields: Any) -> PartFound:
    about = plan()
    known: dict[str, Any] = {
        "plan_id": about.plan_id,
        "pack_id": about.pack_id,
        "message_id": about.message_id,
        "memory_class": memory,
        "status": status or (PartStatus.OK if items else PartStatus.EMPTY),
        "items": items,
    }
    return PartFound(**{**known, **fields})


def item(of: type, identifier: str, /, **fields: Any) -> Any:
    known: dict[str, Any] = {"id": identifier, "provenance": PLACE, "recorded_at": AT, "reason": "test", "score": 0.5}
    return of(**{**known, **fields})


def message(identifier: str, content: str, seq: int = 1, role: str = "user") -> MessageItem:
    return item(
        MessageItem,
        identifier,
        message_id=identifier,
        role=role,
        content=content,
        created_at=AT,
        seq=seq,
        frame_id="f1",
    )


def chunk(identifier: str, text: str, score: float = 0.5, **fields: Any) -> Chunk:
    known: dict[str, Any] = {"document_id": "d1", "title": "Manual"}
    return item(Chunk, identifier, chunk_uid=identifier, text=text, position=0, score=score, **{**known, **fields})


def summary(identifier: str, text: str, **fields: Any) -> ConversationSummary:
    return item(
        ConversationSummary, identifier, conversation_id="c0", text=text, topic="férias", from_seq=0, to_seq=3, **fields
    )


def time_point(identifier: str, label: str, **fields: Any) -> TimePoint:
    return item(TimePoint, identifier, label=label, at=AT, kind="message", **fields)


def claim(identifier: str, text: str, author: str = "system", **fields: Any) -> ClaimItem:
    known: dict[str, Any] = {
        "subject": "prazo",
        "attribute": "data",
        "value": "dia 15",
        "message_id": "m0",
        "confidence": 0.9,
        "status": "asserted",
    }
    return item(ClaimItem, identifier, claim_id=identifier, author=author, text=text, **{**known, **fields})


def persona(access: str = "internal", **fields: Any) -> PersonaItem:
    known: dict[str, Any] = {"user_role": "analista", "department": "RH"}
    return item(PersonaItem, "persona:ana", user_id="ana", persona_access=access, **{**known, **fields})


def received(
    event: Any, *, offset: int = 0, at: datetime = AT, partition: int = 0, topic: str = "packs.partial"
) -> Any:
    envelope = Envelope(
        id=f"e{offset}", type=event.TYPE, source="urn:test", time=AT, tenant="acme", correlation_id="corr"
    )
    key = CONVERSATION.key()
    return Received(event, envelope, key, topic, partition, offset, int(at.timestamp() * 1000))
