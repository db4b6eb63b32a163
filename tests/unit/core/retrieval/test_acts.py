"""What a later statement does to a fact: it ends it, takes it back, or neither."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

import pytest

from agents.core.retrieval.acts import SIZE, Act, Fact, Mention, acts, mentions, plain
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
    return done["fact"][0] if done else None


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
    assert acts(found, {}) == {"fact": ("ends", found[0])}
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
