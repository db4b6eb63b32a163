"""`search_context`: the context of a query as text for the prompt, over the topics of a running Fathom."""

from operator import not_
from secrets import token_urlsafe
from typing import Annotated, Literal

from pydantic import Field

from schemas.base import Id, Value
from schemas.depth import MAX_HELD, DepthLevel
from schemas.packs import ContextPack
from streams.edges.client import ask, records
from streams.edges.client.arguments import MAX_CHARS, Arguments
from streams.edges.client.errors import CommandFailed
from streams.edges.mcp.tool import RECORDS, Call, Tool, filled

# A model reads the name of a new conversation in every answer: a uuid would be three times as many tokens.
CONVERSATION_BYTES = 9


class SearchArguments(Arguments):
    query: Annotated[str, Field(min_length=1, max_length=MAX_CHARS)]
    conversation_id: Id | None = Field(default=None, description="to go on; else a new one")
    min_depth: Literal["D0", "D1", "D2", "D3", "D4"] | None = Field(default=None, description="D2: explain, D3: verify")
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    have: Annotated[tuple[Id, ...], Field(max_length=MAX_HELD)] | None = Field(
        default=None, description="pack_ids still in your prompt: not given again"
    )


class Searched(Value):
    """The pack's key figures; its text goes before them.

    `missing` are the memories that did not answer; `conflicts`
    counts contradictions in the text; `limited` names options that the operator limited. What is empty is left out.
    """

    text: str = Field(exclude=True)
    message_id: Id = Field(exclude=True)
    conversation_id: Id
    pack_id: Id
    depth_level: DepthLevel
    evidence: Literal["found", "none"] | None
    missing: tuple[str, ...] = Field(exclude_if=not_)
    conflicts: int = Field(exclude_if=not_)
    limited: tuple[str, ...] = Field(exclude_if=not_)


async def answer(asked: SearchArguments, call: Call) -> Searched:
    """Raises `CommandFailed` where no broker answers or no pack comes in time."""
    question = records.turn(
        asked.query,
        call.identity,
        client=call.caller.client,
        conversation=asked.conversation_id or token_urlsafe(CONVERSATION_BYTES),
        # A search is requested, regardless of the words.
        look_up="always",
        min_depth=asked.min_depth,
        max_tokens=asked.max_tokens,
        have=asked.have,
    )
    raw = await ask.answer_to(question, ask.PACK, call.site.bootstrap(), call.site.seconds)
    return searched(ContextPack.model_validate_json(raw, extra="ignore"))


def searched(pack: ContextPack) -> Searched:
    """The answer of a pack; raises `CommandFailed` for one of a worker of before 0.2, which has no text."""
    if pack.text is None:
        raise CommandFailed("the pack has no text: the worker that made it is older than this server; upgrade it")
    return filled(
        Searched,
        pack,
        missing=pack.missing_sections,
        conflicts=len(pack.claims.contradictions) if pack.claims else 0,
        limited=pack.options.clamped if pack.options else (),
    )


TOOL = Tool(
    name="search_context",
    title="Search context",
    description=(
        "Gives the context of a query as text for the prompt: what this conversation, documents, claims and people's "
        "memory hold, with numbered sources, within a token budget. The query is remembered as a user's turn. "
        "Call assess_context_needs first."
    ),
    takes=SearchArguments,
    gives=Searched,
    # A call adds a turn to the conversation, so it is neither read-only nor idempotent.
    annotations=RECORDS,
    answer=answer,
    text=lambda found: found.text,
    explained_by=lambda found: found.message_id,
)
