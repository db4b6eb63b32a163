"""Answer complex questions: one node of cognition per record, the state travelling in the log.

reads   retrieval.plans       opens a job for a complex question, or where the caller asked for a deep answer
        cognition.steps       the state after a node, and the node that follows
writes  cognition.steps       the state after that node, key tenant and job; or why that node could not be run
        answers.out           the verified answer, key conversation
        memory.consultations  the finished run, where memory is on
state   the last step of each recent job, read from its own output on assignment; the passage index and the graph (read)

A pack never waits for it. A record handled again makes the same records with the same ids, and a step that is in the
log already is not made again: stores may answer otherwise by now.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import get_args

from agents.cognition.consultation_memory import ConsultationMemory
from agents.cognition.core import (
    dual_retriever,
    evidence_refiner,
    integrator,
    memory_check,
    memory_store,
    opening,
    planner,
    query_rewriter,
    reasoner,
    verifier,
)
from agents.cognition.core.route import step_after
from agents.cognition.evidence_sources import EvidenceSources
from agents.cognition.model import CognitionModel, ModelRole
from agents.ports.cognition import CognitionOptions
from agents.ports.graph import GraphReader
from agents.ports.handlers import Take
from agents.ports.models import Clock, LanguageModel
from agents.ports.passages import PassageIndex
from schemas.assessment import ModelTier
from schemas.base import Event, entity_key
from schemas.chat import AnswerGiven, AnswerMeta
from schemas.cognition import DEEP, CognitionStep, CognitiveState, Node
from schemas.envelope import Outgoing, Received, Settled, Step
from schemas.retrieval import RetrievalPlan
from schemas.topics import ANSWERS_OUT, COGNITION_STEPS, MEMORY_CONSULTATIONS

# Jobs of a partition that are remembered; one takes seconds.
MAX_JOBS = 10_000
Rule = Callable[[CognitiveState], CognitiveState]
RULES: Mapping[Node, Rule] = {
    Node.EVIDENCE_REFINER: evidence_refiner.refined,
    Node.QUERY_REWRITER: query_rewriter.rewritten,
}
ANSWERS = frozenset({Node.REASONER, Node.VERIFIER, Node.INTEGRATOR})
ANSWERING: Mapping[Node, Rule] = {Node.REASONER: reasoner.reasoned, Node.INTEGRATOR: integrator.integrated}


def cognition_stage(
    index: PassageIndex,
    graph: GraphReader,
    options: CognitionOptions,
    clock: Clock,
    ask: Callable[[str], LanguageModel] | None,
    tier: ModelTier,
) -> "CognitionAgent":
    """The stage, with the models of its tier where there are some: `ask` is the model of a role, None for none."""
    models = None
    if ask is not None and tier != "fast" and options.enabled:
        models = CognitionModel({role: ask(role) for role in get_args(ModelRole)}, tier)
    return CognitionAgent(index, graph, options, clock, models)


class CognitionAgent:
    """Runs the nodes; every job ends within the steps that its limits allow."""

    def __init__(
        self,
        index: PassageIndex,
        graph: GraphReader,
        options: CognitionOptions,
        clock: Clock,
        model: CognitionModel | None = None,
    ) -> None:
        self._sources = EvidenceSources(index, graph, clock)
        self._memory = ConsultationMemory(index, graph)
        self._options = options
        self._model = model
        # By partition and job, the last step that is in the log or being made.
        self._made: dict[int, dict[str, int]] = {}

    def assigned(self, partition: int) -> Take:
        """Remember the steps in the log."""
        made = self._made.setdefault(partition, {})

        def take(emitted: Received[Event]) -> None:
            if isinstance(emitted.event, CognitionStep) and emitted.event.failed is None:
                _remember(made, emitted.event.job_id, emitted.event.step)

        return take

    def revoked(self, partition: int) -> None:
        """Forget the jobs of a partition."""
        self._made.pop(partition, None)

    def wants(self, event: Event) -> bool:
        """Plans of complex questions while enabled; steps that are not the last."""
        if isinstance(event, CognitionStep):
            return event.next is not Node.END
        assert isinstance(event, RetrievalPlan)
        return planner.opens_run(event, self._options)

    async def handle(self, record: Received[RetrievalPlan | CognitionStep]) -> Sequence[Step]:
        """The step that follows from a plan or a step; raises `Rejected` past the bound of steps."""
        event = record.event
        # The log's time, so that a replay decides as the run did.
        now = record.logged_at
        if isinstance(event, RetrievalPlan):
            state = opening.opened(event, record.envelope.tenant, self._options)
            state = planner.planned(state, asked=opening.is_asked(event))
            state = await self._improved(Node.PLANNER, state, now)
            return (self._step(record, step_after(state, Node.PLANNER, 1, now)),)
        made = self._made.setdefault(record.partition, {})
        if event.next is Node.END or made.get(event.job_id, 0) > event.step:
            return (Settled((record.position,)),)
        _remember(made, event.job_id, event.step + 1)
        try:
            state = await self._improved(event.next, await self._run(event.next, event.state, now), now)
            following = step_after(state, event.next, event.step + 1, now)
            return (*self._results(record, following), self._step(record, following))
        except BaseException:
            made.pop(event.job_id, None)
            raise

    def failed(self, record: Received[RetrievalPlan | CognitionStep], why: str) -> Sequence[Outgoing]:
        """The end of a job whose record became a dead letter: sent again, the record goes on with it."""
        event = record.event
        if isinstance(event, RetrievalPlan):
            state, node, step = opening.opened(event, record.envelope.tenant, self._options), Node.PLANNER, 1
        else:
            state, node, step = event.state, event.next, event.step + 1
        made = CognitionStep(job_id=state.job_id, step=step, node=node, next=Node.END, state=state, failed=why)
        key = entity_key(record.envelope.tenant, made.job_id)
        return (Outgoing(COGNITION_STEPS, key, made, record.envelope, f"{made.job_id}:{step}:failed"),)

    async def _improved(self, node: Node, state: CognitiveState, now: datetime) -> CognitiveState:
        """The state after a node's rule, as a model improves it where one is configured."""
        if self._model is None or (node in ANSWERS and not state.flags.verification):
            return state
        return await self._model.improved(node, state, now)

    async def _run(self, node: Node, state: CognitiveState, now: datetime) -> CognitiveState:
        if node is Node.THEME_ACTIVATOR and state.flags.theme:
            return await self._sources.themes(state)
        if node is Node.DUAL_RETRIEVER:
            return await self._retrieved(state)
        if node is Node.MEMORY_CHECK and state.flags.memory and state.flags.verification:
            return memory_check.checked(state, await self._memory.recall(state))
        # In a thread: they compute for tens of milliseconds, in which the packs of this process would stand still.
        if node is Node.VERIFIER and state.flags.verification:
            return await asyncio.to_thread(verifier.verified, state, now)
        rule = RULES.get(node) or (ANSWERING.get(node) if state.flags.verification else None)
        return await asyncio.to_thread(rule, state) if rule else state

    def _step(self, record: Received[Event], made: CognitionStep) -> Outgoing:
        key = entity_key(record.envelope.tenant, made.job_id)
        named = f"{made.job_id}:{made.step}"
        return Outgoing(COGNITION_STEPS, key, made, record.envelope, named, settles=(record.position,))

    def _results(self, record: Received[Event], made: CognitionStep) -> tuple[Outgoing, ...]:
        """The answer after the integrator, the consultation after the memory store."""
        state = made.state
        if made.node is Node.INTEGRATOR and state.flags.verification:
            key = record.conversation(state.client_id, state.conversation_id).key()
            return (Outgoing(ANSWERS_OUT, key, _answer(state), record.envelope, made.job_id),)
        if made.node is Node.MEMORY_STORE and state.flags.memory:
            found = memory_store.consultation(state)
            if found is not None:
                key = entity_key(record.envelope.tenant, found.consultation_id)
                return (Outgoing(MEMORY_CONSULTATIONS, key, found, record.envelope, made.job_id),)
        return ()

    async def _retrieved(self, state: CognitiveState) -> CognitiveState:
        """The evidence of every leaf, in waves: a leaf that names another's answer is searched after it."""
        asker = await self._sources.asker(state)
        while open_now := dual_retriever.searches(state):
            found = await asyncio.gather(*(self._sources.search(state, each, asker) for each in open_now))
            if state.flags.memory:
                uids = {one.chunk_uid for each in found for _, one in each.passages}
                factors = await self._memory.factors(state, uids)
                found = [dual_retriever.weighed(each, factors) for each in found]
                state = state.model_copy(update={"penalties": {**state.penalties, **factors}})
            state = dual_retriever.merged(state, found)
        return state


def _remember(made: dict[str, int], job_id: str, step: int) -> None:
    """Keep the last step of a job; the jobs that moved last are kept."""
    made[job_id] = max(step, made.pop(job_id, 0))
    while len(made) > MAX_JOBS:
        del made[next(iter(made))]


def _answer(state: CognitiveState) -> AnswerGiven:
    """The four fields of an answer; its text has the sections, its results also what they were made of."""
    results = integrator.deep_answer(state)
    status = "abstained" if state.verification_status == "abstain" else "partial" if results.missing else "answered"
    return AnswerGiven(
        status=status,
        results=results.model_dump(mode="json"),
        meta=AnswerMeta(
            intent=DEEP,
            lang=state.lang,
            frame_id=state.frame_id,
            answers=state.message_id,
            pack_id=state.pack_id,
        ),
        answer=state.integrated_response or "",
    )
