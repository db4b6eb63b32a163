"""Index every turn for search, with its neighbours as context.

reads   conversation.turns  key conversation
writes  nothing: the passage index, collection episodic
state   the passage index (write), the working set (read), the graph's erasures (read)
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from agents.concurrency import beside_loop
from agents.core.assessment.needs_nothing import kind_of
from agents.core.conversation.memory import ConversationTurn
from agents.core.language.interrogatives import is_question, only_asks
from agents.core.language.sentences import sentences
from agents.core.language.text import clip, content_words
from agents.core.retrieval.turn_parts import part_id, parts_of
from agents.erasures import erasure_of, index_unless_erased, is_erased, remove_erased
from agents.ports.graph import GraphEraser
from agents.ports.passages import Passage, PassageIndex
from agents.ports.sessions import WorkingSets
from schemas.base import message_key
from schemas.chat import Role, Turn
from schemas.envelope import Outgoing, Received

EPISODIC = "episodic"
MAX_NEIGHBOUR_CHARS = 400
MAX_LEAD_CHARS = 200
MAX_ANSWER_WORDS, MAX_QUESTION_CHARS = 8, 100


class TurnIndexer:
    """Indexes turns: each is returned as its own text and searched with its neighbours."""

    def __init__(self, index: PassageIndex, working_sets: WorkingSets, graph: GraphEraser) -> None:
        self._index = index
        self._working_sets = working_sets
        self._graph = graph

    async def handle(self, record: Received[Turn]) -> Sequence[Outgoing]:
        """Index the turn, and reindex the one before it with its now known successor."""
        turn = record.event
        if turn.role == Role.SYSTEM:
            return ()
        erasure = await erasure_of(self._graph, record)
        if is_erased(erasure, record):
            await remove_erased(self._graph, self._index, record, EPISODIC)
            return ()
        conversation = record.conversation(turn.client_id, turn.conversation_id)
        before = await self._working_sets.turns(conversation, turn.frame_id, up_to_seq=turn.seq - 1, limit=2)
        if erasure is not None:
            before = tuple(each for each in before if each.seq > erasure.up_to_seq)
        read = len(turn.content) + sum(len(each.content) for each in before)
        if passages := await beside_loop(read, partial(_passages, turn, before)):
            await index_unless_erased(self._graph, self._index, record, EPISODIC, passages)
        return ()


def _passages(turn: Turn, before: Sequence[ConversationTurn]) -> list[Passage]:
    """The passages of a turn that tells something; and those of the turn before again, which it may answer."""
    if not _tells(turn.content, turn.role.value, turn.lang):
        return []
    place = {"topic_name": turn.source.topic, "partition": turn.source.partition, "offset": turn.source.offset}
    said = Passage(
        id=turn.message_id,
        kind="message",
        text=turn.content,
        lang=turn.lang,
        recorded_at=turn.created_at,
        user_id=turn.user_id,
        conversation_id=turn.conversation_id,
        fields={"role": turn.role.value, "client_id": turn.client_id, "seq": turn.seq, **place},
    )
    previous = before[-1] if before else None
    passages = _parts(said, previous, "")
    if previous and previous.role != "system" and _tells(previous.content, previous.role, previous.lang or turn.lang):
        earlier = replace(
            said,
            id=previous.message_id,
            text=previous.content,
            lang=previous.lang or turn.lang,
            recorded_at=previous.created_at,
            user_id=previous.user_id or turn.user_id,
            fields={
                "role": previous.role,
                "client_id": turn.client_id,
                "seq": previous.seq,
                "topic_name": previous.place.topic,
                "partition": previous.place.partition,
                "offset": previous.place.offset,
            },
        )
        passages += _parts(earlier, before[-2] if len(before) > 1 else None, turn.content[:MAX_NEIGHBOUR_CHARS])
    return passages


def _parts(said: Passage, before: ConversationTurn | None, after: str) -> list[Passage]:
    """The passages of one turn: itself, or of a long one its parts, each beside its neighbours."""
    cut = parts_of(said.text, said.lang)
    answers = _answered(said.text, before)
    fields = {**said.fields, "answers": answers} if answers else said.fields
    key = message_key(said.fields["client_id"], said.conversation_id or "", said.id)
    leads = [before.content[:MAX_NEIGHBOUR_CHARS] if before else "", *(each[-MAX_LEAD_CHARS:] for each in cut)]
    ends = [*(each[:MAX_LEAD_CHARS] for each in cut[1:]), after]
    return [
        replace(
            said,
            id=part_id(said.id, number),
            key=part_id(key, number),
            text=text,
            fields=fields,
            context=f"{lead}\n{end}".strip(),
            lead=lead[-MAX_LEAD_CHARS:],
        )
        for number, (text, lead, end) in enumerate(zip(cut, leads, ends, strict=False))
    ]


def _answered(said: str, before: ConversationTurn | None) -> str:
    """The question that a short turn answers, which it is not understood without: `It is 14.`"""
    if before is None or before.role == "system" or len(said.split()) > MAX_ANSWER_WORDS:
        return ""
    asked = [
        each for each in sentences(before.content[-MAX_NEIGHBOUR_CHARS:], before.lang or "en") if is_question(each)
    ]
    return asked[-1][:MAX_QUESTION_CHARS] if asked else ""


def _tells(said: str, role: str, lang: str) -> bool:
    """Whether a turn tells something that is worth indexing.

    A greeting does not, nor what the assistant says it has noted: it would match anything similar. Nor does a mere
    question: it matches other questions, answers none, and its words would count as known; its answer is found through
    it, as a neighbour.
    """
    if not content_words(clip(said), lang) or only_asks(said, lang):
        return False
    return role != "assistant" or kind_of(said) not in ("courtesy", "talk")
