"""`explain_pack`: the contents of a pack with reasons, from `context-packs.out`; only for the pack's user."""

from collections.abc import Iterable
from contextlib import aclosing

from aiokafka import ConsumerRecord
from pydantic import Field

from schemas.base import Conversation, Id
from schemas.packs import ContextPack
from schemas.topics import CONTEXT_PACKS
from streams.edges.client import log_lookup
from streams.edges.client.arguments import Arguments
from streams.edges.client.errors import CommandFailed
from streams.edges.mcp.explaining import Explained, explain
from streams.edges.mcp.log_search import newest_first, received
from streams.edges.mcp.tool import READS, Call, Tool


class ExplainArguments(Arguments):
    pack_id: Id = Field(description="of search_context")


async def answer(asked: ExplainArguments, call: Call) -> Explained:
    """Raises `CommandFailed` where the caller has no such pack, or the log is too long to search."""
    whole = False
    async with aclosing(newest_first(CONTEXT_PACKS, call, call.caller.tenant, call.caller.client)) as windows:
        async for window in windows:
            records, whole = window
            # Read backwards, the first window with a revision contains the newest.
            if found := _revisions(records, asked.pack_id, call):
                pack = max(found, key=lambda pack: pack.revision)
                if await _is_erased(pack, call):
                    whole = True
                    break
                return explain(pack)
    if whole:
        raise CommandFailed(
            "there is no such pack of yours on context-packs.out; take the pack_id from a search_context answer "
            "(packs are kept for 30 days)"
        )
    raise CommandFailed(
        f"the pack is not among the newest of context-packs.out, and {call.site.seconds:g} s are not enough to look "
        "through the rest; raise FATHOM_MCP_TIMEOUT_MS, or ask again with search_context"
    )


async def _is_erased(pack: ContextPack, call: Call) -> bool:
    where = Conversation(tenant=call.caller.tenant, client_id=pack.client_id, conversation_id=pack.conversation_id)
    return pack.seq <= await log_lookup.erased_up_to(call.site.bootstrap(), where, call.site.seconds)


def _revisions(records: Iterable[ConsumerRecord], pack_id: str, call: Call) -> list[ContextPack]:
    named = pack_id.encode()
    possible = received(CONTEXT_PACKS, [record for record in records if named in (record.value or b"")], call)
    packs: list[ContextPack] = [one.event for one in possible if one.event.pack_id == pack_id]
    # An id is not a permission: a pack contains what its user may see.
    return [pack for pack in packs if (pack.client_id, pack.user_id) == (call.caller.client, call.caller.user)]


def text(found: Explained) -> str:
    """Depth and tokens, then each section with the sources of its items."""
    lines = [
        f"{found.depth_level.value}, {found.total_tokens} of {found.max_tokens} tokens, {len(found.dropped)} left out"
    ]
    for section in found.sections:
        lines += [f"- {section.name}, {item.tokens} tokens: {item.source}: {item.reason}" for item in section.items]
    return "\n".join(lines)


TOOL = Tool(
    name="explain_pack",
    title="Explain a context pack",
    description=(
        "Says of a pack of search_context where each item comes from and why it is there, how each memory answered, "
        "what was left out and why, and where the tokens went."
    ),
    takes=ExplainArguments,
    gives=Explained,
    annotations=READS,
    answer=answer,
    text=text,
    explained_by=lambda found: found.message_id,
)
