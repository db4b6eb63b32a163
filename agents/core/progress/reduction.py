"""The state of a job, reduced from its events: each is applied once, and a lost one is noticed."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, get_args

from schemas.base import JsonObject
from schemas.progress import TERMINAL, PatchOperation, ProgressMade, ProgressStage


@dataclass(frozen=True, slots=True)
class ReducedState:
    """The state document of a job up to an event; `lost` once an event before it did not come."""

    document: JsonObject = field(default_factory=dict)
    seq: int = 0
    lost: bool = False
    ended: bool = False

    def after(self, event: ProgressMade) -> "ReducedState":
        """The state with an event applied; itself for one that has been applied before."""
        if event.seq <= self.seq:
            return self
        return ReducedState(
            patched(self.document, event.patch),
            event.seq,
            self.lost or event.prev_seq != self.seq,
            self.ended or event.type in TERMINAL,
        )


def reduced(events: Iterable[ProgressMade], before: ReducedState | None = None) -> ReducedState:
    """The state after the events of one job, in the order of the log."""
    state = before or ReducedState()
    for event in events:
        state = state.after(event)
    return state


def snapshot(message_id: str, events: Iterable[ProgressMade]) -> JsonObject:
    """What the events of a message reduce to: the state of its pack, its run and its tool calls, None without any."""
    states = {stage: ReducedState() for stage in get_args(ProgressStage)}
    for event in events:
        states[event.stage] = states[event.stage].after(event)
    shown = {stage: state.document or None for stage, state in states.items() if state.document or stage != "tools"}
    return {"message_id": message_id, **shown}


def patched(document: JsonObject, patch: Iterable[PatchOperation]) -> JsonObject:
    """A copy of the document with the operations of a patch; maps on the way to a key are made where they lack."""
    for operation in patch:
        document = _with(document, [unescaped(part) for part in operation.path.split("/")[1:]], operation.value)
    return document


def _with(document: JsonObject, path: list[str], value: Any) -> JsonObject:
    if not path:
        return dict(value)
    here, *rest = path
    inner = document.get(here)
    below = _with(inner if isinstance(inner, Mapping) else {}, rest, value) if rest else value
    return {**document, here: below}


def pointer(*keys: str) -> str:
    """The JSON pointer (RFC 6901) to a key of nested maps."""
    return "".join(f"/{key.replace('~', '~0').replace('/', '~1')}" for key in keys)


def unescaped(part: str) -> str:
    """A key as it is, of a part of a JSON pointer."""
    return part.replace("~1", "/").replace("~0", "~")


def set_to(value: Any, *keys: str) -> PatchOperation:
    """The operation that sets a key."""
    return PatchOperation(op="add", path=pointer(*keys), value=value)
