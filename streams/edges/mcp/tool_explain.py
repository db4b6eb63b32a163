"""`explain_pack`: what is in a pack and why, from `context-packs.out`; only for the user it was made for."""

from contextlib import aclosing
from urllib.parse import quote

from pydantic import Field

from schemas.base import Id
from schemas.packs import ContextPack
from schemas.topics import CONTEXT_PACKS
from streams.edges.client.arguments import Arguments
from streams.edges.client.errors import CommandFailed
from streams.edges.mcp.callers import Caller
from streams.edges.mcp.explaining import Explained, explain
from streams.edges.mcp.log_search import RecordWindow, decoded, newest_first
from streams.edges.mcp.tool import READS, Call, Tool


class ExplainArguments(Arguments):
    pack_id: Id = Field(description="as search_context or `fathom ask --json` named it")


async def answer(asked: ExplainArguments, call: Call) -> Explained:
    """Raises `CommandFailed` where the caller has no such pack, or the log is too long to look through."""
    caller = call.caller
    whose = f"{quote(caller.tenant, safe='')}|{quote(caller.client, safe='')}|".encode()
    whole = False
    async with aclosing(newest_first(call.bootstrap(), CONTEXT_PACKS, whose, call.seconds)) as windows:
        async for window in windows:
            # Read backwards, the first window with a revision holds the newest.
            if found := _revisions(window, asked.pack_id, caller):
                return explain(max(found, key=lambda pack: pack.revision))
            whole = window.whole
    if whole:
        raise CommandFailed(
            "there is no such pack of yours on context-packs.out; take the pack_id from a search_context answer "
            "(packs are kept for 30 days)"
        )
    raise CommandFailed(
        f"the pack is not among the newest of context-packs.out, and {call.seconds:g} s are not enough to look through "
        "the rest; raise FATHOM_MCP_TIMEOUT_MS, or ask again with search_context"
    )


def _revisions(window: RecordWindow, pack_id: str, caller: Caller) -> list[ContextPack]:
    named = pack_id.encode()
    possible = (decoded(CONTEXT_PACKS, record) for record in window.records if named in (record.value or b""))
    # An id is no permission: a pack holds what its user may see.
    return [
        one.event
        for one in possible
        if one is not None
        and (one.event.pack_id, one.envelope.tenant) == (pack_id, caller.tenant)
        and (one.event.client_id, one.event.user_id) == (caller.client, caller.user)
    ]


TOOL = Tool(
    name="explain_pack",
    title="Explain a context pack",
    description=(
        "Says what is in a context pack, where each item comes from and why it is there, how each class of memory "
        "answered, what was found and left out and why, and how the token budget was spent. Takes the pack_id of a "
        "search_context answer; reads only."
    ),
    takes=ExplainArguments,
    gives=Explained,
    annotations=READS,
    answer=answer,
)
