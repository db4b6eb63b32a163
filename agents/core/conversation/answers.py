"""What an answer comes to, what a client is told of it, and what a narrator may know. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from schemas.answers import AnswerGiven, AnswerMeta
from schemas.chat import ChatMessage, Turn
from schemas.policy import ContextPolicy

OK, UNROUTABLE = "ok", "unroutable"
IDENTIFIERS = ("answers", "pack_id", "frame_id", "depth_level")


def final_answer(said: ChatMessage, policy: ContextPolicy) -> str:
    """The text that is the answer: none of an unroutable question, else the narrator's where it has one.

    Where the narrator is off, failed or said nothing, it is that of the deterministic flow, `legacy_answer`.
    """
    if said.unroutable:
        return ""
    narrated = policy.narrator.enabled and not said.narrator_failed and said.content.strip()
    if said.legacy_answer is not None and not narrated:
        return said.legacy_answer
    return said.content


def wants_narrator(turn: Turn, policy: ContextPolicy) -> bool:
    """Whether an answer still has the words of the deterministic flow, and a narrator may find better ones."""
    settled = turn.unroutable or turn.narrator_failed or turn.legacy_answer is None
    return policy.narrator.enabled and not settled and turn.content == turn.legacy_answer


def identifiers(turn: Turn) -> dict[str, Any]:
    """To what an answer belongs, by its ids; those it has."""
    return {name: getattr(turn, name) for name in IDENTIFIERS if getattr(turn, name) is not None}


def meta_for_narrator(
    turn: Turn, ids: Mapping[str, Any], aggregates: Any, history: Sequence[Mapping[str, Any]] | None
) -> dict[str, Any]:
    """What a narrator is told; `history` in wire form, absent where it may not see it."""
    compute = {"status": _status(turn), "results": aggregates, "legacy_answer": turn.legacy_answer, "lang": turn.lang}
    meta = {"intent": turn.intent, "entity": turn.entity, "compute": compute, "identifiers": dict(ids)}
    return meta if history is None else {**meta, "history": list(history)}


def present(turn: Turn, answer: str, ids: Mapping[str, Any], aggregates: Any) -> AnswerGiven:
    """What the client is told; knows of no history, so none can reach it."""
    return AnswerGiven(
        status=_status(turn),
        results=aggregates,
        meta=AnswerMeta(intent=turn.intent, entity=turn.entity, lang=turn.lang, **ids),
        answer=answer,
    )


def _status(turn: Turn) -> str:
    return turn.status or (UNROUTABLE if turn.unroutable else OK)
