"""Assessments in this process, for MCP and HTTP: the stage's own, with the token shares of a pack."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated

from pydantic import Field, field_validator

from agents.core.assessment import context_needs
from agents.core.assessment.context_needs import AssessmentPolicy
from agents.core.depth import levels
from agents.core.packs import sources
from agents.core.packs.planning import Limits
from agents.stages.assessor import Assessor, Classifier
from schemas.assessment import Assessment
from schemas.base import Value
from schemas.retrieval import MemoryClass
from streams import policies
from streams.config import Settings
from streams.edges.client.arguments import MAX_CHARS, Arguments
from streams.telemetry.clock import SystemClock

MAX_ITEMS, ITEM_CHARS, ALL_CHARS = 100, 8_000, 200_000


class AssessArguments(Arguments):
    query: Annotated[str, Field(max_length=MAX_CHARS)]
    conversation_summary: Annotated[str, Field(max_length=MAX_CHARS)] | None = None
    available_context: (
        Annotated[list[Annotated[str, Field(max_length=ITEM_CHARS)]], Field(max_length=MAX_ITEMS)] | None
    ) = None

    @field_validator("available_context")
    @classmethod
    def _not_too_much(cls, value: list[str] | None) -> list[str] | None:
        if value is not None and sum(map(len, value)) > ALL_CHARS:
            raise ValueError(f"holds more than {ALL_CHARS:,} characters in all; send what is nearest to the query")
        return value


class Need(Value):
    """A memory class that a pack of this depth reads, and its share of the tokens."""

    memory_class: MemoryClass
    max_tokens: int


class Assessed(Assessment):
    """The assessment, its classifier, and the shares of `max_tokens` in a pack of its depth."""

    classifier: Classifier
    max_tokens: int
    needs: tuple[Need, ...]


def warm() -> None:
    """Load the data that the first assessment needs."""
    levels.warm()
    context_needs.assess(
        "How should I structure this? Como funciona o projeto?", "O prazo do projeto", ("the project",)
    )


@asynccontextmanager
async def assessor_of(settings: Settings) -> AsyncIterator[Assessor]:
    """The stage's own assessor, with the engine and the model of the settings; raises `ConfigError`."""
    policy = AssessmentPolicy(settings.limits(), policies.advised_tools(settings.assessment_policy))
    if not settings.name_models():
        yield Assessor(SystemClock(), policy=policy)
        return
    # Most processes have none.
    from streams.models.open import open_models

    models = open_models(settings, {"assessor"})
    try:
        yield Assessor(SystemClock(), models.engine, model=models.model and models.model("assessment"), policy=policy)
    finally:
        if models.close is not None:
            await models.close()


async def assessed(asked: AssessArguments, assessor: Assessor, limits: Limits, user_id: str | None) -> Assessed:
    """Assess a query: milliseconds by rules, longer with an engine or a model."""
    made, classifier = await assessor.assess(
        asked.query, asked.conversation_summary, asked.available_context or (), user_id
    )
    budget = limits.max_tokens[made.depth_level]
    shares: dict[MemoryClass, float] = {}
    wanted = sources.SOURCES[made.depth_level]
    for want in wanted if made.needs_deep_context else sources.of_state(wanted):
        shares[want.memory_class] = max(want.share, shares.get(want.memory_class, 0.0))
    needs = tuple(Need(memory_class=memory, max_tokens=int(budget * share)) for memory, share in shares.items())
    return Assessed(**dict(made), classifier=classifier, max_tokens=budget, needs=needs)
