"""`search_context`: the context pack of a query, over the topics of a running Fathom, as `fathom ask` gets it."""

from typing import Annotated
from uuid import uuid4

from pydantic import AwareDatetime, Field

from schemas.base import Id, Value
from schemas.depth import DepthLevel
from schemas.packs import ContextPack, PartReport
from streams.edges.client import ask, records
from streams.edges.client.arguments import MAX_CHARS, Arguments
from streams.edges.mcp.explaining import newest
from streams.edges.mcp.tool import RECORDS, Call, Tool, filled


class SearchArguments(Arguments):
    query: Annotated[str, Field(min_length=1, max_length=MAX_CHARS)]
    conversation_id: Id | None = Field(
        default=None, description="the conversation to go on with, as an earlier answer named it; without it, a new one"
    )


class Searched(Value):
    """The pack with its key figures: depth and reason, tokens used of the budget, the answer of each memory, freshness.

    `freshness` is the time of the newest item, null for an empty pack. `pack` is the output of `fathom ask --json`.
    """

    conversation_id: Id
    pack_id: Id
    depth_level: DepthLevel
    depth_reasons: tuple[str, ...]
    confidence: float
    max_tokens: int
    total_tokens: int
    needs: tuple[PartReport, ...]
    freshness: AwareDatetime | None
    degraded: bool
    degraded_reasons: tuple[str, ...]
    pack: ContextPack


async def answer(asked: SearchArguments, call: Call) -> Searched:
    """Raises `CommandFailed` where no broker answers or no pack comes in time."""
    question = records.turn(
        asked.query,
        call.identity,
        client=call.caller.client,
        conversation=asked.conversation_id or str(uuid4()),
        # A search is requested, regardless of the words.
        look_up="always",
    )
    raw = await ask.answer_to(question, ask.PACK, call.site.bootstrap(), call.site.seconds)
    pack = ContextPack.model_validate_json(raw, extra="ignore")
    return filled(
        Searched,
        pack,
        depth_reasons=tuple(f"{signal.name}: {signal.evidence}" for signal in pack.signals),
        total_tokens=pack.total_tokens_estimated,
        needs=pack.parts,
        freshness=newest(pack),
        pack=pack,
    )


TOOL = Tool(
    name="search_context",
    title="Search context",
    description=(
        "Gives the context pack for a query: what is remembered of this conversation and of the tenant's documents, "
        "claims, procedures and people, within a token budget, each item with its source and the reason it is there. "
        "The query becomes a user turn of the conversation and is remembered. Call assess_context_needs first."
    ),
    takes=SearchArguments,
    gives=Searched,
    # A call adds a turn to the conversation, so it is neither read-only nor idempotent.
    annotations=RECORDS,
    answer=answer,
)
