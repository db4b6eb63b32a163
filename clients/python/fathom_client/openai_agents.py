"""Fathom in the OpenAI Agents SDK: a session, and the pack in place of the whole history.

session = FathomSession(fathom, "conversation-1")
await Runner.run(agent, "…", session=session, run_config=RunConfig(session_input_callback=session.with_context))
"""

from typing import TYPE_CHECKING, Any, cast

from fathom_client.aio import AsyncFathom
from fathom_client.errors import NotFound, Refused

if TYPE_CHECKING:
    from agents.items import TResponseInputItem
    from agents.memory import SessionSettings

MAX_TURNS = 1_000


class FathomSession:
    """A conversation in Fathom's log, which only grows; calls of tools and their results are no turns of it."""

    session_settings: "SessionSettings | None" = None

    def __init__(self, fathom: AsyncFathom, conversation: str | None = None) -> None:
        self._fathom = fathom
        self.session_id = fathom.conversation_id if conversation is None else conversation
        self._newest: str | None = None
        self._answers: str | None = None

    async def get_items(self, limit: int | None = None) -> "list[TResponseInputItem]":
        """The newest turns, all of the newest 1,000 without a limit."""
        newest = min(limit or MAX_TURNS, MAX_TURNS)
        try:
            talk = await self._fathom.conversation(self.session_id, limit=newest, until=self._newest)
        except NotFound:  # it has not begun
            return []
        return cast("list[TResponseInputItem]", [{"role": one.role, "content": one.content} for one in talk.turns])

    async def add_items(self, items: "list[TResponseInputItem]") -> None:
        """Send the turns of user and assistant; the one that a pack was asked for is there already."""
        for item in cast("list[dict[str, Any]]", items):
            said, role = _text(item), item.get("role")
            if role == "user" and said:
                asked = self._fathom._taken(self.session_id, said)
                asked = asked or (await self._fathom.remember(said, conversation=self.session_id)).message_id
                self._newest = self._answers = asked
            elif role == "assistant" and said:
                sent = await self._fathom.say(said, answers=self._answers, conversation=self.session_id)
                self._newest, self._answers = sent.message_id, None

    async def with_context(
        self, history: "list[TResponseInputItem]", new: "list[TResponseInputItem]"
    ) -> "list[TResponseInputItem]":
        """The pack of the newest user message as a system message, and what is new: a `session_input_callback`."""
        asked = [_text(item) for item in cast("list[dict[str, Any]]", new) if item.get("role") == "user"]
        if not asked or not asked[-1]:
            return history + new
        pack = await self._fathom.ask(asked[-1], conversation=self.session_id)
        self._answers = self._newest = pack.message_id
        return cast("list[TResponseInputItem]", [{"role": "system", "content": pack.text}]) + new

    async def pop_item(self) -> "TResponseInputItem | None":
        """Refused: the log keeps what was said."""
        raise Refused("a turn stays in Fathom's log; contest it with a correction, or begin another conversation")

    async def clear_session(self) -> None:
        """Refused: the log keeps what was said."""
        raise Refused("a conversation stays in Fathom's log; begin another one with a new conversation id")


def _text(item: dict[str, Any]) -> str:
    content = item.get("content") or ""
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)
