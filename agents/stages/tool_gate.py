"""Check each tool call: complete it from its session, refuse it, or have it confirmed first.

reads   tools.calls.in, tools.results.in, tools.confirmations.in   key conversation
        memory.erasures    conversations whose session is forgotten
writes  tools.calls.out    the verdict; executors read nothing else, so an unresolved call is not executed
        memory.decisions   the verdict with all its inputs
state   the tool session of the conversation; the working set (read): the user's message; of each partition the calls
        that were refused because the session could not be read: its output tells the next owner
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from agents.concurrency import KeyedLock, RetryUntil, timeout
from agents.context import ContextManager
from agents.core.conversation.memory import ConversationTurn
from agents.core.language.messages import LANGUAGES, message
from agents.core.tools import gate as tool_gate
from agents.core.tools import session as tool_session
from agents.core.tools.dialogue import LONGEST_TURN
from agents.core.tools.gate import Resolution, ToolPolicyResolver, UserMessage
from agents.core.tools.refused_calls import UNREADABLE, RefusedCalls
from agents.errors import Rejected, Unavailable
from agents.ports.sessions import ToolSessions
from schemas.base import Conversation, Event, derive, entity_key
from schemas.envelope import Envelope, Outgoing, Received
from schemas.memory import AuditDecision, ErasureIssued
from schemas.tool_session import Judged, ToolSession, Waiting
from schemas.tools import (
    Preview,
    ToolCallRequested,
    ToolCallResolved,
    ToolConfirmation,
    ToolEvent,
    ToolResult,
    Verdict,
)
from schemas.topics import MEMORY_DECISIONS, TOOLS_CALLS_OUT

LOGGER = logging.getLogger("fathom.tools")
ACTOR = "tool-gate"
EVENTS = {"resolved": "tool.resolved", "error": "tool.refused", "confirmation_required": "tool.confirmation-asked"}
Grounds = Mapping[str, object]  # what a verdict was made from
# The time limit of a read; after it the verdict is a refusal, never a guess.
STATE_S = 1.0
# A result or a message may arrive after the call that needs it: there is no order across topics.
GRACE = RetryUntil(0.2)
LOOK_BACK = 20


class ToolGate:
    """The gate: verdicts by contract; a call whose session cannot be read is refused."""

    def __init__(
        self,
        gate: ToolPolicyResolver,
        sessions: ToolSessions,
        context: ContextManager,
        patience: RetryUntil = GRACE,
        *,
        seconds: float = STATE_S,
    ) -> None:
        self._gate = gate
        self._sessions = sessions
        self._context = context
        self._patience = patience
        self._seconds = seconds + patience.seconds
        self._order = KeyedLock()
        self._refused = RefusedCalls()
        self.assigned, self.revoked = self._refused.assigned, self._refused.revoked

    async def handle(self, record: Received[ToolEvent | ErasureIssued]) -> Sequence[Outgoing]:
        """The verdict on a call or on its confirmation; nothing for what only updates the session."""
        conversation = record.conversation(record.event.client_id, record.event.conversation_id)
        match record.event:
            case ToolCallRequested():
                return await self._called(record, record.event, conversation)
            case ToolConfirmation():
                return await self._confirmed(record, record.event, conversation)
            case ToolResult():
                async with self._order.of(conversation.key()):
                    await self._finished(record, record.event, conversation)
            case ErasureIssued():
                async with self._order.of(conversation.key()):
                    await self._forget(record.event, conversation)
        return ()

    async def _called(
        self, record: Received[Event], call: ToolCallRequested, conversation: Conversation
    ) -> Sequence[Outgoing]:
        now, refused = record.envelope.time, self._refused.of(record, call)
        try:
            async with timeout(self._seconds):
                # A verdict may have been stored after the refusal was sent; the user was told that nothing is executed.
                verdict, detail = (refused, {}) if refused else await self._judged(record, call, conversation)
        except (Unavailable, TimeoutError):
            # The conversation's language cannot be read either.
            verdict, detail = _refusal(call, message(self._lang(record), "tool.unavailable"), UNREADABLE), {}
        self._refused.add(record, verdict)
        self._log(record, verdict)
        # Another event than the verdict on the call if it is asked again.
        momentary = (verdict.error or "") if verdict.error_code == UNREADABLE else ""
        out = Outgoing(TOOLS_CALLS_OUT, conversation.key(), verdict, record.envelope, momentary)
        return out, _audited(record, verdict, detail, now, momentary)

    def _lang(self, record: Received[Event]) -> str:
        """The language that a record states, else the policy's."""
        stated = (record.envelope.locale or "").lower()[:2]
        return stated if stated in LANGUAGES else self._gate.policy.lang

    def _log(self, record: Received[Event], verdict: ToolCallResolved) -> None:
        """Say what became of a call by names of the policy and ids only: values are in the audit."""
        envelope, known = record.envelope, verdict.tool_name in self._gate.policy.tools
        fields = {
            "tool": verdict.tool_name if known else None,
            "call": verdict.call_id,
            "tenant": envelope.tenant,
            "correlation_id": envelope.correlation_id,
            "injected": [f"{each.arg} ({each.source})" for each in verdict.injections],
            "reason": verdict.error_code,
        }
        level = logging.WARNING if verdict.status == "error" else logging.INFO
        LOGGER.log(level, EVENTS[verdict.status], extra={"fields": {name: of for name, of in fields.items() if of}})

    async def _judged(
        self, record: Received[Event], call: ToolCallRequested, conversation: Conversation
    ) -> tuple[ToolCallResolved, Grounds]:
        async def in_order(*, last: bool) -> tuple[ToolCallResolved, Grounds] | None:
            async with self._order.of(conversation.key()):
                return await self._tried(record, call, conversation, last=last)

        # The awaited record may be of this very conversation, so the lock is released between tries.
        found = await self._patience.find(lambda: in_order(last=False)) or await in_order(last=True)
        assert found is not None  # the last try gives a verdict
        return found

    async def _tried(
        self, record: Received[Event], call: ToolCallRequested, conversation: Conversation, *, last: bool
    ) -> tuple[ToolCallResolved, Grounds] | None:
        """The stored verdict as of now; None where context is missing and this is not the last try."""
        now, own, user_id = record.envelope.time, record.envelope.id, record.envelope.user_id
        said, speaker, filed = await self._said(conversation, call.message_id, record.envelope)
        lang = said.lang or self._lang(record)
        said = replace(said, lang=lang)
        # Without the named message, missing arguments would be filled from earlier text.
        waits = not filed and self._gate.listens(call.tool_name, call.args)
        while True:
            session, version = await self._sessions.load(conversation)
            if (known := session.verdicts.get(call.call_id)) is not None:
                before = session.judged.get(call.call_id)
                # The same record, redelivered: its audit may not have been sent the first time.
                return known, before.grounds if before and before.asked_by == own else {"repeated": True}
            resolution = self._gate.resolve(call.tool_name, call.args, session, said, now)
            if not last and (waits or resolution.retryable):
                return None
            verdict, waiting = self._verdict(call, resolution, now, user_id or speaker or call.client_id, lang)
            if waiting is not None and tool_session.full(session, now, self._gate.policy):
                return _refusal(call, message(lang, "tool.too_many"), UNREADABLE), {}
            judged = Judged(asked_by=own, grounds=_grounds(self._gate, call, session, said, now))
            changed = tool_session.with_verdict(session, verdict, waiting, judged)
            # A call from before its session was forgotten gets its verdict, and leaves nothing behind.
            if tool_session.is_erased(session, record.logged_at) or await self._sessions.save(
                conversation, changed, version
            ):
                return verdict, judged.grounds

    def _verdict(
        self, call: ToolCallRequested, found: Resolution, now: datetime, user_id: str | None, lang: str
    ) -> tuple[ToolCallResolved, Waiting | None]:
        if found.error is not None and found.code is not None:
            return _refusal(call, found.error, found.code), None
        if not found.confirm:
            return _verdict(call, "resolved", resolved_args=found.args, injections=found.injections), None
        until = now + timedelta(seconds=self._gate.policy.confirmation_seconds)
        text = tool_gate.preview(call.tool_name, found, lang)
        shown = Preview(text=text, lang=lang, user_id=user_id, args=found.args, expires_at=until)
        verdict = _verdict(call, "confirmation_required", preview=shown, injections=found.injections)
        waiting = Waiting(
            tool_name=call.tool_name,
            args=found.args,
            injections=found.injections,
            user_id=user_id,
            lang=lang,
            asked_at=now,
        )
        return verdict, waiting

    async def _said(
        self, conversation: Conversation, message_id: str | None, whose: Envelope
    ) -> tuple[UserMessage, str | None, bool]:
        """The message that the call names, else the user's last one, with the turns before it; its user; and whether
        the named message is stored, regardless of its author.

        Messages of other users are never returned. Raises `Rejected` for a conversation of others.
        """
        opened, user_id = await self._context.open(conversation, ""), whose.user_id
        self._context.check_participant(conversation, whose, opened.session)
        filed = (
            message_id is None
            or not self._context.policy.enabled  # else nothing is ever stored, and waiting is useless
            or any(turn.message_id == message_id for turn in opened.turns)
            or await self._context.frame_of(conversation, message_id) is not None
        )
        turns = opened.turns[-LOOK_BACK:]
        for place, turn in reversed(list(enumerate(turns))):
            if (
                turn.role == "user"
                and message_id in (None, turn.message_id)
                and not _foreign(turn, conversation, user_id)
            ):
                # An answer after the last message may state the next step; one after an earlier message is too late.
                before = turns if message_id is None else turns[: place + 1]
                heard = [_cut(each) for each in before if not _foreign(each, conversation, user_id)]
                return UserMessage(turn.content, turn.message_id, heard, turn.lang), turn.user_id, filed
        return UserMessage(lang=opened.session.lang), None, filed

    async def _confirmed(
        self, record: Received[Event], answer: ToolConfirmation, conversation: Conversation
    ) -> Sequence[Outgoing]:
        """The verdict on a preview. Raises `Rejected` for a confirmation that this user may not give."""
        now = record.envelope.time
        async with self._order.of(conversation.key()):
            waiting = await self._taken(record, answer, conversation)
        verdict = self._answered(answer, waiting, now, waiting.lang or self._lang(record))
        out = Outgoing(TOOLS_CALLS_OUT, conversation.key(), verdict, record.envelope)
        grounds = {
            "approved": answer.approved,
            "asked_at": waiting.asked_at.isoformat(),
            "usuario_id": answer.user_id,
        }
        return out, _audited(record, verdict, grounds, now)

    async def _taken(self, record: Received[Event], answer: ToolConfirmation, conversation: Conversation) -> Waiting:
        own = record.envelope.id
        while True:
            session, version = await self._sessions.load(conversation)
            waiting = session.waiting.get(answer.call_id)
            wrong = tool_session.unacceptable(waiting, answer, record.envelope.user_id, own)
            if wrong is not None:
                raise Rejected(*wrong)
            assert waiting is not None  # one that does not wait is unacceptable
            if waiting.taken == own or await self._sessions.save(
                conversation,
                tool_session.taken(session, answer, own, record.envelope.time, self._gate.policy),
                version,
            ):
                return waiting

    def _answered(self, answer: ToolConfirmation, waiting: Waiting, now: datetime, lang: str) -> ToolCallResolved:
        # The language is the preview's: the conversation's may have changed when the same answer is delivered again.
        call = ToolCallRequested(
            call_id=answer.call_id,
            client_id=answer.client_id,
            session_id=answer.session_id,
            tool_name=waiting.tool_name,
        )
        late = tool_session.too_late(waiting, now, self._gate.policy)
        if answer.approved and not late:
            return _verdict(call, "resolved", resolved_args=waiting.args, injections=waiting.injections)
        if late:
            return _refusal(call, message(lang, "tool.late"), "confirmacao_expirada")
        return _refusal(call, message(lang, "tool.unconfirmed", tool=waiting.tool_name), "confirmacao_negada")

    async def _forget(self, issued: ErasureIssued, conversation: Conversation) -> None:
        while True:
            session, version = await self._sessions.load(conversation)
            changed = tool_session.forgotten(session, issued)
            if changed == session or await self._sessions.save(conversation, changed, version):
                return

    async def _finished(self, record: Received[Event], result: ToolResult, conversation: Conversation) -> None:
        while True:
            session, version = await self._sessions.load(conversation)
            if tool_session.is_erased(session, record.logged_at):
                return
            changed = tool_session.after_result(session, result, self._gate.policy, record.envelope.time)
            if changed == session or await self._sessions.save(conversation, changed, version):
                return


def _verdict(call: ToolCallRequested, status: Verdict, **fields: object) -> ToolCallResolved:
    return ToolCallResolved(
        call_id=call.call_id,
        client_id=call.client_id,
        session_id=call.session_id,
        tool_name=call.tool_name,
        status=status,
        **fields,
    )


def _refusal(call: ToolCallRequested, error: str, code: str | None) -> ToolCallResolved:
    return _verdict(call, "error", error=error, error_code=code, succeeded=False, reply=error)


def _foreign(turn: ConversationTurn, conversation: Conversation, user_id: str | None) -> bool:
    """Whether a turn is another user's; without a user id the client's id counts."""
    return user_id is not None and turn.user_id not in (None, user_id, conversation.client_id)


def _cut(turn: ConversationTurn) -> ConversationTurn:
    return replace(turn, content=turn.content[:LONGEST_TURN])


def _grounds(
    gate: ToolPolicyResolver, call: ToolCallRequested, session: ToolSession, said: UserMessage, now: datetime
) -> Grounds:
    """The gate's inputs, from which its verdict can be reproduced."""
    known: dict[str, object] = {
        "args": dict(call.args),
        "session": {name: kept.model_dump(mode="json") for name, kept in session.values.items()},
        "message": {"id": said.message_id, "text": said.text, "lang": said.lang},
        "now": now.isoformat(),
    }
    contract = gate.policy.tools.get(call.tool_name)
    if contract is None or not contract.recalls:
        return known
    heard = tool_gate.heard_of(session, said).since(now, gate.policy.recall_seconds)
    recalled = {
        "turns": [
            {"role": t.role, "text": t.content, "id": t.message_id, "at": t.created_at.isoformat()} for t in heard.turns
        ],
        "calls": [each.model_dump(mode="json") for each in heard.calls],
        "confirmed": [each.model_dump(mode="json") for each in heard.confirmed],
    }
    return {**known, "recall": recalled}


def _audited(
    record: Received[Event], verdict: ToolCallResolved, grounds: Grounds, now: datetime, momentary: str = ""
) -> Outgoing:
    tenant = record.envelope.tenant
    audit = AuditDecision(
        kind="tool",
        id=derive("tool", record.envelope.id, *filter(None, [momentary])),
        actor=ACTOR,
        subject_id=verdict.call_id,
        detail={"verdict": verdict.model_dump(mode="json"), **grounds},
        created_at=now,
        conversation_id=verdict.conversation_id,
        client_id=verdict.client_id,
    )
    return Outgoing(MEMORY_DECISIONS, entity_key(tenant, verdict.call_id), audit, record.envelope, momentary)
