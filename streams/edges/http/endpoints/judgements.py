"""`POST /feedback` and `POST /corrections`: users' judgements of packs and claims, which memory learns from."""

from collections.abc import Mapping
from typing import Annotated

import orjson
from fastapi import APIRouter, Header
from pydantic import BeforeValidator, Field, model_validator
from starlette.requests import Request

from agents.core.packs.planning import pack_id_of
from schemas.base import Conversation, Id
from schemas.depth import DepthLevel
from schemas.topics import CORRECTIONS_IN, FEEDBACK_IN, Topic
from streams.edges.client import log_lookup
from streams.edges.client.arguments import Arguments
from streams.edges.client.in_english import ENGLISH_KINDS, KINDS, EnglishKind
from streams.edges.client.records import OutgoingRecord
from streams.edges.http.identity import client_of, grant_of, user_of
from streams.edges.http.openapi import SEND_PROBLEMS, problems
from streams.edges.http.problems import Problem
from streams.edges.http.routes import LoggedRoute
from streams.edges.http.sending import CallHeaders, CallSender, Place, looking_up


class FeedbackBody(Arguments):
    """What a user thought of the pack of a message."""

    message_id: Id
    conversation_id: Id
    client_id: Id | None = Field(None, description="default: the token's")
    rating: int = Field(ge=1, le=5, description="how good it was")
    expected_depth: DepthLevel | None = Field(None, strict=False, description="how deep it should have gone")
    reason: str = ""


class CorrectionBody(Arguments):
    """What is wrong in a claim, or in the answer of a consultation."""

    claim_id: Id | None = None
    consultation_id: Id | None = Field(None, description="its id, or the job_id of the deep answer")
    text: str = Field(min_length=1, description="what is wrong")
    new_value: str | None = Field(None, description="the value that is right")
    # Older clients state it as the topic does.
    kind: Annotated[EnglishKind, BeforeValidator(lambda kind: ENGLISH_KINDS.get(kind, kind))] = "factual"

    @model_validator(mode="after")
    def _of_one_thing(self) -> "CorrectionBody":
        if (self.claim_id is None) == (self.consultation_id is None):
            raise ValueError("name one of claim_id and consultation_id")
        if not self.text.strip():
            raise ValueError("text: there is no text in it")
        return self


class FeedbackTaken(Place):
    """Feedback in the log, and the pack it is about."""

    pack_id: str


class CorrectionTaken(Place):
    """A correction in the log."""

    event_id: str


def judgements_router(sender: CallSender) -> APIRouter:
    """The routes."""
    router = APIRouter(route_class=LoggedRoute)
    endpoints = JudgementEndpoints(sender)
    router.add_api_route(
        "/feedback",
        endpoints.feedback,
        methods=["POST"],
        status_code=202,
        summary="Say how good the pack of a message was",
        response_description="the feedback is in the log",
        responses=problems(SEND_PROBLEMS),
    )
    router.add_api_route(
        "/corrections",
        endpoints.correct,
        methods=["POST"],
        status_code=202,
        summary="Contest a claim, or the answer of a consultation",
        response_description="the correction is in the log",
        responses=problems(SEND_PROBLEMS),
    )
    return router


class JudgementEndpoints:
    """Sends judgements of what the log knows."""

    def __init__(self, sender: CallSender) -> None:
        self._sender = sender

    async def feedback(
        self, request: Request, given: FeedbackBody, headers: Annotated[CallHeaders, Header()]
    ) -> FeedbackTaken:
        """Three users who expected more make the packs of like messages deeper."""
        grant = grant_of(request)
        client = client_of(grant, given.client_id)
        where = Conversation(tenant=grant.tenant, client_id=client, conversation_id=given.conversation_id)
        with looking_up():
            if grant.user is not None:
                await log_lookup.check_conversation(self._sender.exchange.bootstrap(), where, grant.user)
            exchange = self._sender.exchange
            recent = exchange.recent_turns(where)
            await log_lookup.check_message(exchange.bootstrap(), where, given.message_id, recent=recent)
        pack_id = pack_id_of(where, given.message_id)
        fields = {**given.model_dump(mode="json"), "client_id": client, "pack_id": pack_id}
        sent = await self._sender.sent(self._record(request, FEEDBACK_IN, fields, headers))
        return FeedbackTaken(pack_id=pack_id, **dict(Place.of(sent)))

    async def correct(
        self, request: Request, given: CorrectionBody, headers: Annotated[CallHeaders, Header()]
    ) -> CorrectionTaken:
        """Later packs give both sides, and mark which one is contested; with `new_value` it is the newer claim."""
        grant = grant_of(request)
        user = user_of(grant, headers.user)
        if user is None:
            raise Problem(422, "nobody says so: send the header Fathom-User, or use a token of one user")
        with looking_up():
            bootstrap = self._sender.exchange.bootstrap()
            if given.claim_id is not None:
                await log_lookup.check_claim(bootstrap, grant.tenant, given.claim_id, grant.user)
            consultation_id = given.consultation_id
            if consultation_id is not None:
                consultation_id = await log_lookup.consultation_of(bootstrap, grant.tenant, consultation_id, grant.user)
        fields = {
            "claim_id": given.claim_id,
            "consulta_id": consultation_id,
            "texto": given.text,
            "usuario_id": user,
            "tipo": KINDS[given.kind],
            "new_value": given.new_value,
        }
        prepared = self._record(request, CORRECTIONS_IN, fields, headers)
        sent = await self._sender.sent(prepared)
        return CorrectionTaken(event_id=dict(prepared.headers)["ce_id"].decode(), **dict(Place.of(sent)))

    def _record(
        self, request: Request, topic: Topic, fields: Mapping[str, object], headers: CallHeaders
    ) -> OutgoingRecord:
        """The record of these fields, without those that are None."""
        stated = {name: value for name, value in fields.items() if value is not None}
        return self._sender.prepared(request, topic, orjson.dumps(stated), headers)
