"""The effect of a correction from outside a conversation on a claim or a consultation; pure.

It is a user's statement, not the truth: a claim of the other side becomes contested; only the user's own one is
replaced at once. A correction of spelling or format (`formatacao`) contests and penalises nothing. By a ruling the
user takes the own claim back, or says again that it holds.
"""

from collections.abc import Sequence
from datetime import datetime

from agents.core.claims import lifecycle
from agents.core.claims.corrections import corrected
from agents.core.claims.matching import relate
from agents.core.claims.subjects import subject_key
from agents.core.conversation.utterances import Utterance
from schemas.base import Conversation, Source
from schemas.items import ClaimStatus
from schemas.learning import CorrectionSubmitted, QuarantineChanged, QuarantinedMessage
from schemas.memory import ClaimAsserted, Conflict, CorrectionIssued

PENALTY = 0.5  # the share of its score that a source keeps after one correction
STATED = 0.9
MAX_TEXT = 400


def of_claim(
    submitted: CorrectionSubmitted,
    original: ClaimAsserted,
    *,
    tenant: str,
    at: datetime,
    source: Source,
    id: str,
    earlier: Sequence[ClaimAsserted] = (),
) -> tuple[CorrectionIssued, ClaimAsserted | None]:
    """The correction of a claim, and the claim that takes its place, or confirms it against `earlier` ones."""
    # Clocks differ; a correction is dated after its target, since the older value would count as the newer otherwise.
    at = max(at, original.asserted_at)
    said = _said(submitted, original, tenant, at, source, id)
    if submitted.ruling == "confirm":
        new = relate(_stated(original.value, original, said, "confirmed"), earlier)
    elif submitted.ruling == "retract" or submitted.correction_kind == "formatacao":
        new = None
    else:
        new = _in_its_place(submitted, original, said)
    issued = CorrectionIssued(
        correction_id=id,
        kind="claim",
        target_id=original.claim_id,
        text=submitted.text,
        user_id=submitted.user_id,
        correction_kind=submitted.correction_kind,
        new_value=new.value if new else submitted.new_value,
        new_claim_id=new.claim_id if new else None,
        ruling=submitted.ruling,
        conversation_id=original.conversation_id,
        client_id=original.client_id,
        issued_at=at,
        seq=original.seq,
    )
    return issued, new


def _said(
    submitted: CorrectionSubmitted, original: ClaimAsserted, tenant: str, at: datetime, source: Source, id: str
) -> Utterance:
    """The correction as something that its user says where the claim was made."""
    return Utterance(
        conversation=Conversation(
            tenant=tenant, client_id=original.client_id, conversation_id=original.conversation_id
        ),
        message_id=id,
        author="user",
        text=submitted.text,
        lang=original.lang,
        seq=original.seq,
        frame_id=original.frame_id,
        user_id=submitted.user_id,
        at=at,
        source=source,
    )


def _in_its_place(submitted: CorrectionSubmitted, original: ClaimAsserted, said: Utterance) -> ClaimAsserted | None:
    if subject_key(original.subject).owned and original.author == "user" and original.user_id != submitted.user_id:
        # Another user may contest a claim about oneself but not replace it: the new claim would have the wrong subject.
        return None
    new = _stated(submitted.new_value, original, said) if submitted.new_value else corrected(said, original)
    if new is None or lifecycle.values_agree(new, original):
        return None
    conflict = Conflict(
        claim_id=original.claim_id, kind="correction", score=round(min(new.confidence, original.confidence), 2)
    )
    own = original.author == "user" and original.user_id == submitted.user_id
    # Whoever knows the claim knows what was said against it.
    told = tuple(each for each in (original.user_id, *(original.audience or ())) if each != submitted.user_id)
    return new.model_copy(
        update={
            "contradicts": (conflict,),
            "supersedes": (original.claim_id,) if own else (),
            "audience": told or None,
            "tenant_wide": original.tenant_wide,
        }
    )


def hidden_with(original: ClaimAsserted, issued: CorrectionIssued) -> QuarantineChanged:
    """What keeps a claim that was taken back out of packs, with the message that made it."""
    message = QuarantinedMessage(
        message_id=original.message_id,
        client_id=original.client_id,
        conversation_id=original.conversation_id,
        seq=original.seq,
    )
    return QuarantineChanged(
        source_kind="claim",
        source_id=original.claim_id,
        state="quarantined",
        messages=(message,),
        reason=issued.text,
        asked_by=issued.user_id,
        issued_at=issued.issued_at,
    )


def _stated(value: str, original: ClaimAsserted, said: Utterance, status: ClaimStatus = "asserted") -> ClaimAsserted:
    return original.model_copy(
        update={
            "claim_id": lifecycle.claim_id_of(said, original.subject, original.attribute, value.strip()),
            "author": "user",
            "text": said.text.strip()[:MAX_TEXT],
            "value": value.strip(),
            "message_id": said.message_id,
            "user_id": said.user_id,
            "confidence": STATED,
            "status": status,
            "asserted_at": said.at,
            "source": said.source,
            "contradicts": (),
            "supersedes": (),
        }
    )


def of_consultation(
    submitted: CorrectionSubmitted, consultation_id: str, paths: tuple[str, ...], *, at: datetime, id: str
) -> CorrectionIssued:
    """The correction of a consultation; it penalises the source nodes of the answer, unless it is about format only."""
    penalised = () if submitted.correction_kind == "formatacao" else paths
    return CorrectionIssued(
        correction_id=id,
        kind="consulta",
        target_id=consultation_id,
        text=submitted.text,
        user_id=submitted.user_id,
        correction_kind=submitted.correction_kind,
        new_value=submitted.new_value,
        penalised_paths=penalised,
        weight=PENALTY if penalised else None,
        issued_at=at,
    )
