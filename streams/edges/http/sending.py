"""Records of a call: sent once, acknowledged or answered, and refusals where they are not."""

import asyncio
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any
from uuid import uuid4

import orjson
from pydantic import BaseModel, Field
from starlette.requests import Request

from agents.core.caching.lru import ByteCache
from schemas.base import Id, derive
from schemas.depth import LEAST_WAIT_MS
from schemas.topics import ANSWERS_OUT, CONVERSATION_TURNS, SEARCHES_OUT, Topic
from streams.edges.client import records
from streams.edges.client.ask import UNKNOWN_CONVERSATION, RefusedRecord
from streams.edges.client.deep_answers import RunFailed
from streams.edges.client.errors import CommandFailed
from streams.edges.client.log_lookup import UnknownId
from streams.edges.client.records import BadInput, Identity, OutgoingRecord
from streams.edges.client.send import SentRecord
from streams.edges.http.identity import grant_of, user_of
from streams.edges.http.pending_replies import ExpectedReply, TooMany
from streams.edges.http.problems import Problem
from streams.edges.http.request_reply import Exchange, NotReachable
from streams.edges.http.routes import Unsent, VisibleId
from streams.edges.http.tokens import Grant

SOURCE = "urn:fathom:ask"
SEND_S = 10.0
# From the topic of the packs to the caller.
WAY_BACK_MS = 100
PREFERRED_WAIT = re.compile(r"(?:^|[,;\s])wait\s*=\s*\"?(\d{1,6})\"?(?=$|[,;\s])", re.IGNORECASE)


class CallHeaders(BaseModel):
    idempotency_key: VisibleId | Unsent = Field(
        None, alias="Idempotency-Key", description="the same call with the same key takes effect once"
    )
    request_id: VisibleId | Unsent = Field(
        None, alias="X-Request-Id", description="names the request in logs and in the turn"
    )
    user: Id | Unsent = Field(None, alias="Fathom-User", description="who says it, where the token is not for one user")
    traceparent: str | Unsent = Field(None, description="W3C trace context")


class Place(BaseModel):
    """The position of a record in the log."""

    topic: str
    partition: int
    offset: int

    @classmethod
    def of(cls, sent: SentRecord) -> "Place":
        return cls(topic=sent.topic, partition=sent.partition, offset=sent.offset)


class IdempotencyKeys:
    """Ids of calls, derived from caller, key and body, so that a repeated call is the same event."""

    def __init__(self) -> None:
        self._made: ByteCache[tuple[Grant, str], str] = ByteCache("idempotency_keys")

    def id_of(self, grant: Grant, user: str | None, what: str, key: str | None, body: bytes) -> str:
        """A random id without a key; raises `Problem` (422) for a key that was used for something else."""
        if key is None:
            return str(uuid4())
        made = derive(what, grant.tenant, grant.client or "", user or "", key, body.decode(errors="replace"))
        if (self._made.get((grant, key)) or made) != made:
            raise Problem(422, "this Idempotency-Key was used for something else; make a new one for each call")
        self._made.put((grant, key), made)
        return made


class CallSender:
    """Sends what calls say to the topics, through one exchange."""

    def __init__(self, exchange: Exchange) -> None:
        self.exchange = exchange
        self.keys = IdempotencyKeys()

    def prepared(
        self, request: Request, topic: Topic, value: bytes, headers: CallHeaders, event_id: str | None = None
    ) -> OutgoingRecord:
        """The record of a call, checked as by its first stage; with the id of the event, or one of the call.

        Raises `Problem` (422) for what the first stage would refuse.
        """
        grant = grant_of(request)
        user = user_of(grant, headers.user)
        own_id = event_id or self.keys.id_of(grant, user, topic.name, headers.idempotency_key, _timeless(value))
        bound = grant.user is not None
        whose = Identity(grant.tenant, user, request.state.traceparent, own_id, SOURCE, bound=bound)
        try:
            made = records.record_of(topic, value, whose)
        except BadInput as error:
            raise Problem(422, str(error)) from None
        also = {"request_id": request.state.request_id, "tracestate": request.headers.get("tracestate")}
        return replace(made, headers=[*made.headers, *((name, text.encode()) for name, text in also.items() if text)])

    async def sent(self, prepared: OutgoingRecord, *, once_as: str | None = None) -> SentRecord:
        """The position of a record, once the broker has it; `once_as` names what repeated calls have in common.

        Raises `Problem` (503, 504).
        """
        once = replace(prepared, name=once_as or dict(prepared.headers)["ce_id"].decode())
        try:
            async with asyncio.timeout(SEND_S):
                return replace(await self.exchange.send(once), message_id=prepared.name)
        except NotReachable as error:
            raise Problem(503, str(error), retry_after="1") from None
        except TimeoutError:
            late = f"the broker did not say within {SEND_S:g} s whether it has the record"
            raise Problem(504, f"{late}; send it again with the same Idempotency-Key: it takes effect once") from None

    async def answered(
        self, request: Request, prepared: OutgoingRecord, wanted: ExpectedReply, seconds: float
    ) -> bytes | None:
        """The answer to a record; None when the caller has disconnected. Raises `Problem`."""
        named = {"fathom_message_id": prepared.name}
        sent: SentRecord | None = None
        # The body has been read: the next message of the connection is its end.
        gone = asyncio.ensure_future(request.receive())
        try:
            async with asyncio.timeout(seconds):
                sent, answer = await self.exchange.ask(prepared, wanted, within=_within(wanted, seconds))
                try:
                    either: set[asyncio.Future[Any]] = {answer, gone}
                    await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
                    return answer.result() if answer.done() else None
                finally:
                    answer.cancel()
        except RefusedRecord as refused:
            status = 404 if refused.reason == UNKNOWN_CONVERSATION else 422
            raise Problem(status, str(refused), **named) from None
        except RunFailed as failed:
            raise Problem(500, str(failed), **named) from None
        except TooMany:
            raise Problem(429, "too many questions wait for their answers; try again in 1 s", retry_after="1") from None
        except NotReachable as error:
            raise Problem(503, str(error), retry_after="1", **named) from None
        except TimeoutError:
            raise Problem(504, _late(sent, wanted, seconds), **named) from None
        finally:
            gone.cancel()
            with suppress(asyncio.CancelledError):
                await gone


def _timeless(value: bytes) -> bytes:
    """The value without the time that a call puts into it: the same call has another one when it comes again."""
    return orjson.dumps({name: said for name, said in orjson.loads(value).items() if name != "created_at"})


def patience(prefer: str | None, most: float) -> float:
    """The seconds to wait: those that `Prefer: wait=N` names, `most` at most."""
    preferred = PREFERRED_WAIT.search(prefer or "")
    return min(float(preferred[1]), most) if preferred else most


def wait_ms(prefer: str | None) -> int | None:
    """The milliseconds within which the pack has to be out for a caller who named a wait; None where none is named."""
    preferred = PREFERRED_WAIT.search(prefer or "")
    return max(int(preferred[1]) * 1000 - WAY_BACK_MS, LEAST_WAIT_MS) if preferred else None


@contextmanager
def looking_up(status: int = 422) -> Iterator[None]:
    """The context of look-ups in the log: an unknown id is refused with this status, a broker that is away with 503."""
    try:
        yield
    except UnknownId as error:
        raise Problem(status, str(error)) from None
    except CommandFailed as error:
        raise Problem(503, str(error), retry_after="1") from None


def _within(wanted: ExpectedReply, seconds: float) -> float | None:
    """The time within which an answer is wanted; None where there is no backlog of the first stage to wait behind.

    Of a turn its message is taken however late it comes, and a search has a stage of its own.
    """
    return None if wanted.topic in (CONVERSATION_TURNS.name, SEARCHES_OUT.name) else seconds


def _late(sent: SentRecord | None, wanted: ExpectedReply, seconds: float) -> str:
    again = "ask again with the same Idempotency-Key: it is not asked twice, and its answer is waited for"
    if wanted.topic == SEARCHES_OUT.name:
        return f"no results came on {wanted.topic} within {seconds:.3g} s; search again, or wait for longer"
    if sent is None:
        return f"the broker did not say within {seconds:g} s whether it has the question; {again}"
    nothing = "no answer by cognition" if wanted.deep else "nothing"
    later = ""
    if wanted.deep:
        later = ", and GET /answers/{message_id} has it once it is there"
    elif wanted.topic == ANSWERS_OUT.name:
        later = "; only an assistant publishes answers: for the context pack leave out `wait=answer`"
    return (
        f"the question is at {sent.topic}[{sent.partition}]@{sent.offset}, but {nothing} came on {wanted.topic} within "
        f"{seconds:.3g} s; {again}{later}"
    )
