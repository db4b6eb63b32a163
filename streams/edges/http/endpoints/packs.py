"""`GET /packs/{message_id}` and `GET /conversations/{conversation_id}`: what the log holds of a message or a talk."""

from collections.abc import Callable
from contextlib import aclosing
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response

from schemas.base import Conversation, Id, Value, entity_key
from schemas.chat import Turn
from schemas.envelope import Received
from schemas.memory import PackDecision
from schemas.packs import ContextPack
from schemas.topics import CONTEXT_PACKS, CONVERSATION_TURNS, MEMORY_DECISIONS, Topic
from streams.edges.client import log_lookup
from streams.edges.http import renditions
from streams.edges.http.identity import MessageConversation, client_of, grant_of
from streams.edges.http.openapi import MARKDOWN_PACK, READ_PROBLEMS, problems
from streams.edges.http.problems import Problem
from streams.edges.http.routes import LoggedRoute, Unsent
from streams.edges.http.sending import CallSender, looking_up
from streams.edges.http.tokens import Grant

MOST_TURNS = 1_000
MessageName = Annotated[str, Path(description="as sending it gave, or as the pack names it")]
ConversationNamed = Annotated[MessageConversation, Query()]


class ConversationQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    client_id: Id | Unsent = Field(None, description="default: the token's")
    limit: int = Field(100, ge=1, le=MOST_TURNS, description="how many turns, the newest")


class ConversationShown(Value):
    """The newest turns of a conversation, in order, and the decisions on its messages.

    `complete` is false where earlier turns were left out, by `limit` or because the log was too long to search.
    """

    client_id: Id
    conversation_id: Id
    complete: bool
    turns: tuple[Turn, ...]
    decisions: tuple[PackDecision, ...]


def reading_router(sender: CallSender, seconds: float) -> APIRouter:
    """The routes; `seconds` is how long the log is searched."""
    router = APIRouter(route_class=LoggedRoute)

    @router.get(
        "/packs/{message_id:path}",
        summary="The context pack of a message",
        response_model=ContextPack,
        response_description="the newest revision, as on the topic; with `Accept: text/markdown` the pack's text",
        responses={200: {"content": MARKDOWN_PACK}, **problems({**READ_PROBLEMS, 406: "the pack has no text"})},
    )
    async def pack(request: Request, message_id: MessageName, query: ConversationNamed) -> Response:
        """From the log, where packs are kept for 30 days; a token of one user sees that user's packs only.

        Of several conversations with a message of this id the newest, unless `conversation_id` names one.
        """
        grant = grant_of(request)
        with looking_up(404):
            value = await pack_of(sender.exchange.bootstrap(), grant, message_id, query.stated(grant), seconds)
        if value is None:
            raise Problem(
                404, f"no pack of a message {message_id!r} is on context-packs.out for this token; packs are made for "
                "users' messages, within seconds, and kept for 30 days unless their conversation is forgotten",
            )  # fmt: skip
        return renditions.of_pack(request, value, {"fathom-message-id": message_id} if message_id.isascii() else {})

    @router.get(
        "/conversations/{conversation_id:path}",
        summary="The turns of a conversation, and what was decided on them",
        response_description="as far as the log has them",
        responses=problems(READ_PROBLEMS),
    )
    async def conversation(
        request: Request, conversation_id: Annotated[Id, Path()], query: Annotated[ConversationQuery, Query()]
    ) -> ConversationShown:
        """From the log, the newest turns; a token of one user sees that user's conversations only."""
        grant = grant_of(request)
        where = Conversation(
            tenant=grant.tenant, client_id=client_of(grant, query.client_id), conversation_id=conversation_id
        )
        with looking_up(404):
            return await _conversation(sender.exchange.bootstrap(), grant, where, query.limit, seconds)

    return router


async def pack_of(
    bootstrap: str, grant: Grant, message_id: str, stated: Conversation | None, seconds: float
) -> bytes | None:
    """The record's value of the newest revision that the grant may see, of the newest conversation or the stated."""
    left_out: set[Conversation] = set()
    async with aclosing(
        log_lookup.newest_first(bootstrap, CONTEXT_PACKS, seconds, stated.key() if stated else None)
    ) as windows:
        async for records, _ in windows:
            values = {(record.partition, record.offset): bytes(record.value) for record in records if record.value}
            packs = [
                one
                for one in log_lookup.of_tenant(CONTEXT_PACKS, records, grant.tenant, message_id)
                if one.event.message_id == message_id
                and grant.client in (None, one.event.client_id)
                and grant.user in (None, one.event.user_id)
                and stated in (None, _where(one))
            ]
            for last in sorted(packs, key=lambda one: one.timestamp, reverse=True):
                where = _where(last)
                if where in left_out:
                    continue
                # Read backwards, the first window with a revision of a conversation contains its newest.
                own = [one for one in packs if _where(one) == where]
                newest = max(own, key=lambda one: (one.event.revision, one.timestamp))
                if newest.event.seq > await log_lookup.erased_up_to(bootstrap, where, seconds):
                    return values[newest.partition, newest.offset]
                left_out.add(where)
    return None


def _where(one: Received[Any]) -> Conversation:
    return one.conversation(one.event.client_id, one.event.conversation_id)


async def _conversation(
    bootstrap: str, grant: Grant, where: Conversation, limit: int, seconds: float
) -> ConversationShown:
    if grant.user is not None:
        await log_lookup.check_conversation(bootstrap, where, grant.user, seconds)
    erased = await log_lookup.erased_up_to(bootstrap, where, seconds)

    def here(one: Received[Any]) -> bool:
        event = one.event
        return (
            isinstance(event, Turn | PackDecision)
            and one.conversation(event.client_id, event.conversation_id) == where
            and (event.seq is None or event.seq > erased)
        )

    turns, whole = await _newest(bootstrap, CONVERSATION_TURNS, where, where.key(), here, limit, seconds)
    if not turns:
        raise log_lookup.UnknownId(f"there is no conversation {where.conversation_id!r} of client {where.client_id!r}")
    by_seq = sorted({one.event.message_id: one.event for one in turns}.values(), key=lambda turn: turn.seq)
    shown = tuple(by_seq[-limit:])
    messages = {turn.message_id for turn in shown}
    decided, _ = await _newest(
        bootstrap, MEMORY_DECISIONS, where, entity_key(where.tenant, where.conversation_id),
        lambda one: here(one) and one.event.message_id in messages, len(messages), seconds,
    )  # fmt: skip
    decisions = {one.event.message_id: one.event for one in decided}
    return ConversationShown(
        client_id=where.client_id,
        conversation_id=where.conversation_id,
        complete=whole and len(by_seq) <= limit,
        turns=shown,
        decisions=tuple(decisions[turn.message_id] for turn in shown if turn.message_id in decisions),
    )


async def _newest(
    bootstrap: str, topic: Topic, where: Conversation, key: str, fits: Callable[[Received[Any]], bool], limit: int,
    seconds: float,
) -> tuple[list[Received[Any]], bool]:  # fmt: skip
    """At least the newest events of a conversation that fit, as many as wanted; and whether these are all."""
    found: list[Received[Any]] = []
    whole = False
    async with aclosing(log_lookup.newest_first(bootstrap, topic, seconds, key)) as windows:
        async for records, last in windows:
            whole = last
            events = log_lookup.of_tenant(topic, records, where.tenant, where.conversation_id)
            found += [one for one in events if fits(one)]
            if len(found) > limit:
                break
    return found, whole
