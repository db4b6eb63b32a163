"""The dependencies of stages: filled by the composition root, used by the topology's `build` functions."""

from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass, field

from agents.context import ContextManager
from agents.core.packs.join_table import JoinTable
from agents.core.quarantine.sources import Quarantines
from agents.ports.graph import GraphReader, GraphWriter
from agents.ports.models import Clock, DocumentReader, TokenCounter
from agents.ports.passages import PassageIndex
from agents.ports.progress import WriterProgress
from agents.ports.sessions import SignalWeights, ToolSessions, WorkingSets
from schemas.policy import PackPolicy, ReferencePolicy
from schemas.retrieval import QueryProfile
from schemas.tool_policy import ToolPolicy
from streams.config import Settings
from streams.documents.process import DocumentProcess
from streams.models.open import NONE, Models


@dataclass(frozen=True)
class Dependencies:
    settings: Settings
    clock: Clock
    tokens: TokenCounter
    context: ContextManager
    references: ReferencePolicy
    profiles: Mapping[str, QueryProfile]
    packs: PackPolicy
    tools: ToolPolicy
    tool_sessions: ToolSessions
    working_sets: WorkingSets
    weights: SignalWeights
    index: PassageIndex
    graph: GraphReader
    writer: GraphWriter
    models: Models = NONE
    quarantines: Quarantines = field(default_factory=Quarantines)
    progress: WriterProgress | None = None
    # The joins of each partition, of which retrieval asks what is out already.
    tables: MutableMapping[int, JoinTable] = field(default_factory=dict)
    documents: DocumentReader = field(default_factory=DocumentProcess)
    # Whether parts have time limits.
    hurried: bool = True
    # Seconds for which more messages have waited than the first stage may have in progress; 0 for a tenant with few.
    full_for: Callable[[str | None], float] = lambda _: 0.0
