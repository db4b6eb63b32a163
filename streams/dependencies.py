"""What stages are built from: the composition root fills this once, `build` functions of the topology take from it."""

from dataclasses import dataclass, field

from agents.context import ContextManager
from agents.ports import (
    Clock,
    DocumentReader,
    GraphWriter,
    LanguageIdentifier,
    MemoryGraph,
    PassageIndex,
    SignalWeights,
    TokenCounter,
    ToolSessions,
    WorkingSets,
)
from schemas.policy import ReferencePolicy
from schemas.tool_policy import ToolPolicy
from streams.config import Settings
from streams.documents.process import DocumentProcess


@dataclass(frozen=True)
class Dependencies:
    settings: Settings
    clock: Clock
    tokens: TokenCounter
    language: LanguageIdentifier
    context: ContextManager
    references: ReferencePolicy
    tools: ToolPolicy
    tool_sessions: ToolSessions
    working_sets: WorkingSets
    weights: SignalWeights
    index: PassageIndex
    graph: MemoryGraph
    writer: GraphWriter
    documents: DocumentReader = field(default_factory=DocumentProcess)
