"""The state of cognitive retrieval: a tree of sub-questions, and the state that every node reads and writes."""

from collections.abc import Mapping
from enum import StrEnum
from typing import ClassVar, Final, Literal, Self

from pydantic import AwareDatetime, Field, model_validator

from schemas.base import Absent, Event, Id, JsonObject, Value
from schemas.items import AccessLevel, TurnOrigin
from schemas.learning import NearMiss
from schemas.memory import ActiveTheme

Verdict = Literal["pass", "fail", "warn", "unverified"]
VerificationStatus = Literal["approved", "rejected", "abstain"]
AnswerStatus = Literal["answered", "partial", "abstained"]
SourceName = Literal["local", "global", "lexical", "vector", "theme", "conversations"]
ConflictType = Literal["polarity", "number", "date", "outcome", "rank", "temporal"]
QuestionKind = Literal["single", "list", "comparison", "both", "bridge", "facets"]
EntityType = Literal["provision", "ruling", "case", "act", "person", "organisation", "date", "place", "any"]
DEEP: Final = "deep"  # the intent that an answer of cognition states


class Node(StrEnum):
    """The ten nodes of cognition, and its end."""

    PLANNER = "planner"
    THEME_ACTIVATOR = "theme_activator"
    DUAL_RETRIEVER = "dual_retriever"
    EVIDENCE_REFINER = "evidence_refiner"
    MEMORY_CHECK = "memory_check"
    REASONER = "reasoner"
    VERIFIER = "verifier"
    QUERY_REWRITER = "query_rewriter"
    INTEGRATOR = "integrator"
    MEMORY_STORE = "memory_store"
    END = "END"


class NodeState(StrEnum):
    """Whether a sub-question is divided further."""

    CONTINUE = "Continue"
    END = "End"


class MindMapNode(Value):
    """One sub-question of the tree; `answer`, `evidence` (ids of passages) and `verified` are set late.

    `kind`: how its children's answers compose its own; `uses`: nodes that its question names by `#n` (`expects`: type).
    """

    node_id: Id
    question: str
    level: int = Field(ge=0)
    state: NodeState = NodeState.END
    parent_id: Absent[Id] = None
    children: tuple[Id, ...] = ()
    kind: QuestionKind = "single"
    uses: tuple[Id, ...] = ()
    expects: EntityType = "any"
    answer: Absent[str] = None
    evidence: tuple[Id, ...] = ()
    verified: bool = False


class CognitiveTree(Value):
    """A question divided into sub-questions: one root, no cycle, bounded depth and children."""

    root_question: str
    conditions: tuple[str, ...] = ()
    nodes: Mapping[Id, MindMapNode]
    max_depth: int = Field(default=3, ge=0)
    max_children: int = Field(default=4, ge=1)

    @model_validator(mode="after")
    def _is_a_tree(self) -> Self:
        if sum(node.parent_id is None for node in self.nodes.values()) != 1:
            raise ValueError("a tree has one root")
        for node_id, node in self.nodes.items():
            self._check(node_id, node)
        return self

    def _check(self, node_id: str, node: MindMapNode) -> None:
        """Levels grow by one from a parent to its child, so that no way can lead back."""
        if node_id != node.node_id:
            raise ValueError("a node lies under its own id")
        if node.level > self.max_depth or len(node.children) > self.max_children:
            raise ValueError("a node is too deep or has too many children")
        if len(set(node.children)) != len(node.children) or not {*node.children, *node.uses} <= self.nodes.keys():
            raise ValueError("a node names a node twice, or one that is not in the tree")
        if any(self.nodes[child].parent_id != node_id for child in node.children):
            raise ValueError("a child names another parent")
        parent = self.nodes.get(node.parent_id) if node.parent_id is not None else None
        if node.parent_id is not None and (parent is None or node_id not in parent.children):
            raise ValueError("a parent does not name its child")
        if node.level != (parent.level + 1 if parent else 0):
            raise ValueError("a node is one level below its parent")

    def root(self) -> MindMapNode:
        """The node without a parent."""
        return next(node for node in self.nodes.values() if node.parent_id is None)

    def leaves(self) -> tuple[MindMapNode, ...]:
        """The nodes without children, in the order of the tree."""
        return tuple(node for node in self.nodes.values() if not node.children)

    def nodes_by_level(self, level: int) -> tuple[MindMapNode, ...]:
        """The nodes of a level; the root is at 0."""
        return tuple(node for node in self.nodes.values() if node.level == level)

    def max_level(self) -> int:
        """The level of the deepest node."""
        return max(node.level for node in self.nodes.values())

    def to_dict(self) -> JsonObject:
        """The tree as JSON values."""
        return self.model_dump(mode="json")


class CognitionLimits(Value):
    """What a run may spend; never changed within it."""

    max_depth: int = Field(default=3, ge=1, le=3)
    max_children: int = Field(default=4, ge=2, le=4)
    max_rethink: int = Field(default=1, ge=0, le=2)
    max_searches_again: int = Field(default=3, ge=0, le=3)
    max_llm_calls: int = Field(default=20, ge=1)
    complexity_threshold: float = Field(default=0.5, ge=0, le=1)
    abstain_threshold: float = Field(default=0.3, ge=0, le=1)
    similarity_threshold: float = Field(default=0.0, ge=0, le=1)


class CognitionFlags(Value):
    """Which nodes do their work; the others pass the state on."""

    theme: bool = False
    refinement: bool = False
    memory: bool = False
    abstain: bool = True
    verification: bool = False
    hallucination_loop: bool = False


class Spent(Value):
    """What a run has spent; it only grows. Of the calls, `llm_failed` gave nothing that could be used."""

    llm_calls: int = Field(default=0, ge=0)
    llm_failed: int = Field(default=0, ge=0)
    searches: int = Field(default=0, ge=0)
    steps: int = Field(default=0, ge=0)


class EvidencePassage(Value):
    """A passage, or a `turn` (`chunk_uid` is its message), kept once; `cite` is its `tipo:id` without brackets."""

    chunk_uid: Id
    text: str
    title: str
    document_id: str
    cite: str
    lang: str
    recorded_at: AwareDatetime
    access_level: AccessLevel = "public"
    turn: Absent[TurnOrigin] = None


class LeafEvidence(Value):
    """A passage as evidence for one sub-question: score 0-1, sources, and the cosines of its sentences (`similar`)."""

    chunk_uid: Id
    score: float = Field(ge=0, le=1)
    sources: tuple[SourceName, ...] = ()
    similar: tuple[float, ...] = ()


class SourceAnswer(Value):
    """What one source answered to one sub-question."""

    node_id: Id
    source: SourceName
    query: str
    status: Literal["ok", "empty", "timeout", "error"]
    found: int = Field(default=0, ge=0)
    attempt: int = Field(default=0, ge=0)


class EvidenceConflict(Value):
    """Two passages that disagree about one sub-question; `spans` are the sentences, as character offsets in each."""

    node_id: Id
    a: Id
    b: Id
    motivo: str
    type: ConflictType
    resolution: Literal["open", "a", "b"] = "open"
    spans: tuple[tuple[int, ...], ...] = Field(min_length=2, max_length=2)


class Claim(Value):
    """A sentence of an answer, taken from a passage: `text` is `passage[start:end]`, `cite` its `tipo:id`."""

    text: str
    chunk_uid: Id
    start: int = Field(ge=0)
    end: int = Field(ge=0)
    cite: str


class SubAnswer(Value):
    """The answer to one node of the tree; `missing` says what it lacks, `confidence` is that of its weakest claim."""

    node_id: Id
    status: AnswerStatus
    text: str
    claims: tuple[Claim, ...] = ()
    confidence: float = Field(default=0.0, ge=0, le=1)
    missing: tuple[str, ...] = ()
    reused_from: Absent[Id] = None


class Check(Value):
    """One check of a claim: the verdict, what was expected and what was found (`cognition.checks`)."""

    number: int = Field(ge=1, le=12)
    verdict: Verdict
    expected: str = ""
    found: str = ""


class ClaimVerdict(Value):
    """The checks of one claim of an answer, and its support 0-1: 0 where a hard check fails."""

    text: str
    cite: str
    checks: tuple[Check, ...]
    support: float = Field(ge=0, le=1)


class Verification(Value):
    """The verifier's word on one node; `query` is what to search for where evidence lacks."""

    node_id: Id
    status: VerificationStatus
    needs_search: bool = False
    query: str = ""
    claims: tuple[ClaimVerdict, ...] = ()


class AbstainInfo(Value):
    """Why there is no answer, and what is missing."""

    message: str
    missing: tuple[str, ...] = Field(min_length=1)
    partial_answer: Absent[str] = None


class Section(Value):
    """A section of the final answer."""

    title: str
    text: str


class DeepAnswer(Value):
    """The `results` of an answer given by cognition: its sections, citations and gaps, and how far it was verified."""

    job_id: Id
    verification_status: Absent[VerificationStatus] = None
    sections: tuple[Section, ...]
    citations: tuple[str, ...]
    missing: tuple[str, ...]
    confidence: float = Field(ge=0, le=1)
    sub_answers: tuple[SubAnswer, ...]
    conflicts: tuple[EvidenceConflict, ...]
    sources: tuple[EvidencePassage, ...]


class CognitiveState(Value):
    """The whole state of a run after a node; the log's copy is checkpoint, transport and replay log.

    What the user said since `talks_since` is evidence (absent: none). `penalties` multiply the scores of passages;
    `answerable`: how likely a leaf's evidence has its answer; `refused`: rejected claims; `todo`: nodes to do again.
    """

    query: str
    lang: str
    tenant_id: Id
    case_id: Absent[Id] = None
    scope: str
    job_id: Id
    client_id: Id
    conversation_id: Id
    message_id: Id
    pack_id: Id
    frame_id: Id
    user_id: Id
    as_of: AwareDatetime
    deadline_at: AwareDatetime
    limits: CognitionLimits = Field(default_factory=CognitionLimits)
    flags: CognitionFlags = Field(default_factory=CognitionFlags)
    spent: Spent = Field(default_factory=Spent)
    talks_since: Absent[AwareDatetime] = None
    fallback: bool = False
    mind_map: Absent[CognitiveTree] = None
    themes: tuple[ActiveTheme, ...] = Field(default=(), alias="temas")
    passages: Mapping[Id, EvidencePassage] = {}
    evidence_map: Mapping[Id, tuple[LeafEvidence, ...]] = {}
    sources: tuple[SourceAnswer, ...] = ()
    answerable: Mapping[Id, float] = {}
    bindings: Mapping[Id, str] = {}
    discarded: tuple[Id, ...] = ()
    conflicts: tuple[EvidenceConflict, ...] = ()
    refined_evidence: Mapping[Id, tuple[LeafEvidence, ...]] = {}
    penalties: Mapping[Id, float] = {}
    similar_consultation: Absent[Id] = None
    near_misses: tuple[NearMiss, ...] = ()
    sub_answers: Mapping[Id, SubAnswer] = {}
    refused: tuple[Claim, ...] = ()
    verifications: Mapping[Id, Verification] = {}
    verification_status: Absent[VerificationStatus] = None
    verification_issues: tuple[str, ...] = ()
    requires_new_search: bool = False
    rethink_count: int = Field(default=0, ge=0)
    rethinks: Mapping[Id, int] = {}
    searches_again: Mapping[Id, int] = {}
    queries: Mapping[Id, str] = {}
    queries_seen: Mapping[Id, tuple[str, ...]] = {}
    todo: Absent[tuple[Id, ...]] = None
    sections: tuple[Section, ...] = ()
    integrated_response: Absent[str] = None
    citations_used: tuple[str, ...] = ()
    abstain_info: Absent[AbstainInfo] = None

    @property
    def sub_questions(self) -> tuple[MindMapNode, ...]:
        """The leaves of the tree, each with its state."""
        return self.mind_map.leaves() if self.mind_map else ()


class CognitionStep(Event):
    """The state of a job after one of its nodes, or before one that `failed` and ended it; then the next node."""

    TYPE: ClassVar[str] = "cognition.step-made.v1"
    job_id: Id
    step: int = Field(ge=1)
    node: Node
    next: Node
    state: CognitiveState
    failed: Absent[str] = None
