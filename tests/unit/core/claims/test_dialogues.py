"""Short talks as people have them: what is contested, what stays, and what holds at the end, in both languages."""

import pytest

from agents.core.claims.lifecycle import contradictions, current, heard, session_claims
from agents.core.claims.resolution import offered
from tests.builders.claims import said, session

Turns = tuple[tuple[str, str], ...]
U, S = "user", "system"


def sides(*turns: tuple[str, str], lang: str) -> list[tuple[str, str]]:
    """The values of each pair that cannot both hold, the older one first."""
    claims = session(*turns, lang=lang)
    known = {claim.claim_id: claim.value for claim in claims}
    return [(known[each.contradicts], known[each.claim_id]) for each in contradictions(claims)]


SOURCED = (
    ("pt", "O prazo é dia 15.", "Não, segundo a ata o prazo é dia 20", "15", "20"),
    ("pt", "O prazo é dia 15.", "Não, o prazo é dia 20, conforme a ata", "15", "20"),
    ("pt", "O prazo é dia 15.", "Não, o Pedro disse que o prazo é dia 20", "15", "20"),
    ("pt", "O orçamento é de R$ 300 mil.", "Segundo a planilha do RH, o orçamento é de R$ 280 mil", "300", "280"),
    ("pt", "A reunião é terça.", "não, de acordo com o convite a reunião é quinta", "terça", "quinta"),
    ("pt", "O prazo é dia 15.", "me disseram que o prazo é dia 20", "15", "20"),
    ("pt", "O desconto é de 10%.", "o contrato diz que o desconto é de 12%", "10", "12"),
    ("en", "The deadline is the 15th.", "No, according to the minutes the deadline is the 20th", "15", "20"),
    ("en", "The deadline is the 15th.", "No, the deadline is the 20th, according to the minutes", "15", "20"),
    ("en", "The deadline is the 15th.", "No, Pedro said the deadline is the 20th", "15", "20"),
    ("en", "The budget is $120k.", "Finance told me the budget is $150k", "120", "150"),
    ("en", "The fee is 10%.", "As per the contract, the fee is 12%", "10", "12"),
    ("en", "The meeting is on Monday.", "my boss says that the meeting is on Friday", "Monday", "Friday"),
)  # fmt: skip


@pytest.mark.covers("S0-67", "S0-73", "S0-75", "CF-15", "CF-40")
@pytest.mark.parametrize(("lang", "first", "reply", "old", "new"), SOURCED)
def test_a_correction_with_its_source_is_a_less_sure_claim_that_contests(
    lang: str, first: str, reply: str, old: str, new: str
) -> None:
    earlier = session((S, first), lang=lang)
    found = heard(said(1, U, reply, lang), earlier)
    assert found.original == earlier[0]
    assert found.correction is not None
    assert found.correction.new_value is not None
    assert new in found.correction.new_value
    [claim] = found.claims
    assert claim.confidence < 0.6
    [(before, after)] = sides((S, first), (U, reply), lang=lang)
    assert old in before
    assert new in after
    assert [new in each.claim.value for each in offered(session((S, first), (U, reply), lang=lang))] == [True]


@pytest.mark.parametrize(
    ("lang", "own", "reported"),
    [
        ("pt", "O prazo é dia 15", "O João disse que o prazo é dia 20"),
        ("pt", "O prazo é dia 15", "Segundo o Pedro, o prazo é dia 20"),
        ("en", "The deadline is the 15th", "Ana says the deadline is the 20th"),
        ("en", "The deadline is the 15th", "According to Ana, the deadline is the 20th"),
    ],
)
def test_what_another_is_said_to_have_said_takes_nothing_of_ones_own_back(lang: str, own: str, reported: str) -> None:
    claims = session((U, own), (U, reported), lang=lang)
    assert [claim.status for claim in claims] == ["asserted", "asserted"]
    assert sides((U, own), (U, reported), lang=lang) == []


@pytest.mark.parametrize(
    ("text", "lang"),
    [
        ("O Pedro não disse que o prazo é dia 20", "pt"),
        ("Quem disse que o prazo é dia 20?", "pt"),
        ("Se o Pedro disse que o prazo é dia 20, tudo bem", "pt"),
        ("Pedro never said the deadline is the 20th", "en"),
        ("Did the minutes say the deadline is the 20th?", "en"),
    ],
)
def test_what_nobody_said_is_no_claim(text: str, lang: str) -> None:
    assert session((U, text), lang=lang) == ()


CONTESTED = (
    ("pt", S, "O contrato tem multa rescisória de 10%", "A multa rescisória é de 20%", "10", "20"),
    ("pt", U, "O plano tem carência de 30 dias", "Não, a carência é de 60 dias", "30", "60"),
    ("en", S, "The contract has a termination fee of 10%", "The termination fee is 20%", "10", "20"),
    ("pt", U, "O CNPJ da Beta é 12.345.678/0001-90", "Não, o CNPJ da Beta é 12.345.678/0002-71", "0001", "0002"),
    ("pt", U, "O código do item é AB-1203", "O código do item é AB-1204", "1203", "1204"),
    ("en", S, "The tax id of Beta is 98-7654321", "No, the tax id of Beta is 98-7654329", "321", "329"),
    ("en", U, "The part number is XK-2201", "Sorry, the part number is XK-2210", "2201", "2210"),
    ("pt", S, "O telefone do Carlos é 11 99999-0000", "Não, o telefone dele é 11 98888-1111", "0000", "1111"),
    ("pt", S, "O telefone do Carlos é (11) 99999-0000", "Não, o telefone do Carlos é (11) 98888-1111", "0000", "1111"),
    ("en", S, "Carla's phone is (212) 555-0100", "No, her phone is (212) 555-0199", "0100", "0199"),
    ("pt", S, "Cabe recurso da decisão", "Discordo, não cabe recurso da decisão", "cabe", "não cabe"),
    ("pt", S, "Incide multa sobre o saque", "Não incide multa sobre o saque", "incide", "não incide"),
    ("en", S, "The discount applies", "No, the discount does not apply", "applies", "not applies"),
    ("pt", S, "O pedido 123 foi entregue", "O pedido 123 não foi entregue", "entregue", "não entregue"),
    ("pt", S, "A nota foi paga", "Errado, a nota não foi paga", "pago", "não pago"),
    ("en", S, "Order 123 was delivered", "No, order 123 was not delivered", "delivered", "not delivered"),
    ("en", S, "The invoice has been paid", "That's wrong, the invoice hasn't been paid", "paid", "not paid"),
    ("pt", S, "O contrato foi assinado em 10 de janeiro", "Não, o contrato foi assinado em 12 de janeiro", "10", "12"),
    ("en", S, "The contract was signed on May 3", "No, the contract was signed on May 5", "3", "5"),
    ("en", S, "The service is written in Go", "No, the service is written in Rust", "Go", "Rust"),
    ("en", S, "The service is written in Go", "No, it's written in Rust", "Go", "Rust"),
    ("en", S, "The service is written in Go", "No, in Rust", "Go", "Rust"),
    ("pt", S, "O serviço é escrito em Go", "Não, o serviço é escrito em Rust", "Go", "Rust"),
    ("en", U, "Maria owns the Atlas project", "Pedro owns the Atlas project", "Maria", "Pedro"),
    ("pt", U, "A Maria lidera o projeto Atlas", "O Pedro lidera o projeto Atlas", "Maria", "Pedro"),
    ("pt", S, "O orçamento aprovado é R$ 300 mil", "o orçamento foi reduzido para 280 mil", "300", "280"),
    ("en", S, "The approved budget is $300k", "the budget was cut to $280k", "300", "280"),
    ("pt", S, "O kit inclui 3 licenças", "Não, o kit inclui 5 licenças", "3", "5"),
    ("en", S, "The plan includes 3 seats", "No, the plan includes 5 seats", "3", "5"),
)  # fmt: skip


@pytest.mark.covers("S0-73", "S0-67")
@pytest.mark.parametrize(("lang", "who", "first", "second", "old", "new"), CONTESTED)
def test_a_statement_and_its_contrary_are_a_contradiction(
    lang: str, who: str, first: str, second: str, old: str, new: str
) -> None:
    [(before, after)] = sides((who, first), (U, second), lang=lang)
    assert old in before
    assert new in after


REPORT = "O prazo do relatório é dia 10"
BOTH_STAY = (
    ("pt", ("Meu filho é o Pedro", "Meu filho é o João")),
    ("pt", ("Minha amiga é a Rita", "Minha amiga é a Clara")),
    ("pt", ("Meu gato se chama Tom", "Meu gato se chama Mia")),
    ("en", ("My son is Peter", "My son is John")),
    ("en", ("My daughter is called Ana", "My daughter is called Eva")),
    ("pt", (REPORT, "Agora o projeto Boreal.", "O orçamento do Boreal é R$ 50 mil e o prazo é dia 20")),
    ("pt", (REPORT, "Agora o projeto Boreal.", "O prazo é dia 20")),
    ("pt", (REPORT, "Vamos falar do projeto Boreal agora", "O prazo é dia 20")),
    ("en", ("The deadline of the report is May 10", "Now let's talk about Boreal", "The deadline is May 20")),
    ("pt", (REPORT, "Agora o projeto Boreal. O orçamento do Boreal é R$ 50 mil e o prazo é dia 20")),
    ("pt", ("O prazo do relatório é dia 10", "O responsável pelo projeto Boreal é a Ana", "O prazo é dia 20")),
    ("en", ("The report's deadline is May 10", "Now project Boreal. Its budget is $50k. The deadline is May 20")),
    ("en", ("The deadline of the report is May 10", "The budget of Boreal is $50k and the deadline is May 20")),
    ("pt", ("O contrato tem multa de 10%", "O contrato tem multa de R$ 500")),
    ("pt", ("O pedido 123 foi entregue", "O pedido 124 não foi entregue")),
    ("pt", ("Cabe recurso da decisão", "Não cabe recurso da sentença")),
    ("pt", ("O contrato foi assinado em 10 de janeiro", "O contrato foi publicado em 12 de janeiro")),
    ("en", ("The service is written in Go", "The client is written in Rust")),
    ("en", ("The order was paid", "The order was shipped")),
    ("pt", ("Sou alérgico a amendoim", "Sou alérgico a camarão")),
    ("pt", ("O CNPJ da Beta é 12.345.678/0001-90", "O CNPJ da Gama é 12.345.678/0002-71")),
    ("en", ("Maria owns the Atlas project", "Pedro owns the Boreal project")),
)  # fmt: skip


@pytest.mark.covers("CF-74", "S0-73")
@pytest.mark.parametrize(("lang", "turns"), BOTH_STAY)
def test_what_only_looks_alike_stays(lang: str, turns: tuple[str, ...]) -> None:
    claims = session(*((U, text) for text in turns), lang=lang)
    assert len(claims) >= 2
    assert {claim.status for claim in claims} == {"asserted"}
    assert contradictions(claims) == ()


@pytest.mark.covers("CF-74", "S0-73")
def test_the_deadline_of_a_named_project_is_filed_under_that_project() -> None:
    claims = session((U, "O orçamento do Boreal é R$ 50 mil e o prazo é dia 20"))
    assert [claim.subject for claim in claims] == ["orçamento do boreal", "prazo do boreal"]


CHANGED_MINDS = (
    ("pt", "O prazo é dia 15.", "Não, dia 20", "Certo, dia 20.", "me confundi, o prazo é dia 15 mesmo"),
    ("pt", "A reunião é terça.", "Não, quinta", "Certo, quinta.", "eu me enganei, a reunião é terça mesmo"),
    ("en", "The deadline is the 15th.", "No, the 20th", "Okay, the 20th.", "I was wrong, it's the 15th after all"),
    ("en", "The deadline is the 15th.", "No, the 20th", "Okay.", "The deadline is the 15th after all, sorry"),
    ("en", "The deadline is the 15th.", "No, the 20th", "Okay.", "I mixed it up, the deadline is the 15th"),
)  # fmt: skip


@pytest.mark.covers("CF-74", "S0-75")
@pytest.mark.parametrize(("lang", "first", "no", "yes", "back"), CHANGED_MINDS)
def test_a_change_of_mind_leaves_one_value(lang: str, first: str, no: str, yes: str, back: str) -> None:
    claims = session((S, first), (U, no), (S, yes), (U, back), lang=lang)
    assert {claim.message_id for claim in current(claims)} == {"m3"}
    assert [each.claim.message_id for each in offered(claims)] == ["m3"]


def test_ones_own_newer_value_supersedes_and_the_older_one_is_kept() -> None:
    for lang, older, newer in (
        ("pt", "Moro em Lisboa", "Me mudei para o Porto"),
        ("en", "I live in Lisbon", "I moved to Porto"),
        ("pt", "Meu nome é Ana", "Na verdade me chamo Mariana"),
        ("en", "I work as a designer", "I now work as a product manager"),
        ("pt", "Sou analista de dados", "Agora sou gerente de produto"),
        ("pt", "O prazo do relatório é dia 10", "O prazo do relatório passou para dia 12"),
    ):
        old, new = session_claims([said(0, U, older, lang), said(1, U, newer, lang)])
        assert (old.status, new.supersedes) == ("superseded", (old.claim_id,)), newer
