"""What of all that was claimed contradicts itself on a subject, or contradicts a statement; pure, stores nothing.

Who asks sees what anybody of the tenant claimed, but of what others said of themselves (`my deadline`) nothing.
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

# Of so many claims, newest first, each is held against the others.
MAX_CLAIMS = 500


@dataclass(frozen=True, slots=True)
class Checked:
    """The claims that were looked at, newest first, those the statement makes, and the contradictions between them."""

    considered: tuple[ClaimAsserted, ...]
    stated: tuple[ClaimAsserted, ...]
    contradictions: tuple[Contradiction, ...]


def on_subject(known: Iterable[ClaimAsserted], subject: str, user_id: str) -> Checked:
    """The claims whose subject names all words of `subject`, and which of them contradict each other."""
    asked = set(text.words(subject))
    found = [claim for claim in known if asked and asked <= set(text.words(claim.subject))]
    shown = _newest(found, user_id)
    return Checked(tuple(reversed(shown)), (), lifecycle.contradictions(shown))


def of_statement(known: Iterable[ClaimAsserted], statement: Utterance) -> Checked:
    """What the statement claims, the claims of the same attributes, and which of those it contradicts.

    It is not made yet: it supersedes nothing, and what is current stays what it is.
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
    """What claims of this conversation contradict of those made elsewhere; it settles nothing there."""
    own = {claim.claim_id: claim for claim in stated}
    others = [claim for claim in known if claim.claim_id not in own]
    bare = [claim.model_copy(update={"contradicts": (), "supersedes": ()}) for claim in own.values()]
    related = [relate(claim, others).model_copy(update={"supersedes": ()}) for claim in bare]
    found = lifecycle.contradictions([*others, *related])
    return tuple(each for each in found if each.claim_id in own and each.contradicts not in own)


def visible(known: Iterable[ClaimAsserted], user_id: str) -> list[ClaimAsserted]:
    """The claims that a user may see: of what others said of themselves nothing."""
    return [claim for claim in known if claim.user_id == user_id or not subject_key(claim.subject).owned]


def with_corrections(
    asserted: Iterable[ClaimAsserted], corrections: Collection[CorrectionIssued]
) -> tuple[ClaimAsserted, ...]:
    """The claims in the order of the log, each once, with the statuses that later claims and corrections gave them."""
    contested = {each.target_id for each in corrections if each.kind == "claim"}
    once = {claim.claim_id: claim for claim in asserted}
    return tuple(
        claim.model_copy(update={"status": "contested"})
        if claim.claim_id in contested and claim.status == "asserted"
        else claim
        for claim in lifecycle.settled(list(once.values()))
    )


def _newest(known: Iterable[ClaimAsserted], user_id: str) -> Sequence[ClaimAsserted]:
    return sorted(visible(known, user_id), key=serial)[-MAX_CLAIMS:]
