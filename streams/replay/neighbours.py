"""The last turns of each frame as they pass by in the log: what the turn indexer asks of the working set.

Redis keeps the newest turns only, so of an old turn it could not name those before it; the log can.
"""

from collections import OrderedDict

from agents.core.conversation.memory import Turns
from agents.core.conversation.session_state import remembered
from schemas.base import Conversation
from schemas.chat import Turn
from schemas.envelope import Received
from streams.stores.sessions.memory import MemoryWorkingSets
from streams.stores.sessions.turn_codec import newest

MAX_TURNS = 4
MAX_FRAMES = 200_000


class Neighbours(MemoryWorkingSets):
    """Turns by frame; each is told with `pass_by` before its neighbours are asked for."""

    def __init__(self, *, enabled: bool = True) -> None:
        super().__init__()
        self._enabled = enabled  # as of the policy: without it, live workers know no neighbours either
        self._frames: OrderedDict[tuple[str, str], Turns] = OrderedDict()

    def pass_by(self, record: Received[Turn]) -> None:
        """One more turn of its frame; one that comes twice is there once."""
        turn = record.event
        frame = record.conversation(turn.client_id, turn.conversation_id).key(), turn.frame_id
        others = tuple(each for each in self._frames.get(frame, ()) if each.message_id != turn.message_id)
        self._frames[frame] = tuple(sorted((*others, remembered(turn)), key=lambda each: each.seq))[-MAX_TURNS:]
        self._frames.move_to_end(frame)
        if len(self._frames) > MAX_FRAMES:
            self._frames.popitem(last=False)

    async def turns(self, conversation: Conversation, frame_id: str, *, up_to_seq: int, limit: int) -> Turns:
        """The last `limit` turns of a frame with `seq <= up_to_seq`, oldest first."""
        known = self._frames.get((conversation.key(), frame_id), ()) if self._enabled else ()
        return newest(known, up_to_seq=up_to_seq, limit=limit)
