"""Play a session through the stage itself: its handler, its policies, stores in memory.

What is assumed: the broker lets only executors write results and only the edge write messages and confirmations, and
the edge stamps the user where a call or a confirmation is one's own. The honest user says yes to a preview only if its
text, as it looks to him, names exactly the values that he asked for, else no. What he sees is read here without the
product's reading.
"""

import re
import unicodedata
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from agents.concurrency import RetryUntil
from agents.context import ContextManager
from agents.core.conversation.memory import turn_of
from agents.core.tools.gate import ToolPolicyResolver
from agents.errors import Rejected
from agents.stages.tool_gate import ToolGate
from schemas.base import Conversation
from schemas.envelope import Envelope, Received
from schemas.policy import ContextPolicy
from schemas.tools import Preview, ToolCallRequested, ToolCallResolved, ToolConfirmation, ToolResult
from streams import policies
from streams.stores.sessions.memory import MemoryWorkingSets
from streams.stores.sessions.tool_sessions import MemoryToolSessions
from tests.attacks.attack import Answer, Attack, Call, Confirm, Event, Result, Say, Wait
from tests.builders.customs import CUSTOMS

START = datetime(2026, 1, 14, 9, tzinfo=UTC)
GATE = ToolPolicyResolver(CUSTOMS, policies.shipped())
ORIGIN = re.compile(r" \((?:da mensagem|da sessão|padrão)\)")
ALIKE = str.maketrans("аеорсхАВЕМНОРТ", "aeopcxABEMHOPT")


def looks(text: str) -> str:
    """What a reader sees: nothing that has no shape, one shape for letters that share it."""
    shapes = unicodedata.normalize("NFKC", text).translate(ALIKE)
    return " ".join("".join(each for each in shapes if unicodedata.category(each)[0] != "C").split())


class Desk:
    """One attack's world. `careless` users say yes to everything (for the ablation only)."""

    careless = False

    def __init__(self, gate: ToolPolicyResolver = GATE, sessions: Any = None) -> None:
        self.context = ContextManager(MemoryWorkingSets(), ContextPolicy())
        self.stage = ToolGate(gate, sessions or MemoryToolSessions(), self.context, RetryUntil(0))
        self.verdicts: list[ToolCallResolved] = []
        self.shown: dict[str, Preview] = {}
        self.now = START
        self.count = 0

    async def play(self, attack: Attack) -> bool:
        """Whether the attacker's value is in a call of the victim's session that may be executed."""
        for event in attack.events:
            self.now += timedelta(seconds=1)
            await self.happen(event, attack.wanted)
        made = [dict(each.resolved_args) for each in self.verdicts if each.resolved_args is not None]
        return any(attack.value == value for args in made for value in args.values())

    async def happen(self, event: Event, wanted: Mapping[str, str]) -> None:
        match event:
            case Say():
                await self.say(event)
            case Result():
                fields = {"nome_tool": event.tool, "sucesso": True, **event.fields}
                await self.tell(event, ToolResult, event.call_id, **fields)
            case Call():
                args = {"nome_tool": event.tool, "args": event.args, "message_id": event.message_id}
                await self.tell(event, ToolCallRequested, event.call_id, **args)
                if not event.later:
                    await self.answer(event, event.call_id, wanted)
            case Confirm():
                await self.confirm(event, event.call_id, event.usuario_id, event.event_id)
            case Answer():
                await self.answer(event, event.call_id, wanted)
            case Wait():
                self.now += timedelta(minutes=event.minutes)

    async def say(self, event: Say) -> None:
        self.count += 1
        where = Conversation(tenant=event.tenant, client_id="web", conversation_id=event.conversation)
        meta = {"message_id": f"m{self.count}", "seq": self.count, "user_id": event.user or "web"}
        await self.context.append_turn(where, turn_of(event.role, event.text, self.now, meta))

    async def answer(self, event: Event, call_id: str, wanted: Mapping[str, str]) -> None:
        preview = self.shown.pop(call_id, None)
        if preview is not None:
            approved = self.careless or self.recognised(preview, wanted)
            await self.confirm(event, call_id, "ana", f"answer-{call_id}", approved=approved)

    def recognised(self, preview: Preview, wanted: Mapping[str, str]) -> bool:
        """Whether a preview reads as what the user asked for, and as nothing else."""
        if set(preview.args) != set(wanted):
            return False
        listed = ", ".join(f"{name}={wanted[name]}" for name in preview.args)
        return looks(ORIGIN.sub("", preview.text)).endswith(f" com {looks(listed)}?")

    async def confirm(
        self, event: Event, call_id: str, usuario_id: str, event_id: str, *, approved: bool = True
    ) -> None:
        await self.tell(event, ToolConfirmation, call_id, event_id, approved=approved, usuario_id=usuario_id)

    async def tell(self, event: Event, kind: Any, call_id: str, event_id: str | None = None, **fields: Any) -> None:
        self.count += 1
        whole = {"call_id": call_id, "client_id": "web", "session_id": event.conversation, **fields}
        value = kind.model_validate(whole, by_alias=True, by_name=False)
        own = event_id or f"e{self.count}"
        envelope = Envelope(own, kind.TYPE, "urn:test:agent", self.now, event.tenant, own, user_id=event.user)
        try:
            for out in await self.stage.handle(Received(value, envelope, "k", "t", 0, self.count, 0)):
                if isinstance(out.event, ToolCallResolved) and (event.tenant, event.conversation) == ("acme", "s1"):
                    self.verdicts.append(out.event)
                    if out.event.preview is not None:
                        self.shown.setdefault(call_id, out.event.preview)
        except Rejected:
            pass
