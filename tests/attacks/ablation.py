"""The gate with one of its layers taken out, in a double of it: how many attacks that layer holds back."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from agents.core.tools import gate, mentions
from agents.core.tools import session as tool_session
from agents.core.tools.gate import ToolPolicyResolver
from agents.core.tools.mentions import Mentions
from schemas.base import Conversation
from schemas.tool_session import ToolSession
from streams import policies
from streams.stores.sessions.tool_sessions import MemoryToolSessions
from tests.attacks.attack import Attack, Call, Event, Result, Say
from tests.attacks.playing import GATE, Desk
from tests.builders.customs import CUSTOMS

TOOLS, KINDS = CUSTOMS, policies.shipped()
AGES = datetime(2999, 1, 1).astimezone()


@contextmanager
def swapped(*modules: Any, **others: Any) -> Iterator[None]:
    """Each name is another in all of the modules that have it; one at least does."""
    known = [(module, name, getattr(module, name)) for module in modules for name in others if hasattr(module, name)]
    assert {name for _, name, _ in known} == set(others)
    for module, name, _ in known:
        setattr(module, name, others[name])
    try:
        yield
    finally:
        for module, name, own in known:
            setattr(module, name, own)


class Sessions:
    """Sessions that come back changed: as if the stage did not look at what was changed."""

    def __init__(self, change: Callable[[ToolSession], ToolSession]) -> None:
        self._sessions = MemoryToolSessions()
        self._change = change

    async def load(self, conversation: Conversation) -> tuple[ToolSession, str]:
        session, version = await self._sessions.load(conversation)
        return self._change(session), version

    async def save(self, conversation: Conversation, session: ToolSession, version: str) -> bool:
        return await self._sessions.save(conversation, session, version)


def _values(session: ToolSession, **fields: Any) -> ToolSession:
    return session.model_copy(
        update={"values": {name: each.model_copy(update=fields) for name, each in session.values.items()}}
    )


def _waiting(session: ToolSession, **fields: Any) -> ToolSession:
    return session.model_copy(
        update={"waiting": {name: each.model_copy(update=fields) for name, each in session.waiting.items()}}
    )


class FirstNamed(ToolPolicyResolver):
    """Of several values that a message names it takes the first."""

    def mentioned(self, text: str, kind: str) -> Mentions:
        found = super().mentioned(text, kind)
        return replace(found, named=found.named[:1], unclear=())


class AnySort(ToolPolicyResolver):
    """What a session keeps is filled in whatever it is."""

    def _is_one(self, value: str, kind: str) -> bool:
        return True


class Heedless(Desk):
    """Whatever is said in a session, by whom and where, is taken for what its user says."""

    async def happen(self, event: Event, wanted: Mapping[str, str]) -> None:
        if isinstance(event, Say):
            event = replace(event, role="user", user="ana")
        await super().happen(event, wanted)
        if isinstance(event, Result):
            for text in event.fields.get("valores", {}).values():
                await super().happen(Say(text, tenant=event.tenant, conversation=event.conversation), wanted)

    async def tell(self, event: Event, kind: Any, call_id: str, event_id: str | None = None, **fields: Any) -> None:
        if isinstance(event, Call):
            spoken = await self.context.load_recent(
                Conversation(tenant=event.tenant, client_id="web", conversation_id=event.conversation), self.now
            )
            await self.say(Say("\n".join(turn.content for turn in spoken)))
        await super().tell(event, kind, call_id, event_id, **fields)


class OneTenant(Desk):
    """All tenants' sessions of one name are one, and all sessions of a tenant."""

    async def happen(self, event: Event, wanted: Mapping[str, str]) -> None:
        await super().happen(replace(event, tenant="acme", conversation="s1"), wanted)


class Nameless(Desk):
    """Nobody looks at who sent something."""

    async def happen(self, event: Event, wanted: Mapping[str, str]) -> None:
        await super().happen(replace(event, user=None), wanted)

    async def confirm(
        self, event: Event, call_id: str, usuario_id: str, event_id: str, *, approved: bool = True
    ) -> None:
        await super().confirm(replace(event, user=None), call_id, "web", event_id, approved=approved)


class Careless(Desk):
    """A user who says yes to every preview without reading it."""

    careless = True


def loose(result: Any, *rest: Any) -> Any:
    """Fields of any name in `valores` count as what the tool made."""
    known = {"report_id": "report_id", "case_reference": "processo_referencia"}
    said = {field: value for field, name in known.items() if (value := result.values.get(name))}
    return _SAID(result.model_copy(update=said), *rest)


_SAID = tool_session._said
_OPEN = replace(
    TOOLS, tools={name: replace(each, sensitive=False, confirm_values={}) for name, each in TOOLS.tools.items()}
)


@dataclass(frozen=True)
class Layer:
    """A layer by the double that lacks it, and the family that it is there for."""

    family: str
    desk: Callable[[], Desk] = Desk
    modules: tuple[Any, ...] = (gate, mentions)
    swaps: Mapping[str, Any] = field(default_factory=dict)


LAYERS = {
    "only the user's words count": Layer("assistant claims", Heedless),
    "what he quotes or pastes is not his": Layer("pasted and quoted", swaps={"strip_quoted": str}),
    "what does not read as written is asked about": Layer(
        "lookalikes and invisibles", swaps={"fold_confusables": str, "escape_invisible": str}
    ),
    "a preview shows what deceives": Layer("preview tampering", swaps={"escape_invisible": str}),
    "two values are asked about": Layer("crowding out", lambda: Desk(FirstNamed(TOOLS, KINDS))),
    "a session's value is of its sort": Layer("wrong sort", lambda: Desk(AnySort(TOOLS, KINDS))),
    "a tool's own fields say what it made": Layer("result fields", modules=(tool_session,), swaps={"_said": loose}),
    "age and validity": Layer("stale memory", lambda: Desk(GATE, Sessions(lambda s: _values(s, valid=True, at=AGES)))),
    "tenant and session": Layer("other tenant or session", OneTenant),
    "who speaks": Layer("another user", Nameless),
    "who confirms": Layer(
        "confirmation spoofing", lambda: Nameless(GATE, Sessions(lambda s: _waiting(s, user_id="web")))
    ),
    "a call's id keeps its verdict": Layer(
        "preview tampering", lambda: Desk(GATE, Sessions(lambda s: s.model_copy(update={"verdicts": {}})))
    ),
    "confirmation": Layer("preview tampering", lambda: Desk(ToolPolicyResolver(_OPEN, KINDS))),
    "the user reads the preview": Layer("preview tampering", Careless),
}


async def without(layer: Layer, found: Iterable[Attack]) -> list[Attack]:
    """The attacks of its family that get through where this layer is missing."""
    with swapped(*layer.modules, **layer.swaps):
        return [attack for attack in found if attack.family == layer.family and await layer.desk().play(attack)]
