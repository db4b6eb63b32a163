"""What every tenant reads: documents of `_public`, stored by an administrator's workers only."""

import orjson
import pytest

from schemas.base import PUBLIC_TENANT
from schemas.topics import MEMORY_CLAIMS, MEMORY_KNOWLEDGE
from streams.testing.pipeline import Pipeline

LAW = """# Lei das férias

As férias de trinta dias são devidas depois de doze meses de trabalho.
"""
QUESTION = "Explica como funcionam as férias de trinta dias"


def texts(fathom: Pipeline, tenant: str) -> list[str]:
    pack = fathom.ask(QUESTION, tenant=tenant)
    assert pack.semantic is not None
    return [chunk.text for chunk in pack.semantic.knowledge_chunks]


@pytest.mark.covers("AC-36")
def test_law_that_an_administrator_gave_is_read_by_every_tenant():
    with Pipeline(public_writer="on") as fathom:
        fathom.document("law-1", "Lei das férias", LAW, tenant=PUBLIC_TENANT)
        for tenant in ("acme", "beta"):
            assert any("doze meses" in text for text in texts(fathom, tenant))
        assert fathom.log.of("dead-letters.ingestion") == fathom.log.of("dead-letters.knowledge-writer") == []


@pytest.mark.covers("AC-36")
def test_without_the_administrators_setting_it_is_a_dead_letter_and_nobody_reads_it():
    with Pipeline() as fathom:
        fathom.document("law-1", "Lei das férias", LAW, tenant=PUBLIC_TENANT)
        [letter] = fathom.log.of("dead-letters.ingestion")
        headers = dict(letter.headers)
        assert headers["fathom_reason"] == b"public_tenant_read_only"
        assert b"FATHOM_PUBLIC_WRITER" in headers["__streams.errors.message"]
        assert orjson.loads(letter.value or b"")["document_id"] == "law-1"
        assert texts(fathom, "acme") == []


def test_knowledge_of_public_that_went_around_ingestion_is_not_stored_either():
    with Pipeline(public_writer="on") as admin:
        admin.document("law-1", "Lei das férias", LAW, tenant=PUBLIC_TENANT)
        [made] = admin.log.of("memory.knowledge")
    with Pipeline() as fathom:
        headers = {name: bytes(value).decode() for name, value in made.headers}
        assert headers["tenant"] == PUBLIC_TENANT
        fathom.publish(MEMORY_KNOWLEDGE, made.value, headers, made.key or b"")
        [letter] = fathom.log.of("dead-letters.knowledge-writer")
        assert dict(letter.headers)["fathom_reason"] == b"public_tenant_read_only"
        assert texts(fathom, "acme") == []


def test_only_documents_are_public():
    with Pipeline(public_writer="on") as fathom:
        fathom.say("O prazo é dia 15.", tenant=PUBLIC_TENANT)
        [letter] = fathom.log.of("dead-letters.depth")
        assert dict(letter.headers)["fathom_reason"] == b"bad_envelope"
        assert fathom.events(MEMORY_CLAIMS) == []
