"""Of past turns, the older value is told from the newer; two facts of different things never are."""

from datetime import UTC, datetime, timedelta

import pytest

from agents.core.packs.rendering import line
from agents.core.retrieval.turn_currency import PastTurn, marks
from streams.testing.pipeline import Pipeline

FIRST = datetime(2025, 2, 3, 9, tzinfo=UTC)
Pair = tuple[str, str, str, str]

# lang, question, older turn, newer turn.
REPLACED: tuple[Pair, ...] = (
    ("en", "When is the dentist?", "The dentist appointment is on 4 June.", "My dentist appointment moved to 11 June."),
    ("en", "What is the rent?", "We pay 900 euros of rent.", "The rent went up, it is 950 euros now."),
    ("en", "How many chairs do we have?", "We have 12 chairs.", "Some were broken, so now we have 9 chairs."),
    (
        "en",
        "When does the course end?",
        "The course ends on 3 July.",
        "They changed the course. It ends on 10 July now.",
    ),
    ("en", "What discount do we get?", "Our discount is 10 percent.", "The discount is 15 percent now."),
    ("en", "Who audits the accounts?", "Petra audits the accounts.", "Petra left, Ingrid audits the accounts."),
    ("en", "How much is the fee?", "The fee is 80 pounds.", "The fee fell to 60 pounds."),
    ("en", "How many members are there?", "We are 8 members.", "Three members joined, we are 11."),
    ("pt", "Quanto é a multa?", "A multa é de 80 reais.", "A multa baixou para 60 reais."),
    ("pt", "Quanto é a multa?", "A multa é de 80 reais por placa.", "Baixou para 60 reais por placa."),
    ("pt", "Quantos sócios somos?", "Somos 8 sócios.", "Entraram três sócios, somos 11."),
    ("pt", "Quando é o exame?", "O exame ficou para 4 de junho.", "O exame foi remarcado para 11 de junho."),
    ("pt", "Quanto é o aluguel?", "O aluguel é de 900 reais.", "O aluguel subiu, agora é de 950 reais."),
    ("pt", "Quantas cadeiras temos?", "Temos 12 cadeiras.", "Quebraram algumas, agora temos 9 cadeiras."),
    ("pt", "Quando acaba o curso?", "O curso acaba em 3 de julho.", "Mudou o curso: agora acaba em 10 de julho."),
    ("pt", "Qual é o desconto?", "O desconto é de 10%.", "O desconto passou para 15%."),
    ("pt", "Quem cuida da horta?", "A Marlene cuida da horta.", "A Marlene desistiu, quem cuida da horta é a Ivone."),
)
# What else the newer sentence names is of another clause.
ELSEWHERE: tuple[Pair, ...] = (
    (
        "en",
        "When does the plumber start?",
        "The plumber was recommended by my aunt Rosa, and he starts on 4 June.",
        "The plumber hurt his hand. The plumber can't start until 11 June now, so Ivo has to wait too.",
    ),
    (
        "pt",
        "Qual é o prazo da obra?",
        "Peguei a obra da padaria. O orçamento fechou e a entrega é dia 4 de junho.",
        "A Cimentel atrasou o piso e a entrega da obra passou pro dia 11 de junho.",
    ),
    (
        "en",
        "When is the concert?",
        "Our concert is on 4 June.",
        "The hall was booked twice so the concert moves to 11 June.",
    ),
    ("en", "Who leads the site?", "Petra leads the site.", "Petra is leaving, so in Leeds Ingrid leads the site."),
)
REPLACED += ELSEWHERE
# Things alike of which both hold.
BOTH_HOLD: tuple[Pair, ...] = (
    ("en", "What is the budget?", "The budget for paint is 300 euros.", "The budget for flowers is 400 euros now."),
    ("en", "What is the budget?", "The budget is 9,000 euros.", "The budget for flowers is 400 euros now."),
    ("en", "When is the exam?", "The spring exam is on 4 June.", "The final exam moved to 11 June."),
    ("en", "Who pays rent?", "Ana pays 900 euros of rent.", "Bruno pays 950 euros of rent now."),
    ("en", "What is the rent?", "The rent is 900 euros.", "My sister's rent is 950 euros now."),
    ("en", "What does the lease cost?", "The lease costs 900 euros a month.", "The lease is now 300 euros a week."),
    ("en", "What does the lease cost?", "The lease starts on 1 May.", "The lease is 900 euros now."),
    ("en", "What did I buy?", "I bought 5 eggs for the cake.", "Now I need 3 eggs for the soup."),
    ("en", "What did I pay?", "I paid 300 euros for the course.", "Now I pay 500 euros of rent."),
    ("en", "When is the flight?", "The flight to Oslo is on 4 June.", "The flight to Rome moved to 11 June."),
    ("en", "Who plays?", "Petra plays the violin.", "Petra left the party early, Ingrid was tired."),
    ("en", "When is the rehearsal?", "The rehearsal is on 4 June.", "Is the rehearsal on 11 June now?"),
    ("en", "When is the meeting?", "The meeting is on 4 June.", "The meeting is on 4 June now, at 3 pm."),
    ("en", "When is the second game?", "The first game is on 4 June.", "The second game moved to 11 June."),
    ("en", "What does it cost?", "A room costs 80 euros.", "There is a new garage, it costs 120 euros."),
    ("en", "What is the plumber's number?", "The plumber is 555-0142.", "I have a new phone, mine is 555-0199."),
    ("en", "When do I fly?", "I fly home on 4 June.", "The cat has a new vet, we go there on 11 June."),
    ("en", "How old is he?", "Tom has 3 cats.", "Now Lena has 4 cats."),
    ("en", "When is the exam?", "The exam is on 4 June.", "The hall is closed so the resit exam moves to 11 June."),
    ("pt", "Quando é a prova?", "A prova é dia 4 de junho.", "Choveu e a prova de tiro passou pro dia 11 de junho."),
    ("en", "When is the wedding?", "The wedding is on 4 June.", "The wedding dinner moved to 3 June."),
    ("en", "What does the phone cost?", "The phone costs 300 euros.", "The phone bill is now 30 euros."),
    (
        "en",
        "When is the deadline?",
        "The deadline of the report is 4 June.",
        "The deadline of the thesis is now 11 June.",
    ),
    (
        "en",
        "When is the deadline?",
        "The report is due on 4 June.",
        "Now the invoice for the report is due on 11 June.",
    ),
    ("en", "Where do we meet?", "On 4 June we meet at the office.", "The office has new chairs since 11 June."),
    ("en", "When do I pay the gas?", "I pay the gas on 4 June.", "Now I pay the water on 11 June."),
    ("en", "When do I submit?", "I submit the report on 4 June.", "Now I submit the thesis on 11 June."),
    ("en", "How much is the gym?", "The gym costs 30 euros a month.", "The internet is now 50 euros a month."),
    ("en", "How much is the cake?", "The cake is 30 euros per guest.", "The wine is now 20 euros per guest."),
    ("pt", "Quando pago a luz?", "Pago a luz em 4 de junho.", "Agora pago a água em 11 de junho."),
    ("pt", "Quando entrego?", "Entrego o relatório em 4 de junho.", "Agora entrego a tese em 11 de junho."),
    ("pt", "Quanto é a academia?", "A academia custa 30 reais por mês.", "A internet agora custa 50 reais por mês."),
    ("pt", "Quanto é o condomínio?", "O condomínio é 500 reais por casa.", "A água agora é 85 reais por casa."),
    ("pt", "Quando é a prova?", "A prova escrita é em 4 de junho.", "A prova oral mudou para 11 de junho."),
    ("en", "How many eggs did I buy?", "I bought 5 eggs.", "Now I need 3 eggs."),
    ("pt", "Quantos ovos comprei?", "Comprei 5 ovos.", "Agora preciso de 3 ovos."),
    ("en", "When is yoga?", "Yoga is on Tuesday.", "Now there is also yoga on Thursday."),
    ("en", "How many plants?", "I have 12 plants in the kitchen.", "Now I have 5 plants in the bedroom."),
    ("pt", "Quando é ioga?", "A ioga é na terça.", "Agora tem ioga também na quinta."),
    ("pt", "Quantas plantas?", "Tenho 12 plantas na cozinha.", "Agora tenho 5 plantas no quarto."),
    ("pt", "Quando é o casamento?", "O casamento é em 4 de junho.", "O jantar do casamento mudou para 3 de junho."),
    ("pt", "Quantos gatos?", "O Tomás tem 3 gatos.", "Agora a Lena tem 4 gatos."),
    ("pt", "Quanto custa o celular?", "O celular custa 300 reais.", "A conta do celular agora é 30 reais."),
    ("pt", "Qual é o prazo?", "O prazo do relatório é 4 de junho.", "O prazo da tese agora é 11 de junho."),
    (
        "pt",
        "Onde nos vemos?",
        "Em 4 de junho nos vemos no escritório.",
        "O escritório tem cadeiras novas desde 11 de junho.",
    ),
    (
        "pt",
        "Quando viajo?",
        "Viajo para casa em 4 de junho.",
        "O gato tem uma veterinária nova, vamos lá em 11 de junho.",
    ),
    ("pt", "Qual é o orçamento?", "O orçamento da pintura é 300 reais.", "O orçamento das flores agora é 400 reais."),
    ("pt", "Qual é o orçamento?", "O orçamento é 9.000 reais.", "O orçamento das flores agora é 400 reais."),
    ("pt", "Quando é a prova?", "A prova parcial é em 4 de junho.", "A prova final mudou para 11 de junho."),
    ("pt", "Quem paga aluguel?", "A Ana paga 900 reais de aluguel.", "O Bruno agora paga 950 reais de aluguel."),
    ("pt", "Quanto é o aluguel?", "O aluguel é 900 reais.", "O aluguel da minha irmã agora é 950 reais."),
    ("pt", "Quanto é o aluguel?", "Pago 900 reais de aluguel.", "Meu irmão agora paga 950 reais de aluguel."),
    ("pt", "Quanto custa a sala?", "A sala custa 900 reais por mês.", "A sala agora custa 300 reais por semana."),
    ("pt", "Quanto custa a sala?", "O contrato começa em 1 de maio.", "O contrato agora é de 900 reais."),
    ("pt", "O que comprei?", "Comprei 5 ovos para o bolo.", "Agora preciso de 3 ovos para a sopa."),
    ("pt", "O que paguei?", "Paguei 300 reais pelo curso.", "Agora pago 500 reais de aluguel."),
    ("pt", "Quando é o voo?", "O voo para Recife é em 4 de junho.", "O voo para Natal mudou para 11 de junho."),
    ("pt", "Quem toca?", "A Petra toca violino.", "A Petra saiu cedo da festa, a Ingrid estava cansada."),
    ("pt", "Quando é o ensaio?", "O ensaio é em 4 de junho.", "O ensaio agora é em 11 de junho?"),
    ("pt", "Quando é a reunião?", "A reunião é em 4 de junho.", "A reunião agora é em 4 de junho, às 15h."),
    ("pt", "Quando é o jogo?", "O primeiro jogo é em 4 de junho.", "O segundo jogo mudou para 11 de junho."),
    ("pt", "Quantos somos?", "O ônibus da turma leva 40 pessoas.", "Entraram dois novos, somos 36 na turma."),
    ("pt", "Quanto custa?", "O quarto custa 80 reais.", "Tem uma garagem nova, custa 120 reais."),
)


def _marked(pair: Pair, roles: tuple[str, str] = ("user", "user")) -> dict[str, bool]:
    lang, question, older, newer = pair
    turns = [
        PastTurn("older", roles[0], older, lang, FIRST),
        PastTurn("newer", roles[1], newer, lang, FIRST + timedelta(days=20)),
    ]
    return {name: mark.holds for name, mark in marks(question, lang, turns).items()}


@pytest.mark.parametrize("pair", REPLACED, ids=lambda pair: pair[3])
def test_a_replaced_value_and_the_one_that_holds_are_marked(pair: Pair) -> None:
    assert _marked(pair) == {"older": False, "newer": True}


@pytest.mark.parametrize("pair", BOTH_HOLD, ids=lambda pair: pair[3])
def test_two_facts_of_different_things_are_not_marked(pair: Pair) -> None:
    lang, _, older, newer = pair
    assert _marked(pair) == {}
    # Whatever of the older one is asked for.
    assert _marked((lang, older, older, newer)) == {}


def test_enough_pairs_hold_both_in_each_language() -> None:
    assert all(sum(pair[0] == lang for pair in BOTH_HOLD) >= 12 for lang in ("en", "pt"))


@pytest.mark.parametrize("roles", [("user", "assistant"), ("assistant", "user"), ("assistant", "assistant")])
def test_what_an_assistant_says_replaces_nothing(roles: tuple[str, str]) -> None:
    assert _marked(REPLACED[0], roles) == {}


def test_of_three_values_only_the_last_holds() -> None:
    said = [
        "The rent is 900 euros.",
        "The rent went up, it is 950 euros now.",
        "The rent is 990 euros now.",
    ]
    turns = [PastTurn(str(n), "user", each, "en", FIRST + timedelta(days=n)) for n, each in enumerate(said)]
    found = marks("What is the rent?", "en", turns[::-1])
    assert {name: mark.holds for name, mark in found.items()} == {"0": False, "1": False, "2": True}
    assert found["0"].reason() == "replaced later by 990 euros (2025-02-05)"
    assert found["2"].reason() == "instead of 950 euros (2025-02-04)"


TOLD = {
    "en": ("The dentist appointment is on 4 June.", "My dentist appointment moved to 11 June.", "When is the dentist?"),
    "pt": ("O exame ficou para 4 de junho.", "O exame foi remarcado para 11 de junho.", "Quando é o exame?"),
}
ANA = {"headers": {"user_id": "ana"}}


def _tell(fathom: Pipeline, *said: str) -> None:
    """Each in a conversation of its own, a day after the one before."""
    for day, each in enumerate(said):
        fathom.say(each, conversation=f"c{day}", created_at=(FIRST + timedelta(days=day)).isoformat(), **ANA)


@pytest.mark.parametrize(("lang", "words"), [("en", "(replaced later)"), ("pt", "(substituído depois)")])
def test_a_pack_says_which_of_two_past_turns_holds(lang: str, words: str) -> None:
    older, newer, question = TOLD[lang]
    with Pipeline() as fathom:
        _tell(fathom, older, newer)
        pack = fathom.ask(question, conversation="later", **ANA)
    assert pack.episodic is not None
    found = {item.label.partition(": ")[2]: item for item in pack.episodic.relevant_events}
    assert {said: item.holds for said, item in found.items()} == {older: False, newer: True}
    assert line(found[older], lang).endswith(f"{older} {words}\n")
    assert words not in line(found[newer], lang)
    assert "replaced later by 11 " in found[older].reason


def test_what_is_known_of_oneself_says_that_it_replaced_something() -> None:
    with Pipeline() as fathom:
        _tell(fathom, "Moro em Lisboa.", "Agora moro no Porto.", "Trabalho na Acme.")
        packs = [fathom.ask(asked, conversation=asked, **ANA) for asked in ("Onde eu moro?", "Onde eu trabalho?")]
    known = [
        [(item.text.split()[0], item.holds) for item in pack.semantic.definitions] for pack in packs if pack.semantic
    ]
    assert known == [[("Porto", True)], [("Acme", None)]]


def test_a_turn_is_not_marked_for_what_nobody_asks() -> None:
    turns = [
        PastTurn("older", "user", "The lease starts on 1 May and costs 900 euros a month.", "en", FIRST),
        PastTurn("newer", "user", "The lease moved, it starts on 15 June now.", "en", FIRST + timedelta(days=20)),
    ]
    asked = ("When does the lease start?", "How much is the lease?", "Who signed the lease?")
    assert [sorted(marks(question, "en", turns)) for question in asked] == [["newer", "older"], [], []]
