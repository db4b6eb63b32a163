"""The topology: one row per stage with its topics and its consumer group; `streams.builders` has how each is built.

Consumer groups, dead-letter topics, metrics, health, the command's stage list and the documentation derive from it.
"""

from collections.abc import Iterable, Mapping

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
    MEMORY_QUARANTINES,
    MEMORY_SUMMARIES,
    MEMORY_VOTES,
    MESSAGES_IN,
    PACKS_PARTIAL,
    RETRIEVAL_PLANS,
    SEARCHES_IN,
    SEARCHES_OUT,
    TOOLS_CALLS_IN,
    TOOLS_CALLS_OUT,
    TOOLS_CONFIRMATIONS_IN,
    TOOLS_RESULTS_IN,
    Topic,
)
from streams.stage import Stage

# The concurrency of stages whose records wait for something they name: a record that names something missing must hold
# up few others, and each waiting record polls the graph.
WAITING_CONCURRENCY = 64
GRAPH_WRITERS, INDEX_WRITERS = "graph-writers", "index-writers"


# What both layouts of the pack path begin with.
DEPTH = Stage("depth", (MESSAGES_IN,), (CONVERSATION_TURNS, DEPTH_CLASSIFIED, MEMORY_ERASURES), first=True, hiding=True)
# The pack path in one task: what follows from a message is handed from stage to stage in the process that has read it.
CHAINED_PATH: tuple[Stage, ...] = (
    DEPTH,
    Stage(
        "retrieval",
        (DEPTH_CLASSIFIED,),
        (RETRIEVAL_PLANS, PACKS_PARTIAL),
        group="depth",
        head=MESSAGES_IN,
        order="none",
        recalled=PACKS_PARTIAL,
        passages=True,
        hiding=True,
    ),
    Stage(
        "assembler",
        (PACKS_PARTIAL,),
        (MEMORY_DECISIONS, CONTEXT_PACKS),
        group="depth",
        head=MESSAGES_IN,
        order="partition",
        ledger=CONTEXT_PACKS,
    ),
    Stage("presenter", (CONVERSATION_TURNS,), (ANSWERS_OUT,), group="depth", head=MESSAGES_IN, hiding=True),
)


def _retrieval(name: str, *, passages: bool = False) -> Stage:
    """A retrieval stage; all share one group without order, since each answers by its deadline."""
    reads, writes = (RETRIEVAL_PLANS,), (PACKS_PARTIAL,)
    return Stage(f"retrieval-{name}", reads, writes, group="retrieval", order="none", passages=passages, hiding=True)


def _writer(name: str, reads: Topic) -> Stage:
    """A writer of the graph; all share one group, and waiting records go into one batch."""
    return Stage(name, (reads,), (), group=GRAPH_WRITERS, concurrency=64, together=64, background=True)


def _indexer(name: str, reads: Topic) -> Stage:
    """A writer of the index; it embeds texts in batches, which costs less than one by one."""
    return Stage(name, (reads,), (), group=INDEX_WRITERS, concurrency=64, together=8, background=True, passages=True)


# The same with each stage in consumers of its own, for those who scale a class of memory apart.
SPLIT_PATH: tuple[Stage, ...] = (
    DEPTH,
    Stage("planner", (DEPTH_CLASSIFIED,), (PACKS_PARTIAL, RETRIEVAL_PLANS)),
    _retrieval("working-set"),
    _retrieval("persona"),
    _retrieval("episodic", passages=True),
    _retrieval("semantic", passages=True),
    _retrieval("procedural", passages=True),
    _retrieval("claims", passages=True),
    Stage(
        "assembler",
        (PACKS_PARTIAL,),
        (CONTEXT_PACKS, MEMORY_DECISIONS, PACKS_PARTIAL),
        order="partition",
        ledger=CONTEXT_PACKS,
    ),
    Stage(
        "presenter",
        (CONVERSATION_TURNS,),
        (ANSWERS_OUT,),
        hiding=True,
    ),
)

BESIDE: tuple[Stage, ...] = (
    Stage(
        "claims",
        (CONVERSATION_TURNS,),
        (MEMORY_CLAIMS, MEMORY_CORRECTIONS),
        group="learning",
        concurrency=4,
        background=True,
    ),
    Stage(
        "summariser",
        (CONVERSATION_TURNS,),
        (MEMORY_SUMMARIES,),
        group="learning",
        concurrency=4,
        background=True,
    ),
    Stage(
        "correction",
        (CORRECTIONS_IN,),
        (MEMORY_CORRECTIONS, MEMORY_CLAIMS, MEMORY_QUARANTINES),
        group="learning",
        concurrency=WAITING_CONCURRENCY,
        background=True,
        awaits=((MEMORY_CLAIMS, GRAPH_WRITERS), (MEMORY_CONSULTATIONS, INDEX_WRITERS)),
    ),
    Stage(
        "feedback",
        (FEEDBACK_IN,),
        (MEMORY_VOTES, MEMORY_DECISIONS),
        group="learning",
        concurrency=WAITING_CONCURRENCY,
        background=True,
        awaits=((MEMORY_DECISIONS, GRAPH_WRITERS),),
    ),
    Stage(
        "ingestion",
        (DOCUMENTS_IN,),
        (MEMORY_KNOWLEDGE,),
        concurrency=1,
        background=True,
    ),
    # It reads plans where it is off, too: turned on it would otherwise answer all that was asked since retention began.
    Stage(
        "cognition",
        # The first is the one whose partitions are those of the ledger.
        (COGNITION_STEPS, RETRIEVAL_PLANS),
        (COGNITION_STEPS, ANSWERS_OUT, MEMORY_CONSULTATIONS),
        order="none",
        ledger=COGNITION_STEPS,
        concurrency=16,
        background=True,
        passages=True,
        hiding=True,
    ),
    Stage(
        "tool-gate",
        # In the order of dependence, for records of the same millisecond.
        (MEMORY_ERASURES, TOOLS_RESULTS_IN, TOOLS_CALLS_IN, TOOLS_CONFIRMATIONS_IN),
        (TOOLS_CALLS_OUT, MEMORY_DECISIONS),
        # A call may wait for the result behind it; otherwise the stage keeps a conversation's order itself.
        order="topic",
        recalled=TOOLS_CALLS_OUT,
        hiding=True,
    ),
    Stage("assessor", (ASSESSMENTS_IN,), (ASSESSMENTS_OUT,), order="none"),
    Stage("search", (SEARCHES_IN,), (SEARCHES_OUT,), order="none", passages=True, hiding=True),
    # Before the writers: filling empty stores from the log, they then pass over what was erased.
    Stage(
        "eraser",
        (MEMORY_ERASURES,),
        (MEMORY_DECISIONS,),
        group=INDEX_WRITERS,
        concurrency=8,
        background=True,
        passages=True,
        storing=True,
    ),
    _writer("turn-writer", CONVERSATION_TURNS),
    _writer("decision-writer", MEMORY_DECISIONS),
    _writer("claim-writer", MEMORY_CLAIMS),
    _writer("correction-writer", MEMORY_CORRECTIONS),
    Stage(
        "weight-writer",
        # Decisions for the votes that earlier versions recorded there, for as long as retention keeps them.
        (MEMORY_VOTES, MEMORY_DECISIONS),
        (),
        group=GRAPH_WRITERS,
        order="none",
        concurrency=64,
        background=True,
    ),
    _indexer("turn-indexer", CONVERSATION_TURNS),
    _indexer("summary-writer", MEMORY_SUMMARIES),
    _indexer("knowledge-writer", MEMORY_KNOWLEDGE),
    _indexer("consultation-writer", MEMORY_CONSULTATIONS),
)

CHAINED, SPLIT = CHAINED_PATH + BESIDE, SPLIT_PATH + BESIDE
LAYOUTS: Mapping[str, tuple[Stage, ...]] = {"chained": CHAINED, "split": SPLIT}
STAGES = CHAINED
# Of both layouts, by name: what has a topic of dead letters. The split rows say of which topics a stage is fed.
NAMED: Mapping[str, Stage] = {stage.name: stage for stage in (*CHAINED, *SPLIT)}


def groups_of(stages: Iterable[Stage]) -> tuple[str, ...]:
    """The names of the groups of stages, in their order."""
    return tuple(dict.fromkeys(stage.group_name for stage in stages))


def stages_of(names: Iterable[str], layout: str = "chained") -> tuple[Stage, ...]:
    """The stages with these group or stage names, all without a name; raises `KeyError` for an unknown name.

    A chained stage runs in the process that reads its head, and goes by the name of its group.
    """
    wanted, stages = tuple(names), LAYOUTS[layout]
    known = {stage.group_name for stage in stages} | {stage.name for stage in stages if not stage.head}
    for name in wanted:
        if name not in known:
            raise KeyError(name)
    return tuple(s for s in stages if not wanted or s.group_name in wanted or (s.name in wanted and not s.head))


GROUPS = groups_of(STAGES)
