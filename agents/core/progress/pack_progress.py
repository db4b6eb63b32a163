"""The progress of packs: which memory classes were asked, how each answered, and what became of it.

Parts come in any order, so the events are numbered as their records come, per partition; what was numbered before is
read off the output, so that a record read again makes no second event.
"""

from dataclasses import dataclass, field, replace
from datetime import datetime

from agents.core.caching.budget import OBJECTS_PER_JSON, bytes_of
from agents.core.caching.lru import ByteCache
from agents.core.progress import pack_document
from agents.core.progress.reduction import ReducedState, set_to
from schemas.base import JsonObject
from schemas.envelope import Received
from schemas.packs import ContextPack
from schemas.progress import PackProgress, PatchOperation, ProgressMade
from schemas.retrieval import PartFound, RetrievalPlan

# The number of the event of a pack's first revision; each revision has the next multiple.
COMPLETE = 1000
# What a later revision needs of the state of a pack that is complete.
REMEMBERED = ("nodes", "budget")
# What the event of a pack's plan takes, without its patch.
PACK_BYTES = 4_000


@dataclass(slots=True)
class _Progress:
    """The state of a pack so far: when it was planned, for whom, and the classes that have answered."""

    state: ReducedState = field(default_factory=ReducedState)
    planned: ProgressMade | None = None
    answered: set[str] = field(default_factory=set)
    # The bytes of what its events have said, about: all of it is not counted again with each.
    size: int = 0

    def add(self, event: ProgressMade) -> None:
        self.state = self.state.after(event)
        self.size += OBJECTS_PER_JSON * len(event.model_dump_json())
        if self.state.ended:
            document = {name: self.state.document[name] for name in REMEMBERED if name in self.state.document}
            self.state = replace(self.state, document=document)
            self.size = PACK_BYTES + bytes_of(document)
        if event.type == "PACK_PLANNED":
            self.planned = event.model_copy(update={"patch": ()})
        elif event.type == "PACK_PART" and event.node_id is not None:
            self.answered.add(event.node_id)


class PackTable:
    """The packs of one partition, given what its output holds of them."""

    def __init__(self) -> None:
        self._packs: ByteCache[str, _Progress] = ByteCache("pack_progress")
        # Of those that are not remembered any more, too: what is sent again in an overload comes after thousands.
        self._told: ByteCache[str, int] = ByteCache("told_packs")

    def restore(self, event: ProgressMade) -> None:
        """Take an event that is in the output."""
        self._add(self._of(event.job_id), event)

    def planned(self, record: Received[RetrievalPlan], *, cognition: bool) -> ProgressMade | None:
        """The event of a plan, None for one that has been told; `cognition` says whether a cognitive run is opened."""
        plan, found = record.event, self._of(record.event.pack_id)
        if found.planned is not None or found.state.seq:
            return None
        deadline_ms = (plan.deadline_at - plan.accepted_at).total_seconds() * 1000
        nodes = pack_document.planned_nodes(plan)
        budget = {"max_tokens": plan.max_tokens, "used_tokens": 0, "deadline_ms": deadline_ms, "latency_ms": None}
        document = {
            **_beginning(plan.pack_id, plan.message_id, plan.depth_level.value, plan.query),
            "status": "planned",
            "budget": budget,
            "nodes": nodes,
        }
        data = {
            "level": plan.depth_level.value,
            "strategy": plan.strategy,
            "classes": list(nodes),
            "cognition": cognition,
            "message_seq": plan.seq,
            "accepted_at": plan.accepted_at.isoformat(),
        }
        return self._add(found, _event("PACK_PLANNED", (1, 0), plan, plan.pack_id, data, document))

    def part(self, record: Received[PartFound]) -> ProgressMade | None:
        """The event of a class's answer; None for one that was told, came too late, or belongs to no known plan."""
        part, name = record.event, record.event.memory_class.value
        found = self._packs.get(part.pack_id)
        if found is None or found.planned is None or found.state.ended or name in found.answered:
            return None
        planned = found.planned
        accepted_at = datetime.fromisoformat(planned.data["accepted_at"])
        waited = max((record.logged_at - accepted_at).total_seconds() * 1000, 0.0)
        node = pack_document.answered_node(part, found.state.document["nodes"].get(name, {}), waited)
        data = {key: node[key] for key in ("state", "why", "latency_ms", "items", "tokens")}
        numbers = (found.state.seq + 1, found.state.seq)
        patch = (set_to(node, "nodes", name), set_to("running", "status"))
        return self._add(found, _event("PACK_PART", numbers, planned, part.pack_id, data, {}, name, patch))

    def complete(self, record: Received[ContextPack]) -> ProgressMade | None:
        """The event of a pack or of its next revision, which says all that is known of it; None for one told before."""
        pack, found = record.event, self._of(record.event.pack_id)
        seq = COMPLETE * pack.revision
        if seq <= found.state.seq:
            return None
        before = found.state.document
        left, held = pack_document.dropped(pack), pack_document.kept(pack)
        status = "degraded" if pack.degraded else "complete"
        budget = {
            "max_tokens": pack.max_tokens,
            "used_tokens": pack.total_tokens_estimated,
            "deadline_ms": before.get("budget", {}).get("deadline_ms"),
            "latency_ms": round(pack.latency_ms, 1),
        }
        document = {
            **_beginning(pack.pack_id, pack.message_id, pack.depth_level.value, pack.query),
            "status": status,
            "budget": budget,
            "nodes": pack_document.final_nodes(pack, before.get("nodes", {})),
            "kept": held,
            "dropped": left,
            "conflicts": pack_document.contradictions(pack),
        }
        data = {
            "status": status,
            "revision": pack.revision,
            "tokens": pack.total_tokens_estimated,
            "kept": len(held),
            "dropped": len(left),
            "settled_by": pack.settled_by,
            "evidence": pack.evidence,
            "degraded_reasons": list(pack.degraded_reasons),
        }
        return self._add(found, _event("PACK_COMPLETE", (seq, found.state.seq), pack, pack.pack_id, data, document))

    def _of(self, pack_id: str) -> _Progress:
        return self._packs.get(pack_id) or _Progress(ReducedState(seq=self._told.get(pack_id) or 0))

    def _add(self, found: _Progress, event: ProgressMade) -> ProgressMade:
        found.add(event)
        self._packs.put(event.job_id, found, found.size)
        self._told.put(event.job_id, found.state.seq)
        return event


def _beginning(pack_id: str, message_id: str, level: str, question: str) -> JsonObject:
    """The keys of a state document that every pack has."""
    return {
        "job_id": pack_id,
        "message_id": message_id,
        "level": level,
        "question": question,
        "kept": {},
        "dropped": {},
        "conflicts": {},
    }


def _event(
    kind: PackProgress,
    numbers: tuple[int, int],
    whose: RetrievalPlan | ContextPack | ProgressMade,
    pack_id: str,
    data: JsonObject,
    document: JsonObject,
    node_id: str | None = None,
    patch: tuple[PatchOperation, ...] = (),
) -> ProgressMade:
    return ProgressMade(
        job_id=pack_id,
        message_id=whose.message_id,
        client_id=whose.client_id,
        conversation_id=whose.conversation_id,
        user_id=whose.user_id,
        stage="pack",
        seq=numbers[0],
        prev_seq=numbers[1],
        type=kind,
        node_id=node_id,
        cograg_status="idle",
        data=data,
        patch=(*(set_to(value, name) for name, value in document.items()), *patch),
    )
