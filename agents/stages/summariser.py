"""Keep a running summary of each frame of a conversation, with the dated events mentioned in it.

reads   conversation.turns  key conversation
writes  memory.summaries    one per frame; a later one of the same id replaces it
state   the working set (read), up to the turn
"""

from collections.abc import Sequence

from agents.core.claims import summaries
from agents.ports.sessions import WorkingSets
from schemas.base import entity_key
from schemas.chat import Role, Turn
from schemas.envelope import Outgoing, Received
from schemas.topics import MEMORY_SUMMARIES

MAX_TURNS = 24
SUMMARY_INTERVAL = 3  # user turns without an answer between them are summarised this often


class Summariser:
    def __init__(self, working_sets: WorkingSets, *, enabled: bool = True) -> None:
        self._working_sets = working_sets
        self._enabled = enabled

    async def handle(self, record: Received[Turn]) -> Sequence[Outgoing]:
        """Emit the frame's summary after each answer, or every few messages without one."""
        turn = record.event
        if not self._enabled or turn.role == Role.SYSTEM:
            return ()
        conversation = record.conversation(turn.client_id, turn.conversation_id)
        turns = await self._working_sets.turns(conversation, turn.frame_id, up_to_seq=turn.seq, limit=MAX_TURNS)
        if len(turns) < 2 or (turn.role == Role.USER and len(turns) % SUMMARY_INTERVAL):
            return ()
        if not summaries.tells_anything(turns, turn.lang):
            return ()
        summary = summaries.summary_of(
            conversation, turn.user_id, turn.frame_id, turns, lang=turn.lang, made_at=turn.created_at
        )
        key = entity_key(record.envelope.tenant, summary.summary_id)
        return (Outgoing(MEMORY_SUMMARIES, key, summary, record.envelope, summary.summary_id),)
