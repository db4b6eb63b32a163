"""`GET /answers/{message_id}`: the answer by cognition to a message, from the log."""

from contextlib import aclosing
from typing import Annotated

from fastapi import APIRouter, Path, Query
from starlette.requests import Request

from schemas.base import Conversation
from schemas.packs import ContextPack
from schemas.topics import ANSWERS_OUT
from streams.edges.client import log_lookup
from streams.edges.client.deep_answers import DeepAnswerShown, answer_of
from streams.edges.http.endpoints.packs import pack_of
from streams.edges.http.identity import MessageConversation, grant_of
from streams.edges.http.openapi import READ_PROBLEMS, problems
from streams.edges.http.problems import Problem
from streams.edges.http.routes import LoggedRoute
from streams.edges.http.sending import CallSender, looking_up
from streams.edges.http.tokens import Grant


def answers_router(sender: CallSender, seconds: float) -> APIRouter:
    """The route; `seconds` is how long the log is searched."""
    router = APIRouter(route_class=LoggedRoute)

    @router.get(
        "/answers/{message_id:path}",
        summary="The answer by cognition to a message",
        response_description="the deep answer, as `POST /ask?deep=true` gives it beside the pack",
        responses=problems(READ_PROBLEMS),
    )
    async def answer(
        request: Request,
        message_id: Annotated[str, Path(description="as sending it gave, or as its pack names it")],
        query: Annotated[MessageConversation, Query()],
    ) -> DeepAnswerShown:
        """From the log, where answers are kept for 30 days; a token of one user sees answers to that user only.

        Of several conversations with a message of this id the newest, unless `conversation_id` names one.
        """
        grant = grant_of(request)
        with looking_up(404):
            found = await _answer(sender.exchange.bootstrap(), grant, message_id, query.stated(grant), seconds)
        if found is None:
            raise Problem(
                404, f"no answer by cognition to a message {message_id!r} is on answers.out for this token; one comes "
                "within seconds to complex questions and those asked with `deep`, where cognition is on",
            )  # fmt: skip
        return found

    return router


async def _answer(
    bootstrap: str, grant: Grant, message_id: str, stated: Conversation | None, seconds: float
) -> DeepAnswerShown | None:
    """The deep answer to a message whose pack the grant may see: an answer itself does not say whose it is."""
    raw = await pack_of(bootstrap, grant, message_id, stated, seconds)
    if raw is None:
        return None
    pack = ContextPack.model_validate_json(raw, extra="ignore")
    where = Conversation(tenant=grant.tenant, client_id=pack.client_id, conversation_id=pack.conversation_id)
    async with aclosing(log_lookup.newest_first(bootstrap, ANSWERS_OUT, seconds, where.key())) as windows:
        async for records, _ in windows:
            here = [record for record in records if record.key == where.key().encode()]
            for found in (answer_of(record.value or b"") for record in here):
                if found is not None and found.message_id == message_id:
                    return found
    return None
