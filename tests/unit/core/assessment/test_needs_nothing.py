"""Which messages need no memory, in two languages and in words of their own, and which must never be taken for one."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.core.assessment.needs_nothing import kind_of, needs_nothing, table
from tests.builders.examples import examples

# Written for this test; none is a phrase that the table was fitted on.
NOTHING = (
    "buenas, galera",
    "oi Bia!",
    "obrigadíssima, Bia",
    "Valeu, meu chapa",
    "obrigado pelo capricho na resposta",
    "entendi, show de bola",
    "tmj, falou",
    "nossa, adorei, obrigada!",
    "até breve, pessoal",
    "boa noite e até amanhã",
    "tá bom",
    "blz, vlw",
    "obirgado pela força",
    "pode continuar",
    "sim, por favor",
    "você é um robô?",
    "quem te inventou?",
    "conta outra piada",
    "o que você sabe fazer?",
    "heaps of thanks mate, you saved my day",
    "cheers Rosie",
    "thnak you so much!",
    "hellooo there",
    "ok, got it, cya",
    "awesome, thanks for walking me through it",
    "good night everyone",
    "wonderfull, goodbey",
    "muito obrigdo",
    "go ahead",
    "are you a real person?",
    "tell me a joke please",
    "what can you do?",
    "👍",
    "🙏🙏 !!",
    "...",
)
SUMS = (
    "quanto é 12*7?",
    "what is 15% of 80",
    "(3 + 4) * 2",
    "2+2=",
    "twelve times three",
    "quanto dá 30 dividido por 4?",
    "quanto é 96 a dividir por 8?",
    "raiz quadrada de 81",
    "add 12 and 30 please",
)
OF_ANY_WORD = (
    "Write a sonnet about a lighthouse",
    "can you make up a short four-line poem about autumn rain, please?",
    "write me a bedtime story about a dragon",
    "What rhymes with kettle?",
    "give me three words that rhyme with orchard",
    "Translate greenhouse into German",
    "how do you say good night in Italian?",
    "What's the plural of octopus",
    "Escreva dois versos curtos sobre uma locomotiva",
    "inventa-me uma adivinha sobre um relógio",
    "que palavras rimam com farmácia",
    "diz uma rima para janela",
    "traduz a palavra telhado para inglês",
    "como se diz padaria em alemão?",
    "qual o plural de cidadão",
)
OF_A_PARTICULAR_THING = (
    "Write a sonnet about my kettle",
    "write a poem for Anna about the trip",
    "write a story about Biscuit",
    "What rhymes with our cat's name?",
    "translate our contract into French",
    "Write a user story about login",
    "how do you say no to a client?",
    "how do you spell my landlord's name",
    "write a poem about order 18",
    "Escreva um poema sobre a reforma",
    "faz uma quadra sobre o barco do Zé",
    "como se escreve o nome da minha chefe",
)
NO_SUMS = (
    "12/05",
    "555-1234",
    "2024",
    "quanto é 10% do valor do contrato?",
    "what is 5% of our revenue",
    "artigo 5",
    "what is order 17",
    "2024-2025",
)
LOOKED_UP = (
    "Thanks, and what is the deadline?",
    "thanks what is the deadline",
    "obrigado, mas qual o prazo?",
    "valeu e quem aprova",
    "what is my name",
    "qual é o meu nome?",
    "what do you know about me?",
    "o que você lembra de mim?",
    "bye-law of the company?",
    "oi, qual a multa?",
    "ok but who approves it",
    "translate the refund policy into English",
    "resume o contrato em uma frase",
    "um pouco mais barato",
    "a bit more about the refund policy",
    "e o outro?",
    "and the second one?",
    "não, é dia 20",
    "no, that's wrong",
    "isso está errado",
    "meu cachorro se chama Rex",
    "I moved to Lisbon",
    "Who approves refunds?",
    "Quem aprova o reembolso?",
    "how old is he?",
    "DMD.0001/26",
    "prazo?",
    "obrigado, pedido 8812",
    "can you check this function?",
    "me ajuda com o formulário de viagem",
    "explica melhor",
    "goodbye party for Tom",
    "hello kitty lunch box",
    "não",
    "no",
    "Obrigado. Prazo",
    "what do you recommend?",
    "do you ship to Brazil?",
    "what are your opening hours?",
    "você aceita cartão?",
    "can you tell me my age?",
    "você sabe meu nome?",
    "você conhece ela?",
    "você gosta dele?",
    "שלום, מה המחיר?",
    "السلام",
)


@pytest.mark.parametrize("said", NOTHING)
def test_what_asks_for_nothing_needs_nothing(said: str):
    assert needs_nothing(said, has_history=True)
    assert needs_nothing(said, has_history=False)


@pytest.mark.parametrize("said", LOOKED_UP)
def test_what_asks_or_tells_something_is_looked_up(said: str):
    assert not needs_nothing(said, has_history=True)
    assert not needs_nothing(said, has_history=False)


@pytest.mark.parametrize("said", SUMS)
def test_a_sum_needs_nothing(said: str):
    assert kind_of(said) == "task"


@pytest.mark.parametrize("said", OF_ANY_WORD)
def test_verses_and_words_that_stand_for_themselves_need_nothing(said: str):
    assert needs_nothing(said, has_history=False)


@pytest.mark.parametrize("said", OF_A_PARTICULAR_THING)
def test_verses_and_words_of_a_particular_thing_are_looked_up(said: str):
    assert not needs_nothing(said, has_history=False)


@pytest.mark.parametrize("said", NO_SUMS)
def test_a_number_that_is_no_sum_is_looked_up(said: str):
    assert not needs_nothing(said, has_history=True)


@pytest.mark.parametrize(
    "said",
    [
        "translate that to English",
        "resume isso em uma frase",
        "mais curto, por favor",
        "now in Portuguese please",
        "resume tudo isso em duas frases pf",
        "a bit more playful please",
        "em maiúsculas, por favor",
        "rewrite your last answer in a friendlier tone",
        "pode repetir?",
        "what did you just say?",
        "não entendi a segunda parte",
    ],
)
def test_what_is_about_the_conversation_needs_one(said: str):
    assert needs_nothing(said, has_history=True)
    assert not needs_nothing(said, has_history=False)


@pytest.mark.parametrize(
    "said",
    ['traduza para o inglês: "bom dia a todos"', "how do you say 'hotel' in French", "traduz: eu gosto de você"],
)
def test_a_text_that_comes_with_its_task_is_all_that_it_needs(said: str):
    assert needs_nothing(said, has_history=False)


def test_a_summary_behind_a_colon_is_of_a_text_and_not_of_a_name():
    assert not needs_nothing("resuma: o contrato 17", has_history=True)
    assert needs_nothing("resuma: " + "uma coisa leva a outra e " * 4, has_history=False)


def test_a_question_behind_any_courtesy_is_looked_up():
    polite = [said for said in NOTHING if kind_of(said) == "courtesy" and said.isascii()]
    assert len(polite) >= 8
    for courtesy in polite:
        for question in ("what is the penalty?", "quem assina o contrato?", "and the invoice 88?"):
            assert not needs_nothing(f"{courtesy} {question}", has_history=True), courtesy


@settings(max_examples=examples(150), deadline=None)
@given(st.text(max_size=300), st.booleans())
def test_any_text_has_one_answer_always_the_same(said: str, has_history: bool):
    assert needs_nothing(said, has_history=has_history) is needs_nothing(said, has_history=has_history)


@pytest.mark.parametrize(
    "said",
    [
        "ok " * 40_000,
        "(" * 100_000,
        "2+" * 50_000,
        "traduz " * 20_000,
        "\ud800\udfff" * 50_000,
        "a" * 100_000,
        "ה" * 100_000,
    ],
    ids=["courtesy", "brackets", "sum", "task", "surrogates", "word", "rtl"],
)
def test_a_hundred_thousand_characters_are_read_within_bounds(said: str):
    table()
    began = time.perf_counter()
    needs_nothing(said, has_history=True)
    assert time.perf_counter() - began < 0.5


def test_a_name_beside_a_courtesy_is_spoken_to():
    for said in ("obrigada, Bia", "obrigada, Marcelina", "hi Rosalind", "valeu Zé", "tchau, Dona Carmem"):
        assert kind_of(said) == "courtesy", said
    assert kind_of("Marcelina") is None
    assert kind_of("obrigada, e a Marcelina?") is None


def test_nothing_said_needs_nothing_and_lone_surrogates_are_signs():
    assert needs_nothing("", has_history=False)
    assert needs_nothing("\ud83d", has_history=False)
    assert not needs_nothing("ok " * 30, has_history=True)


def test_every_row_of_the_table_can_be_met():
    known = table().vocabulary.words
    assert 100 <= len(table().weights) <= 300
    for row in table().weights:
        for word in row.split():
            assert word.startswith("<") or word in known or word in ("^", "$"), row
