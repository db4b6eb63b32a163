"""Index every turn for search, with its neighbours as context.

reads   conversation.turns  key conversation
writes  nothing: the passage index, collection episodic
state   the passage index (write), the working set (read), the graph's erasures (read)
"""

from collections.abc import Sequence

from agents.core.conversation.memory import ConversationTurn
from agents.core.language.interrogatives import only_asks
from agents.core.language.text import clip, content_words
from agents.erasures import erasure_of, index_unless_erased, is_erased, remove_erased
from agents.ports.graph import GraphEraser
from agents.ports.passages import Passage, PassageIndex
from agents.ports.sessions import WorkingSets
from schemas.chat import Role, Turn
from schemas.envelope import Outgoing, Received

EPISODIC = "episodic"
MAX_NEIGHBOUR_CHARS = 400
MAX_LEAD_CHARS = 200
MIN_TASK_WORDS = 25
ASKING = frozenset({"explanation", "how_to", "comparison", "list_summary"})


class TurnIndexer:
    """Indexes turns: each is returned as its own text and searched with its neighbours."""

    def __init__(self, index: PassageIndex, working_sets: WorkingSets, graph: GraphEraser) -> None:
        self._index = index
        self._working_sets = working_sets
        self._graph = graph

    async def handle(self, record: Received[Turn]) -> Sequence[Outgoing]:
        """Index the turn, and reindex the one before it with its now known successor."""
        turn = record.event
        if turn.role == Role.SYSTEM or not _is_informative(turn.content, turn.lang):
            return ()
        erasure = await erasure_of(self._graph, record)
        if is_erased(erasure, record):
            await remove_erased(self._graph, self._index, record, EPISODIC)
            return ()
        conversation = record.conversation(turn.client_id, turn.conversation_id)
        before = await self._working_sets.turns(conversation, turn.frame_id, up_to_seq=turn.seq - 1, limit=2)
        if erasure is not None:
            before = tuple(each for each in before if each.seq > erasure.up_to_seq)
        if before or not _is_task(turn):
            await index_unless_erased(self._graph, self._index, record, EPISODIC, _passages(turn, before))
        return ()


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
            lead=_excerpt(previous)[-MAX_LEAD_CHARS:],
            user_id=turn.user_id,
            conversation_id=turn.conversation_id,
            fields={
                "role": turn.role.value,
                "client_id": turn.client_id,
                "seq": turn.seq,
                "topic_name": turn.source.topic,
                "partition": turn.source.partition,
                "offset": turn.source.offset,
            },
        )
    ]
    if (
        previous is not None
        and previous.role != "system"
        and _is_informative(previous.content, previous.lang or turn.lang)
    ):
        passages.append(_previous_passage(previous, before[-2] if len(before) > 1 else None, turn))
    return passages


def _previous_passage(previous: ConversationTurn, before: ConversationTurn | None, turn: Turn) -> Passage:
    """The passage of the turn before, with the turn that follows it as context."""
    around = f"{_excerpt(before)}\n{turn.content[:MAX_NEIGHBOUR_CHARS]}"
    return Passage(
        id=previous.message_id,
        kind="message",
        text=previous.content,
        lang=previous.lang or turn.lang,
        recorded_at=previous.created_at,
        context=around.strip(),
        lead=_excerpt(before)[-MAX_LEAD_CHARS:],
        user_id=previous.user_id or turn.user_id,
        conversation_id=turn.conversation_id,
        fields={
            "role": previous.role,
            "client_id": turn.client_id,
            "seq": previous.seq,
            "topic_name": previous.place.topic,
            "partition": previous.place.partition,
            "offset": previous.place.offset,
        },
    )


def _is_task(turn: Turn) -> bool:
    """Whether an opening message is a task, which is indexed only together with the turn that follows it.

    Without an answer it resembles every other task of its kind and holds no information.
    """
    return turn.role == Role.USER and (turn.intent in ASKING or len(turn.content.split()) > MIN_TASK_WORDS)


def _is_informative(said: str, lang: str) -> bool:
    """Whether a turn holds information worth indexing.

    A greeting does not: it would match anything similar. Nor does a mere question: it matches other questions, answers
    none, and its words would count as known; its answer is found through it, as a neighbour.
    """
    return bool(content_words(clip(said), lang)) and not only_asks(said, lang)


def _excerpt(turn: ConversationTurn | None) -> str:
    return turn.content[:MAX_NEIGHBOUR_CHARS] if turn else ""
