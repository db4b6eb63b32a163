"""What people say of themselves, and which of it a question of theirs asks for, in both languages."""

import asyncio
from collections.abc import Sequence

import pytest

from agents.core.claims.lifecycle import claims_of, session_claims
from agents.core.claims.questions import about_oneself, own_claims, subjects_of
from schemas.memory import ClaimAsserted
from streams.testing.pipeline import Pipeline
from tests.builders.claims import said, values

TOLD = [
    ("pt", "Me chamo Ana Souza", [("nome do usuário", "nome", "Ana Souza")]),
    ("pt", "Oi, eu sou a Carla", [("nome do usuário", "nome", "Carla")]),
    ("pt", "Pode me chamar de Bia", [("usuário", "apelido", "Bia")]),
    ("pt", "Sou gerente de produto", [("usuário", "cargo", "gerente de produto")]),
    ("pt", "Trabalho como enfermeira", [("usuário", "cargo", "enfermeira")]),
    ("pt", "Meu cargo é coordenador de vendas", [("usuário", "cargo", "coordenador de vendas")]),
    ("pt", "Sou alérgico a amendoim", [("usuário", "alergia", "amendoim")]),
    ("pt", "Tenho alergia a camarão e leite", [("usuário", "alergia", "camarão"), ("usuário", "alergia", "leite")]),
    ("pt", "Não tenho alergia a leite", [("usuário", "alergia", "não leite")]),
    ("pt", "Sou vegetariana", [("usuário", "dieta", "vegetariana")]),
    ("pt", "Não como carne", [("usuário", "dieta", "não carne")]),
    ("pt", "Sou casada", [("usuário", "estado civil", "casada")]),
    ("en", "I'm married", [("user", "estado civil", "married")]),
    ("pt", "Sou de Recife", [("usuário", "origem", "Recife")]),
    ("pt", "Nasci em 5 de maio de 1990", [("usuário", "nascimento", "5 de maio de 1990")]),
    ("pt", "Adoro café, chá e bolo de milho", [("usuário", "gosta de", "café"), ("usuário", "gosta de", "chá"),
                                              ("usuário", "gosta de", "bolo de milho")]),
    ("pt", "Detesto reuniões longas", [("usuário", "gosta de", "não reuniões longas")]),
    ("pt", "Minha filha se chama Ana", [("filha do usuário", "nome", "Ana")]),
    ("pt", "Tenho um filho chamado Pedro", [("filho do usuário", "nome", "Pedro")]),
    ("pt", "Tenho um cachorro e dois gatos", [("usuário", "tem", "um cachorro"), ("usuário", "tem", "dois gatos")]),
    ("pt", "Tenho que entregar o relatório até sexta", [("prazo do usuário para o relatório", "data", "sexta")]),
    ("pt", "Preciso enviar a proposta até dia 20", [("prazo do usuário para a proposta", "data", "dia 20")]),
    ("pt", "Decidimos usar Kafka", [("nós", "decisão", "usar Kafka")]),
    ("pt", "Optei pelo plano anual", [("usuário", "decisão", "plano anual")]),
    ("pt", "Falo inglês e espanhol", [("usuário", "idioma", "inglês"), ("usuário", "idioma", "espanhol")]),
    ("pt", "Estou aprendendo Rust", [("usuário", "estuda", "Rust")]),
    ("en", "I'm Carla", [("user's name", "nome", "Carla")]),
    ("en", "Call me Bob", [("user", "apelido", "Bob")]),
    ("en", "I'm a product manager", [("user", "cargo", "product manager")]),
    ("en", "I work as a nurse", [("user", "cargo", "nurse")]),
    ("en", "My job is software engineer", [("user", "cargo", "software engineer")]),
    ("en", "I am allergic to peanuts", [("user", "alergia", "peanuts")]),
    ("en", "I have a nut allergy", [("user", "alergia", "nut")]),
    ("en", "I'm vegan", [("user", "dieta", "vegan")]),
    ("en", "I don't eat pork", [("user", "dieta", "not pork")]),
    ("en", "I'm from Recife", [("user", "origem", "Recife")]),
    ("en", "I was born on May 5, 1990", [("user", "nascimento", "May 5, 1990")]),
    ("en", "I hate long meetings", [("user", "gosta de", "not long meetings")]),
    ("en", "I can't stand loud music", [("user", "gosta de", "not loud music")]),
    ("en", "My daughter is called Ana", [("user's daughter", "nome", "Ana")]),
    ("en", "I have a son named Peter", [("user's son", "nome", "Peter")]),
    ("en", "I have a dog and two cats", [("user", "tem", "a dog"), ("user", "tem", "two cats")]),
    ("en", "I drive a Tesla", [("user", "tem", "a Tesla")]),
    ("en", "I need to submit the report by Friday", [("user's deadline for the report", "data", "Friday")]),
    ("en", "We decided to use Kafka", [("we", "decisão", "use Kafka")]),
    ("en", "I went with the annual plan", [("user", "decisão", "annual plan")]),
    ("en", "I speak French and German", [("user", "idioma", "French"), ("user", "idioma", "German")]),
]  # fmt: skip


@pytest.mark.covers("S0-73")
@pytest.mark.parametrize(("lang", "text", "expected"), TOLD)
def test_what_a_user_says_of_himself_is_a_claim_about_him(
    lang: str, text: str, expected: list[tuple[str, str, str]]
) -> None:
    assert values(claims_of(said(1, "user", text, lang))) == expected


@pytest.mark.parametrize(
    ("lang", "text"),
    [
        ("pt", "Tenho uma dúvida sobre o contrato"),
        ("pt", "Tenho que ir"),
        ("pt", "Sou eu de novo"),
        ("pt", "Você é gerente?"),
        ("pt", "Sou alérgico a amendoim?"),
        ("pt", "Se eu fosse gerente, mudaria isso"),
        ("pt", "Preciso de ajuda até amanhã"),
        ("en", "I have a question about the contract"),
        ("en", "I have to go"),
        ("en", "I'm sorry"),
        ("en", "I'm going to call them"),
        ("en", "Am I allergic to peanuts?"),
        ("en", "I'd like a summary"),
        ("en", "I have no idea"),
        ("en", "I'm Brazilian, right?"),
    ],
)
def test_what_says_nothing_lasting_of_oneself_is_no_claim(lang: str, text: str) -> None:
    assert claims_of(said(1, "user", text, lang)) == ()


def test_the_assistants_own_words_are_nothing_of_the_user() -> None:
    for text in ("Sou alérgico a amendoim", "I'm a product manager", "Adoro café"):
        assert claims_of(said(1, "system", text)) == ()


NOTES = (
    ("Me chamo Ana", "Moro em Lisboa", "Sou alérgica a amendoim", "Adoro chocolate", "Minha filha se chama Bia",
     "Meu prazo é dia 20", "Meu email é ana@x.com", "Sou gerente de produto", "Meu aniversário é 5 de maio",
     "Decidimos usar Kafka", "Minha cor favorita é azul", "O prazo do relatório é dia 10", "Tenho um cachorro"),
    ("My name is Ana", "I live in Lisbon", "I'm allergic to peanuts", "I love chocolate", "My daughter is called Bia",
     "My deadline is May 20", "My email is ana@x.com", "I'm a product manager", "My birthday is May 5",
     "We decided to use Kafka", "My favourite colour is blue", "The report's deadline is May 10", "I have a dog"),
)  # fmt: skip


def told(user: str = "ana", number: int = 0) -> list[ClaimAsserted]:
    pt, en = NOTES
    texts = [*(("pt", text) for text in pt), *(("en", text) for text in en)]
    return list(
        session_claims([said(number + at, "user", text, lang, user_id=user) for at, (lang, text) in enumerate(texts)])
    )


WIFE = ("My wife's name is Julia", "Minha esposa se chama Julia")


@pytest.mark.parametrize("text", WIFE)
def test_the_name_of_ones_wife_is_hers(text: str) -> None:
    known = claims_of(said(1, "user", text, "pt" if text.startswith("Minha") else "en"))
    for question, values_ in (("what is my name?", []), ("qual o nome da minha esposa?", ["Julia"]),
                              ("what's my wife's name?", ["Julia"])):  # fmt: skip
        wanted = about_oneself(question, "en")
        assert wanted is not None
        assert [each.claim.value for each in own_claims(known, "ana", wanted)] == values_


QUESTIONS = [
    ("pt", "Qual é o meu nome?", {"Ana"}),
    ("pt", "como eu me chamo?", {"Ana"}),
    ("pt", "Onde eu moro?", {"Lisboa", "Lisbon"}),
    ("pt", "A que eu sou alérgica?", {"amendoim", "peanuts"}),
    ("pt", "quais são minhas alergias?", {"amendoim", "peanuts"}),
    ("pt", "Que lanches posso comer?", {"amendoim", "peanuts", "chocolate"}),
    ("pt", "Como se chama minha filha?", {"Bia"}),
    ("pt", "qual o meu prazo?", {"dia 20", "May 20", "dia 10", "May 10"}),
    ("pt", "qual meu email?", {"ana@x.com"}),
    ("pt", "quando é meu aniversário?", {"5 de maio", "May 5"}),
    ("pt", "o que decidimos?", {"usar Kafka", "use Kafka"}),
    ("pt", "qual é a minha cor favorita?", {"azul", "blue"}),
    ("pt", "com o que eu trabalho?", {"gerente de produto", "product manager"}),
    ("pt", "do que eu gosto?", {"chocolate", "azul", "blue"}),
    ("en", "What is my name?", {"Ana"}),
    ("en", "who am I?", None),
    ("en", "where do I live?", {"Lisboa", "Lisbon"}),
    ("en", "what am I allergic to?", {"amendoim", "peanuts"}),
    ("en", "which snacks can I eat?", {"amendoim", "peanuts", "chocolate"}),
    ("en", "what's my daughter's name?", {"Bia"}),
    ("en", "when is my deadline?", {"dia 20", "May 20", "dia 10", "May 10"}),
    ("en", "remind me what my email is", {"ana@x.com"}),
    ("en", "what's my job?", {"gerente de produto", "product manager"}),
    ("en", "what did we decide?", {"usar Kafka", "use Kafka"}),
    ("en", "do I have any pets?", {"um cachorro", "a dog"}),
    ("pt", "tenho alguma alergia?", {"amendoim", "peanuts"}),
    ("pt", "o que a gente decidiu sobre a fila?", {"usar Kafka", "use Kafka"}),
    ("en", "what are my kids' names?", {"Bia"}),
    ("en", "what did I tell you about myself?", None),
    ("en", "What do you know about me?", None),
    ("pt", "o que você sabe sobre mim?", None),
]  # fmt: skip


@pytest.mark.covers("S0-73", "S0-75")
@pytest.mark.parametrize(("lang", "question", "expected"), QUESTIONS)
def test_a_question_about_oneself_asks_for_those_claims_and_no_others(
    lang: str, question: str, expected: set[str] | None
) -> None:
    known = told()
    wanted = about_oneself(question, lang)
    assert wanted is not None
    found = [each.claim for each in own_claims(known, "ana", wanted)]
    if expected is None:
        assert {claim.claim_id for claim in known if claim.status == "asserted"} >= {c.claim_id for c in found}
        assert {"Ana", "chocolate", "ana@x.com"} <= {claim.value for claim in found}
    else:
        assert found
        assert {claim.value for claim in found} <= expected


@pytest.mark.parametrize(
    ("lang", "question"),
    [
        ("pt", "Qual é o nome do gerente?"),
        ("pt", "Onde fica a sede?"),
        ("pt", "Explique a receita de bolo"),
        ("pt", "Como funciona o Kafka?"),
        ("pt", "Obrigado!"),
        ("pt", "O João é alérgico a quê?"),
        ("en", "What is the capital of France?"),
        ("en", "Where does Ana live?"),
        ("en", "What is the deadline of the project?"),
        ("en", "How do I reset the router?"),
        ("en", "Tell me about peanuts"),
        ("pt", "Quais áreas de estudo usam a pesquisa de campo?"),
        ("pt", "Quais computadores estão em uso?"),
        ("en", "My name is Ana. What is the capital of France?"),
    ],
)
def test_other_questions_ask_for_nothing_of_oneself(lang: str, question: str) -> None:
    assert about_oneself(question, lang) is None


@pytest.mark.covers("S0-73")
def test_another_users_facts_are_never_ones_own() -> None:
    known: Sequence[ClaimAsserted] = [*told("rui"), *told("ana", 100)]
    for question in ("o que você sabe sobre mim?", "what is my name?", "qual o meu prazo?"):
        wanted = about_oneself(question, "pt")
        assert wanted is not None
        found = own_claims(known, "ana", wanted)
        assert found
        assert {each.claim.user_id for each in found} == {"ana"}
        assert own_claims(known, "eva", wanted) == ()


def test_of_oneself_the_newer_value_is_offered_with_the_older_one_beside_it() -> None:
    known = session_claims([said(0, "user", "Moro em Lisboa"), said(1, "user", "Me mudei para o Porto")])
    wanted = about_oneself("onde eu moro?", "pt")
    assert wanted is not None
    [found] = own_claims(known, "ana", wanted)
    assert (found.claim.value, [each.value for each in found.instead_of]) == ("Porto", ["Lisboa"])


LOW = [
    ("pt", "Sou responsável pelo projeto Atlas", [("usuário", "responsável por", "projeto Atlas")]),
    ("pt", "Faço aniversário dia 5 de maio", [("usuário", "nascimento", "dia 5 de maio")]),
    ("pt", "Tenho dois filhos, Ana e Pedro", [("filho do usuário", "nome", name) for name in ("Ana", "Pedro")]),
    ("pt", "Estou morando em Curitiba", [("usuário", "residência", "Curitiba")]),
    ("en", "We decided that we will migrate to AWS", [("we", "decisão", "we will migrate to AWS")]),
    ("en", "I have two kids, Ana and Peter", [("user's kid", "nome", "Ana"), ("user's kid", "nome", "Peter")]),
    ("en", "I was born in 1990", [("user", "nascimento", "in 1990")]),
    ("en", "I bought a bike", [("user", "tem", "a bike")]),
    ("en", "I graduated in law", [("user", "formação", "law")]),
    ("pt", "meu nome é ana", [("nome do usuário", "nome", "ana")]),
    ("pt", "me chamo joão pedro e sou dentista", [("nome do usuário", "nome", "joão pedro"),
                                                ("usuário", "cargo", "dentista")]),
    ("en", "my name is johny i am four", [("user's name", "nome", "johny")]),
    ("en", "my daughter is called ana", [("user's daughter", "nome", "ana")]),
    ("pt", "minha filha se chama ana", [("filha do usuário", "nome", "ana")]),
    ("en", "I work in marketing", [("user", "emprego", "marketing")]),
    ("pt", "moro em alfama", [("usuário", "residência", "alfama")]),
    ("en", "i live in a small town", [("user", "residência", "a small town")]),
]  # fmt: skip


@pytest.mark.parametrize(("lang", "text", "expected"), LOW)
def test_names_and_places_written_low_are_read_too(lang: str, text: str, expected: list[tuple[str, str, str]]) -> None:
    assert values(claims_of(said(1, "user", text, lang))) == expected


@pytest.mark.parametrize(
    ("lang", "text"),
    [
        ("en", "The class has been great"),
        ("en", "My activities have taken a backseat"),
        ("en", "Let's have a party"),
        ("en", "There are lots of choices"),
        ("en", "The garden is big. It's awesome!"),
        ("pt", "O curso tem sido ótimo"),
    ],
)
def test_moods_and_perfects_are_no_possessions(lang: str, text: str) -> None:
    assert [claim for claim in claims_of(said(1, "user", text, lang)) if claim.attribute != "é"] == []
    assert "awesome" not in {claim.value for claim in claims_of(said(1, "user", text, lang))}


def test_a_name_after_an_apology_is_no_role() -> None:
    turns = ["I'm a Weight Watchers coach", "Sorry to hear about your job, Evan."]
    claims = session_claims([said(number, "user", text, "en") for number, text in enumerate(turns)])
    assert [(claim.attribute, claim.status) for claim in claims] == [("cargo", "asserted")]


@pytest.mark.covers("S0-75", "S0-73")
def test_what_one_said_in_any_conversation_is_found_and_only_ones_own() -> None:
    with Pipeline() as fathom:
        for user, conversation, text in (
            ("ana", "c1", "Moro em Lisboa"),
            ("ana", "c2", "Me mudei para o Porto"),
            ("ana", "c2", "Sou alérgica a amendoim"),
            ("rui", "c3", "Moro em Faro"),
        ):
            fathom.say(text, conversation=conversation, headers={"user_id": user})
        graph = fathom.dependencies().graph

        def asked(user: str, question: str) -> list[str]:
            reading = graph.claims_about(
                fathom.tenant, reader=user, subjects=subjects_of(user), as_of=fathom.clock.now(), limit=40
            )
            wanted = about_oneself(question, "pt")
            assert wanted is not None
            return [each.claim.value for each in own_claims(asyncio.run(reading).asserted, user, wanted)]

        assert asked("ana", "onde eu moro?") == ["Porto"]
        assert asked("ana", "o que você sabe sobre mim?") == ["amendoim", "Porto"]
        assert asked("rui", "where do I live?") == ["Faro"]
        assert asked("eva", "onde eu moro?") == []
