"""Claims with author, contradictions and current values. Deterministic, without a model.

Only a different value of the same subject and single-valued attribute excludes an earlier one, or an explicit
correction or denial. In doubt both stay. Newest by (time said, partition, offset, seq), so a replay agrees.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from agents.core.claims import corrections
from agents.core.claims.corrections import corrected, correction_event
from agents.core.claims.extraction import MAX_TEXT_CHARS, Assertion, assertions
from agents.core.claims.markers import is_correction
from agents.core.claims.matching import relate, serial, values_agree
from agents.core.conversation.turn_links import repaired
from agents.core.conversation.utterances import Utterance
from agents.core.language import conflict_wording
from agents.core.language.text import clip
from schemas.base import derive
from schemas.items import ClaimItem, Contradiction, Provenance
from schemas.memory import ClaimAsserted, Conflict, CorrectionIssued

NOTE_OF = {"pt": "nota do usuário", "en": "user's note"}
NOTE, NOTE_CONFIDENCE = "note", 0.6

__all__ = [
    "ClaimUpdate",
    "Utterance",
    "claim_id_of",
    "claims_of",
    "contradictions",
    "correction_event",
    "current",
    "heard",
    "is_correction",
    "known_together",
    "noted",
    "original_of",
    "relate",
    "serial",
    "session_claims",
    "stated",
    "to_item",
    "values_agree",
]


@dataclass(frozen=True, slots=True)
class ClaimUpdate:
    """The result of an utterance: its claims, related to earlier ones, and the correction it issues, if any."""

    claims: tuple[ClaimAsserted, ...] = ()
    original: ClaimAsserted | None = None
    correction: CorrectionIssued | None = None


def claims_of(utterance: Utterance) -> tuple[ClaimAsserted, ...]:
    """The claims of an utterance alone; none for `não, dia 20` (see `heard`)."""
    found = assertions(repaired(utterance.text, utterance.lang), utterance.author, utterance.lang)
    claims = {claim.claim_id: claim for claim in (_claim(utterance, assertion) for assertion in found)}
    return tuple(claims.values())


def noted(utterance: Utterance) -> ClaimAsserted:
    """The claim that a user's note is, where nothing more precise can be read from it."""
    text = clip(utterance.text.strip())[:MAX_TEXT_CHARS]
    subject = NOTE_OF.get(utterance.lang, NOTE_OF["en"])
    return _claim(utterance, Assertion(subject, NOTE, text, functional=False, confidence=NOTE_CONFIDENCE, text=text))


def stated(
    utterance: Utterance, found: Sequence[Assertion], earlier: Sequence[ClaimAsserted]
) -> tuple[ClaimAsserted, ...]:
    """The claims that assertions found elsewhere are, related to earlier ones."""
    return tuple(relate(_claim(utterance, each), earlier) for each in found)


def _claim(utterance: Utterance, assertion: Assertion) -> ClaimAsserted:
    return ClaimAsserted(
        claim_id=claim_id_of(utterance, assertion.subject, assertion.attribute, assertion.value),
        author=utterance.author,
        text=assertion.text,
        subject=assertion.subject,
        attribute=assertion.attribute,
        value=assertion.value,
        functional=assertion.functional,
        lang=utterance.lang,
        message_id=utterance.message_id,
        conversation_id=utterance.conversation.conversation_id,
        client_id=utterance.conversation.client_id,
        user_id=utterance.user_id,
        frame_id=utterance.frame_id,
        seq=utterance.seq,
        confidence=assertion.confidence,
        status="asserted",
        asserted_at=utterance.at,
        source=utterance.source,
    )


def claim_id_of(utterance: Utterance, subject: str, attribute: str, value: str) -> str:
    """The id of an assertion, deterministic on every reading."""
    return derive("claim", utterance.conversation.key(), utterance.message_id, subject, attribute, value)


def original_of(correction: Utterance, earlier: Sequence[ClaimAsserted]) -> ClaimAsserted | None:
    """The earlier claim a correction refers to; None when there is none or it is uncertain."""
    related = [relate(claim, earlier) for claim in claims_of(correction)]
    return corrections.original_of(correction, earlier, related)


def heard(utterance: Utterance, earlier: Sequence[ClaimAsserted]) -> ClaimUpdate:
    """The claims and the correction that an utterance adds; used for the log and for the working set."""
    related = tuple(relate(claim, earlier) for claim in claims_of(utterance))
    original = corrections.original_of(utterance, earlier, related)
    if not related and original is not None:
        elliptic = corrected(utterance, original)
        related = (_about(relate(elliptic, earlier), original),) if elliptic else ()
    elif utterance.link is not None and original is not None:
        related = tuple(_about(each, original) if each.value == utterance.link.new else each for each in related)
    if original is None or utterance.author != "user":
        return ClaimUpdate(related, original)
    if original.author == "user" and not utterance.link and not is_correction(utterance.text, utterance.lang):
        # A user's own newer value is an update, not a correction.
        return ClaimUpdate(related, original)
    new = next((claim for claim in related if _against(claim, original)), None)
    return ClaimUpdate(related, original, correction_event(utterance, original, new))


def _against(claim: ClaimAsserted, original: ClaimAsserted) -> bool:
    return any(conflict.claim_id == original.claim_id for conflict in claim.contradicts)


def _about(claim: ClaimAsserted, original: ClaimAsserted) -> ClaimAsserted:
    if _against(claim, original):
        return claim
    conflict = Conflict(claim_id=original.claim_id, kind="correction", score=claim.confidence)
    return claim.model_copy(update={"contradicts": (*claim.contradicts, conflict)})


def session_claims(utterances: Sequence[Utterance]) -> tuple[ClaimAsserted, ...]:
    """The claims of a session, oldest first, related to each other, with contested and superseded ones marked."""
    said: list[ClaimAsserted] = []
    for utterance in sorted(utterances, key=lambda one: (one.at, one.source.partition, one.source.offset, one.seq)):
        said += heard(utterance, said).claims
    return settled(said)


def settled(claims: Sequence[ClaimAsserted]) -> tuple[ClaimAsserted, ...]:
    """The claims in log order with the statuses their relations imply: superseded, else contested."""
    superseded = {claim_id for claim in claims for claim_id in claim.supersedes}
    contested = {conflict.claim_id for claim in claims for conflict in claim.contradicts} - superseded
    return tuple(_settle(claim, contested, superseded) for claim in sorted(claims, key=serial))


def _settle(claim: ClaimAsserted, contested: set[str], superseded: set[str]) -> ClaimAsserted:
    if claim.claim_id in superseded:
        return claim.model_copy(update={"status": "superseded"})
    if claim.claim_id in contested and claim.status == "asserted":
        return claim.model_copy(update={"status": "contested"})
    return claim


def _related(claims: Sequence[ClaimAsserted]) -> tuple[ClaimAsserted, ...]:
    """Claims of any origin, related to each other, each once."""
    known: list[ClaimAsserted] = []
    for claim in sorted({claim.claim_id: claim for claim in claims}.values(), key=serial):
        known.append(claim if claim.contradicts or claim.supersedes else relate(claim, known))
    return tuple(known)


def known_together(claims: Sequence[ClaimAsserted]) -> tuple[ClaimAsserted, ...]:
    """Claims of any conversation, oldest first, with the statuses that they give each other.

    What was taken back says nothing against others.
    """
    taken_back = [claim for claim in claims if claim.status == "retracted"]
    freed = {each for claim in taken_back for each in _against_others(claim)}
    standing = [claim for claim in claims if claim.status != "retracted"]
    freed -= {each for claim in standing for each in _against_others(claim)}
    free = [claim.model_copy(update={"status": "asserted"}) if claim.claim_id in freed else claim for claim in standing]
    return tuple(sorted([*settled(_related(free)), *taken_back], key=serial))


def _against_others(claim: ClaimAsserted) -> set[str]:
    return {*claim.supersedes, *(conflict.claim_id for conflict in claim.contradicts)}


def _losers(claims: Sequence[ClaimAsserted]) -> dict[str, str]:
    """The winner of each displaced claim: the newest, unless the assistant only repeats itself."""
    given_way: dict[str, str] = {}
    for claim in claims:
        insists = claim.author == "system" and claim.status == "contested" and bool(claim.contradicts)
        for conflict in claim.contradicts:
            loser, winner = (claim.claim_id, conflict.claim_id) if insists else (conflict.claim_id, claim.claim_id)
            given_way[loser] = winner
        given_way |= dict.fromkeys(claim.supersedes, claim.claim_id)
    return given_way


def current(claims: Sequence[ClaimAsserted]) -> tuple[ClaimAsserted, ...]:
    """The current claims, newest first: the newest of those that exclude each other."""
    related = _related(claims)
    given_way = _losers(related)
    over = ("superseded", "retracted")
    standing = [claim for claim in related if claim.claim_id not in given_way and claim.status not in over]
    return tuple(reversed(standing))


def contradictions(claims: Sequence[ClaimAsserted]) -> tuple[Contradiction, ...]:
    """The contradictory pairs, newest first, with both sides and the current one."""
    related = _related(claims)
    known = {claim.claim_id: claim for claim in related}
    given_way = _losers(related)
    settled_ids = {claim_id for claim in related for claim_id in claim.supersedes}
    pairs = [
        _contradiction(claim, conflict, known, given_way, settled_ids)
        for claim in reversed(related)
        for conflict in claim.contradicts
    ]
    return tuple(pairs)


def _contradiction(
    claim: ClaimAsserted,
    conflict: Conflict,
    known: dict[str, ClaimAsserted],
    given_way: dict[str, str],
    settled_ids: set[str],
) -> Contradiction:
    older = known.get(conflict.claim_id)
    over = {claim.status, older.status if older else "asserted"} & {"superseded", "retracted"}
    resolved = bool(over) or conflict.claim_id in settled_ids or claim.claim_id in settled_ids
    return Contradiction(
        id=derive("contradiction", claim.claim_id, conflict.claim_id),
        provenance=_provenance(claim),
        recorded_at=claim.asserted_at,
        reason=f"contradicts:{conflict.kind}",
        score=conflict.score,
        claim_id=claim.claim_id,
        contradicts=conflict.claim_id,
        kind=conflict.kind,
        status="resolved" if resolved else "pending_reconciliation",
        current=_winner(claim.claim_id, given_way),
        explanation=_explanation(claim, older, resolved=resolved),
    )


def _winner(claim_id: str, given_way: dict[str, str]) -> str:
    seen = {claim_id}
    while (winner := given_way.get(claim_id)) is not None and winner not in seen:
        seen.add(winner)
        claim_id = winner
    return claim_id


def _explanation(claim: ClaimAsserted, older: ClaimAsserted | None, *, resolved: bool) -> str:
    """Both sides with author and time, in the language of the newer claim."""
    told = [conflict_wording.claimed(older, claim.lang)] if older is not None else []
    return conflict_wording.sides(
        *told, conflict_wording.claimed(claim, claim.lang, after=older), lang=claim.lang, resolved=resolved
    )


def _provenance(claim: ClaimAsserted) -> Provenance:
    return Provenance(topic=claim.source.topic, partition=claim.source.partition, offset=claim.source.offset)


def to_item(claim: ClaimAsserted, reason: str, score: float) -> ClaimItem:
    """The claim as an item of a pack."""
    return ClaimItem(
        id=claim.claim_id,
        provenance=_provenance(claim),
        recorded_at=claim.asserted_at,
        reason=reason,
        score=score,
        claim_id=claim.claim_id,
        author=claim.author,
        text=claim.text,
        subject=claim.subject,
        attribute=claim.attribute,
        value=claim.value,
        message_id=claim.message_id,
        confidence=claim.confidence,
        status=claim.status,
    )
