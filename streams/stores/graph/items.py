"""Conversion of graph rows to items with their source and the reason they were found; pure."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Literal

from agents.ports.graph import ClaimContested, ClaimsFound, DecisionMade, DecisionTrace, Persona, Playbook, Retired
from schemas.base import Source, derive
from schemas.depth import DepthLevel
from schemas.items import (
    ClaimItem,
    ClaimStatus,
    Concept,
    Contradiction,
    ConversationSummary,
    Knowledge,
    Objective,
    PersonaItem,
    Process,
    Provenance,
    Step,
    TimePoint,
)
from schemas.memory import ChunkEntry, ClaimAsserted, ConceptEntry, Conflict, DefinitionEntry, Profile
from streams.stores.graph.rows import ANYBODY, SHARED, STATUS_RANK, Found
from streams.stores.tenant import natural_id

# Objectives with these statuses are history, not current.
ENDED = frozenset({"done", "completed", "achieved", "closed", "cancelled", "concluído", "concluido", "cancelado"})
PLACE = ("topic", "partition", "offset")
SAID = ("client_id", "user_id", *PLACE)
# The properties common to an item of a claim and the claim itself, under the node's names; and the claim's own.
SHOWN = "author text subject attribute value message_id confidence"
ASSERTED = f"{SHOWN} functional lang client_id conversation_id user_id frame_id seq"
OVER: frozenset[ClaimStatus] = frozenset({"superseded", "retracted"})


def _of(row: Found, names: str) -> dict[str, object]:
    return {name: row[name] for name in names.split()}


def _place(row: Found) -> dict[str, object]:
    """Topic, partition and offset, where a node has all three: the topic of a summary is its subject instead."""
    return {name: row[name] for name in PLACE} if all(name in row for name in PLACE) else {}


def _from(row: Found, reason: str, recorded_at: datetime, score: float = 0.0) -> dict[str, object]:
    node = str(row["id"])
    return {
        "id": natural_id(node),
        "provenance": Provenance(store="graph", id=node, **_place(row)),
        "recorded_at": recorded_at,
        "reason": reason,
        "score": score,
    }


def to_persona(rows: Sequence[Found]) -> Persona:
    """The person with the linked objectives that the profile still lists, in its order; one row per objective."""
    profile = rows[0]
    person = PersonaItem(
        **_from(profile, "profile of the user", profile["recorded_at"]),
        **_of(profile, "user_id user_role department"),
        persona_access=profile["access_level"],
    )
    linked = {row["objective"]: row for row in rows if row["objective"] and row["status"].casefold() not in ENDED}
    listed = [linked[each] for each in profile["objective_ids"] or () if each in linked]
    return Persona(person, tuple(_to_objective(row) for row in listed))


def to_persona_then(event: Found) -> Persona:
    """The person and the objectives of an earlier profile."""
    profile = Profile.model_validate_json(event["detail"])
    common = {"provenance": Provenance(store="graph", id=event["id"]), "recorded_at": event["created_at"]}
    person = PersonaItem(
        **common,
        id=profile.user_id,
        reason="profile of the user at that time",
        user_id=profile.user_id,
        user_role=profile.user_role,
        department=profile.department,
        persona_access=profile.access_level,
    )
    objectives = [
        Objective(**common, id=each.id, reason="objective of the user then", title=each.title, status=each.status)
        for each in profile.objectives
        if each.status.casefold() not in ENDED
    ]
    return Persona(person, tuple(objectives))


def _to_objective(row: Found) -> Objective:
    common = _from({"id": row["objective"]}, "current objective of the user", row["objective_at"])
    return Objective(**{**common, "id": row["objective_id"]}, title=row["title"], status=row["status"])


def to_summary(row: Found, origin: Literal["current", "previous"]) -> ConversationSummary:
    """A summary of the current conversation, or of a previous one."""
    return ConversationSummary(
        **_from(row, f"summary of the user's {origin} conversation", row["recency"]),
        **_of(row, "conversation_id text topic from_seq to_seq"),
        origin=origin,
    )


def to_event(row: Found) -> TimePoint:
    """A point in time mentioned in a conversation of the user's."""
    common = _from(row, "event in a conversation of the user", row["created_at"])
    return TimePoint(**common, **_of(row, "label at kind message_id"))


def statuses(
    claims: Iterable[Found], contradictions: Iterable[Found], superseded: Iterable[Found], corrected: Iterable[Found]
) -> dict[str, ClaimStatus]:
    """The status of each claim by the records of that time: its own, raised by contradictions and corrections."""
    found: dict[str, ClaimStatus] = {row["id"]: row["stated"] for row in claims}
    raised: list[tuple[str, ClaimStatus]] = [(row["old"], "contested") for row in contradictions]
    raised += [(row["id"], "retracted" if row["ruling"] else "contested") for row in corrected]
    raised += [(row["id"], "superseded") for row in superseded]
    for claim_id, status in raised:
        known = found.get(claim_id, "asserted")
        found[claim_id] = max(known, status, key=STATUS_RANK.__getitem__)
    return found


def to_claims_found(
    claims: Sequence[Found],
    contradictions: Sequence[Found],
    superseded: Sequence[Found],
    sides: Mapping[str, Found],
    status: Mapping[str, ClaimStatus],
) -> ClaimsFound:
    """Claims and contradictions, newest first; `sides` are all claims that a contradiction refers to."""
    newest = sorted(contradictions, key=lambda row: (row["detected_at"], row["new"], row["old"]), reverse=True)
    return ClaimsFound(
        tuple(_to_claim(row, status[row["id"]]) for row in claims),
        tuple(_to_contradiction(row, sides, status) for row in newest),
        tuple(_as_it_stood(row, newest, superseded, status[row["id"]]) for row in claims),
    )


def _as_it_stood(
    claim: Found, contradictions: Sequence[Found], superseded: Sequence[Found], status: ClaimStatus
) -> ClaimAsserted:
    """A stored claim with the claims it contradicts and supersedes, and its status at that time."""
    own = [row for row in contradictions if row["new"] == claim["id"]]
    conflicts = [Conflict(claim_id=natural_id(row["old"]), kind=row["kind"], score=row["score"]) for row in own]
    retired = sorted(natural_id(row["id"]) for row in superseded if row["new"] == claim["id"])
    related = {"contradicts": tuple(conflicts), "supersedes": tuple(retired), "status": status}
    return to_assertion(natural_id(claim["id"]), claim).model_copy(update=related)


def _to_claim(row: Found, status: ClaimStatus) -> ClaimItem:
    return ClaimItem(
        **_from(row, f"{row['author']} claim about {row['subject']}", row["created_at"]),
        **_of(row, SHOWN),
        claim_id=natural_id(row["id"]),
        status=status,
    )


def _to_contradiction(row: Found, sides: Mapping[str, Found], status: Mapping[str, ClaimStatus]) -> Contradiction:
    new, old = row["new"], row["old"]
    over = status.get(old) in OVER or status.get(new) in OVER or row["status"] == "resolved"
    claim_id, contradicts = natural_id(new), natural_id(old)
    identity = derive("contradiction", claim_id, contradicts)
    return Contradiction(
        **{**_from({"id": new}, "two claims that cannot both hold", row["detected_at"], row["score"]), "id": identity},
        claim_id=claim_id,
        contradicts=contradicts,
        kind=row["kind"],
        status="resolved" if over else "pending_reconciliation",
        current=natural_id(_current(new, old, sides)),
        explanation=f"{_said(sides.get(old))} / {_said(sides.get(new))} ({row['kind']})",
    )


def _current(new: str, old: str, sides: Mapping[str, Found]) -> str:
    """The side asserted last; the contradicting one while the other is not stored yet."""
    known = [sides[each] for each in (old, new) if each in sides]
    return str(max(known, key=_serial)["id"]) if len(known) == 2 else new


def _serial(row: Found) -> tuple[datetime, int, int, int]:
    return row["created_at"], row["partition"], row["offset"], row["seq"]


def _said(row: Found | None) -> str:
    return "?" if row is None else f"{row['author']}: {row['subject']} = {row['value']}"


def to_assertion(claim_id: str, row: Found) -> ClaimAsserted:
    """A stored claim as in its own event, without its contradictions."""
    readers = row.get("readers") or ()
    others = tuple(each for each in readers if each not in (row["user_id"], ANYBODY, SHARED))
    return ClaimAsserted(
        claim_id=claim_id,
        **_of(row, ASSERTED),
        status=row["stated"],
        asserted_at=row["created_at"],
        source=Source(**_place(row)),
        audience=others or None,
        tenant_wide=True if ANYBODY in readers else None,
        shared=True if SHARED in readers else None,
    )


def to_decision(row: Found) -> DecisionMade:
    """What was decided on a message."""
    return DecisionMade(
        decision_id=natural_id(row["id"]),
        message_id=row["message_id"],
        conversation_id=row["conversation_id"],
        client_id=row.get("client_id"),
        at=row["created_at"],
        level=DepthLevel(row["depth_level"]),
        tokens=row["tokens_used"],
        latency_ms=row["latency_ms"],
        degraded=row["degraded"],
        user_id=row.get("user_id"),
        evidence=row.get("evidence"),
    )


def to_traces(rows: Iterable[Found]) -> tuple[DecisionTrace, ...]:
    """The decisions on messages of one id, by conversation, newest first."""
    # Of a decision that has a node of an earlier version beside its own, and of a node that is another's by now.
    known: dict[str, Found] = {}
    for row in rows:
        mine = row.get("said_in") == row["conversation_id"]
        if mine or row["id"] not in known:
            known[row["id"]] = row if mine else {name: row[name] for name in row if name not in SAID}
    talks: dict[tuple[str, str], list[Found]] = defaultdict(list)
    for row in known.values():
        talks[row.get("client_id") or "", row["conversation_id"]].append(row)
    return tuple(sorted(map(_to_trace, talks.values()), key=lambda trace: trace.at, reverse=True))


def _to_trace(rows: Sequence[Found]) -> DecisionTrace:
    first = rows[0]
    # A stub, made by its decision, has no place yet.
    placed = first.get("topic") is not None
    return DecisionTrace(
        decision_ids=tuple(natural_id(row["id"]) for row in rows),
        pack_id=first["pack_id"],
        conversation_id=first["conversation_id"],
        client_id=first.get("client_id"),
        user_id=first.get("user_id"),
        at=first["created_at"],
        level=DepthLevel(first["depth_level"]),
        signals=tuple(first["detected_signals"]),
        tokens=first["tokens_used"],
        latency_ms=first["latency_ms"],
        place=Source(topic=first["topic"], partition=first["partition"], offset=first["offset"]) if placed else None,
    )


def to_contested(row: Found) -> ClaimContested:
    """A correction of a claim."""
    return ClaimContested(
        correction_id=natural_id(row["id"]),
        claim_id=natural_id(row["claim_id"]),
        user_id=row["usuario_id"],
        kind=row["tipo"],
        text=row["texto"],
        new_value=row.get("new_value"),
        ruling=row.get("ruling"),
        at=row["created_at"],
    )


def to_playbook(process: Found, steps: Iterable[Found]) -> Playbook:
    """A process and its steps in order."""
    found = Process(**_named(process), **_of(process, "access_level name"), how_to_terms=tuple(process["how_to_terms"]))
    own = sorted((row for row in steps if row["process_id"] == process["id"]), key=lambda row: (row["step"], row["id"]))
    return Playbook(found, tuple(_to_step(row, found) for row in own))


def _to_step(row: Found, process: Process) -> Step:
    return Step(
        **_from(row, f"step {row['step']} of {process.name}", row["created_at"], process.score),
        access_level=process.access_level,
        process_id=process.id,
        process_name=process.name,
        order=row["step"],
        text=row["text"],
    )


def to_concept(row: Found) -> Concept:
    """A concept named by the question."""
    return Concept(**_named(row), **_of(row, "access_level name definition"))


def to_definition(row: Found) -> Knowledge:
    """A definition of a term in the question."""
    return Knowledge(
        **_named(row),
        **_of(row, "access_level memory_class confidence"),
        title=row["name"],
        text=row["definition"],
    )


def to_retired(row: Found, kind: type[ChunkEntry | DefinitionEntry | ConceptEntry]) -> Retired:
    """An entry that a document no longer contains, as recorded, without its context."""
    said = {name: value for name, value in row.items() if name != "retired_at" and value is not None}
    return Retired(kind(**{**said, "id": natural_id(row["id"])}), row["retired_at"])


def _named(row: Found) -> dict[str, object]:
    reason = f"the question names {row['met']} of its {row['wanted']} words"
    return _from(row, reason, row["created_at"], row["met"] / row["wanted"])
