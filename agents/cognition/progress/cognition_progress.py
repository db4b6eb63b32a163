"""The progress of a cognitive run: the events of a step, from its record alone.

A record holds the whole state after a node, and the node that follows: what it tells needs no other record. The last
event of every step has the same index, so the event before the first one of a step is known without the step before.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from agents.cognition.core import planner
from agents.cognition.core.opening import job_id_of
from agents.cognition.language.messages import message
from agents.cognition.progress.node_progress import TELLING, Told, answer_status, begun, spent
from agents.cognition.progress.tree_nodes import tree_nodes
from agents.core.progress.reduction import set_to
from agents.ports.cognition import CognitionOptions
from schemas.base import JsonObject
from schemas.cognition import CognitionStep, CognitiveState, Node
from schemas.progress import CogragStatus, PatchOperation, ProgressMade
from schemas.retrieval import RetrievalPlan

# The numbers of a step's events: `step * STEP + index`. The last one has the last index, and that of a failure of the
# step that follows the one behind it: sent again, that step has all its numbers left.
STEP, LAST, FAILED = 1000, 998, 999
# Where a run is after each node, for a step that tells nothing of itself.
QUIET: Mapping[Node, CogragStatus] = {
    **dict.fromkeys(Node, "refining"),
    **dict.fromkeys((Node.VERIFIER, Node.QUERY_REWRITER, Node.INTEGRATOR, Node.MEMORY_STORE), "verifying"),
    Node.PLANNER: "decomposing",
    Node.THEME_ACTIVATOR: "decomposing",
    Node.DUAL_RETRIEVER: "retrieving",
}


@dataclass(frozen=True, slots=True)
class RunProgress:
    """The events of the run for a message; `is_awaited` says whether one is opened."""

    job_id: str
    is_awaited: bool

    def of(self, step: CognitionStep) -> tuple[ProgressMade, ...]:
        """The events of a step, numbered."""
        return cognition_events(step)


def run_of(plan: RetrievalPlan, options: CognitionOptions) -> RunProgress:
    """The run for the message of a plan, by the options of the workers."""
    return RunProgress(job_id_of(plan), planner.opens_run(plan, options))


def cognition_events(step: CognitionStep) -> tuple[ProgressMade, ...]:
    """The events of a step, numbered; a run has one end, its last event."""
    last = (step.step - 1) * STEP + LAST if step.step > 1 else 0
    if step.failed is not None:
        return (_event(step, _failed(step), (step.step - 1) * STEP + FAILED, last),)
    told = [*TELLING[step.node](step), *_following(step)]
    status: CogragStatus = QUIET[step.node] if step.state.flags.verification else "refining"
    told.append(Told("COGRAG_BUDGET", told[-1].status if told else status, spent(step), _budget(step)))
    if step.next is Node.END:
        told.append(_end(step.state))
    numbers = [*(step.step * STEP + index for index in range(len(told) - 1)), step.step * STEP + LAST]
    before = [last, *numbers]
    return tuple(_event(step, each, *place) for each, *place in zip(told, numbers, before, strict=False))


def _event(step: CognitionStep, told: Told, seq: int, prev_seq: int) -> ProgressMade:
    state = step.state
    return ProgressMade(
        job_id=state.job_id,
        message_id=state.message_id,
        client_id=state.client_id,
        conversation_id=state.conversation_id,
        user_id=state.user_id,
        stage="cognition",
        seq=seq,
        prev_seq=prev_seq,
        type=told.type,
        node_id=told.node_id,
        cograg_status=told.status,
        data=told.data,
        patch=(*told.patch, set_to(told.status, "status")),
    )


def _budget(step: CognitionStep) -> tuple[PatchOperation, ...]:
    return (set_to(spent(step), "budget"),)


def _following(step: CognitionStep) -> Iterator[Told]:
    """What begins with the node that follows."""
    state = step.state
    if step.next is Node.DUAL_RETRIEVER:
        leaves = sum(not node.children for node in tree_nodes(state))
        yield Told("COGRAG_RETRIEVAL_START", "retrieving", {"leaves": leaves, "round": state.rethink_count})
    if step.next is Node.EVIDENCE_REFINER:
        yield Told("COGRAG_REFINE_START", "refining", {"passages": len(state.passages)})
    if not state.flags.verification:
        return
    if step.next is Node.VERIFIER:
        claims = sum(len(each.claims) for each in state.sub_answers.values())
        yield Told("COGRAG_VERIFY_START", "verifying", {"nodes": len(state.sub_answers), "claims": claims})
    if step.next is Node.INTEGRATOR:
        yield Told("COGRAG_INTEGRATE_START", "verifying", {"status": state.verification_status})


def _end(state: CognitiveState) -> Told:
    """The end of a run: an answer, that there is none and what is missing, or that the question is not divided."""
    # Of a run that had failed, and was sent again.
    again = set_to(None, "failed")
    if state.fallback:
        return Told("COGRAG_COMPLETE", "complete", {"fallback": True}, (again,))
    if state.verification_status == "abstain" or (state.verification_status is None and state.abstain_info):
        info = state.abstain_info
        missing = list(info.missing) if info else [state.query]
        told: JsonObject = {
            "message": info.message if info else message(state.lang, "answer.nothing"),
            "missing": missing,
            "sections": [each.model_dump(mode="json") for each in state.sections],
        }
        patch = (set_to(missing, "missing"), set_to("abstained", "answer_status"), again)
        return Told("COGRAG_ABSTAIN", "abstain", told, patch)
    status = answer_status(state) if state.flags.verification else None
    said = {"fallback": False, "verification_status": state.verification_status, "answer_status": status}
    return Told("COGRAG_COMPLETE", "complete", said, (again,))


def _failed(step: CognitionStep) -> Told:
    """The end of a run of which a node could not be run, and why."""
    why = f"{step.node.value} could not be run: {step.failed}"
    patch = (*(begun(step) if step.step == 1 else ()), set_to(why, "failed"))
    return Told("COGRAG_FAILED", "abstain", {"why": why, "node": step.node.value}, patch)
