"""Claims of any conversation that may be offered as known: the newest of those that exclude each other; pure.

Only users' statements and those users agreed to count: an assistant's own statements displace nothing and are never
offered, so that guesses do not reinforce themselves. The older value is kept and reported beside the newer one.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from agents.core.claims.matching import relate, serial, values_agree
from agents.core.claims.subjects import subject_key
from schemas.memory import ClaimAsserted

OVER = frozenset({"superseded", "retracted"})


@dataclass(frozen=True, slots=True)
class CurrentClaim:
    """A current claim, and the claims it displaced, newest first."""

    claim: ClaimAsserted
    instead_of: tuple[ClaimAsserted, ...] = ()


def offered(claims: Sequence[ClaimAsserted]) -> tuple[CurrentClaim, ...]:
    """The current claims among those of any conversation, newest first, each value of an attribute once.

    Independent of the order of arrival: assertions are ordered by the time said and their place in the log.
    """
    known = {claim.claim_id: claim for claim in claims}
    sources = [claim for claim in sorted(known.values(), key=serial) if claim.author == "user" or _agreed(claim)]
    given_way = _given_way(sources)
    # An assistant's repeated statement contests a user's claim; that alone does not remove the claim.
    by_assistants = {
        conflict.claim_id for claim in known.values() if claim.author == "system" for conflict in claim.contradicts
    }
    standing = [
        claim
        for claim in reversed(sources)
        if claim.claim_id not in given_way
        and claim.status not in OVER
        and (claim.status != "contested" or claim.claim_id in by_assistants)
    ]
    losers = [known[each] for each in given_way if each in known]
    return tuple(
        CurrentClaim(claim, tuple(sorted(_lost_to(claim, losers, given_way), key=serial, reverse=True)))
        for claim in _once(standing)
    )


def replaced(claims: Sequence[ClaimAsserted]) -> dict[str, ClaimAsserted]:
    """What stands instead of each of the users' claims that gave way to another, by the id of the one that did."""
    known = {claim.claim_id: claim for claim in claims}
    given_way = _given_way([claim for claim in sorted(known.values(), key=serial) if claim.author == "user"])
    ends = {claim_id: known.get(_end(claim_id, given_way)) for claim_id in given_way}
    return {claim_id: end for claim_id, end in ends.items() if end is not None and end.status not in OVER}


def _agreed(claim: ClaimAsserted) -> bool:
    return claim.status == "confirmed"


def _given_way(sources: Sequence[ClaimAsserted]) -> dict[str, str]:
    """The winner of each displaced claim, by recorded relations and across conversations."""
    given_way: dict[str, str] = {}
    before: list[ClaimAsserted] = []
    for claim in sources:
        related = relate(claim, [old for old in before if old.author == "user"]) if claim.author == "user" else claim
        for conflict in related.contradicts:
            given_way[conflict.claim_id] = claim.claim_id
        given_way |= dict.fromkeys(related.supersedes, claim.claim_id)
        before.append(claim)
    return given_way


def _lost_to(claim: ClaimAsserted, losers: Sequence[ClaimAsserted], given_way: dict[str, str]) -> list[ClaimAsserted]:
    return [loser for loser in losers if _end(loser.claim_id, given_way) == claim.claim_id]


def _end(claim_id: str, given_way: dict[str, str]) -> str:
    seen = {claim_id}
    while (winner := given_way.get(claim_id)) is not None and winner not in seen:
        seen.add(winner)
        claim_id = winner
    return claim_id


def _once(standing: Sequence[ClaimAsserted]) -> list[ClaimAsserted]:
    """Each value of an attribute by its newest assertion, confirmed ones first."""
    kept: list[ClaimAsserted] = []
    for claim in sorted(standing, key=_agreed, reverse=True):
        if not any(_the_same(claim, other) for other in kept):
            kept.append(claim)
    return sorted(kept, key=serial, reverse=True)


def _the_same(one: ClaimAsserted, other: ClaimAsserted) -> bool:
    place = (subject_key(one.subject), one.attribute) == (subject_key(other.subject), other.attribute)
    return place and values_agree(one, other)
