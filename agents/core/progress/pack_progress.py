"""The progress of a pack: which memory classes were asked, how each answered, and what became of it.

Parts come in any order, and are numbered as their records come.
"""

from agents.core.progress import pack_document
from agents.core.progress.reduction import ReducedState, set_to
from schemas.base import JsonObject
from schemas.envelope import Received
from schemas.packs import ContextPack
from schemas.progress import PackProgress, PatchOperation, ProgressMade
from schemas.retrieval import PartFound, RetrievalPlan

# The number of the event of a pack's first revision; each revision has the next multiple.
COMPLETE = 1000


class PackEvents:
    """The events of one pack, from its plan on; `cognition` says whether a cognitive run is opened."""

    def __init__(self, plan: RetrievalPlan, *, cognition: bool) -> None:
        self._plan = plan
        self._state = ReducedState()
        self._answered: set[str] = set()
        self._titles: dict[str, str] = {}
        self.planned = self._planned(cognition=cognition)

    def _planned(self, *, cognition: bool) -> ProgressMade:
        plan = self._plan
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
        return self._add("PACK_PLANNED", 1, data, document)

    def part(self, record: Received[PartFound]) -> ProgressMade | None:
        """The event of a class's answer; None for one that was told, or came after the pack."""
        part, name = record.event, record.event.memory_class.value
        if self._state.ended or name in self._answered:
            return None
        self._answered.add(name)
        self._titles.update((item.id, pack_document.title(item)) for item in part.items)
        waited = max((record.logged_at - self._plan.accepted_at).total_seconds() * 1000, 0.0)
        node = pack_document.answered_node(part, self._state.document["nodes"].get(name, {}), waited)
        data = {key: node[key] for key in ("state", "why", "latency_ms", "items", "tokens")}
        patch = (set_to(node, "nodes", name), set_to("running", "status"))
        return self._add("PACK_PART", self._state.seq + 1, data, {}, name, patch)

    def complete(self, record: Received[ContextPack]) -> ProgressMade | None:
        """The event of a pack or of its next revision, which says all that is known of it; None for one told before."""
        pack, before = record.event, self._state.document
        seq = COMPLETE * pack.revision
        if seq <= self._state.seq:
            return None
        left, held = pack_document.dropped(pack, self._titles), pack_document.kept(pack)
        status = "degraded" if pack.degraded else "complete"
        budget = {
            "max_tokens": pack.max_tokens,
            "used_tokens": pack.total_tokens_estimated,
            "deadline_ms": before["budget"]["deadline_ms"],
            "latency_ms": round(pack.latency_ms, 1),
        }
        document = {
            **_beginning(pack.pack_id, pack.message_id, pack.depth_level.value, pack.query),
            "status": status,
            "budget": budget,
            "nodes": pack_document.final_nodes(pack, before["nodes"]),
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
        return self._add("PACK_COMPLETE", seq, data, document)

    def _add(
        self,
        kind: PackProgress,
        seq: int,
        data: JsonObject,
        document: JsonObject,
        node_id: str | None = None,
        patch: tuple[PatchOperation, ...] = (),
    ) -> ProgressMade:
        plan = self._plan
        event = ProgressMade(
            job_id=plan.pack_id,
            message_id=plan.message_id,
            client_id=plan.client_id,
            conversation_id=plan.conversation_id,
            user_id=plan.user_id,
            stage="pack",
            seq=seq,
            prev_seq=self._state.seq,
            type=kind,
            node_id=node_id,
            cograg_status="idle",
            data=data,
            patch=(*(set_to(value, name) for name, value in document.items()), *patch),
        )
        self._state = self._state.after(event)
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
