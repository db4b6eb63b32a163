"""What a later statement does to a fact: it ends it, takes it back, or neither."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from agents.core.language.contradiction import SIZE, Network
from agents.core.retrieval.acts import Act, Fact, LaterAct, Mention, acts, mentions, plain, probabilities
from streams.stores.passages.vectors import UseEmbedder

AT = datetime(2026, 3, 2, 9, tzinfo=UTC)
LATER = AT + timedelta(days=30)


@pytest.fixture(scope="module")
def embedder() -> UseEmbedder:
    return UseEmbedder()


def mentioned(fact: str, later: str, lang: str) -> list[Mention]:
    told = Fact.of_turn("fact", AT, fact, lang)
    assert told is not None
    return [*mentions(told, "later", LATER, later, lang)]


def act_of(found: Sequence[Mention], embedder: UseEmbedder) -> Act | None:
    texts = [text for each in found for text in each.masked]
    vectors: Mapping[str, Sequence[float]] = dict(zip(texts, embedder.encode(texts), strict=True))
    done = acts(found, vectors)
    return done["fact"].act if done and done["fact"].sure else None


@pytest.mark.parametrize(
    ("fact", "later", "lang", "act"),
    [
        ("My hamster is called Nut.", "Nut died last night.", "en", "ends"),
        ("My car is a Kadett.", "We sold the Kadett in June.", "en", "ends"),
        ("I work at Fen Dairy.", "I no longer work at Fen Dairy.", "en", "ends"),
        ("I live in Sligo.", "We have just moved to Cork.", "en", "ends"),
        ("My locker number is 77.", "Please forget my locker number.", "en", "retracts"),
        ("My name is Ulla.", "Ulla is not my name.", "en", "retracts"),
        ("O meu hamster chama-se Noz.", "O Noz morreu ontem.", "pt", "ends"),
        ("O meu carro é um Kadett.", "Vendi o Kadett em junho.", "pt", "ends"),
        ("Eu moro em Leiria.", "Finalmente nos mudamos para Viseu.", "pt", "ends"),
        ("O meu aniversário é a 4 de maio.", "Apaga o meu aniversário da memória.", "pt", "retracts"),
        ("O meu nome é Ulla.", "Ulla não é o meu nome.", "pt", "retracts"),
        ("My hamster is called Nut.", "Nut is asleep in his wheel.", "en", None),
        ("My locker number is 77.", "Don't forget my locker number.", "en", None),
        ("My car is a Kadett.", "Has anybody sold the Kadett?", "en", None),
        ("My locker number is 77, says Ann.", "What did I say about my locker number?", "en", None),
        ("My locker number is 77.", "Can you forget my locker number?", "en", "retracts"),
        ("O meu hamster chama-se Noz.", "O Noz comeu uma cenoura.", "pt", None),
        ("O meu aniversário é a 4 de maio.", "Não te esqueças do meu aniversário.", "pt", None),
        ("O meu cacifo é o 77.", "O que foi que eu disse do meu cacifo?", "pt", None),
        ("O meu aniversário é a 4 de maio.", "Podes esquecer o meu aniversário?", "pt", "retracts"),
    ],
)
def test_what_happened_ends_a_fact_and_who_takes_it_back_is_heard(
    embedder: UseEmbedder, fact: str, later: str, lang: str, act: Act | None
) -> None:
    assert act_of(mentioned(fact, later, lang), embedder) == act


# What people say of a thing all day; none of these verbs is in the sentences that the weights were fitted to.
SAID: Mapping[str, tuple[str, ...]] = {
    "en": (
        "Ann wants to know {}.", "My boss asked me for {}.", "Please double-check {}.", "I dreamt of {}.",
        "We celebrated {} last night.", "Send {} to accounting.", "I was late for {}.", "Rename the file to {}.",
        "Did anybody see {}?", "Someone took a picture of {}.", "{} made me smile.", "It rained on {}.",
    ),
    "pt": (
        "A Ana quer saber sobre {}.", "O meu chefe pediu {}.", "Confere {}, por favor.", "Sonhei com {}.",
        "Ontem celebrámos {}.", "Envia {} à contabilidade.", "Cheguei tarde para {}.", "Choveu sobre {}.",
        "Alguém viu {}?", "Deixa-me pensar sobre {}.", "Boas notícias sobre {}!",
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    ("fact", "thing", "lang"),
    [
        ("My locker number is 77.", "my locker number", "en"),
        ("We meet on Friday in room B12.", "room B12", "en"),
        ("Our cat is called Tinta.", "Tinta", "en"),
        ("O meu cacifo é o 77.", "o meu cacifo", "pt"),
        ("A nossa gata chama-se Tinta.", "a Tinta", "pt"),
    ],
)
def test_what_is_said_of_a_thing_all_day_leaves_its_fact_alone(
    embedder: UseEmbedder, fact: str, thing: str, lang: str
) -> None:
    said = [form.format(thing) for form in SAID[lang]]
    assert {each: act for each in said if (act := act_of(mentioned(fact, each, lang), embedder))} == {}


def test_what_is_about_something_else_or_was_said_before_does_nothing() -> None:
    assert not mentioned("My hamster is called Nut.", "My aunt sold her bakery.", "en")
    told = Fact.of_turn("fact", AT, "My hamster is called Nut.", "en")
    assert told is not None
    assert not [*mentions(told, "before", AT, "Nut died last night.", "en")]


def test_a_turn_that_says_many_things_is_no_single_fact() -> None:
    assert Fact.of_turn("fact", AT, "My hamster is called Nut and " + "we eat early " * 8, "en") is None


def test_without_vectors_of_its_encoder_only_words_end_a_fact() -> None:
    found = mentioned("I live in Sligo.", "We have just moved to Cork.", "en")
    assert acts(found, {}) == {"fact": LaterAct("ends", found[0])}
    lost = mentioned("My hamster is called Nut.", "Nut died last night.", "en")
    assert acts(lost, {text: [1.0] * (SIZE - 1) for each in lost for text in each.masked}) == {}


@pytest.mark.parametrize(
    ("masked", "lang", "left"),
    [
        ("I sold the it on 3 May, please.", "en", "I sold it"),
        ("Vendi o isso do meu isso ontem.", "pt", "Vendi isso"),
        ("Saí da isso na semana passada", "pt", "Saí disso"),
    ],
)
def test_neither_dates_nor_articles_nor_courtesies_are_judged(masked: str, lang: str, left: str) -> None:
    assert plain(masked, lang) == left


@pytest.mark.parametrize(
    ("fact", "later", "lang", "act"),
    [
        ("The Brisa Nine weighs 14.2 kg.", "I weighed it: 12.8 kg, not 14.2.", "en", "ends"),
        ("A Brisa Nove pesa 14,2 kg.", "Pesei hoje: são 12,8 kg, não 14,2.", "pt", "ends"),
        ("The Brisa Nine weighs 14.2 kg.", "It weighs 14.2 kg, not 12.8.", "en", None),
        ("The Brisa Nine weighs 14.2 kg.", "We are not 14 people.", "en", None),
        ("My locker number is 77.", "Would you wipe my locker number from your notes?", "en", "retracts"),
        ("O meu cacifo é o 77.", "Dá pra você apagar o meu cacifo?", "pt", "retracts"),
        ("My locker number is 77.", "Did you save my locker number?", "en", None),
        ("O meu cacifo é o 77.", "Ainda tens o meu cacifo?", "pt", None),
        ("My locker number is 77.", 'The clown yelled "forget my locker number, please" on stage.', "en", None),
        ("O meu cacifo é o 77.", "O palhaço gritou “esquece o meu cacifo, por favor” no palco.", "pt", None),
        ("My name is Ulla.", "We dropped the old name of the boat.", "en", None),
        ("O meu nome é Ulla.", "Mudámos o nome do barco.", "pt", None),
    ],
)
def test_a_denied_value_ends_a_fact_and_what_another_says_of_it_does_nothing(
    embedder: UseEmbedder, fact: str, later: str, lang: str, act: Act | None
) -> None:
    assert act_of(mentioned(fact, later, lang), embedder) == act


@pytest.mark.parametrize(
    ("fact", "later", "lang"),
    [
        ("At the fair in Penrith we always stay two nights at the Drovers Inn.", "The Drovers Inn burned down.", "en"),
        ("Na feira de Viseu ficamos sempre duas noites na Pensão Moinho.", "A Pensão Moinho fechou.", "pt"),
    ],
)
def test_a_long_turn_without_claims_is_known_by_its_names(
    embedder: UseEmbedder, fact: str, later: str, lang: str
) -> None:
    assert act_of(mentioned(fact, later, lang), embedder) == "ends"
    assert not mentioned(fact, later.replace("Drovers Inn", "mill").replace("Pensão Moinho", "padaria"), lang)


def test_what_may_end_a_fact_is_only_shown_beside_it_where_it_has_its_name() -> None:
    found = mentioned("My GP is Dr Marlow.", "Dr Marlow is at the beach, Dr Quist sees me.", "en")
    [named] = [each for each in found if each.named]
    unsure = Network(((0.0,) * SIZE,), (0.0,), ((0.0,),) * 3, (-1.0, -9.0, 0.0))
    vectors = {text: [0.1] * SIZE for text in named.masked}
    assert probabilities([0.1] * SIZE, unsure)[0] == pytest.approx(0.27, abs=0.01)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("agents.core.retrieval.acts.network", lambda: unsure)
        assert acts([named], vectors) == {"fact": LaterAct("ends", named, sure=False)}
        assert acts([replace(named, named=False)], vectors) == {}
        assert acts([replace(named, asks=True)], vectors) == {}


@pytest.mark.parametrize(
    ("fact", "later", "lang", "act"),
    [
        ("I work at Kestrel Labs.", "My brother left Kestrel Labs in May.", "en", None),
        ("I work at Kestrel Labs.", "If I left Kestrel Labs, I would sail.", "en", None),
        ("I work at Kestrel Labs.", "I almost quit Kestrel Labs.", "en", None),
        ("I work at Kestrel Labs.", "They say I quit Kestrel Labs.", "en", None),
        ("I live in Sligo.", "We moved the piano to the other wall.", "en", None),
        ("I'm allergic to sesame.", "The bakery no longer sells sesame.", "en", None),
        ("My car is a Colt.", "The colt died last night.", "en", None),
        ("My locker number is 77.", "Please never delete my locker number.", "en", None),
        ("The Brisa lamp costs 12 euros.", "My gym plan ended on 12 May.", "en", None),
        ("Trabalho na Azenha.", "O meu irmão saiu da Azenha em maio.", "pt", None),
        ("Trabalho na Azenha.", "Se eu saísse da Azenha, ia velejar.", "pt", None),
        ("Sou alérgico a sésamo.", "A padaria já não vende sésamo.", "pt", None),
        ("O meu cacifo é o 77.", "Não apague o meu cacifo.", "pt", None),
        ("Minha placa é ZRT4C11.", "Apague a minha placa, por favor.", "pt", "retracts"),
        ("I work at Kestrel Labs.", "I left Kestrel Labs in May.", "en", "ends"),
        ("My wife is called Ulla.", "My wife left me.", "en", "ends"),
    ],
)
def test_what_is_said_of_others_or_did_not_happen_ends_nothing(
    embedder: UseEmbedder, fact: str, later: str, lang: str, act: Act | None
) -> None:
    assert act_of(mentioned(fact, later, lang), embedder) == act
