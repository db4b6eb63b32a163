"""Conversational memory under a policy: load, append, wire form.

All reads and writes of a conversation's turns go through this module, so that the policy applies everywhere.
"""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from agents.core.conversation import memory as rules
from agents.core.conversation.memory import ConversationTurn, Opened, Session, Turns
from agents.errors import Rejected
from agents.ports.sessions import WorkingSets
from schemas.base import Conversation
from schemas.chat import NOTES, notes_of
from schemas.envelope import Envelope
from schemas.policy import ContextPolicy

NEWEST = 2**62
# More than a store keeps of a conversation.
ALL_TURNS = 10_000


class ContextManager:
    """Turns of each (client, conversation) of a tenant; with `enabled: false` it reads nothing and writes nothing."""

    def __init__(self, store: WorkingSets, policy: ContextPolicy) -> None:
        self._store = store
        self.policy = policy

    @staticmethod
    def _key(client_id: str, conversation_id: str) -> str:
        return rules.storage_key(client_id, conversation_id)

    async def open(self, conversation: Conversation, message_id: str) -> Opened:
        """The session, the turns of the current frame and the stored outcome of this message, in one read."""
        if not self.policy.enabled:
            return Opened(Session(), ())
        opened = await self._store.open(conversation, message_id, self.policy.max_turns)
        if opened.session.participants is not None:
            return opened
        said = await self._store.session_turns(conversation, up_to_seq=NEWEST, limit=ALL_TURNS)
        found = {turn.user_id: None for turn in said if turn.user_id and turn.user_id != conversation.client_id}
        return replace(opened, session=replace(opened.session, participants=tuple(found)))

    def check_participant(self, conversation: Conversation, whose: Envelope, session: Session) -> None:
        """Raises `Rejected` where a sender who speaks for one user alone names a conversation, or notes, of others."""
        if not (self.policy.enabled and whose.user_bound):
            return
        named, user = conversation.conversation_id, whose.user_id
        in_notes_of_another = named.startswith(f"{NOTES}:") and named != notes_of(user or conversation.client_id)
        if in_notes_of_another or not (session.is_new or user in (session.participants or ())):
            raise Rejected(
                "unknown_conversation",
                f"there is no conversation {conversation.conversation_id!r} of client {conversation.client_id!r}",
            )

    async def load_recent(
        self, conversation: Conversation, as_of: datetime, frame_id: str | None = None, *, up_to_seq: int = NEWEST
    ) -> Turns:
        """The turns of the current (or given) frame that the policy permits at a time, oldest first.

        `up_to_seq` excludes later turns of a given frame.
        """
        if not self.policy.enabled:
            return ()
        if frame_id is None:
            turns = (await self._store.open(conversation, "", self.policy.max_turns)).turns
        else:
            turns = await self._store.turns(conversation, frame_id, up_to_seq=up_to_seq, limit=self.policy.max_turns)
        return self.recent(turns, as_of)

    def recent(self, turns: Turns, as_of: datetime) -> Turns:
        """The policy applied to turns already read."""
        return rules.recent(turns, self.policy, as_of)

    async def frame_of(self, conversation: Conversation, message_id: str) -> str | None:
        """The frame of an earlier message, so that a late answer joins the frame of its question."""
        return await self._store.frame_of(conversation, message_id) if self.policy.enabled else None

    async def append_turn(
        self,
        conversation: Conversation,
        turn: ConversationTurn,
        *,
        frame_id: str | None = None,
        session: Session | None = None,
        outcome: bytes = b"",
    ) -> bytes | None:
        """Save a turn in its frame, bounded by the policy; a repeated message changes nothing.

        Of a repeated message its first outcome is returned, of a new one None.

        The store keeps up to `session_turns` of a frame; `load_recent` applies the policy on reading, so a stricter
        policy takes effect on turns already saved, too.
        """
        if not self.policy.enabled:
            return None
        if session is None:
            session = (await self._store.open(conversation, turn.message_id, 0)).session
        frame_id = frame_id or session.frame_id or rules.first_frame(conversation, session.forgotten)
        if not session.frame_id:
            session = replace(session, frame_id=frame_id, frames=(frame_id,))
        keep = max(self.policy.max_turns, self.policy.session_turns)
        return await self._store.append(conversation, frame_id, turn, session, outcome, keep)

    async def forget(self, conversation: Conversation, up_to_seq: int) -> None:
        """Erase all that was said up to a position."""
        if self.policy.enabled:
            await self._store.forget(conversation, up_to_seq)

    def to_wire(self, turns: Iterable[ConversationTurn]) -> list[dict[str, object]]:
        """Turns as plain dicts; for the narrator's history, never for a client."""
        return rules.to_wire(turns)
