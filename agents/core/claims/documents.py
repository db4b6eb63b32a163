"""Document passages that state a value other than a claimed one; both sides are reported. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from agents.core.claims.extraction import Assertion, assertions
from agents.core.claims.matching import denied, values_agree, values_exclude
from agents.core.claims.subjects import subject_key
from agents.core.language import conflict_wording
from schemas.base import derive
from schemas.items import Contradiction, Provenance
from schemas.memory import ClaimAsserted

KIND = "document"
MAX_PASSAGE_CHARS = 4_000


@dataclass(frozen=True, slots=True)
class DocumentText:
    """A passage as read; its title is the owner of a bare `prazo` in it."""

    id: str
    title: str
    text: str
    recorded_at: datetime


def contradicted_by(claim: ClaimAsserted, documents: Sequence[DocumentText]) -> tuple[Contradiction, ...]:
    """The conflicts of a claim with documents on the same subject and attribute, one for each passage.

    A passage that also has the claimed value is no conflict; claims about oneself are not compared.
    """
    if subject_key(claim.subject).owned:
        return ()
    stated = [(document, each) for document in documents for each in _stated(document, claim)]
    named = {subject_key(each.subject).qualifiers for _, each in stated} | {subject_key(claim.subject).qualifiers}
    only_one = len(named - {frozenset()}) <= 1
    met = [(document, each) for document, each in stated if only_one or _same_subject(claim, each)]
    agreed = {document.id for document, each in met if values_agree(claim, each)}
    found = {
        document.id: _contradiction(claim, document, each)
        for document, each in reversed(met)
        if document.id not in agreed and _excludes(claim, each)
    }
    return tuple(found[document.id] for document in documents if document.id in found)


def _stated(document: DocumentText, claim: ClaimAsserted) -> Iterator[ClaimAsserted]:
    """A passage's statements on the claim's attribute and kind of subject, as claims."""
    head = subject_key(claim.subject).head
    text = document.text[:MAX_PASSAGE_CHARS]
    if document.title and not text.startswith(document.title):
        text = f"{document.title}\n{text}"
    for each in assertions(text, "system", claim.lang):
        if each.attribute == claim.attribute and subject_key(each.subject).head == head:
            yield _as_claim(each, document, claim)


def _as_claim(stated: Assertion, document: DocumentText, like: ClaimAsserted) -> ClaimAsserted:
    said = {"subject": stated.subject, "value": stated.value, "functional": stated.functional, "text": stated.text}
    whose = {"claim_id": document.id, "author": "system", "asserted_at": document.recorded_at}
    return like.model_copy(update={**said, **whose, "confidence": stated.confidence})


def _same_subject(one: ClaimAsserted, other: ClaimAsserted) -> bool:
    return subject_key(one.subject) == subject_key(other.subject)


def _excludes(claim: ClaimAsserted, stated: ClaimAsserted) -> bool:
    ours, theirs = denied(claim), denied(stated)
    if (ours is None) != (theirs is None):
        plain = claim.model_copy(update={"value": ours or claim.value})
        return values_agree(plain, stated.model_copy(update={"value": theirs or stated.value}))
    return ours is None and claim.functional and stated.functional and values_exclude(claim, stated)


def _contradiction(claim: ClaimAsserted, document: DocumentText, stated: ClaimAsserted) -> Contradiction:
    document_says = conflict_wording.written(document.title or document.id, stated.value, claim.lang, stated.text)
    return Contradiction(
        id=derive("contradiction", claim.claim_id, document.id),
        provenance=Provenance(store="index", id=document.id),
        recorded_at=document.recorded_at,
        reason=f"contradicts:{KIND}",
        score=round(min(claim.confidence, stated.confidence), 2),
        claim_id=claim.claim_id,
        contradicts=document.id,
        kind=KIND,
        status="pending_reconciliation",
        explanation=conflict_wording.sides(conflict_wording.claimed(claim, claim.lang), document_says, lang=claim.lang),
    )


def in_all(claims: Iterable[ClaimAsserted], documents: Sequence[DocumentText]) -> tuple[Contradiction, ...]:
    """The conflicts of several claims, each once."""
    found = {each.id: each for claim in claims for each in contradicted_by(claim, documents)}
    return tuple(found.values())
