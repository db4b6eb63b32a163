"""Whose chat a request is: tenant and user of its token, client and conversation of token, headers or request."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import get_args

from pydantic import TypeAdapter, ValidationError
from starlette.requests import Request

from agents.core.caching.lru import ByteCache
from schemas import codec
from schemas.base import Conversation, Event, Id, derive
from schemas.chat import AskPayload, ChatMessage, Role
from schemas.codec import Undecodable
from schemas.depth import LEAST_WAIT_MS, RequestOptions
from schemas.envelope import Envelope
from schemas.policy import CONTEXT_TEMPLATE
from schemas.topics import MESSAGES_IN
from streams.edges.client.records import OutgoingRecord
from streams.edges.http.ask import Tier
from streams.edges.http.gate import GRANT
from streams.edges.http.openai.chat_request import ChatRequest
from streams.edges.http.openai.responses_request import ResponsesRequest
from streams.edges.http.problems import Problem
from streams.edges.http.sending import WAY_BACK_MS
from streams.edges.http.tokens import Grant

SOURCE = "urn:fathom:openai"
CLIENT = "openai"
# For so long the same dialogue is the same message: clients repeat a request that failed.
RETRY_S = 3600.0
_ID: TypeAdapter[str] = TypeAdapter(Id)
ModelRequest = ChatRequest | ResponsesRequest


@dataclass(frozen=True, slots=True)
class ChatTurn:
    """The question of a request in its conversation; makes the records of both sides."""

    message_id: str
    question: str
    conversation: Conversation
    envelope: Envelope

    @property
    def key(self) -> bytes:
        return self.conversation.key().encode()

    def asked(self) -> OutgoingRecord:
        """The user's turn."""
        question = AskPayload(
            question=self.question,
            conversation_id=self.conversation.conversation_id,
            client_id=self.conversation.client_id,
        )
        return self._record(question, self.envelope)

    def answered(self, text: str, pack_id: str | None, *, whole: bool) -> OutgoingRecord:
        """The assistant's turn; the same text is the same turn."""
        name = derive("chat-answer", self.message_id, text)
        now = datetime.now(UTC)
        said = ChatMessage(
            message_id=name,
            role=Role.ASSISTANT,
            content=text,
            conversation_id=self.conversation.conversation_id,
            client_id=self.conversation.client_id,
            created_at=now,
            answers=self.message_id,
            pack_id=pack_id,
            status=None if whole else "incomplete",
        )
        envelope = self.envelope._replace(
            id=name, type=said.TYPE, time=now, causation_id=self.message_id, tier=None, options=None
        )
        return self._record(said, envelope)

    def _record(self, event: Event, envelope: Envelope) -> OutgoingRecord:
        return OutgoingRecord(MESSAGES_IN.name, self.key, codec.dump(event), codec.to_headers(envelope), envelope.id)


class ChatTurns:
    """Turns of requests; a retry, and what follows the model's tool calls, is the turn that it was."""

    def __init__(self, user_header: str, clock: Callable[[], float] = time.time, *, wait_ms: int = 3_000) -> None:
        """`user_header` is the header by which a chat front-end says who asks; it waits `wait_ms` for a pack."""
        self._user_header = user_header
        self._clock = clock
        self._wait_ms = max(wait_ms - WAY_BACK_MS, LEAST_WAIT_MS)
        self._known: ByteCache[tuple[Conversation, str | None, str], tuple[str, float]] = ByteCache("chat_turns")
        # By the tenant and the id of the model's response to it.
        self._answered: ByteCache[tuple[str, str], ChatTurn] = ByteCache("chat_turns")

    def answered_by(self, turn: ChatTurn, response_id: str) -> None:
        """Note the response to a turn: what follows it belongs to the same conversation."""
        self._answered.put((turn.conversation.tenant, response_id), turn)

    def of(self, request: Request, chat: ModelRequest) -> ChatTurn:
        """The turn of a request; raises `Problem`."""
        grant: Grant = request.scope[GRANT]
        user = _stated(request, "Fathom-User", grant.user) or self._forwarded(request, chat)
        before = self._answered.get((grant.tenant, chat.follows or ""))
        if before is not None and before.envelope.user_id != (user or _nobody(before.conversation)):
            before = None
        if before is not None and chat.continues and not chat.question:
            return before
        conversation = _conversation(request, grant, user, chat, before)
        tier = request.headers.get("fathom-tier")
        if tier is not None and tier not in get_args(Tier):
            raise Problem(400, f"the header Fathom-Tier is one of {', '.join(get_args(Tier))}")
        message_id = self._message_id(conversation, user, chat)
        if user is None:
            conversation = _of_nobody(request, conversation, chat, message_id)
        envelope = Envelope(
            id=message_id,
            type=AskPayload.TYPE,
            source=SOURCE,
            time=datetime.now(UTC),
            tenant=grant.tenant,
            correlation_id=message_id,
            user_id=user or _nobody(conversation),
            request_id=request.state.request_id,
            tier=tier,
            traceparent=request.state.traceparent,
            tracestate=request.headers.get("tracestate"),
            options=_options(request, self._wait_ms),
            user_bound=grant.user is not None,
        )
        return ChatTurn(message_id, chat.question, conversation, envelope)

    def _forwarded(self, request: Request, chat: ModelRequest) -> str | None:
        """Who asks, as the application that forwards the question says; raises `Problem`."""
        if request.headers.get(self._user_header):
            return _header_id(request, self._user_header)
        name, stated = chat.stated_user() or ("", None)
        if stated is None:
            return None
        try:
            return _ID.validate_python(stated)
        except ValidationError:
            raise Problem(400, f"{name} is an id of 1 to 256 printable characters, or left out") from None

    def _message_id(self, conversation: Conversation, user: str | None, chat: ModelRequest) -> str:
        dialogue = (conversation, user, chat.fingerprint())
        now = self._clock()
        found, since = self._known.get(dialogue) or ("", 0.0)
        if found and (chat.continues or now - since < RETRY_S):
            return found
        # Derived from the hour too: another server gives a retry the same id, tomorrow's "good morning" is a new one.
        made = derive("chat", conversation.key(), user or "", dialogue[2], str(int(now // RETRY_S)))
        self._known.put(dialogue, (made, now))
        return made


def _options(request: Request, wait_ms: int) -> RequestOptions:
    """The options of the headers; the caller has the recent messages himself, so the text is made without them.

    The pack's deadline is what the front waits.
    """
    stated = {
        name: text
        for name in RequestOptions.model_fields
        if (text := request.headers.get(f"fathom-{name.replace('_', '-')}"))
    }
    try:
        return codec.options_of({"template": CONTEXT_TEMPLATE, "wait_ms": str(wait_ms), **stated})
    except Undecodable as error:
        raise Problem(400, f"the options in the headers: {error.detail}") from None


def _conversation(
    request: Request, grant: Grant, user: str | None, chat: ModelRequest, before: ChatTurn | None
) -> Conversation:
    client = _stated(request, "Fathom-Client", grant.client) or CLIENT
    stated = _header_id(request, "Fathom-Conversation")
    if stated is None and before is not None and before.conversation.client_id == client:
        return before.conversation
    derived = derive("conversation", grant.tenant, client, user or "", chat.opening())
    return Conversation(tenant=grant.tenant, client_id=client, conversation_id=stated or derived)


def _of_nobody(request: Request, conversation: Conversation, chat: ModelRequest, message_id: str) -> Conversation:
    """The conversation of a question of which nobody says whose it is: the one that the caller names, else its own.

    Made from how a chat begins, as for a user, it would be that of everybody who begins with the same words.
    """
    if chat.conversation is not None or "fathom-conversation" in request.headers:
        return conversation
    return conversation.model_copy(update={"conversation_id": derive("conversation", message_id)})


def _nobody(conversation: Conversation) -> str:
    """The user of a conversation of which nobody says whose it is: without one, what is said is the tenant's."""
    return derive("nobody", conversation.key())


def _stated(request: Request, name: str, granted: str | None) -> str | None:
    """What a header states, else what the token grants; raises `Problem` where the token is for another."""
    stated = _header_id(request, name)
    if stated is not None and granted not in (None, stated):
        raise Problem(403, f"this token is for another; leave the header {name} out")
    return stated or granted


def _header_id(request: Request, name: str) -> str | None:
    stated = request.headers.get(name)
    if stated is None:
        return None
    try:
        # Header values arrive as Latin-1; clients write UTF-8.
        return _ID.validate_python(stated.encode("latin-1").decode())
    except (ValidationError, UnicodeDecodeError):
        raise Problem(400, f"the header {name} is an id of 1 to 256 printable characters") from None
