"""Progress of a message: what its pack and its cognitive run have reached, as events that patch a state document."""

from typing import Any, Literal

from pydantic import Field

from schemas.base import Absent, Id, JsonObject, Value

ProgressStage = Literal["pack", "cognition", "tools"]
CogragStatus = Literal["idle", "decomposing", "retrieving", "refining", "verifying", "complete", "abstain"]
PackProgress = Literal["PACK_PLANNED", "PACK_PART", "PACK_COMPLETE"]
CognitionProgress = Literal[
    "COGRAG_DECOMPOSE_START",
    "COGRAG_DECOMPOSE_NODE",
    "COGRAG_DECOMPOSE_COMPLETE",
    "COGRAG_RETRIEVAL_START",
    "COGRAG_RETRIEVAL_NODE",
    "COGRAG_RETRIEVAL_COMPLETE",
    "COGRAG_REFINE_START",
    "COGRAG_REFINE_COMPLETE",
    "COGRAG_VERIFY_START",
    "COGRAG_VERIFY_NODE",
    "COGRAG_VERIFY_COMPLETE",
    "COGRAG_ABSTAIN",
    "COGRAG_THEME_COMPLETE",
    "COGRAG_MEMORY_HIT",
    "COGRAG_REASON_NODE",
    "COGRAG_RETHINK",
    "COGRAG_REWRITE",
    "COGRAG_BUDGET",
    "COGRAG_INTEGRATE_START",
    "COGRAG_INTEGRATE_COMPLETE",
    "COGRAG_CORRECTION",
    "COGRAG_COMPLETE",
    "COGRAG_FAILED",
]
ToolProgress = Literal["TOOL_VERDICT"]
ProgressType = PackProgress | CognitionProgress | ToolProgress
TERMINAL: frozenset[str] = frozenset({"PACK_COMPLETE", "COGRAG_COMPLETE", "COGRAG_ABSTAIN", "COGRAG_FAILED"})


class PatchOperation(Value):
    """An operation of RFC 6902 that sets a whole key: applied twice it gives what it gives once."""

    op: Literal["add", "replace"]
    path: str
    value: Any


class ProgressMade(Value):
    """One thing that a message's pack, its cognitive run or a tool call for it has reached.

    `seq` grows within a job, with gaps; `prev_seq` is that of the event before, 0 for the first: another one means that
    an event was lost. `patch` changes the state document of the job, `data` says the same in short. The job of a pack
    is the pack. What a late reader gets as a snapshot is reduced from events, of both stages, and is none. When it
    happened says the log: a record made again is the same to the byte.
    """

    job_id: Id
    message_id: Id
    client_id: Id
    conversation_id: Id
    user_id: Id
    stage: ProgressStage
    seq: int = Field(ge=1)
    prev_seq: int = Field(ge=0)
    type: ProgressType
    node_id: Absent[Id] = None
    cograg_status: CogragStatus
    data: JsonObject
    patch: tuple[PatchOperation, ...]
