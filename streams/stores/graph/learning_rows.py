"""Rows of the graph for corrections and consultations; pure."""

from collections.abc import Iterable, Sequence

from schemas.base import PUBLIC_TENANT, derive
from schemas.envelope import Received
from schemas.items import ClaimStatus
from schemas.learning import ConsultationRecorded, GraphRef, SubQuestion
from schemas.memory import CorrectionIssued
from streams.stores.graph.rows import STATUS_RANK, NodeInsert, NodeUpsert, Row, link, picked, present
from streams.stores.tenant import node_id, writable


def correction_rows(received: Sequence[Received[CorrectionIssued]]) -> Iterable[Row]:
    """Corrections with their claim or consultation, and the nodes they penalise."""
    for row in received:
        correction, tenant = row.event, writable(row.envelope.tenant)
        own, target = correction.correction_id, correction.target_id
        yield _correction(correction, tenant)
        if correction.kind == "consulta":
            yield link("CORRIGIDA_POR", tenant, target, own)
        else:
            yield link("CORRECTS", tenant, own, target)
            # How a thing is written says nothing against it.
            if correction.correction_kind != "formatacao" and correction.ruling != "confirm":
                status: ClaimStatus = "retracted" if correction.ruling else "contested"
                yield NodeUpsert("Claim", node_id(tenant, target), tenant, STATUS_RANK[status], {"status": status})
        for path in correction.penalised_paths:
            if (ref := GraphRef.from_path(path)) is not None:
                owner = PUBLIC_TENANT if ref.public else tenant
                yield link(f"PENALIZA:{ref.label}", tenant, own, ref.id, owner, peso=correction.weight)


def _correction(correction: CorrectionIssued, tenant: str) -> NodeInsert:
    return NodeInsert(
        "Correcao",
        node_id(tenant, correction.correction_id),
        tenant,
        {
            **picked(correction, "kind texto usuario_id tipo target_id new_value new_claim_id message_id"),
            **picked(correction, "conversation_id client_id penalised_paths ruling"),
            **present(data=correction.issued_at, created_at=correction.issued_at),
        },
    )


def sub_question_id(consultation_id: str, node: str) -> str:
    """The id of a sub-question in its tenant; every consultation numbers its own from the start."""
    return derive("sub-question", consultation_id, node)


def consultation_rows(received: Sequence[Received[ConsultationRecorded]]) -> Iterable[Row]:
    """Consultations with their tree of sub-questions, the nodes each answer uses, and the consultations reused."""
    for row in received:
        consultation, tenant = row.event, writable(row.envelope.tenant)
        yield _consultation(consultation, tenant)
        for older in consultation.reused:
            yield link("REUSED", tenant, consultation.consultation_id, older)
        for sub in consultation.sub_questions:
            yield from _sub_question_rows(sub, consultation, tenant)


def _consultation(consultation: ConsultationRecorded, tenant: str) -> NodeInsert:
    used = {ref.path() for sub in consultation.sub_questions for ref in sub.uses}
    own = {
        GraphRef(label="SubPergunta", id=sub_question_id(consultation.consultation_id, sub.node_id)).path()
        for sub in consultation.sub_questions
    }
    return NodeInsert(
        "Consulta",
        node_id(tenant, consultation.consultation_id),
        tenant,
        {
            **picked(consultation, "pergunta_usuario resposta_final data job_id verification_status usuario_id"),
            **picked(consultation, "conversation_id client_id access_level lang signature scope case_id"),
            # The nodes that a correction penalises: read with it, in one look-up by id.
            "paths": sorted(used | own),
            **present(created_at=consultation.consulted_at),
        },
    )


def _sub_question_rows(sub: SubQuestion, consultation: ConsultationRecorded, tenant: str) -> Iterable[Row]:
    own = sub_question_id(consultation.consultation_id, sub.node_id)
    yield NodeInsert(
        "SubPergunta",
        node_id(tenant, own),
        tenant,
        {
            **picked(sub, "texto resposta citacoes node_id confidence verified signature evidence"),
            "chunks": [ref.id for ref in sub.uses if ref.label == "Chunk"],
            **present(access_level=consultation.access_level, created_at=consultation.consulted_at),
        },
    )
    yield link("DECOMPOSTA_EM", tenant, consultation.consultation_id, own)
    if sub.parent_id is not None:
        yield link("FILHA_DE", tenant, own, sub_question_id(consultation.consultation_id, sub.parent_id))
    for ref in sub.uses:
        if ref.label in ("Processo", "Dispositivo", "Jurisprudencia"):
            yield link(f"USA_NO:{ref.label}", tenant, own, ref.id, PUBLIC_TENANT if ref.public else tenant)
