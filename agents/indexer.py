"""Make every turn findable, with its neighbours.

reads   conversation.turns  key conversation
writes  nothing: the passage index, collection episodic
state   the passage index (write), the working set (read)
"""

from collections.abc import AsyncIterator, Sequence

from agents.core.conversation import ConversationTurn
from agents.core.text import content_words
from agents.ports import Passage, PassageIndex, WorkingSets
from schemas.chat import Role, Turn
from schemas.envelope import Outgoing, Received

EPISODIC = "episodic"
NOTHING: tuple[Outgoing, ...] = ()  # a handler is an async iterator, also of nothing
NEIGHBOUR_CHARS = 400


class TurnIndexer:
    """A turn is shown as its own text and searched with those around it (memory §2: the neighbour idea)."""

    def __init__(self, index: PassageIndex, working_sets: WorkingSets) -> None:
        self._index = index
        self._working_sets = working_sets

    async def handle(self, record: Received[Turn]) -> AsyncIterator[Outgoing]:
        """Index the turn, and the one before it again, now that its next neighbour is known."""
        turn = record.event
        # A greeting is nothing to be found again, and would be found by everything that is a little like it.
        if turn.role != Role.SYSTEM and content_words(turn.content, turn.lang):
            conversation = record.conversation(turn.client_id, turn.conversation_id)
            before = await self._working_sets.turns(conversation, turn.frame_id, up_to_seq=turn.seq - 1, limit=2)
            await self._index.upsert(conversation.tenant, EPISODIC, _passages(turn, before))
        for step in NOTHING:
            yield step


def _passages(turn: Turn, before: Sequence[ConversationTurn]) -> list[Passage]:
    previous = before[-1] if before else None
    passages = [
        Passage(
            id=turn.message_id,
            kind="message",
            text=turn.content,
            lang=turn.lang,
            recorded_at=turn.created_at,
            context=_excerpt(previous),
            user_id=turn.user_id,
            conversation_id=turn.conversation_id,
            fields={
                "role": turn.role.value,
                "seq": turn.seq,
                "topic_name": turn.source.topic,
                "partition": turn.source.partition,
                "offset": turn.source.offset,
            },
        )
    ]
    meta = (previous.meta or {}) if previous else {}
    lang = str(meta.get("lang", turn.lang))
    if previous is not None and previous.role != "system" and content_words(previous.content, lang):
        around = f"{_excerpt(before[-2]) if len(before) > 1 else ''}\n{turn.content[:NEIGHBOUR_CHARS]}"
        passages.append(
            Passage(
                id=previous.message_id,
                kind="message",
                text=previous.content,
                lang=lang,
                recorded_at=previous.created_at,
                context=around.strip(),
                user_id=str(meta.get("user_id", turn.user_id)),
                conversation_id=turn.conversation_id,
                fields={
                    "role": previous.role,
                    "seq": previous.seq,
                    "topic_name": meta["topic"],
                    "partition": meta["partition"],
                    "offset": meta["offset"],
                },
            )
        )
    return passages


def _excerpt(turn: ConversationTurn | None) -> str:
    return turn.content[:NEIGHBOUR_CHARS] if turn else ""
