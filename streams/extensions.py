"""The packages of agents that can be left out, law and deep answers: each is registered here.

Where the folder of one is not there, all else works: documents refer to nothing, and no question opens a run.
"""

from collections.abc import Sequence
from importlib import import_module
from typing import Any, TypeVar

from agents.core.documents.entities import DocumentEntities, no_references
from agents.core.progress.message_events import RunEvents
from agents.ports.cognition import CognitionOptions
from agents.ports.handlers import Handler
from schemas.base import Event
from schemas.envelope import Received, Step
from schemas.retrieval import RetrievalPlan
from streams.dependencies import Dependencies

# Deep answers read laws, so that without law there are none either.
OPTIONAL = ("agents.legal", "agents.cognition")
T = TypeVar("T")


class _NoRuns:
    """The stage where deep answers are left out: it wants no record."""

    def __init__(self, *_: object) -> None:
        """It needs nothing of what the stage is built of."""

    def wants(self, _: Event) -> bool:
        return False

    async def handle(self, _: Received[Any]) -> Sequence[Step]:
        return ()


def _no_run(_: RetrievalPlan, __: CognitionOptions) -> RunEvents | None:
    return None


def _registered(module: str, name: str, otherwise: T) -> T:
    try:
        found: T = getattr(import_module(module), name)
    except ModuleNotFoundError as missing:
        if missing.name is None or not missing.name.startswith(OPTIONAL):
            raise
        return otherwise
    return found


def law() -> DocumentEntities:
    """What finds the laws and rulings that a document refers to."""
    return _registered("agents.legal.references", "legal_references", no_references)


def deep_answers(d: Dependencies) -> Handler:
    """The stage that answers complex questions."""
    built: Any = _registered("agents.cognition.stage", "cognition_stage", _NoRuns)
    handler: Handler = built(
        d.index, d.graph, d.settings.cognition(), d.clock, d.models.model, d.settings.rag_cograg_model_tier
    )
    return handler


def run_of(plan: RetrievalPlan, options: CognitionOptions) -> RunEvents | None:
    """The progress of the run for the message of a plan; `options` say whether one is opened."""
    return _registered("agents.cognition.progress.cognition_progress", "run_of", _no_run)(plan, options)
