"""Natural messages and the level each deserves: what people write in offices, in two languages."""

from datetime import UTC, datetime, timedelta

import pytest

from agents.core.conversation import ConversationTurn, Turns
from agents.core.depth import classify
from schemas.depth import DepthLevel

NOON = datetime(2025, 3, 3, 12, 0, tzinfo=UTC)


def talk(*contents: str) -> Turns:
    """Alternating turns, the user's first."""
    roles = ("user", "assistant")
    return tuple(
        ConversationTurn(roles[at % 2], content, NOON + timedelta(minutes=at))  # type: ignore[arg-type]
        for at, content in enumerate(contents)
    )


NOTHING: Turns = ()
SALES = talk("Como foram as vendas Q1?", "As vendas Q1 cresceram 12% na região Sul.")
PROJECT = talk("Fala do projeto X", "O projeto X está em execução com 3 fases.")
DEADLINE = talk("Qual o prazo de entrega?", "O prazo é dia 15")
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

D0, D1, D2, D3, D4 = DepthLevel

MESSAGES = (
    # greetings, thanks, farewells, refusals of an offer
    ("Olá!", NOTHING, "pt", D0),
    ("Bom dia, tudo bem?", NOTHING, "pt", D0),
    ("oi", PROJECT, "pt", D0),
    ("Obrigada, era só isso", PROJECT, "pt", D0),
    ("Valeu!", SALES, "pt", D0),
    ("ok, entendi", CONTRACT, "pt", D0),
    ("Não, obrigado.", OFFER, "pt", D0),
    ("Não, é só isso. Obrigado!", OFFER, "pt", D0),
    ("Não precisa, obrigado", OFFER, "pt", D0),
    ("Boa noite, até amanhã", PROJECT, "pt", D0),
    ("Hi there", NOTHING, "en", D0),
    ("Good morning! How are you?", NOTHING, "en", D0),
    ("Thanks, that's all for now", ATLAS, "en", D0),
    ("No, that will be all. Thank you so much!", OFFER_EN, "en", D0),
    ("No thanks", OFFER_EN, "en", D0),
    ("Great, thank you for your help", ATLAS, "en", D0),
    ("bye", ATLAS, "en", D0),
    # look-ups
    ("Qual o telefone da Maria Souza?", NOTHING, "pt", D0),
    ("qual é o CNPJ da Acme?", SALES, "pt", D0),
    ("Quem é o gerente do projeto Netuno?", SALES, "pt", D0),
    ("Que horas são?", PROJECT, "pt", D0),
    ("Onde fica a sede em Lisboa?", NOTHING, "pt", D0),
    ("Quantos funcionários a Acme tem?", NOTHING, "pt", D0),
    ("me passa o email do João Silva", SALES, "pt", D0),
    ("Oi, qual o ramal da portaria?", NOTHING, "pt", D0),
    ("What is Maria's phone number?", NOTHING, "en", D0),
    ("What time is it?", ATLAS, "en", D0),
    ("Who is the manager of project Neptune?", INVOICES, "en", D0),
    ("How many employees does Acme have?", NOTHING, "en", D0),
    ("Where is the Lisbon office?", NOTHING, "en", D0),
    ("Is Ana on holiday today?", NOTHING, "en", D0),
    # continuing
    ("e o prazo?", PROJECT, "pt", D1),
    ("E para os estagiários?", HOLIDAYS, "pt", D1),
    ("e se eu sair antes?", HOLIDAYS, "pt", D1),
    ("Quem é o responsável por ele?", PROJECT, "pt", D1),
    ("quanto custa isso?", PROJECT, "pt", D1),
    ("O que você quis dizer?", CONTRACT, "pt", D1),
    ("mais alguma coisa?", CONTRACT, "pt", D1),
    ("qual o orçamento?", PROJECT, "pt", D1),
    ("Para dez pessoas, no terceiro andar", ASKED, "pt", D1),
    ("Sim", CONFIRM, "pt", D1),
    ("Essa multa vale para os dois lados?", CONTRACT, "pt", D1),
    ("a multa pode ser reduzida para 5%?", CONTRACT, "pt", D1),
    ("filtre rel_456", SALES, "pt", D1),
    ("Envia o DMD.0001/26 para a Carla Mendes", SALES, "pt", D1),
    ("what about the team?", ATLAS, "en", D1),
    ("And for interns?", INVOICES, "en", D1),
    ("who leads it?", ATLAS, "en", D1),
    ("is that enough people?", ATLAS, "en", D1),
    ("How does it work?", ATLAS, "en", D1),
    ("anything else?", ATLAS, "en", D1),
    ("What do you mean?", ATLAS, "en", D1),
    ("Ten people, third floor please", ASKED_EN, "en", D1),
    ("Yes, please", ASKED_EN, "en", D1),
    ("Do the phases overlap with the team's other work?", ATLAS, "en", D1),
    # explaining, comparing, listing, how-to, time
    ("Por que o prazo mudou?", NOTHING, "pt", D2),
    ("pq o cronograma atrasou?", PROJECT, "pt", D2),
    ("Me explica melhor a multa", CONTRACT, "pt", D2),
    ("não entendi, pode detalhar?", CONTRACT, "pt", D2),
    ("O que é uma cláusula penal?", NOTHING, "pt", D2),
    ("Compare os dois contratos", CONTRACT, "pt", D2),
    ("Quais as vantagens e desvantagens do contrato?", CONTRACT, "pt", D2),
    ("faz um resumo pra mim", CONTRACT, "pt", D2),
    ("Liste todos os fornecedores ativos", NOTHING, "pt", D2),
    ("Bom dia! Qual a diferença entre férias e licença?", NOTHING, "pt", D2),
    ("Como faço para pedir reembolso?", NOTHING, "pt", D2),
    ("Qual o procedimento para abrir um chamado?", NOTHING, "pt", D2),
    ("como funciona o reembolso?", NOTHING, "pt", D2),
    ("O que o João disse sobre o prazo?", NOTHING, "pt", D2),
    ("quando foi a visita do auditor?", NOTHING, "pt", D2),
    ("O que foi combinado na semana passada com o cliente?", NOTHING, "pt", D2),
    ("What is a penalty clause?", NOTHING, "en", D2),
    ("Why did the launch slip?", NOTHING, "en", D2),
    ("I don't understand, can you elaborate?", ATLAS, "en", D2),
    ("Walk me through the phases", ATLAS, "en", D2),
    ("What's the difference between Atlas and Neptune?", ATLAS, "en", D2),
    ("Summarize this in three bullet points", ATLAS, "en", D2),
    ("How do I request a refund?", NOTHING, "en", D2),
    ("What did Ana say about the budget last week?", NOTHING, "en", D2),
    ("When did Ana move?", NOTHING, "en", D2),
    ("Does drinking coffee affect sleep?", NOTHING, "en", D2),
    # disagreeing and correcting
    ("Não concordo com esse número", SALES, "pt", D3),
    ("isso está errado", CONTRACT, "pt", D3),
    ("Não, a vigência é de 36 meses", CONTRACT, "pt", D3),
    ("Na verdade, são 4 fases", PROJECT, "pt", D3),
    ("você se enganou, o prazo é dia 20", DEADLINE, "pt", D3),
    ("Não é dia 15, é dia 20", DEADLINE, "pt", D3),
    ("É dia 20, não 15", DEADLINE, "pt", D3),
    ("mas você disse que era dia 20", DEADLINE, "pt", D3),
    ("Tem certeza?", DEADLINE, "pt", D3),
    ("Obrigado, mas a multa está errada", CONTRACT, "pt", D3),
    ("O prazo mudou para dia 20", DEADLINE, "pt", D3),
    ("Não, muda para sexta", CONFIRM, "pt", D3),
    ("That's not right", ATLAS, "en", D3),
    ("No, it has four phases", ATLAS, "en", D3),
    ("Actually the team has ten people", ATLAS, "en", D3),
    ("You're wrong about the team", ATLAS, "en", D3),
    ("But you said there were four phases", ATLAS, "en", D3),
    ("Are you sure?", ATLAS, "en", D3),
    ("I don't think that's correct", ATLAS, "en", D3),
    ("No, make it for four people", CONFIRM_EN, "en", D3),
    ("Sorry, I meant eight o'clock", CONFIRM_EN, "en", D3),
    # changing the subject
    ("Mudando de assunto, como está o clima?", PROJECT, "pt", D4),
    ("Vamos falar de outra coisa: benefícios", PROJECT, "pt", D4),
    ("Como solicitar reembolso de viagem?", SALES, "pt", D4),
    ("Explique as regras de home office para gestores", SALES, "pt", D4),
    ("Preciso abrir um chamado sobre a impressora quebrada", OFFER, "pt", D4),
    ("Changing the subject, who approves travel?", ATLAS, "en", D4),
    ("What are the rules for parental leave?", ATLAS, "en", D4),
    ("On another note, explain the security policy", ATLAS, "en", D4),
    ("Can you recommend a good restaurant in Lisbon?", INVOICES, "en", D4),
)


@pytest.mark.covers("S0-17", "S0-18", "S0-19", "S0-20", "S0-21", "S0-22", "S0-23", "S0-24", "S0-25")
@pytest.mark.parametrize(("text", "history", "lang", "level"), MESSAGES)
def test_a_natural_message_gets_the_level_a_person_would_give(
    text: str, history: Turns, lang: str, level: DepthLevel
) -> None:
    assert classify(text, history, lang=lang).level == level


def test_both_languages_and_every_level_are_represented() -> None:
    covered = {(lang, level) for _, _, lang, level in MESSAGES}
    assert covered == {(lang, level) for lang in ("pt", "en") for level in DepthLevel}
