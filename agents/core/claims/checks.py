"""Contradictions among claims on a subject, or between claims and a statement; pure, stores nothing.

A user sees claims of one's own, those made in conversations with oneself, and those that an application stated for
nobody; of others never those about themselves (`my deadline`).
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from agents.core.claims import lifecycle
from agents.core.claims.matching import relate, serial
from agents.core.claims.subjects import subject_key
from agents.core.conversation.utterances import Utterance
from agents.core.language import text
from schemas.items import Contradiction
from schemas.memory import ClaimAsserted, CorrectionIssued

# The newest claims that are compared with each other.
MAX_CLAIMS = 500


@dataclass(frozen=True, slots=True)
class Checked:
    """The claims compared (newest first), the claims of the statement, and the contradictions between them."""

    considered: tuple[ClaimAsserted, ...]
    stated: tuple[ClaimAsserted, ...]
    contradictions: tuple[Contradiction, ...]


def on_subject(known: Iterable[ClaimAsserted], subject: str, user_id: str) -> Checked:
    """The claims whose subject contains all words of `subject`, and the contradictions among them."""
    asked = set(text.words(subject))
    found = [claim for claim in known if asked and asked <= set(text.words(claim.subject))]
    shown = _newest(found, user_id)
    return Checked(tuple(reversed(shown)), (), lifecycle.contradictions(shown))


def of_statement(known: Iterable[ClaimAsserted], statement: Utterance) -> Checked:
    """The claims of the statement, existing claims of the same attributes, and the contradictions between them.

    The statement is hypothetical: it supersedes nothing and does not change which claims are current.
    """
    shown = _newest(known, statement.user_id)
    heard = lifecycle.heard(statement, shown).claims
    stated = tuple(claim.model_copy(update={"supersedes": ()}) for claim in heard)
    places = {(subject_key(claim.subject).head, claim.attribute) for claim in stated}
    against = [claim for claim in shown if (subject_key(claim.subject).head, claim.attribute) in places]
    standing = {claim.claim_id for claim in lifecycle.current(against)}
    own = {claim.claim_id for claim in stated}
    found = tuple(
        each.model_copy(update={"current": each.contradicts if each.contradicts in standing else None})
        for each in lifecycle.contradictions([*against, *stated])
        if each.claim_id in own
    )
    return Checked(tuple(reversed(against)), stated, found)


def with_others(stated: Iterable[ClaimAsserted], known: Sequence[ClaimAsserted]) -> tuple[Contradiction, ...]:
    """Contradictions between this conversation's claims and those of others; none is resolved there."""
    own = {claim.claim_id: claim for claim in stated}
    others = [claim for claim in known if claim.claim_id not in own]
    bare = [claim.model_copy(update={"contradicts": (), "supersedes": ()}) for claim in own.values()]
    related = [relate(claim, others).model_copy(update={"supersedes": ()}) for claim in bare]
    found = lifecycle.contradictions([*others, *related])
    return tuple(each for each in found if each.claim_id in own and each.contradicts not in own)


def visible(known: Iterable[ClaimAsserted], user_id: str) -> list[ClaimAsserted]:
    """The claims that a user may see."""
    return [claim for claim in known if claim.user_id == user_id or _is_told_to(claim, user_id)]


def _is_told_to(claim: ClaimAsserted, user_id: str) -> bool:
    told = claim.tenant_wide is not None or user_id in (claim.audience or ())
    return told and not subject_key(claim.subject).owned


def with_corrections(
    asserted: Iterable[ClaimAsserted], corrections: Collection[CorrectionIssued]
) -> tuple[ClaimAsserted, ...]:
    """The claims in log order, each once, with the statuses that later claims and corrections imply."""
    about = [each for each in corrections if each.kind == "claim" and each.correction_kind != "formatacao"]
    contested = {each.target_id for each in about if each.ruling is None}
    taken_back = {each.target_id for each in about if each.ruling == "retract"}
    once = {claim.claim_id: claim for claim in asserted}
    return tuple(_ruled(claim, contested, taken_back) for claim in lifecycle.settled(list(once.values())))


def _ruled(claim: ClaimAsserted, contested: Collection[str], taken_back: Collection[str]) -> ClaimAsserted:
    if claim.claim_id in taken_back:
        return claim.model_copy(update={"status": "retracted"})
    if claim.claim_id in contested and claim.status == "asserted":
        return claim.model_copy(update={"status": "contested"})
    return claim


def _newest(known: Iterable[ClaimAsserted], user_id: str) -> Sequence[ClaimAsserted]:
    return sorted(visible(known, user_id), key=serial)[-MAX_CLAIMS:]
