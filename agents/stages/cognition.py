"""Answer complex questions: one node of cognition per record, the state travelling in the log.

reads   retrieval.plans       opens a job for a complex question, or where the caller asked for a deep answer
        cognition.steps       the state after a node, and the node that follows
writes  cognition.steps       the state after that node, key tenant and job
        answers.out           the verified answer, key conversation
        memory.consultations  the finished run, where memory is on
state   the last step of each recent job, read from its own output on assignment; the passage index and the graph (read)

A pack never waits for it. A record handled again makes the same records with the same ids, and a step that is in the
log already is not made again: stores may answer otherwise by now.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime

from agents.concurrency import timeout
from agents.core.cognition import (
    dual_retriever,
    evidence_refiner,
    integrator,
    memory_store,
    opening,
    planner,
    query_rewriter,
    reasoner,
    verifier,
)
from agents.core.cognition.dual_retriever import LeafFound, LeafSearch
from agents.core.cognition.opening import CognitionOptions
from agents.core.cognition.passages import cite, sentences_of
from agents.core.cognition.route import step_after
from agents.core.retrieval import evidence, relevance
from agents.core.retrieval.evidence import JudgedHit
from agents.document_search import CANDIDATES, COLLECTION, by_section
from agents.errors import Unavailable
from agents.ports.graph import GraphReader
from agents.ports.passages import Hit, PassageIndex, PassageQuery
from schemas.base import Event, entity_key
from schemas.chat import AnswerGiven, AnswerMeta
from schemas.cognition import (
    CognitionStep,
    CognitiveState,
    EvidencePassage,
    LeafEvidence,
    Node,
    SourceAnswer,
    SourceName,
)
from schemas.envelope import Outgoing, Received, Settled, Step
from schemas.items import AccessLevel
from schemas.retrieval import RetrievalPlan
from schemas.topics import ANSWERS_OUT, COGNITION_STEPS, MEMORY_CONSULTATIONS

# Per store, as in an ordinary search; a source that is late says so, and the others' evidence counts.
SOURCE_S = 2.0
# Jobs of a partition that are remembered; one takes seconds.
MAX_JOBS = 10_000
KINDS = ("chunk", "definition")
SOURCES: tuple[SourceName, ...] = ("lexical", "vector")
FEATURES: Mapping[SourceName, str] = {"lexical": "bm25", "vector": "dense"}
INTENT = "deep"
Rule = Callable[[CognitiveState], CognitiveState]
RULES: Mapping[Node, Rule] = {
    Node.EVIDENCE_REFINER: evidence_refiner.refined,
    Node.QUERY_REWRITER: query_rewriter.rewritten,
}
ANSWERING: Mapping[Node, Rule] = {Node.REASONER: reasoner.reasoned, Node.INTEGRATOR: integrator.integrated}


class CognitionAgent:
    """Runs the nodes; every job ends within the steps that its limits allow."""

    def __init__(self, index: PassageIndex, graph: GraphReader, options: CognitionOptions) -> None:
        self._index = index
        self._graph = graph
        self._options = options
        # By partition and job, the last step that is in the log or being made.
        self._made: dict[int, dict[str, int]] = {}

    def assigned(self, partition: int, emitted: Iterable[Received[Event]]) -> None:
        """Remember the steps in the log."""
        made = self._made.setdefault(partition, {})
        for record in emitted:
            if isinstance(record.event, CognitionStep):
                _remember(made, record.event.job_id, record.event.step)

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
            return (self._step(record, step_after(state, Node.PLANNER, 1, now)),)
        made = self._made.setdefault(record.partition, {})
        if event.next is Node.END or made.get(event.job_id, 0) > event.step:
            return (Settled((record.position,)),)
        _remember(made, event.job_id, event.step + 1)
        try:
            state = await self._run(event.next, event.state, now)
            following = step_after(state, event.next, event.step + 1, now)
            return (*self._results(record, following), self._step(record, following))
        except BaseException:
            made.pop(event.job_id, None)
            raise

    async def _run(self, node: Node, state: CognitiveState, now: datetime) -> CognitiveState:
        if node is Node.DUAL_RETRIEVER:
            return await self._retrieved(state)
        if node is Node.VERIFIER:
            return verifier.verified(state, now) if state.flags.verification else state
        rule = RULES.get(node) or (ANSWERING.get(node) if state.flags.verification else None)
        return rule(state) if rule else state

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
        access, error = await self._access(state)
        while open_now := dual_retriever.searches(state):
            found = await asyncio.gather(*(self._search(state, each, access, error) for each in open_now))
            state = dual_retriever.merged(state, found)
        return state

    async def _access(self, state: CognitiveState) -> tuple[AccessLevel, str | None]:
        """The access level of who asks; public where the graph does not answer."""
        try:
            async with timeout(SOURCE_S):
                persona = await self._graph.persona(state.tenant_id, state.user_id, state.as_of)
        except (Unavailable, TimeoutError) as failed:
            return "public", str(failed)
        return (persona.person.persona_access if persona else "public"), None

    async def _search(
        self, state: CognitiveState, leaf: LeafSearch, access: AccessLevel, error: str | None
    ) -> LeafFound:
        query = PassageQuery(
            leaf.query, state.lang, CANDIDATES, state.as_of, access_level=access, kinds=KINDS, context=leaf.context
        )
        try:
            async with timeout(SOURCE_S):
                hits = by_section(await self._index.search(state.tenant_id, COLLECTION, query))
                kept, _ = evidence.worth_showing(hits, "documents", state.as_of, dual_retriever.MAX_EVIDENCE)
                passages = [_passage(each.hit) for each in kept]
                near = await self._similarities(leaf.query, passages)
        except TimeoutError:
            return _nothing(leaf, "timeout")
        except Unavailable:
            return _nothing(leaf, "error")
        found = tuple(
            (passage, _evidence(each, similar)) for passage, each, similar in zip(passages, kept, near, strict=True)
        )
        return LeafFound(leaf, relevance.answerable(hits, "documents"), found, _answers(leaf, found, error))

    async def _similarities(self, query: str, passages: Sequence[EvidencePassage]) -> list[tuple[float, ...]]:
        """The cosines of every passage's sentences with the query."""
        said = [[sentence.text for sentence in sentences_of(each)] for each in passages]
        asked, *vectors = await self._index.vectors([query, *(text for each in said for text in each)])
        near = iter(sum(a * b for a, b in zip(asked, vector, strict=True)) for vector in vectors)
        return [tuple(round(next(near), 4) for _ in each) for each in said]


def _remember(made: dict[str, int], job_id: str, step: int) -> None:
    """Keep the last step of a job; the jobs that moved last are kept."""
    made[job_id] = max(step, made.pop(job_id, 0))
    while len(made) > MAX_JOBS:
        del made[next(iter(made))]


def _passage(hit: Hit) -> EvidencePassage:
    passage = hit.passage
    title = str(passage.fields.get("title", ""))
    return EvidencePassage(
        chunk_uid=passage.id,
        text=passage.text,
        title=title,
        document_id=str(passage.fields.get("document_id", "")),
        cite=cite(title, passage.id),
        lang=passage.lang,
        recorded_at=passage.recorded_at,
        access_level=passage.access_level,
    )


def _evidence(judged: JudgedHit[Hit], similar: tuple[float, ...]) -> LeafEvidence:
    scores = judged.hit.scores
    sources = tuple(source for source in SOURCES if scores.get(FEATURES[source], 0.0) > 0)
    uid = judged.hit.passage.id
    return LeafEvidence(chunk_uid=uid, score=judged.probability, sources=sources, similar=similar)


def _answers(
    leaf: LeafSearch, found: Sequence[tuple[EvidencePassage, LeafEvidence]], error: str | None
) -> tuple[SourceAnswer, ...]:
    counts = {source: sum(source in each.sources for _, each in found) for source in SOURCES}
    told = tuple(
        SourceAnswer(
            node_id=leaf.node_id,
            source=source,
            query=leaf.query,
            status="ok" if count else "empty",
            found=count,
            attempt=leaf.attempt,
        )
        for source, count in counts.items()
    )
    return (*told, *(_failed(leaf, ("local",), "error") if error else ()))


def _nothing(leaf: LeafSearch, status: str) -> LeafFound:
    return LeafFound(leaf, 0.0, (), _failed(leaf, SOURCES, status))


def _failed(leaf: LeafSearch, sources: Sequence[SourceName], status: str) -> tuple[SourceAnswer, ...]:
    told: Mapping[str, object] = {"node_id": leaf.node_id, "query": leaf.query, "attempt": leaf.attempt}
    return tuple(SourceAnswer.model_validate({**told, "source": source, "status": status}) for source in sources)


def _answer(state: CognitiveState) -> AnswerGiven:
    """The four fields of an answer; its text has the sections, its results also what they were made of."""
    results = integrator.deep_answer(state)
    status = "abstained" if state.verification_status == "abstain" else "partial" if results.missing else "answered"
    return AnswerGiven(
        status=status,
        results=results.model_dump(mode="json"),
        meta=AnswerMeta(
            intent=INTENT,
            lang=state.lang,
            frame_id=state.frame_id,
            answers=state.message_id,
            pack_id=state.pack_id,
        ),
        answer=state.integrated_response or "",
    )
