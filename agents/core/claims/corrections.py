"""The claim that a correction refers to, and the claim that replaces it.

A correction that names its subject is matched by subject and attribute. One that does not (`não, dia 20`, `I disagree
with that number`) refers to the newest claim of the other side with a value of that type; where one message has two
such claims, it is ambiguous and refers to none.
"""

import re
from collections.abc import Iterable, Sequence

from agents.core.claims import grammar
from agents.core.claims.markers import BareValue, bare_values, is_correction
from agents.core.claims.matching import serial, typed_value
from agents.core.claims.subjects import subject_key
from agents.core.conversation.utterances import Utterance
from agents.core.language.sentences import composed, flatten, lower
from agents.core.language.values import TypedValue, same
from schemas.base import derive
from schemas.chat import TurnLink
from schemas.memory import ClaimAsserted, CorrectionIssued

# The maximum distance, in turns, of a correction without a subject.
REACH = 12
_AMOUNTS = frozenset({"number", "money", "percent", "duration"})
_HINTS: tuple[tuple[re.Pattern[str], tuple[frozenset[str], ...]], ...] = (
    (re.compile(r"\b(?:numero|valor|quantia|preco|number|figure|amount|price|value|quantity|total)\b"),
     (_AMOUNTS, frozenset({"version"}), frozenset({"date"}))),
    (re.compile(r"\b(?:data|dia|date|day|horario|hora|time)\b"), (frozenset({"date"}),)),
    (re.compile(r"\b(?:nome|pessoa|name|person)\b"), (frozenset({"person"}),)),
    (re.compile(r"\b(?:lugar|local|cidade|place|city|location)\b"), (frozenset({"place"}),)),
    (re.compile(r"\b(?:email|e-mail|telefone|phone)\b"), (frozenset({"contact"}),)),
)  # fmt: skip


def original_of(
    correction: Utterance, earlier: Sequence[ClaimAsserted], related: Sequence[ClaimAsserted]
) -> ClaimAsserted | None:
    """The earlier claim a correction refers to; None if there is none or it is uncertain. `related`: its own claims."""
    for claim in related:
        found = _contradicted(claim, earlier)
        if found is not None:
            return found
    if correction.link is not None:
        return _linked(correction, correction.link, earlier)
    if related:
        return None
    if not is_correction(correction.text, correction.lang):
        return None
    own = grammar.SELF_CORRECTION.search(lower(composed(correction.text[:600]))) is not None
    sides = (True, False) if own else (False,)
    return next((found for mine in sides if (found := _meant(correction, earlier, own=mine)) is not None), None)


def _meant(correction: Utterance, earlier: Sequence[ClaimAsserted], *, own: bool) -> ClaimAsserted | None:
    near = _near(correction, earlier, own=own)
    values = bare_values(correction.text, correction.lang)
    if values:
        return _by_value(correction, near, values)
    return _by_mention(correction, near) or _by_hint(correction, near) or _only_one_of_newest(near)


def _linked(correction: Utterance, link: TurnLink, earlier: Sequence[ClaimAsserted]) -> ClaimAsserted | None:
    """The newest claim of the turns that a message corrects whose value holds no more."""
    old = flatten(link.old or "")
    here = correction.conversation
    said = [
        claim
        for claim in sorted(earlier, key=serial, reverse=True)
        if claim.message_id in link.to
        and (claim.client_id, claim.conversation_id) == (here.client_id, here.conversation_id)
        and claim.status not in ("superseded", "retracted")
    ]
    return next((claim for claim in said if flatten(claim.value) in old or old in flatten(claim.value)), None)


def _contradicted(claim: ClaimAsserted, earlier: Sequence[ClaimAsserted]) -> ClaimAsserted | None:
    """The best match by subject and attribute: an equal subject first, then the newest."""
    conflicts = {conflict.claim_id: conflict.score for conflict in claim.contradicts}
    found = [old for old in earlier if old.claim_id in conflicts]
    return max(
        found, key=lambda old: (subject_key(old.subject) == subject_key(claim.subject), serial(old)), default=None
    )


def _near(correction: Utterance, earlier: Iterable[ClaimAsserted], *, own: bool) -> list[ClaimAsserted]:
    """Candidates for a correction without a subject: this frame's recent claims of one side, newest first."""
    here = correction.conversation
    near = [
        claim
        for claim in earlier
        if (claim.client_id, claim.conversation_id) == (here.client_id, here.conversation_id)
        and claim.frame_id == correction.frame_id
        and claim.message_id != correction.message_id
        and 0 <= correction.seq - claim.seq <= REACH
        and (claim.author == correction.author) == own
    ]
    return sorted(near, key=serial, reverse=True)


def _by_value(
    correction: Utterance, near: Sequence[ClaimAsserted], values: Sequence[BareValue]
) -> ClaimAsserted | None:
    """The newest claim with the denied value, else the newest one that the given value can replace."""
    denied = [bare.value for bare in values if bare.negated]
    given = [bare.value for bare in values if not bare.negated]
    for claim in near:
        value = typed_value(claim)
        if value and any(same(value, claim.asserted_at, other, correction.at) for other in denied):
            return claim
    for new in given:
        fits = [claim for claim in near if _replaceable(typed_value(claim), new)]
        found = _only_one_of_newest(fits)
        if found is not None:
            old = typed_value(found)
            return None if old and same(old, found.asserted_at, new, correction.at) else found
    return None


def _replaceable(old: TypedValue | None, new: TypedValue) -> bool:
    """Whether a bare value can replace another: the same kind and unit, or one without a unit."""
    if old is None:
        return False
    if old.kind in ("person", "place") and new.kind in ("person", "place"):
        return True
    units = [dict(value.parts).get("unit", "") for value in (old, new)]
    if {old.kind, new.kind} <= _AMOUNTS:
        return units[0] == units[1] or "" in units
    return old.kind == new.kind


def _only_one_of_newest(claims: Sequence[ClaimAsserted]) -> ClaimAsserted | None:
    if not claims:
        return None
    newest = [claim for claim in claims if claim.message_id == claims[0].message_id]
    return newest[0] if len({(claim.subject, claim.attribute) for claim in newest}) == 1 else None


def _by_mention(correction: Utterance, near: Sequence[ClaimAsserted]) -> ClaimAsserted | None:
    """The newest claim whose subject the correction names: `discordo desse prazo`."""
    said = {subject_key(word).head for word in re.findall(r"[a-z][a-z-]+", flatten(composed(correction.text[:600])))}
    named = [claim for claim in near if subject_key(claim.subject).head.split()[-1:] and
             subject_key(claim.subject).head in said]  # fmt: skip
    return named[0] if named else None


def _by_hint(correction: Utterance, near: Sequence[ClaimAsserted]) -> ClaimAsserted | None:
    """The newest claim whose value has the type that the correction names: `that number`, `essa data`."""
    flat = flatten(composed(correction.text[:600]))
    for pattern, preferred in _HINTS:
        if not pattern.search(flat):
            continue
        for kinds in preferred:
            fits = [claim for claim in near if (value := typed_value(claim)) and value.kind in kinds]
            if fits:
                return _only_one_of_newest(fits)
    return None


def corrected(correction: Utterance, original: ClaimAsserted) -> ClaimAsserted | None:
    """The claim that replaces the original, from a correction without a subject; None when it gives no value."""
    old, value = typed_value(original), correction.link.new if correction.link else None
    if correction.link is None:
        given = [bare for bare in bare_values(correction.text, correction.lang) if not bare.negated]
        value = next((one.text for one in given if _replaceable(old, one.value)), None)
    if value is None:
        return None
    hedged = grammar.HEDGE.search(lower(composed(correction.text[:600]))) is not None
    return ClaimAsserted(
        claim_id=derive("claim", correction.conversation.key(), correction.message_id, "elliptic"),
        author=correction.author,
        text=correction.text.strip()[:400],
        subject=original.subject,
        attribute=original.attribute,
        value=value,
        functional=original.functional,
        lang=correction.lang,
        message_id=correction.message_id,
        conversation_id=correction.conversation.conversation_id,
        client_id=correction.conversation.client_id,
        user_id=correction.user_id,
        frame_id=correction.frame_id,
        seq=correction.seq,
        confidence=0.45 if hedged else 0.8,
        status="asserted",
        asserted_at=correction.at,
        source=correction.source,
    )


_LEGAL = re.compile(
    r"\b(?:art(?:igo|s)?\.?\s?\d|lei\b|sumula|jurisprudencia|decreto|clt\b|stf\b|stj\b|tst\b|inciso|"
    r"acordao|statute|case law)"
)


def correction_event(utterance: Utterance, original: ClaimAsserted, new: ClaimAsserted | None) -> CorrectionIssued:
    """The event that records a contested claim and the claim it is contested by."""
    legal = _LEGAL.search(flatten(composed(utterance.text[:2_000])))
    return CorrectionIssued(
        correction_id=derive("correction", utterance.conversation.key(), utterance.message_id, original.claim_id),
        kind="claim",
        target_id=original.claim_id,
        text=utterance.text,
        user_id=utterance.user_id,
        correction_kind="juridico" if legal else "factual",
        new_value=new.value if new else None,
        new_claim_id=new.claim_id if new else None,
        message_id=utterance.message_id,
        conversation_id=utterance.conversation.conversation_id,
        client_id=utterance.conversation.client_id,
        issued_at=utterance.at,
        seq=utterance.seq,
    )
