"""Messages that state something and ask nothing, so that an empty pack lacks nothing."""

import pytest

from agents.core.claims.extraction import only_states

STATES = [
    ("en", "My sister lives in Porto."),
    ("en", "My dog is called Pirate and I take the train at 7:40"),
    ("en", "Actually the deadline is Friday."),
    ("en", "I live in Porto, and my brother lives in Braga"),
    ("pt", "Meu carro é um Fiat Uno 2010."),
    ("pt", "O prazo agora é sexta, não quinta"),
    ("pt", "Minha irmã se chama Rita"),
]
ASKS = [
    ("en", "What is my dog called?"),
    ("en", "my name is Ana, tell me the notice period"),
    ("en", "My plan is premium and I want to know the limits"),
    ("en", "My flight is at 9, let me know what to pack"),
    ("en", "The budget is 500 euros. Recommend something"),
    ("en", "contract notice period"),
    ("en", "My question is the refund policy"),
    ("en", "My budget is 500. Plan a trip to Rome."),
    ("en", "My sister lives in Porto. Any good restaurants there"),
    ("pt", "Minha senha do wifi é abc123, qual é o prazo?"),
    ("pt", "me diga o prazo; meu plano é o básico"),
    ("pt", "meu plano é o básico e quero saber o prazo"),
    ("pt", "Meu filho tem 6 anos. Sugira um livro"),
    ("pt", "prazo do contrato"),
    ("pt", "Minha dúvida é o prazo do contrato"),
    ("pt", "Meu pedido é o 4471. Cancela por favor"),
]


@pytest.mark.parametrize(("lang", "said"), STATES)
def test_a_statement_states(lang: str, said: str):
    assert only_states(said, lang)


@pytest.mark.parametrize(("lang", "said"), ASKS)
def test_what_wants_an_answer_does_not_only_state(lang: str, said: str):
    assert not only_states(said, lang)
