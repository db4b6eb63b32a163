"""What documents and other conversations say otherwise: both sides are named, and nothing is contradicted falsely."""

from datetime import timedelta
from typing import Any

import pytest

from agents.core.claims.documents import DocumentText, contradicted_by
from agents.core.claims.lifecycle import claims_of
from agents.errors import Unavailable
from schemas.memory import ClaimAsserted
from streams.testing.pipeline import Pipeline
from streams.topology import STAGES
from tests.builders.claims import NOON, said


def claim(text: str, lang: str = "pt", author: str = "system") -> ClaimAsserted:
    [found] = claims_of(said(1, author, text, lang))
    return found


def passage(text: str, title: str = "", number: int = 1) -> DocumentText:
    return DocumentText(f"p{number}", title, text, NOON - timedelta(days=1))


DIFFERENT = [
    ("pt", "O prazo do projeto Atlas é 15 de março", "O prazo do projeto Atlas é 20 de março.", "", "20 de março"),
    ("pt", "O prazo do projeto Atlas é 15 de março", "O prazo é 20 de março.", "Projeto Atlas", "20 de março"),
    ("pt", "O reembolso é pago em 10 de maio", "O reembolso é pago em 12 de maio.", "Viagens", "12 de maio"),
    ("pt", "Cabe recurso da decisão", "Não cabe recurso da decisão.", "Regimento", "não cabe"),
    ("pt", "A multa rescisória é de 20%", "O contrato tem multa rescisória de 10%.", "", "10%"),
    ("en", "The budget of project Atlas is $280k", "The budget of project Atlas is $300k.", "", "$300k"),
    ("en", "The deadline is May 3", "The deadline for proposals is May 10.", "Tender", "May 10"),
]


@pytest.mark.covers("S0-67", "S0-73")
@pytest.mark.parametrize(("lang", "said_here", "written", "title", "value"), DIFFERENT)
def test_another_value_in_a_document_is_a_conflict_with_both_sides(
    lang: str, said_here: str, written: str, title: str, value: str
) -> None:
    mine = claim(said_here, lang)
    [found] = contradicted_by(mine, [passage("Nada sobre isso.", number=2), passage(written, title)])
    assert (found.claim_id, found.contradicts, found.kind) == (mine.claim_id, "p1", "document")
    assert found.status == "pending_reconciliation"
    for part in (mine.value, value, written.rstrip(".")[:20], "assist"):
        assert part in found.explanation


@pytest.mark.parametrize(
    ("lang", "said_here", "written", "title"),
    [
        ("pt", "O prazo do projeto Atlas é 20 de março", "O prazo do projeto Atlas é dia 20.", ""),
        ("pt", "O prazo do projeto Atlas é 15 de março", "O prazo do projeto Boreal é 20 de março.", ""),
        ("pt", "O prazo do projeto Atlas é 15 de março", "O prazo é 20 de março.", "Projeto Boreal"),
        ("pt", "O prazo do projeto Atlas é 15 de março", "Se o prazo do projeto Atlas for 20 de março, adie.", ""),
        ("pt", "O prazo é 15 de março", "O prazo do projeto Atlas é 20 de março. O prazo do projeto X é dia 9.", ""),
        ("pt", "O prazo do projeto Atlas é 15 de março", "O orçamento do projeto Atlas é de R$ 20 mil.", ""),
        ("en", "The price of plan A is $10", "The price of plan B is $20.", ""),
        ("en", "The price is $10 per month", "The price is $100 per year.", ""),
    ],
)
def test_what_documents_say_of_other_things_or_alike_is_no_conflict(
    lang: str, said_here: str, written: str, title: str
) -> None:
    assert contradicted_by(claim(said_here, lang), [passage(written, title)]) == ()


def test_of_oneself_no_document_speaks() -> None:
    mine = claim("Meu prazo é dia 15", author="user")
    assert contradicted_by(mine, [passage("O prazo do usuário é dia 20.")]) == ()


@pytest.mark.covers("S0-67", "CF-15", "AC-10")
def test_a_contested_claim_comes_with_the_document_that_says_otherwise() -> None:
    with Pipeline() as fathom:
        fathom.document("d1", "Projeto Atlas", "O prazo do projeto Atlas é 20 de março.")
        fathom.say("O prazo do projeto Atlas é 15 de março.", role="assistant")
        pack = fathom.ask("não concordo com esse prazo")
        assert pack.claims is not None
        [found] = [each for each in pack.claims.contradictions if each.kind == "document"]
        [contested] = [each for each in pack.claims.system_claims if each.claim_id == found.claim_id]
        assert contested.value == "15 de março"
        assert "20 de março" in found.explanation


@pytest.mark.covers("S0-67", "S0-73")
@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("O prazo do projeto Atlas é dia 15.", "Não, o prazo do projeto Atlas é dia 20"),
        ("The deadline of project Atlas is May 15.", "No, the deadline of project Atlas is May 20"),
    ],
)
def test_a_claim_of_another_conversation_is_a_conflict_with_both_sides(before: str, now: str) -> None:
    with Pipeline() as fathom:
        fathom.say(before, conversation="c0")
        fathom.say(before.replace("15", "12"), role="assistant")
        pack = fathom.ask(now)
        assert pack.claims is not None
        sides = {each.explanation.count("15") > 0 for each in pack.claims.contradictions}
        assert True in sides


class Silent:
    """An index that does not answer."""

    async def search(self, *_: Any) -> Any:
        raise Unavailable("index", "connection refused")


def test_without_the_index_what_other_conversations_say_is_still_compared() -> None:
    stages = [stage for stage in STAGES if stage.name not in ("turn-indexer", "summary-writer")]
    with Pipeline(replace={"index": Silent()}, stages=stages) as fathom:
        fathom.say("O prazo do projeto Atlas é dia 15.", conversation="c0")
        pack = fathom.ask("Não, o prazo do projeto Atlas é dia 20")
        assert pack.claims is not None
        assert [each.status for each in pack.claims.contradictions] == ["pending_reconciliation"]
        assert pack.degraded


def test_a_document_above_the_readers_level_says_nothing_to_him() -> None:
    with Pipeline() as fathom:
        fathom.document("d1", "Projeto Atlas", "O prazo do projeto Atlas é 20 de março.", access_level="restricted")
        fathom.say("O prazo do projeto Atlas é 15 de março.", role="assistant")
        pack = fathom.ask("não concordo com esse prazo")
        assert "20 de março" not in pack.model_dump_json()


def test_what_another_user_said_of_himself_is_not_shown() -> None:
    with Pipeline() as fathom:
        fathom.say("Meu email é rui@x.com", conversation="c0", headers={"user_id": "rui"})
        fathom.say("Seu email é ana@y.com.", role="assistant", headers={"user_id": "ana"})
        pack = fathom.ask("Não, meu email é ana@z.com", headers={"user_id": "ana"})
        assert "rui@x.com" not in pack.model_dump_json()
        assert "ana@z.com" in pack.model_dump_json()
