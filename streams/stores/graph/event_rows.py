"""Rows of the graph for turns, decisions, claims and summaries; pure."""

from collections.abc import Iterable, Sequence
from datetime import UTC

import orjson

from agents.core.claims.subjects import filed_under
from schemas.base import PUBLIC_TENANT, Source, derive, message_key
from schemas.chat import Turn
from schemas.depth import AppliedOptions
from schemas.envelope import Received
from schemas.items import ClaimStatus
from schemas.memory import AuditDecision, ClaimAsserted, PackDecision, SummaryMade
from schemas.retrieval import QueryProfile
from schemas.topics import CORRECTIONS_IN
from streams.stores.graph.rows import (
    ANYBODY,
    SHARED,
    STATUS_RANK,
    Edge,
    NodeInsert,
    NodeUpsert,
    Row,
    link,
    name_key,
    picked,
    present,
)
from streams.stores.tenant import node_id, writable


def _place(source: Source) -> dict[str, object]:
    return picked(source, "topic partition offset")


def _json(value: object) -> str:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()


def _message(event: Turn | PackDecision | ClaimAsserted) -> str:
    return message_key(event.client_id, event.conversation_id, event.message_id)


def turn_rows(received: Sequence[Received[Turn]]) -> Iterable[Row]:
    """Messages and their conversations."""
    for row in received:
        turn, tenant = row.event, writable(row.envelope.tenant)
        conversation = row.conversation(turn.client_id, turn.conversation_id).key()
        message = node_id(tenant, _message(turn))
        yield NodeInsert(
            "Message",
            message,
            tenant,
            {
                "role": turn.role.value,
                **picked(turn, "content created_at seq frame_id lang client_id conversation_id user_id"),
                **picked(turn, "request_id intent entity answers depth_level message_id pack"),
                **_place(turn.source),
            },
        )
        named = picked(turn, "client_id conversation_id")
        at = turn.created_at.astimezone(UTC)
        yield NodeUpsert("Conversation", conversation, tenant, at, named, at)
        yield Edge("IN_CONVERSATION", message, conversation, tenant, tenant)


def decision_rows(received: Sequence[Received[PackDecision | AuditDecision]]) -> Iterable[Row]:
    """Decisions on packs with their message and profile; all other decisions as audit events."""
    for row in received:
        decision, tenant = row.event, writable(row.envelope.tenant)
        if isinstance(decision, PackDecision):
            yield from _pack_rows(decision, tenant)
            continue
        yield NodeInsert(
            "AuditEvent",
            node_id(tenant, decision.id),
            tenant,
            # Neo4j has no nested maps: the detail is stored as JSON.
            {
                **picked(decision, "kind actor subject_id created_at conversation_id client_id"),
                "detail": _json(decision.detail),
            },
        )


def _pack_rows(decision: PackDecision, tenant: str) -> Iterable[Row]:
    yield NodeInsert(
        "CDCDecision",
        node_id(tenant, decision.id),
        tenant,
        {
            "depth_level": decision.depth_level.value,
            **picked(decision, "client_id conversation_id message_id pack_id detected_signals query_profile_used"),
            **picked(decision, "sources_retrieved tokens_used latency_ms created_at classifier confidence degraded"),
            **present(query_profile_version=decision.profile and decision.profile.version, evidence=decision.evidence),
            **_options(decision.options),
        },
    )
    yield link("FOR_MESSAGE", tenant, decision.id, _message(decision))
    if decision.query_profile_used is not None:
        profile, props = _profile(decision.query_profile_used, decision.profile)
        yield NodeInsert("QueryProfile", node_id(PUBLIC_TENANT, profile), PUBLIC_TENANT, props)
        yield link("USED_PROFILE", tenant, decision.id, profile, PUBLIC_TENANT)


def _options(options: AppliedOptions | None) -> dict[str, object]:
    """The caller's options as JSON, and the names of those that the policy limited."""
    if options is None:
        return {}
    return {"options": options.model_dump_json(exclude={"clamped"}), "clamped_options": list(options.clamped)}


def _profile(name: str, used: QueryProfile | None) -> tuple[str, dict[str, object]]:
    """A profile's id and properties; a node never changes, so other parameters make another node."""
    if used is None:
        return name, {"name": name}
    params = _json(used.model_dump(mode="json")["sources"])
    identity = derive("query-profile", used.name, used.version, params)
    return identity, {"name": used.name, "version": used.version, "params": params}


def claim_rows(received: Sequence[Received[ClaimAsserted]]) -> Iterable[Row]:
    """Claims with their messages, the claims they contradict and supersede, and the status of those."""
    for row in received:
        claim, tenant = row.event, writable(row.envelope.tenant)
        yield NodeInsert("Claim", node_id(tenant, claim.claim_id), tenant, _claim_props(claim))
        yield _status_row(tenant, claim.claim_id, claim.status)
        if claim.source.topic != CORRECTIONS_IN.name:  # a correction from outside has no message
            yield link("MADE_IN", tenant, claim.claim_id, _message(claim))
        for conflict in claim.contradicts:
            resolved = conflict.claim_id in claim.supersedes
            yield link(
                "CONTRADICTS",
                tenant,
                claim.claim_id,
                conflict.claim_id,
                score=conflict.score,
                status="resolved" if resolved else "pending_reconciliation",
                detected_at=claim.asserted_at,
                kind=conflict.kind,
            )
            yield _status_row(tenant, conflict.claim_id, "contested")
        for older in claim.supersedes:
            yield link("SUPERSEDES", tenant, claim.claim_id, older)
            yield _status_row(tenant, older, "superseded")


def _claim_props(claim: ClaimAsserted) -> dict[str, object]:
    return {
        **picked(claim, "author text subject attribute value functional confidence lang client_id conversation_id"),
        **picked(claim, "user_id message_id frame_id seq"),
        "subject_key": name_key(filed_under(claim.subject, claim.user_id)),
        "readers": _readers(claim),
        # As in its own event. The effect of other claims is in `status`, and is not known before they were recorded.
        "stated": claim.status,
        **present(created_at=claim.asserted_at),
        **_place(claim.source),
    }


def _readers(claim: ClaimAsserted) -> list[str]:
    if claim.tenant_wide:
        return [ANYBODY]
    return [claim.user_id, *(claim.audience or ()), *((SHARED,) if claim.shared else ())]


def _status_row(tenant: str, claim_id: str, status: ClaimStatus) -> NodeUpsert:
    return NodeUpsert("Claim", node_id(tenant, claim_id), tenant, STATUS_RANK[status], {"status": status})


def summary_rows(received: Sequence[Received[SummaryMade]]) -> Iterable[Row]:
    """Summaries (the greatest `to_seq` wins) with their conversation and the points in time they mention."""
    for row in received:
        summary, tenant = row.event, writable(row.envelope.tenant)
        own = node_id(tenant, summary.summary_id)
        made_at = summary.made_at.astimezone(UTC)
        props = {
            **picked(summary, "conversation_id client_id user_id frame_id text topic terms lang"),
            **picked(summary, "from_seq from_message to_message"),
            "recency": made_at,
        }
        yield NodeUpsert("ConversationSummary", own, tenant, summary.to_seq, props, made_at)
        conversation = row.conversation(summary.client_id, summary.conversation_id).key()
        yield Edge("SUMMARIZES", own, conversation, tenant, tenant)
        for event in summary.relevant_events:
            # The union of all versions: an earlier summary that arrives later must not determine the result.
            point = picked(event, "label at kind message_id")
            yield NodeUpsert("TimePoint", node_id(tenant, event.id), tenant, made_at, point, made_at)
            yield link("HAS_EVENT", tenant, summary.summary_id, event.id)
