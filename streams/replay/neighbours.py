"""The last turns of each frame during a pass over the log: the turn indexer's substitute for the working set.

Redis keeps the newest turns only, so it does not have the neighbours of an old turn; the log does.
"""

from agents.core.caching.budget import CacheShare, bytes_of
from agents.core.caching.lru import ByteCache
from agents.core.conversation.memory import Turns
from agents.core.conversation.session_state import remembered
from agents.core.conversation.turn_links import REACH
from schemas.base import Conversation
from schemas.chat import Turn
from schemas.envelope import Received
from streams.stores.sessions.memory import MemoryWorkingSets
from streams.stores.sessions.turn_codec import newest

# Those that a message may correct, and the one before the first of them.
MAX_TURNS = REACH + 2
# What a turn takes besides its text.
TURN_BYTES = 1_000
# Not of the budget: a replay without the neighbours of a turn would index another text than was indexed before.
FRAMES = CacheShare(256 << 20)


class Neighbours(MemoryWorkingSets):
    """Turns by frame; each is added with `pass_by` before its neighbours are requested."""

    def __init__(self, *, enabled: bool = True) -> None:
        super().__init__()
        self._enabled = enabled  # as in the policy: without memory, live workers have no neighbours either
        self._frames: ByteCache[tuple[str, str], Turns] = ByteCache(FRAMES)

    def pass_by(self, record: Received[Turn]) -> None:
        """Add a turn to its frame; a repeat is ignored."""
        turn = record.event
        frame = record.conversation(turn.client_id, turn.conversation_id).key(), turn.frame_id
        others = tuple(each for each in self._frames.get(frame) or () if each.message_id != turn.message_id)
        turns = tuple(sorted((*others, remembered(turn)), key=lambda each: each.seq))[-MAX_TURNS:]
        self._frames.put(frame, turns, sum(TURN_BYTES + bytes_of(each.content) for each in turns))

    async def turns(self, conversation: Conversation, frame_id: str, *, up_to_seq: int, limit: int) -> Turns:
        """The last `limit` turns of a frame with `seq <= up_to_seq`, oldest first."""
        known = (self._frames.get((conversation.key(), frame_id)) if self._enabled else None) or ()
        return newest(known, up_to_seq=up_to_seq, limit=limit)
