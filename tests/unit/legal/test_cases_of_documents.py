"""Cases that a document refers to, beside its processes."""

import pytest

from schemas.topics import CORRECTIONS_IN
from streams.stores.tenant import natural_id
from tests.unit.scenarios.test_documents import pipeline  # noqa: F401


@pytest.mark.covers("CF-36")
def test_how_to_do_something_a_case_and_a_customs_reference_are_three_things_and_claims_are_one(pipeline):  # noqa: F811
    text = """# Compras

## Como pedir reembolso

1. Abra o portal.
2. Envie o recibo da importação DMD.0001/26.

## Contencioso

A multa é discutida no processo 0001234-56.2024.8.26.0100.
"""
    pipeline.document("compras", "Compras", text)
    assert [each["name"] for each in pipeline.nodes("Process")] == ["Como pedir reembolso"]
    assert [(each["tipo"], each["referencia"]) for each in pipeline.nodes("Processo")] == [
        ("judicial", "0001234-56.2024.8.26.0100")
    ]
    assert not {each["id"] for each in pipeline.nodes("Process")} & {each["id"] for each in pipeline.nodes("Processo")}
    pipeline.say("O prazo do projeto Alfa é dia 15 de maio")
    [claim] = pipeline.nodes("Claim")
    contested = {"texto": "É dia 20.", "usuario_id": "lia", "tipo": "factual", "new_value": "dia 20 de maio"}
    pipeline.publish(CORRECTIONS_IN, {**contested, "claim_id": natural_id(str(claim["id"]))}, {"tenant": "acme"})
    # What contests a claim of a conversation is a claim like it.
    assert len(pipeline.nodes("Claim")) == 2
