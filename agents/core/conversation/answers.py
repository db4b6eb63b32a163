"""The final answer: its text, its form for the client, and the metadata for a narrator."""

from collections.abc import Mapping, Sequence

from schemas.chat import AnswerGiven, AnswerMeta, ChatMessage, Turn
from schemas.policy import ContextPolicy

OK, UNROUTABLE = "ok", "unroutable"
IDENTIFIERS = ("answers", "pack_id", "frame_id", "depth_level")


def final_answer(said: ChatMessage, policy: ContextPolicy) -> str:
    """The text of the answer: empty for an unroutable question, else the narrator's where there is one.

    Where the narrator is off, failed or returned nothing, it is `legacy_answer`, the text of the deterministic flow.
    """
    if said.unroutable:
        return ""
    narrated = policy.narrator.enabled and not said.narrator_failed and said.content.strip()
    if said.legacy_answer is not None and not narrated:
        return said.legacy_answer
    return said.content


def wants_narrator(turn: Turn, policy: ContextPolicy) -> bool:
    """Whether an answer still has the text of the deterministic flow and a narrator may reword it."""
    settled = turn.unroutable or turn.narrator_failed or turn.legacy_answer is None
    return policy.narrator.enabled and not settled and turn.content == turn.legacy_answer


def identifiers(turn: Turn) -> dict[str, object]:
    """The ids that an answer refers to, where present."""
    return {name: getattr(turn, name) for name in IDENTIFIERS if getattr(turn, name) is not None}


def meta_for_narrator(
    turn: Turn, ids: Mapping[str, object], aggregates: object, history: Sequence[Mapping[str, object]] | None
) -> dict[str, object]:
    """The metadata for a narrator; `history` in wire form, absent where the policy denies it."""
    compute = {"status": _status(turn), "results": aggregates, "legacy_answer": turn.legacy_answer, "lang": turn.lang}
    meta: dict[str, object] = {
        "intent": turn.intent,
        "entity": turn.entity,
        "compute": compute,
        "identifiers": dict(ids),
    }
    return meta if history is None else {**meta, "history": list(history)}


def present(turn: Turn, answer: str, ids: Mapping[str, object], aggregates: object) -> AnswerGiven:
    """The answer for the client; built without the history, so none can leak into it."""
    return AnswerGiven(
        status=_status(turn),
        results=aggregates,
        meta=AnswerMeta(intent=turn.intent, entity=turn.entity, lang=turn.lang, **ids),
        answer=answer,
    )


def _status(turn: Turn) -> str:
    return turn.status or (UNROUTABLE if turn.unroutable else OK)


def narrator_allows_entity(policy: ContextPolicy, entity: str | None) -> bool:
    """Whether the narrator may see the history of answers about an entity; a denial wins.

    An answer about nothing in particular is allowed unless only some entities are.
    """
    named = (entity or "").casefold()
    if any(named == denied.casefold() for denied in policy.narrator.denied_entities):
        return False
    allowed = policy.narrator.allowed_entities
    return allowed is None or any(named == each.casefold() for each in allowed)
