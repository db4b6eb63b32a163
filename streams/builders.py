"""How each stage of the topology is built over its dependencies.

Apart from the topology, which every command reads: the stages take half a second to import.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from agents.concurrency import RetryUntil
from agents.core.assessment.context_needs import AssessmentPolicy
from agents.core.packs.planning import Limits
from agents.core.tools.gate import ToolPolicyResolver
from agents.model_help import TimedModel
from agents.ports.graph import GraphWriter
from agents.ports.handlers import Handler
from agents.ports.models import ModelUse
from agents.ports.sessions import WorkingSets
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
from agents.stages.correction import CorrectionAgent
from agents.stages.depth import DepthAgent
from agents.stages.eraser import Eraser
from agents.stages.feedback import FeedbackAgent
from agents.stages.indexer import TurnIndexer
from agents.stages.ingestion import Ingestion
from agents.stages.planner import Planner
from agents.stages.presenter import Presenter
from agents.stages.retrieval import PackRetrieval
from agents.stages.search import NoTurns, Searcher
from agents.stages.summariser import Summariser
from agents.stages.tool_gate import ToolGate
from agents.stages.writers import ConsultationWriter, KnowledgeWriter, SummaryWriter, WeightWriter, Writer
from schemas.envelope import Received
from streams import extensions, policies
from streams.config import listed
from streams.dependencies import Dependencies
from streams.stores.settings import OWN

Build = Callable[[Dependencies], Handler]
Write = Callable[[Sequence[Received[Any]]], Awaitable[None]]
# What is written to a server in so many seconds goes in one round trip. Nobody waits for it.
GATHERED_S = 0.25
# Nobody waits for facts; a model that is slower holds up the claims of later turns.
EXTRACT_S = 3.0


def _retrieval(build: Callable[[Dependencies], Retriever]) -> Callable[[Dependencies], Retriever]:
    def built(d: Dependencies) -> Retriever:
        retriever = build(d)
        retriever.answers_late, retriever.hurried = d.settings.pack_revisions, d.hurried
        retriever.share = d.settings.retrieval_share
        return retriever

    return built


def _writer(write: Callable[[GraphWriter], Write]) -> Build:
    def built(d: Dependencies) -> Handler:
        return Writer(write(d.writer), 0.0 if d.settings.neo4j_url.startswith(OWN) else GATHERED_S)

    return built


def _depth(d: Dependencies) -> DepthAgent:
    return DepthAgent(
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
    )


def _references(built: Dependencies) -> References:
    return References(built.clock, RetryUntil(built.settings.reference_wait_ms / 1000), built.progress)


def _second_opinion(built: Dependencies) -> SecondOpinion | None:
    ask, settings = built.models.model, built.settings
    seconds = settings.classify_timeout_ms / 1000
    return ask and SecondOpinion(ask("depth"), settings.llm_min_confidence, seconds, _helps(built, "rewrite"))


def _helps(built: Dependencies, use: ModelUse) -> TimedModel | None:
    """The model for one of the uses that the settings name."""
    ask, settings = built.models.model, built.settings
    if ask is None or use not in listed(settings.llm_uses or ""):
        return None
    return TimedModel(ask(use), EXTRACT_S if use == "extract" else settings.llm_wait_ms / 1000)


def _assessor(built: Dependencies) -> Assessor:
    ask, settings = built.models.model, built.settings
    policy = AssessmentPolicy(settings.limits(), policies.advised_tools(settings.assessment_policy))
    return Assessor(built.clock, built.models.engine, model=ask and ask("assessment"), policy=policy)


def _limits(built: Dependencies) -> Limits:
    return replace(built.settings.limits(), profiles=built.profiles)


def _tool_gate(d: Dependencies) -> ToolGate:
    wait = RetryUntil(d.settings.tool_wait_ms / 1000)
    return ToolGate(ToolPolicyResolver(d.tools, d.references), d.tool_sessions, d.context, wait)


def _search(d: Dependencies) -> Searcher:
    alone = replace(d, working_sets=cast("WorkingSets", NoTurns()))
    wanted = (build(alone) for name, build in RETRIEVERS.items() if name != "retrieval-working-set")
    return Searcher(_limits(d), list(wanted), d.index, d.graph, d.tokens, d.clock, d.context.policy)


RETRIEVERS: Mapping[str, Callable[[Dependencies], Retriever]] = {
    "retrieval-working-set": _retrieval(lambda d: WorkingSetRetriever(d.tokens, d.clock, d.working_sets, d.context)),
    "retrieval-persona": _retrieval(lambda d: PersonaRetriever(d.tokens, d.clock, d.graph)),
    "retrieval-episodic": _retrieval(
        lambda d: EpisodicRetriever(d.tokens, d.clock, d.graph, d.index, d.working_sets, d.context.policy)
    ),
    "retrieval-semantic": _retrieval(
        lambda d: SemanticRetriever(d.tokens, d.clock, d.index, d.graph, d.context.policy, _helps(d, "rerank"))
    ),
    "retrieval-procedural": _retrieval(lambda d: ProceduralRetriever(d.tokens, d.clock, d.index, d.graph)),
    "retrieval-claims": _retrieval(lambda d: ClaimsRetriever(d.tokens, d.clock, d.graph, d.working_sets, d.index)),
}
BUILDERS: Mapping[str, Build] = {
    "depth": _depth,
    "planner": lambda d: Planner(_limits(d)),
    "retrieval": lambda d: PackRetrieval(_limits(d), [build(d) for build in RETRIEVERS.values()], d.tables, d.clock),
    **RETRIEVERS,
    "assembler": lambda d: Assembler(
        d.tokens, revise=d.settings.pack_revisions, packs=d.packs, clock=d.clock, tables=d.tables
    ),
    "presenter": lambda d: Presenter(d.context, d.models.narrator),
    "claims": lambda d: ClaimsAgent(d.working_sets, d.graph, d.context.policy, _helps(d, "extract")),
    "summariser": lambda d: Summariser(d.working_sets, enabled=d.context.policy.enabled),
    "correction": lambda d: CorrectionAgent(d.graph, _references(d)),
    "feedback": lambda d: FeedbackAgent(d.graph, _references(d)),
    "ingestion": lambda d: Ingestion(d.documents, admin=d.settings.public_writer, referred=extensions.law()),
    "cognition": extensions.deep_answers,
    "tool-gate": _tool_gate,
    "assessor": _assessor,
    "search": _search,
    "eraser": lambda d: Eraser(d.writer, d.index, d.weights),
    "turn-writer": _writer(lambda graph: graph.write_turns),
    "decision-writer": _writer(lambda graph: graph.write_decisions),
    "claim-writer": _writer(lambda graph: graph.write_claims),
    "correction-writer": _writer(lambda graph: graph.write_corrections),
    "weight-writer": lambda d: WeightWriter(d.weights),
    "turn-indexer": lambda d: TurnIndexer(d.index, d.working_sets, d.writer),
    "summary-writer": lambda d: SummaryWriter(d.writer, d.index),
    "knowledge-writer": lambda d: KnowledgeWriter(d.writer, d.index),
    "consultation-writer": lambda d: ConsultationWriter(d.writer, d.index),
}
