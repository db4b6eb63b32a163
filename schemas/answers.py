"""Answers for clients: the contract of `/ask`, to which memory adds nothing."""

from typing import ClassVar

from schemas.base import Absent, Event, Id, Value
from schemas.depth import DepthLevel


class AnswerMeta(Value):
    """The subject of an answer and its question; ids and names, never the text of a turn."""

    intent: str | None = None
    entity: str | None = None
    lang: str
    frame_id: Id
    depth_level: Absent[DepthLevel] = None
    answers: Absent[Id] = None
    pack_id: Absent[Id] = None


class AnswerGiven(Event):
    """The answer to one question: exactly these four fields. Empty for an unroutable question."""

    TYPE: ClassVar[str] = "chat.answer-given.v1"
    status: str
    results: object = None
    meta: AnswerMeta
    answer: str
