"""The topology: one row per stage with its topics, its builder and its consumer group.

Consumer groups, dead-letter topics, metrics, health, the command's stage list and the documentation derive from it.
"""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, get_args

from agents.cognition_model import CognitionModel, ModelRole
from agents.concurrency import RetryUntil
from agents.core.assessment.context_needs import AssessmentPolicy
from agents.core.tools.gate import ToolPolicyResolver
from agents.ports.graph import GraphWriter
from agents.ports.handlers import Handler
from agents.references import References
from agents.retrievers.base import Retriever
from agents.retrievers.claims import ClaimsRetriever
from agents.retrievers.episodic import EpisodicRetriever
from agents.retrievers.persona import PersonaRetriever
from agents.retrievers.procedural import ProceduralRetriever
from agents.retrievers.semantic import SemanticRetriever
from agents.retrievers.working_set import WorkingSetRetriever
from agents.second_opinion import SecondOpinion
from agents.stages.assembler import Assembler
from agents.stages.assessor import Assessor
from agents.stages.claims import ClaimsAgent
from agents.stages.cognition import CognitionAgent
from agents.stages.correction import CorrectionAgent
from agents.stages.depth import DepthAgent
from agents.stages.eraser import Eraser
from agents.stages.feedback import FeedbackAgent
from agents.stages.indexer import TurnIndexer
from agents.stages.ingestion import Ingestion
from agents.stages.planner import Planner
from agents.stages.presenter import Presenter
from agents.stages.progress import ProgressTeller
from agents.stages.summariser import Summariser
from agents.stages.tool_gate import ToolGate
from agents.stages.writers import ConsultationWriter, KnowledgeWriter, SummaryWriter, WeightWriter, Writer
from schemas.envelope import Received
from schemas.topics import (
    ANSWERS_OUT,
    ASSESSMENTS_IN,
    ASSESSMENTS_OUT,
    COGNITION_STEPS,
    CONTEXT_PACKS,
    CONVERSATION_TURNS,
    CORRECTIONS_IN,
    DEPTH_CLASSIFIED,
    DOCUMENTS_IN,
    FEEDBACK_IN,
    MEMORY_CLAIMS,
    MEMORY_CONSULTATIONS,
    MEMORY_CORRECTIONS,
    MEMORY_DECISIONS,
    MEMORY_ERASURES,
    MEMORY_KNOWLEDGE,
    MEMORY_SUMMARIES,
    MEMORY_VOTES,
    MESSAGES_IN,
    PACKS_PARTIAL,
    PROGRESS_EVENTS,
    RETRIEVAL_PLANS,
    TOOLS_CALLS_IN,
    TOOLS_CALLS_OUT,
    TOOLS_CONFIRMATIONS_IN,
    TOOLS_RESULTS_IN,
    Topic,
)
from streams import policies
from streams.dependencies import Dependencies
from streams.stage import Stage
from streams.stores.settings import OWN

Write = Callable[[Sequence[Received[Any]]], Awaitable[None]]
# The concurrency of stages whose records wait for something they name: a record that names something missing must hold
# up few others, and each waiting record polls the graph.
WAITING_CONCURRENCY = 64
GRAPH_WRITERS, INDEX_WRITERS = "graph-writers", "index-writers"
# What is written to a server in so many seconds goes in one round trip. Nobody waits for it.
GATHERED_S = 0.25


def _retrieval(name: str, build: Callable[[Dependencies], Retriever], *, passages: bool = False) -> Stage:
    """A retrieval stage; all share one group without order, since each answers by its deadline."""
    reads, writes = (RETRIEVAL_PLANS,), (PACKS_PARTIAL,)

    def built(d: Dependencies) -> Retriever:
        retriever = build(d)
        retriever.answers_late, retriever.hurried = d.settings.pack_revisions, d.hurried
        retriever.share = d.settings.retrieval_share
        return retriever

    return Stage(f"retrieval-{name}", reads, writes, built, "retrieval", order="none", passages=passages, hiding=True)


def _writer(name: str, reads: Topic, write: Callable[[GraphWriter], Write]) -> Stage:
    """A writer of the graph; all share one group, and waiting records go into one batch."""

    def built(d: Dependencies) -> Handler:
        return Writer(write(d.writer), 0.0 if d.settings.neo4j_url.startswith(OWN) else GATHERED_S)

    return Stage(name, (reads,), (), built, GRAPH_WRITERS, concurrency=64, together=64, background=True)


def _indexer(name: str, reads: Topic, build: Callable[[Dependencies], Handler]) -> Stage:
    """A writer of the index; it embeds texts in batches, which costs less than one by one."""
    return Stage(name, (reads,), (), build, INDEX_WRITERS, concurrency=64, together=8, background=True, passages=True)


def _references(built: Dependencies) -> References:
    return References(built.clock, RetryUntil(built.settings.reference_wait_ms / 1000), built.progress)


def _second_opinion(built: Dependencies) -> SecondOpinion | None:
    ask, settings = built.models.model, built.settings
    return ask and SecondOpinion(ask("depth"), settings.llm_min_confidence, settings.classify_timeout_ms / 1000)


def _assessor(built: Dependencies) -> Assessor:
    ask, settings = built.models.model, built.settings
    policy = AssessmentPolicy(settings.limits(), policies.advised_tools(settings.assessment_policy))
    return Assessor(built.clock, built.models.engine, model=ask and ask("assessment"), policy=policy)


def _cognition_model(built: Dependencies) -> CognitionModel | None:
    """The models of cognition; none where it is off or the tier asks for none."""
    ask, tier = built.models.model, built.settings.rag_cograg_model_tier
    if ask is None or tier == "fast" or not built.settings.rag_enable_cograg:
        return None
    return CognitionModel({role: ask(role) for role in get_args(ModelRole)}, tier)


def _planner(built: Dependencies) -> Planner:
    return Planner(replace(built.settings.limits(), profiles=built.profiles))


STAGES: tuple[Stage, ...] = (
    Stage(
        "depth",
        (MESSAGES_IN,),
        (CONVERSATION_TURNS, DEPTH_CLASSIFIED, MEMORY_ERASURES),
        lambda d: DepthAgent(
            d.context,
            d.graph,
            d.clock,
            window=d.settings.history_window,
            weights=d.weights,
            kinds=d.references,
            packs=d.packs,
            second=_second_opinion(d),
            answers=d.settings.cognition().answers,
            full_for=d.full_for,
        ),
        first=True,
        hiding=True,
    ),
    Stage("planner", (DEPTH_CLASSIFIED,), (PACKS_PARTIAL, RETRIEVAL_PLANS), _planner),
    _retrieval("working-set", lambda d: WorkingSetRetriever(d.tokens, d.clock, d.working_sets, d.context)),
    _retrieval("persona", lambda d: PersonaRetriever(d.tokens, d.clock, d.graph)),
    _retrieval(
        "episodic",
        lambda d: EpisodicRetriever(d.tokens, d.clock, d.graph, d.index, d.working_sets, d.context.policy),
        passages=True,
    ),
    _retrieval(
        "semantic", lambda d: SemanticRetriever(d.tokens, d.clock, d.index, d.graph, d.context.policy), passages=True
    ),
    _retrieval("procedural", lambda d: ProceduralRetriever(d.tokens, d.clock, d.index, d.graph), passages=True),
    _retrieval("claims", lambda d: ClaimsRetriever(d.tokens, d.clock, d.graph, d.working_sets, d.index), passages=True),
    Stage(
        "assembler",
        (PACKS_PARTIAL,),
        (CONTEXT_PACKS, MEMORY_DECISIONS, PACKS_PARTIAL),
        lambda d: Assembler(d.tokens, revise=d.settings.pack_revisions, packs=d.packs),
        order="partition",
        ledger=CONTEXT_PACKS,
    ),
    Stage(
        "presenter",
        (CONVERSATION_TURNS,),
        (ANSWERS_OUT,),
        lambda d: Presenter(d.context, d.models.narrator),
        hiding=True,
    ),
    Stage(
        "claims",
        (CONVERSATION_TURNS,),
        (MEMORY_CLAIMS, MEMORY_CORRECTIONS),
        lambda d: ClaimsAgent(d.working_sets, d.graph, d.context.policy),
        "learning",
        concurrency=4,
        background=True,
    ),
    Stage(
        "summariser",
        (CONVERSATION_TURNS,),
        (MEMORY_SUMMARIES,),
        lambda d: Summariser(d.working_sets, enabled=d.context.policy.enabled),
        "learning",
        concurrency=4,
        background=True,
    ),
    Stage(
        "correction",
        (CORRECTIONS_IN,),
        (MEMORY_CORRECTIONS, MEMORY_CLAIMS),
        lambda d: CorrectionAgent(d.graph, _references(d)),
        "learning",
        concurrency=WAITING_CONCURRENCY,
        background=True,
        awaits=((MEMORY_CLAIMS, GRAPH_WRITERS), (MEMORY_CONSULTATIONS, INDEX_WRITERS)),
    ),
    Stage(
        "feedback",
        (FEEDBACK_IN,),
        (MEMORY_VOTES, MEMORY_DECISIONS),
        lambda d: FeedbackAgent(d.graph, _references(d)),
        "learning",
        concurrency=WAITING_CONCURRENCY,
        background=True,
        awaits=((MEMORY_DECISIONS, GRAPH_WRITERS),),
    ),
    Stage(
        "ingestion",
        (DOCUMENTS_IN,),
        (MEMORY_KNOWLEDGE,),
        lambda d: Ingestion(d.documents, admin=d.settings.public_writer),
        concurrency=1,
        background=True,
    ),
    # It reads plans where it is off, too: turned on it would otherwise answer all that was asked since retention began.
    Stage(
        "cognition",
        # The first is the one whose partitions are those of the ledger.
        (COGNITION_STEPS, RETRIEVAL_PLANS),
        (COGNITION_STEPS, ANSWERS_OUT, MEMORY_CONSULTATIONS),
        lambda d: CognitionAgent(d.index, d.graph, d.settings.cognition(), d.clock, _cognition_model(d)),
        order="none",
        ledger=COGNITION_STEPS,
        concurrency=16,
        background=True,
        passages=True,
        hiding=True,
    ),
    Stage(
        "progress",
        # In the order of dependence, for records of the same millisecond.
        (RETRIEVAL_PLANS, PACKS_PARTIAL, CONTEXT_PACKS, COGNITION_STEPS),
        (PROGRESS_EVENTS,),
        lambda d: ProgressTeller(d.settings.cognition(), enabled=d.settings.progress),
        ledger=PROGRESS_EVENTS,
        background=True,
    ),
    Stage(
        "tool-gate",
        # In the order of dependence, for records of the same millisecond.
        (MEMORY_ERASURES, TOOLS_RESULTS_IN, TOOLS_CALLS_IN, TOOLS_CONFIRMATIONS_IN),
        (TOOLS_CALLS_OUT, MEMORY_DECISIONS),
        lambda d: ToolGate(
            ToolPolicyResolver(d.tools, d.references),
            d.tool_sessions,
            d.context,
            RetryUntil(d.settings.tool_wait_ms / 1000),
        ),
        # A call may wait for the result behind it; otherwise the stage keeps a conversation's order itself.
        order="topic",
        recalled=TOOLS_CALLS_OUT,
        hiding=True,
    ),
    Stage("assessor", (ASSESSMENTS_IN,), (ASSESSMENTS_OUT,), _assessor, order="none"),
    # Before the writers: filling empty stores from the log, they then pass over what was erased.
    Stage(
        "eraser",
        (MEMORY_ERASURES,),
        (MEMORY_DECISIONS,),
        lambda d: Eraser(d.writer, d.index, d.weights),
        INDEX_WRITERS,
        concurrency=8,
        background=True,
        passages=True,
        storing=True,
    ),
    _writer("turn-writer", CONVERSATION_TURNS, lambda graph: graph.write_turns),
    _writer("decision-writer", MEMORY_DECISIONS, lambda graph: graph.write_decisions),
    _writer("claim-writer", MEMORY_CLAIMS, lambda graph: graph.write_claims),
    _writer("correction-writer", MEMORY_CORRECTIONS, lambda graph: graph.write_corrections),
    Stage(
        "weight-writer",
        # Decisions for the votes that earlier versions recorded there, for as long as retention keeps them.
        (MEMORY_VOTES, MEMORY_DECISIONS),
        (),
        lambda d: WeightWriter(d.weights),
        GRAPH_WRITERS,
        order="none",
        concurrency=64,
        background=True,
    ),
    _indexer("turn-indexer", CONVERSATION_TURNS, lambda d: TurnIndexer(d.index, d.working_sets, d.writer)),
    _indexer("summary-writer", MEMORY_SUMMARIES, lambda d: SummaryWriter(d.writer, d.index)),
    _indexer("knowledge-writer", MEMORY_KNOWLEDGE, lambda d: KnowledgeWriter(d.writer, d.index)),
    _indexer("consultation-writer", MEMORY_CONSULTATIONS, lambda d: ConsultationWriter(d.writer, d.index)),
)

GROUPS: tuple[str, ...] = tuple(dict.fromkeys(stage.group_name for stage in STAGES))


def stages_of(names: Iterable[str]) -> tuple[Stage, ...]:
    """The stages with these group or stage names, all without a name; raises `KeyError` for an unknown name."""
    wanted = tuple(names)
    for name in wanted:
        if name not in GROUPS and all(stage.name != name for stage in STAGES):
            raise KeyError(name)
    return tuple(s for s in STAGES if not wanted or s.group_name in wanted or s.name in wanted)
