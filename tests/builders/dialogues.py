"""Conversations the depth tests are set in, as turns that are already remembered."""

from datetime import UTC, datetime, timedelta

from agents.core.conversation.memory import ConversationTurn, Turns

NOON = datetime(2025, 3, 3, 12, 0, tzinfo=UTC)


def talk(*contents: str) -> Turns:
    """Alternating turns, the user's first."""
    return tuple(
        ConversationTurn("assistant" if at % 2 else "user", content, NOON + timedelta(minutes=at))
        for at, content in enumerate(contents)
    )


NOTHING: Turns = ()
SALES = talk("Como foram as vendas Q1?", "As vendas Q1 cresceram 12% na região Sul.")
PROJECT = talk("Fala do projeto X", "O projeto X está em execução com 3 fases.")
DEADLINE = talk("Qual o prazo de entrega?", "O prazo é dia 15")
DEADLINE_EN = talk("What is the deadline?", "The deadline is the 15th.")
CONTRACT = talk(
    "Pode revisar o contrato de fornecimento?",
    "O contrato de fornecimento tem vigência de 24 meses e multa de 10%.",
)
HOLIDAYS = talk(
    "Quais são as políticas de férias?",
    "As férias são de 30 dias e devem ser marcadas com 60 dias de antecedência.",
)
ATLAS = talk(
    "Tell me about project Atlas",
    "Project Atlas is running, with three phases and a team of eight.",
)
INVOICES = talk("How do I approve an invoice?", "Open the invoice and press Approve.")
OFFER = talk("Obrigado pela ajuda com o relatório.", "De nada! Posso ajudar em mais alguma coisa?")
OFFER_EN = talk("Thanks for the report.", "You're welcome. Can I help you with anything else?")
ASKED = talk("Quero reservar uma sala.", "Para quantas pessoas e em qual andar?")
ASKED_EN = talk("I want to book a room.", "For how many people, and on which floor?")
CONFIRM = talk(
    "Marca uma reunião com a Ana na quinta às 10h.",
    "Confirmando: reunião com a Ana na quinta às 10h, correto?",
)
CONFIRM_EN = talk("Book a table for two at seven.", "Please confirm: a table for two at 7 pm tonight.")
