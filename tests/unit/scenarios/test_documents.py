"""Documents from `documents.in` to packs: formats, refusals, who may see what."""

import base64
from typing import Any

import pytest

from schemas.memory import DocumentSubmitted
from schemas.topics import DOCUMENTS_IN, MEMORY_KNOWLEDGE
from streams.testing.pipeline import Pipeline
from tests.builders.pdf import pdf


class Reading:
    """Reads in this process, as the child does."""

    async def read(self, kind: str, data: bytes) -> str:
        from streams.documents import html as html_reader
        from streams.documents import pdf as pdf_reader

        return (pdf_reader if kind == "pdf" else html_reader).text_of(data)


def submit(pipeline: Pipeline, data: bytes, **fields: Any) -> None:
    value = {"document_id": "d1", "title": "Manual", "data": base64.b64encode(data).decode(), **fields}
    pipeline.publish(DOCUMENTS_IN, value, {"tenant": "acme"})


def letters(pipeline: Pipeline) -> list[dict[str, str]]:
    return [
        {name: text.decode(errors="replace") for name, text in record.headers}
        for record in pipeline.log.of("dead-letters.ingestion")
    ]


@pytest.fixture
def pipeline():
    with Pipeline(replace={"documents": Reading()}) as made:
        yield made


def test_a_pdf_is_remembered_with_its_pages(pipeline):
    submit(
        pipeline, pdf([[(11, "O seguro de viagem cobre malas.")], [(11, "O reembolso sai em dez dias.")]]), tipo="pdf"
    )
    found = {chunk["text"]: chunk["page"] for chunk in pipeline.nodes("Chunk")}
    assert found["O seguro de viagem cobre malas.\n\nO reembolso sai em dez dias."] == 1
    pack = pipeline.ask("Explique em detalhes o que é o seguro de viagem e o reembolso")
    assert pack.semantic is not None
    assert [chunk.page for chunk in pack.semantic.knowledge_chunks] == [1]


def test_a_page_is_remembered_whatever_it_says_it_is(pipeline):
    submit(pipeline, b"<!doctype html><h1>Viagens</h1><p>O reembolso sai em dez dias.</p>", tipo="markdown")
    assert [chunk["text"] for chunk in pipeline.nodes("Chunk")] == ["O reembolso sai em dez dias."]
    assert {theme["nome"] for theme in pipeline.nodes("Tema") if theme["nivel"] == "macro"} == {"Viagens"}


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"PK\x03\x04 an archive", "document_type_unknown"),
        ("salário".encode("latin-1"), "document_encoding"),
        (b"%PDF-1.4 broken", "document_unreadable"),
        (pdf([[]]), "document_empty"),
        (b"   \n ", "document_empty"),
        (b"a " * 1_100_000, "document_too_large"),
    ],
    ids=["zip", "latin-1", "broken", "scanned", "blank", "large"],
)
def test_what_cannot_be_read_is_a_dead_letter_with_its_code_and_nothing_is_written(pipeline, data, code):
    submit(pipeline, data)
    [letter] = letters(pipeline)
    assert letter["fathom_reason"] == code
    assert "'d1'" in letter["__streams.errors.message"]
    assert pipeline.events(MEMORY_KNOWLEDGE) == []
    assert pipeline.nodes("Document") == []
    pipeline.document("d2", "Bom", "O reembolso sai em dez dias.")
    assert len(pipeline.nodes("Document")) == 1


def test_data_that_is_no_base64_is_refused(pipeline):
    pipeline.publish(DOCUMENTS_IN, {"document_id": "d1", "title": "x", "data": "***"}, {"tenant": "acme"})
    assert [letter["fathom_reason"] for letter in letters(pipeline)] == ["document_encoding"]


def test_a_document_has_text_or_data():
    with pytest.raises(ValueError, match="not both"):
        DocumentSubmitted(document_id="d", title="t", text="x", data="eA==")
    with pytest.raises(ValueError, match="non-empty text, or data"):
        DocumentSubmitted(document_id="d", title="t")


@pytest.mark.covers("AC-24")
def test_what_a_restricted_document_says_is_in_no_public_pack(pipeline):
    pipeline.document("d1", "Folha", "O bônus da diretoria é de dez salários.", access_level="restricted")
    pipeline.document("d2", "Regras", "O bônus de todos sai em março.")
    pack = pipeline.ask("Explique em detalhes o que é o bônus e quando sai")
    assert pack.semantic is not None
    said = pack.model_dump_json()
    assert "sai em março" in said
    assert "dez salários" not in said


def test_a_deleted_document_is_in_no_later_pack_until_it_is_sent_again(pipeline):
    question = "Explique em detalhes o que é o bônus e quando sai"
    pipeline.document("d1", "Folha", "O bônus de todos sai em março.")
    assert "sai em março" in pipeline.ask(question).model_dump_json()
    pipeline.clock.advance(60)
    for _ in range(2):
        pipeline.publish(DOCUMENTS_IN, {"document_id": "d1", "deleted": True}, {"tenant": "acme"}, b"d1")
    pipeline.clock.advance(60)
    assert "sai em março" not in pipeline.ask(question, conversation="c2").model_dump_json()
    assert letters(pipeline) == []
    pipeline.document("d1", "Folha", "O bônus de todos sai em março.")
    assert "sai em março" in pipeline.ask(question, conversation="c3").model_dump_json()


@pytest.mark.parametrize("value", [{"deleted": False}, {"deleted": True, "text": "x"}, {"deleted": None}])
def test_a_deletion_says_nothing_but_that(pipeline, value):
    pipeline.publish(DOCUMENTS_IN, {"document_id": "d1", **value}, {"tenant": "acme"})
    assert [letter["fathom_reason"] for letter in letters(pipeline)] == ["schema_invalid"]
