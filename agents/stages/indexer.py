"""Index every turn for search, with its neighbours as context.

reads   conversation.turns  key conversation
writes  nothing: the passage index, collection episodic
state   the passage index (write), the working set (read), the graph's erasures (read)
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from agents.concurrency import beside_loop
from agents.core.assessment.needs_nothing import kind_of
from agents.core.conversation.memory import ConversationTurn
from agents.core.conversation.turn_links import REACH
from agents.core.language.interrogatives import is_question, only_asks
from agents.core.language.sentences import sentences
from agents.core.language.text import clip, content_words
from agents.core.retrieval.turn_parts import part_id, parts_of
from agents.erasures import erasure_of, index_unless_erased, is_erased, remove_erased
from agents.ports.graph import GraphEraser
from agents.ports.passages import Passage, PassageIndex
from agents.ports.sessions import WorkingSets
from schemas.base import message_key
from schemas.chat import Role, Turn, TurnLink
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
        limit = 2 if turn.link is None else REACH + 1
        before = await self._working_sets.turns(conversation, turn.frame_id, up_to_seq=turn.seq - 1, limit=limit)
        if erasure is not None:
            before = tuple(each for each in before if each.seq > erasure.up_to_seq)
        read = len(turn.content) + sum(len(each.content) for each in before)
        if passages := await beside_loop(read, partial(_passages, turn, before)):
            await index_unless_erased(self._graph, self._index, record, EPISODIC, passages)
        return ()


def _passages(turn: Turn, before: Sequence[ConversationTurn]) -> list[Passage]:
    """The passages of a turn that tells something, and again those of the turn before and of those that it corrects."""
    if turn.link is None and not _tells(turn.content, turn.role.value, turn.lang):
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
        fields={"role": turn.role.value, "client_id": turn.client_id, "seq": turn.seq, **place, **_contests(turn.link)},
    )
    passages = _parts(said, before[-1] if before else None, "")
    corrected = turn.link.to if turn.link else ()
    following = [*(each.content for each in before[1:]), turn.content]
    for number, (each, after) in enumerate(zip(before, following, strict=False)):
        if number < len(before) - 1 and each.message_id not in corrected:
            continue
        if each.role != "system" and (each.link or _tells(each.content, each.role, each.lang or turn.lang)):
            contested = {"contested_by": turn.message_id} if each.message_id in corrected else {}
            earlier = _earlier(each, said, {**_contests(each.link), **contested})
            passages += _parts(earlier, before[number - 1] if number else None, after[:MAX_NEIGHBOUR_CHARS])
    return passages


def _earlier(turn: ConversationTurn, said: Passage, linked: Mapping[str, str]) -> Passage:
    """The passage of an earlier turn of the conversation of another."""
    place = {"topic_name": turn.place.topic, "partition": turn.place.partition, "offset": turn.place.offset}
    return replace(
        said,
        id=turn.message_id,
        text=turn.content,
        lang=turn.lang or said.lang,
        recorded_at=turn.created_at,
        user_id=turn.user_id or said.user_id,
        fields={"role": turn.role, "client_id": said.fields["client_id"], "seq": turn.seq, **place, **linked},
    )


def _contests(link: TurnLink | None) -> dict[str, str]:
    """What is stored with a turn that corrects others: their ids, the words that hold no more, and the new."""
    return {} if link is None else {"contests": "\n".join(link.to), "instead_of": link.old or "", "now": link.new or ""}


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
