"""A pack and the answer by cognition in one response, for `/ask` and `/messages` with `deep=true`."""

import time

from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from schemas.packs import ContextPack
from schemas.topics import ANSWERS_OUT, CONTEXT_PACKS
from streams.edges.client import deep_answers
from streams.edges.client.deep_answers import RawReply
from streams.edges.client.records import OutgoingRecord
from streams.edges.http.pending_replies import ExpectedReply
from streams.edges.http.problems import Problem
from streams.edges.http.renditions import JSON, MARKDOWN, wants_text
from streams.edges.http.sending import CallSender

# A query parameter that changes the response, unlike the option of the same name in headers and bodies.
DEEP_QUERY = Field(
    default=False, description="wait for the pack and for the answer by cognition, and give both in one response"
)


async def answered(request: Request, sender: CallSender, prepared: OutgoingRecord, seconds: float) -> RawReply | None:
    """The pack of a question and its deep answer; None when the caller has disconnected.

    Raises `Problem`: 409 where cognition is off, 500 where its run fails, and those of `CallSender.answered`.
    """
    until = time.monotonic() + seconds
    name = prepared.name
    pack = await sender.answered(request, prepared, ExpectedReply.to(CONTEXT_PACKS.name, prepared), seconds)
    if pack is None:
        return None
    if deep_answers.is_refused(ContextPack.model_validate_json(pack, extra="ignore")):
        raise Problem(409, deep_answers.OFF, fathom_message_id=name)
    wanted = ExpectedReply.to(ANSWERS_OUT.name, prepared, deep=True)
    value = await sender.answered(request, prepared, wanted, max(until - time.monotonic(), 0.0))
    answer = None if value is None else deep_answers.answer_of(value)
    return None if answer is None else RawReply(pack, answer)


def response(request: Request, reply: RawReply, headers: dict[str, str]) -> Response:
    """Pack and answer as JSON, or the answer's text where the caller accepts Markdown."""
    if wants_text(request):
        return Response(reply.answer.text, headers=headers, media_type=MARKDOWN)
    return Response(reply.dumped(), headers=headers, media_type=JSON)
