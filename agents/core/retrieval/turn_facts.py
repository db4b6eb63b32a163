"""Past turns whose facts were replaced since, by what is recorded of the facts.

A fact may be corrected where no turn says so (`PATCH /memories`), or by a turn that shares few of its words.
"""

from collections.abc import Iterable, Mapping, Sequence

from agents.core.claims.extraction import assertions
from agents.core.claims.resolution import replaced
from agents.core.claims.subjects import filed_under
from agents.core.retrieval.evidence import covers
from agents.core.retrieval.turn_currency import Mark
from schemas.base import message_key
from schemas.memory import ClaimAsserted


def subjects(said: Iterable[tuple[str, str]], user_id: str) -> list[str]:
    """The subjects under which the facts of a user's turns are filed; `said` are texts with their languages."""
    found = (each.subject for text, lang in said for each in assertions(text, "user", lang))
    return sorted({filed_under(subject, user_id) for subject in found})


def marks(question: str, lang: str, claims: Sequence[ClaimAsserted]) -> Mapping[str, Mark]:
    """Marks of turns that state nothing asked for that still holds, by the key of each (`message_key`).

    A turn may state several facts, and only those that the question names count, where it names any.
    """
    over = replaced(claims)
    by_turn: dict[str, list[ClaimAsserted]] = {}
    for claim in claims:
        by_turn.setdefault(message_key(claim.client_id, claim.conversation_id, claim.message_id), []).append(claim)
    found = {}
    for turn, told in by_turn.items():
        asked = [each for each in told if covers(question, lang, each.subject, each.lang)] or told
        if all(each.claim_id in over for each in asked):
            now = over[asked[0].claim_id]
            found[turn] = Mark(False, now.value, now.asserted_at)
    return found
