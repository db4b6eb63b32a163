"""`memories`: the facts that are remembered of the caller's user: listed, searched, added, corrected, taken back."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from operator import not_
from typing import Annotated, Literal
from uuid import uuid4

from pydantic import AwareDatetime, Field, model_validator

from schemas.base import Id, Value
from schemas.memory import ClaimAsserted
from schemas.topics import CORRECTIONS_IN, MESSAGES_IN
from streams.edges.client import clients, records, send
from streams.edges.client.arguments import Arguments
from streams.edges.client.errors import CommandFailed
from streams.edges.client.records import OutgoingRecord
from streams.edges.mcp import log_memories
from streams.edges.mcp.log_memories import LogMemories
from streams.edges.mcp.tool import RECORDS, Call, Tool, filled
from streams.edges.operations import memory_edits
from streams.edges.operations.memories import MemoryQuery, RememberedFact, Status, memories
from streams.edges.operations.memory_edits import EditRefused

MAX_SHOWN = 50
# What an action takes: whether a text, whether a fact.
TAKES = {"list": (False, False), "search": (True, False), "add": (True, False), "correct": (True, True),
         "confirm": (False, True), "delete": (False, True)}  # fmt: skip
Action = Literal["list", "search", "add", "correct", "confirm", "delete"]


class MemoriesArguments(Arguments):
    action: Action
    text: Annotated[str, Field(min_length=1, max_length=10_000)] | None = Field(
        default=None, description="words, a new fact, or the right value"
    )
    memory_id: Id | None = None

    @model_validator(mode="after")
    def _has_what_it_takes(self) -> "MemoriesArguments":
        for name, given, wanted in zip(
            ("text", "memory_id"), (self.text, self.memory_id), TAKES[self.action], strict=True
        ):
            if (given is not None) != wanted or (given is not None and not given.strip()):
                raise ValueError(f"{self.action} {'needs' if wanted else 'takes no'} {name}")
        return self


class FactShown(Value):
    """A fact; `by` are the ids of those that replaced or contest it."""

    memory_id: Id
    text: str
    subject: str
    value: str
    author: Literal["user", "assistant"]
    status: Status
    by: tuple[Id, ...] | None = Field(exclude_if=not_)
    said_at: AwareDatetime


class FactsAnswer(Value):
    """The newest facts, at most 50, or the ids of those that were edited, of a new one that of its turn.

    `complete`: there are no others.
    """

    memories: tuple[FactShown, ...]
    changed: tuple[Id, ...] = Field(exclude_if=not_)
    complete: bool


async def answer(asked: MemoriesArguments, call: Call) -> FactsAnswer:
    """Raises `CommandFailed` where no broker answers, and for a fact that is not there or was edited meanwhile."""
    user, text = call.caller.user, asked.text or ""
    if asked.action == "add":
        made = memory_edits.note(user, text, call.caller.client) | {"message_id": str(uuid4())}
        await _send([records.of_fields(MESSAGES_IN, made, call.identity)], call)
        return FactsAnswer(memories=(), changed=(str(made["message_id"]),), complete=True)
    known = await log_memories.read(call)
    if asked.memory_id is None:
        query = MemoryQuery(call.caller.tenant, user, words=text, limit=MAX_SHOWN)
        page = await memories(known, query, datetime.now(UTC))
        return shown(page.memories, complete=known.complete and page.next is None)
    claim = await _own(known, asked.memory_id, call)
    ids, fields = await _edit(known, claim, asked, call)
    edits = [{"claim_id": each, **fields} for each in ids]
    await _send([records.of_fields(CORRECTIONS_IN, each, call.identity) for each in edits], call)
    return FactsAnswer(memories=(), changed=tuple(ids), complete=True)


def shown(found: Sequence[RememberedFact], *, complete: bool) -> FactsAnswer:
    """The answer of a list."""
    facts = tuple(filled(FactShown, each) for each in found)
    return FactsAnswer(memories=facts, changed=(), complete=complete)


async def _own(known: LogMemories, memory_id: str, call: Call) -> ClaimAsserted:
    """A fact of the caller's user; of another's nobody learns that it is there."""
    found = await known.claim(call.caller.tenant, memory_id, datetime.now(UTC))
    if found is None or found.user_id != call.caller.user:
        raise CommandFailed("you have no such memory; take the memory_id from action list or search")
    return found


async def _edit(
    known: LogMemories, claim: ClaimAsserted, asked: MemoriesArguments, call: Call
) -> tuple[Sequence[str], Mapping[str, str]]:
    """The facts that are edited, and what is sent about each."""
    tenant, now = call.caller.tenant, datetime.now(UTC)
    try:
        if asked.action == "delete":
            ids = await memory_edits.to_withdraw(known, tenant, claim, now, None)
            return ids, memory_edits.withdrawal(claim.user_id, "")
        await memory_edits.check_current(known, tenant, claim, now)
    except EditRefused as refused:
        raise CommandFailed(str(refused)) from None
    return [claim.claim_id], memory_edits.change(claim.user_id, asked.text, "")


async def _send(outgoing: Sequence[OutgoingRecord], call: Call) -> None:
    async with clients.producing(call.site.bootstrap()) as producer:
        for each in outgoing:
            await send.deliver(producer, each)


def text(found: FactsAnswer) -> str:
    """The facts, one a line; after an edit that it is on its way."""
    lines = [
        f"- {each.memory_id}: {each.subject}: {each.value} ({each.status}, {each.said_at:%Y-%m-%d})"
        for each in found.memories
    ]
    if lines:
        return "\n".join(lines if found.complete else [*lines, "there are more: search with words"])
    return "sent; it holds within a second" if found.changed else "nothing that fits is remembered"


TOOL = Tool(
    name="memories",
    title="Memories",
    description="Lists, searches and edits the facts remembered of the user. Edit only what the user asks for.",
    takes=MemoriesArguments,
    gives=FactsAnswer,
    annotations=RECORDS,
    answer=answer,
    text=text,
)
