"""Stand before every tool: complete a call from its session, refuse it, or have it confirmed first.

reads   tools.calls.in, tools.results.in, tools.confirmations.in   key conversation
writes  tools.calls.out    the verdict; executors read nothing else, so what is not resolved is not executed (CF-55)
        memory.decisions   the verdict with all that it was made from
state   the tool session of the conversation; the working set (read): the user's message
"""

import logging
from collections.abc import AsyncIterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from agents.context import ContextManager
from agents.core import tool_gate, tool_session
from agents.core.tool_gate import Gate, Resolution, Said
from agents.errors import Rejected, Unavailable
from agents.ports import ToolSessions
from agents.waiting import at_most
from schemas.base import Conversation, derive, entity_key
from schemas.envelope import Outgoing, Received
from schemas.memory import AuditDecision
from schemas.tool_session import Judged, ToolSession, Waiting
from schemas.tools import Preview, ToolCallRequested, ToolCallResolved, ToolConfirmation, ToolEvent, ToolResult
from schemas.topics import MEMORY_DECISIONS, TOOLS_CALLS_OUT

LOGGER = logging.getLogger("fathom.tools")
ACTOR = "tool-gate"
# What is silent longer is away: a call waits for its verdict, and none is better than a guess.
STATE_SECONDS = 1.0
LOOK_BACK = 20


class ToolGate:
    """Verdicts by contract; of a session that cannot be read none is a yes."""

    def __init__(
        self, gate: Gate, sessions: ToolSessions, context: ContextManager, *, seconds: float = STATE_SECONDS
    ) -> None:
        self._gate = gate
        self._sessions = sessions
        self._context = context
        self._seconds = seconds

    async def handle(self, record: Received[ToolEvent]) -> AsyncIterator[Outgoing]:
        """The verdict on a call or on its confirmation; nothing of a result, which the session keeps."""
        conversation = record.conversation(record.event.client_id, record.event.conversation_id)
        match record.event:
            case ToolCallRequested():
                async for step in self._called(record, record.event, conversation):
                    yield step
            case ToolConfirmation():
                async for step in self._confirmed(record, record.event, conversation):
                    yield step
            case ToolResult():
                await self._finished(record, record.event, conversation)

    async def _called(
        self, record: Received[Any], call: ToolCallRequested, conversation: Conversation
    ) -> AsyncIterator[Outgoing]:
        now = record.envelope.time
        try:
            async with at_most(self._seconds):
                verdict, detail = await self._judged(record, call, conversation)
        except (Unavailable, TimeoutError):
            erro = "A sessão não pode ser lida agora; a ferramenta não foi executada. Tente de novo em instantes."
            verdict, detail = _refusal(call, erro, "indisponivel"), {}
        if verdict.erro is not None:
            LOGGER.warning("⚠️ Não foi possível resolver contexto para %s: %s", call.nome_tool, verdict.erro)
        elif verdict.args_resolvidos is not None:
            LOGGER.info("✅ Contexto resolvido para %s: %s", call.nome_tool, dict(verdict.args_resolvidos))
        yield Outgoing(TOOLS_CALLS_OUT, conversation.key(), verdict, record.envelope)
        yield _audited(record, verdict, detail, now)

    async def _judged(
        self, record: Received[Any], call: ToolCallRequested, conversation: Conversation
    ) -> tuple[ToolCallResolved, Mapping[str, Any]]:
        now, own = record.envelope.time, record.envelope.id
        said = await self._said(conversation, call.message_id)
        while True:
            session, version = await self._sessions.load(conversation)
            if (known := session.verdicts.get(call.call_id)) is not None:
                before = session.judged.get(call.call_id)
                # The same record, delivered again: its audit may not have come out the first time.
                return known, before.grounds if before and before.asked_by == own else {"repeated": True}
            resolution = self._gate.resolve(call.nome_tool, call.args, session, said, now)
            verdict, waiting = self._verdict(call, resolution, now, record.envelope.user_id)
            judged = Judged(asked_by=own, grounds=_grounds(call, session, said, now))
            changed = tool_session.with_verdict(session, verdict, judged, waiting)
            if await self._sessions.save(conversation, changed, version):
                for note in resolution.notes:
                    LOGGER.info(note)
                return verdict, judged.grounds

    def _verdict(
        self, call: ToolCallRequested, found: Resolution, now: datetime, user_id: str | None
    ) -> tuple[ToolCallResolved, Waiting | None]:
        if found.erro is not None and found.codigo is not None:
            return _refusal(call, found.erro, found.codigo), None
        if not found.confirm:
            return _verdict(call, "resolved", args_resolvidos=found.args, injections=found.injections), None
        until = now + timedelta(seconds=self._gate.policy.confirmation_seconds)
        shown = Preview(texto=tool_gate.preview(call.nome_tool, found), args=found.args, expires_at=until)
        verdict = _verdict(call, "confirmation_required", preview=shown, injections=found.injections)
        waiting = Waiting(
            nome_tool=call.nome_tool, args=found.args, injections=found.injections, user_id=user_id, asked_at=now
        )
        return verdict, waiting

    async def _said(self, conversation: Conversation, message_id: str | None) -> Said:
        """The message that the call names, else the user's last one (CF-52)."""
        opened = await self._context.open(conversation, "")
        for turn in reversed(opened.turns[-LOOK_BACK:]):
            if turn.role == "user" and message_id in (None, turn.message_id):
                return Said(turn.content, turn.message_id)
        return Said()

    async def _confirmed(
        self, record: Received[Any], answer: ToolConfirmation, conversation: Conversation
    ) -> AsyncIterator[Outgoing]:
        """What becomes of a preview. Raises `Rejected` for a confirmation that is not this user's to give."""
        now, own = record.envelope.time, record.envelope.id
        while True:
            session, version = await self._sessions.load(conversation)
            waiting = session.waiting.get(answer.call_id)
            if waiting is None:
                raise Rejected("confirmation_unknown", f"no call {answer.call_id!r} of this session waits for a yes")
            asker = {waiting.user_id, record.envelope.user_id} - {None}
            if asker - {answer.usuario_id}:
                raise Rejected("confirmation_foreign", f"the call {answer.call_id!r} is another user's to confirm")
            if waiting.taken not in (None, own):
                raise Rejected("confirmation_replayed", f"the call {answer.call_id!r} was answered already")
            if waiting.taken == own or await self._sessions.save(
                conversation, tool_session.taken(session, answer.call_id, own), version
            ):
                break
        verdict = self._answered(answer, waiting, now)
        yield Outgoing(TOOLS_CALLS_OUT, conversation.key(), verdict, record.envelope)
        grounds = {
            "approved": answer.approved,
            "asked_at": waiting.asked_at.isoformat(),
            "usuario_id": answer.usuario_id,
        }
        yield _audited(record, verdict, grounds, now)

    def _answered(self, answer: ToolConfirmation, waiting: Waiting, now: datetime) -> ToolCallResolved:
        call = ToolCallRequested(
            call_id=answer.call_id,
            client_id=answer.client_id,
            session_id=answer.session_id,
            nome_tool=waiting.nome_tool,
        )
        if now > waiting.asked_at + timedelta(seconds=self._gate.policy.confirmation_seconds):
            return _refusal(call, "A confirmação chegou tarde demais. Faça o pedido de novo.", "confirmacao_expirada")
        if not answer.approved:
            return _refusal(call, f"{waiting.nome_tool} não foi confirmada e não será executada.", "confirmacao_negada")
        return _verdict(call, "resolved", args_resolvidos=waiting.args, injections=waiting.injections)

    async def _finished(self, record: Received[Any], result: ToolResult, conversation: Conversation) -> None:
        while True:
            session, version = await self._sessions.load(conversation)
            changed = tool_session.after_result(session, result, self._gate.policy, record.envelope.time)
            if changed == session or await self._sessions.save(conversation, changed, version):
                return


def _verdict(call: ToolCallRequested, status: Any, **fields: Any) -> ToolCallResolved:
    return ToolCallResolved(
        call_id=call.call_id,
        client_id=call.client_id,
        session_id=call.session_id,
        nome_tool=call.nome_tool,
        status=status,
        **fields,
    )


def _refusal(call: ToolCallRequested, erro: str, codigo: Any) -> ToolCallResolved:
    return _verdict(call, "error", erro=erro, erro_codigo=codigo, sucesso=False, resposta=erro)


def _grounds(call: ToolCallRequested, session: ToolSession, said: Said, now: datetime) -> dict[str, Any]:
    """All that the gate knew, from which its verdict can be made again (B22)."""
    return {
        "args": dict(call.args),
        "session": {name: kept.model_dump(mode="json") for name, kept in session.values.items()},
        "message": {"id": said.message_id, "text": said.text},
        "now": now.isoformat(),
    }


def _audited(record: Received[Any], verdict: ToolCallResolved, grounds: Mapping[str, Any], now: datetime) -> Outgoing:
    tenant = record.envelope.tenant
    audit = AuditDecision(
        kind="tool",
        id=derive("tool", record.envelope.id),
        actor=ACTOR,
        subject_id=verdict.call_id,
        detail={"verdict": verdict.model_dump(mode="json"), **grounds},
        created_at=now,
    )
    return Outgoing(MEMORY_DECISIONS, entity_key(tenant, verdict.call_id), audit, record.envelope)
