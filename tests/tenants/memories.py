"""What every tenant remembers: alike in all ids and nearly in all texts, but for the tenant's mark."""

from datetime import UTC, datetime, timedelta
from typing import Any, Literal, get_args

from agents.core.conversation.erasure import Erasure
from agents.core.conversation.memory import Session, turn_of
from agents.ports.passages import Passage
from schemas.base import Conversation, Source, derive
from schemas.chat import Role, Turn
from schemas.depth import DepthLevel
from schemas.envelope import Envelope, Received
from schemas.learning import ConsultationRecorded, DepthVote, GraphRef, SubQuestion
from schemas.memory import (
    AuditDecision,
    ChunkEntry,
    ClaimAsserted,
    ConceptEntry,
    Conflict,
    CorrectionIssued,
    DefinitionEntry,
    EntityMention,
    EventMention,
    KnowledgeRecorded,
    LegalEntry,
    ObjectiveEntry,
    PackDecision,
    ProcessEntry,
    Profile,
    ProfileEntry,
    StepEntry,
    SummaryMade,
    Theme,
    ThemeShare,
)
from tests.tenants.canaries import PUBLIC, Tenant

NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
# After the time as of which everything is asked.
REVISED = NOON + timedelta(days=40)
PLACE = Source(topic="messages.in", partition=0, offset=7)
WHERE: dict[str, Any] = {"conversation_id": "c1", "client_id": "web"}


GONE = "c-gone"


def received(event: Any, tenant: str) -> Received[Any]:
    envelope = Envelope(id="e1", type=event.TYPE, source="urn:test", time=NOON, tenant=tenant, correlation_id="c")
    return Received(event, envelope, "k", "topic", 0, 0, 0)


def turn(text: str) -> Turn:
    ids: dict[str, Any] = {"message_id": "m1", "user_id": "ana", "frame_id": "f1", "pack": False}
    return Turn(role=Role.USER, content=text, created_at=NOON, seq=0, lang="pt", source=PLACE, **ids, **WHERE)


def decision(text: str) -> PackDecision:
    return PackDecision(
        id=derive("decision", "p1", 1),
        message_id="m1",
        pack_id="p1",
        plan_id="pl1",
        detected_signals=(text,),
        depth_level=DepthLevel.D1,
        query_profile_used="org_context",
        sources_retrieved=("episodic",),
        tokens_used=1,
        latency_ms=1,
        created_at=NOON,
        confidence=0.9,
        classifier="heuristic",
        strategy="continue_thread",
        degraded=False,
        **WHERE,
    )


def claim(number: int, text: str, against: str | None = None, *, over: bool = False) -> ClaimAsserted:
    return ClaimAsserted(
        claim_id=f"k{number}",
        author="user",
        text=text,
        subject="prazo",
        attribute="data",
        value=text,
        functional=True,
        lang="pt",
        message_id="m1",
        user_id="ana",
        frame_id="f1",
        seq=number,
        confidence=0.9,
        status="asserted",
        asserted_at=NOON,
        source=PLACE,
        contradicts=() if against is None else (Conflict(claim_id=against, kind="correction", score=0.9),),
        supersedes=(against,) if over and against is not None else (),
        **WHERE,
    )


def correction(text: str, kind: Literal["claim", "consulta"] = "claim") -> CorrectionIssued:
    return CorrectionIssued(
        correction_id=f"x-{kind}",
        kind=kind,
        target_id="k3" if kind == "claim" else "q1",
        text=text,
        user_id="ana",
        correction_kind="factual",
        new_value=text,
        penalised_paths=("Processo/r1", "SubPergunta/n1", "Chunk/ch1"),
        weight=0.5,
        issued_at=NOON,
        **WHERE,
    )


def consultation(text: str) -> ConsultationRecorded:
    used = (GraphRef(label="Processo", id=text), GraphRef(label="Chunk", id="ch1"))
    sub = SubQuestion(node_id="n1", text=text, answer=text, uses=used, confidence=0.9)
    return ConsultationRecorded(
        consultation_id="q1",
        user_question=text,
        final_answer=text,
        sub_questions=(sub, SubQuestion(node_id="n2", parent_id="n1", text=text, answer=text, confidence=0.9)),
        reused=("q0",),
        verification_status="approved",
        access_level="public",
        lang="pt",
        consulted_at=NOON,
        signature="sig",
        scope="tenant",
        **WHERE,
    )


def vote(text: str) -> DepthVote:
    ids: dict[str, Any] = {"id": "v1", "message_id": "m1", "pack_id": "p1", "user_id": "ana"}
    return DepthVote(pattern="follow_up", decided=DepthLevel.D1, rating=1, at=NOON, reason=text, **ids)


def summary(text: str) -> SummaryMade:
    return SummaryMade(
        summary_id="s1",
        user_id="ana",
        frame_id="f1",
        text=text,
        topic=text,
        terms=("prazo",),
        lang="pt",
        from_message="m1",
        to_message="m1",
        from_seq=0,
        to_seq=3,
        relevant_events=(EventMention(id="ev1", label=text, at=NOON, kind="date", message_id="m1"),),
        made_at=NOON,
        **WHERE,
    )


def knowledge(text: str, *, person: bool = True) -> KnowledgeRecorded:
    common: dict[str, Any] = {"document_id": "d1", "recency": NOON, "lang": "pt"}
    objective = ObjectiveEntry(id="o1", title=text)
    mentioned = (EntityMention(name="Aurora", kind="name"),)
    shares = (ThemeShare(name="viagens", level="macro", relevance=0.5),)
    themes = (
        Theme(name="viagens", level="macro", description=text, relevance=1.0),
        Theme(name="Prazo", level="sub", description=text, parent="viagens", relevance=0.5),
    )
    entries: list[Any] = [
        ChunkEntry(id="ch1", title="Prazo", text=text, position=0, entities=mentioned, **common),
        ChunkEntry(id="ch3", title="Viagens", text=text, position=1, entities=mentioned, **common),
        ConceptEntry(id="co1", name="Prazo", definition=text, related=("co2",), **common),
        ConceptEntry(id="co2", name="Dia", definition=text, related=("co1",), **common),
        *(
            LegalEntry(id=f"le-{kind}", reference_kind=kind, reference="r1", text=text, themes=shares, **common)
            for kind in get_args(LegalEntry.model_fields["reference_kind"].annotation)
        ),
        DefinitionEntry(id="kn1", title="prazo", text=text, **common),
        ProcessEntry(
            id="pr1",
            name=f"Pedir prazo {text}",
            how_to_terms=("prazo",),
            steps=(StepEntry(id="st1", order=1, text=text),),
            **common,
        ),
    ]
    if person:
        profile = Profile(user_id="ana", user_role=text, department=text, objectives=(objective,))
        entries.append(ProfileEntry(id="pf1", profile=profile, **common))
    return KnowledgeRecorded(
        document_id="d1",
        title=text,
        content_hash="h",
        batch=0,
        entries=tuple(entries),
        themes=themes,
        recorded_at=NOON,
    )


def version(text: str, at: datetime, *, shorter: bool = False) -> KnowledgeRecorded:
    """A whole version of a second document; the shorter one holds nothing of the other."""
    common: dict[str, Any] = {"document_id": "d2", "recency": at, "lang": "pt"}
    profile = Profile(user_id="bia", user_role=text, department=text, objectives=())
    entries: list[Any] = [
        ChunkEntry(id="ch9" if shorter else "ch2", title="Prazo", text=text, position=0, **common),
        ProfileEntry(id="pf2", profile=profile, **common),
    ]
    if not shorter:
        steps = (StepEntry(id="st2", order=1, text=text),)
        entries += [
            ConceptEntry(id="co3", name="Reembolso", definition=text, **common),
            DefinitionEntry(id="kn2", title="reembolso", text=text, **common),
            ProcessEntry(id="pr2", name=f"Mudar {text}", how_to_terms=("reembolso",), steps=steps, **common),
        ]
    return KnowledgeRecorded(
        document_id="d2", title=text, content_hash="h", batch=0, batches=1, entries=tuple(entries), recorded_at=at
    )


def said(tenant: Tenant) -> str:
    """A sentence that differs from the others' in one word."""
    return f"O prazo do reembolso é dia 15 {tenant.canary}"


async def remember(store: Any, everyone: list[Tenant]) -> None:
    """Everything, of every tenant, into a graph that an administrator writes; what is everybody's too."""

    def rows(make: Any) -> list[Received[Any]]:
        return [received(make(said(tenant)), tenant.name) for tenant in everyone]

    await store.write_turns(rows(turn))
    await store.write_decisions(rows(decision))
    audit = rows(
        lambda text: AuditDecision(
            id="a1", kind="tool", actor="tool", subject_id="m1", detail={"said": text}, created_at=NOON, **WHERE
        )
    )
    await store.write_decisions(audit)
    await store.write_claims(rows(lambda text: claim(1, text)))
    await store.write_claims(rows(lambda text: claim(2, text, "k1", over=True)))
    await store.write_claims(rows(lambda text: claim(3, text, "k2")))
    await store.write_claims(rows(lambda text: claim(4, text)))
    # Of another conversation, where either is contradicted by one of this: each end is found from the other only.
    for number, against, place in ((5, "k4", "c9"), (6, None, "c9"), (7, "k6", "c1")):
        spoken = rows(lambda text, n=number, a=against: claim(n, text, a))
        elsewhere = {"conversation_id": place}
        await store.write_claims([row._replace(event=row.event.model_copy(update=elsewhere)) for row in spoken])
    await store.write_corrections(rows(correction))
    await store.write_consultations(rows(consultation))
    await store.write_corrections(rows(lambda text: correction(text, "consulta")))
    await store.write_summaries(rows(summary))
    for tenant in everyone:
        await store.note_erasure(conversation(tenant.name, name=GONE), Erasure(3, NOON))
    await store.write_knowledge(rows(knowledge))
    await store.write_knowledge([received(knowledge(said(PUBLIC), person=False), PUBLIC.name)])
    await store.write_knowledge(rows(lambda text: version(text, NOON)))
    await store.write_knowledge(rows(lambda text: version(text, REVISED, shorter=True)))


def passage(text: str, kind: str = "chunk", **fields: Any) -> Passage:
    extra = {"title": text, "document_id": "d1", "position": 0}
    return Passage(id="ch1", kind=kind, text=text, lang="pt", recorded_at=NOON, context=text, fields=extra, **fields)


async def index(store: Any, everyone: list[Tenant]) -> None:
    """A passage and a message of every tenant, with one id, and what is everybody's."""
    await store.upsert(PUBLIC.name, "semantic", [passage(said(PUBLIC))])
    for tenant in everyone:
        await store.upsert(tenant.name, "semantic", [passage(said(tenant))])
        message = passage(said(tenant), "message", user_id="ana", conversation_id="c1")
        await store.upsert(tenant.name, "episodic", [message])


def conversation(tenant: str, client: str = "web", name: str = "c1") -> Conversation:
    return Conversation(tenant=tenant, client_id=client, conversation_id=name)


async def file(sets: Any, everyone: list[Tenant]) -> None:
    """A turn, a session and an outcome of every tenant."""
    meta = {"message_id": "m1", "seq": 0, "frame_id": "f1", "lang": "pt", "topic": "t", "partition": 0, "offset": 0}
    for tenant in everyone:
        spoken = turn_of(role="user", content=said(tenant), created_at=NOON, meta=meta)
        session = Session(frame_id="f1", frames=("f1",), lang="pt", last_seq=0, last_intent=tenant.canary)
        await sets.append(conversation(tenant.name), "f1", spoken, session, said(tenant).encode(), 20)
