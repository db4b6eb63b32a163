"""The language of instructions and labels, from message to pack, where few words or none tell it."""

from collections.abc import Iterator

import pytest

from schemas.policy import ContextPolicy
from schemas.topics import CONVERSATION_TURNS, MEMORY_CLAIMS
from streams.testing.pipeline import Pipeline

ENGLISH, PORTUGUESE = "How to answer", "Como responder"
WORDLESS = ("👍", "ok", "???", "E21?")


@pytest.fixture
def fathom() -> Iterator[Pipeline]:
    with Pipeline() as pipeline:
        yield pipeline


def language(fathom: Pipeline, text: str, **fields: object) -> str:
    """That of the instructions of a message's pack."""
    said = fathom.ask(text, **fields).text or ""
    assert (ENGLISH in said) != (PORTUGUESE in said)
    return "en" if ENGLISH in said else "pt"


@pytest.mark.parametrize("text", WORDLESS)
def test_without_any_sign_a_new_conversation_is_in_english(fathom: Pipeline, text: str):
    assert language(fathom, text) == "en"


@pytest.mark.parametrize("text", WORDLESS)
@pytest.mark.parametrize(("before", "lang"), [("Where is my order?", "en"), ("Onde está o meu pedido?", "pt")])
def test_a_message_without_words_has_the_language_of_what_was_said_before(
    fathom: Pipeline, text: str, before: str, lang: str
):
    fathom.say(before)
    other = {"locale": "pt-BR" if lang == "en" else "en-GB"}
    assert language(fathom, text, headers=other) == lang


@pytest.mark.parametrize("text", WORDLESS)
def test_without_a_conversation_the_locale_of_the_message_tells(fathom: Pipeline, text: str):
    assert language(fathom, text, headers={"locale": "pt-BR"}) == "pt"


@pytest.mark.parametrize("text", WORDLESS)
def test_without_a_locale_the_policy_tells(text: str):
    with Pipeline(policy=ContextPolicy(lang="pt")) as fathom:
        assert language(fathom, text) == "pt"
        assert language(fathom, "Where is my order?") == "en"


@pytest.mark.parametrize(
    ("said", "user"),
    [("I live in São Paulo.", "user"), ("I was born in Ribeirão Preto.", "user"), ("Moro em New York.", "usuário")],
)
def test_a_name_of_the_other_language_does_not_name_the_user_in_it(fathom: Pipeline, said: str, user: str):
    fathom.say(said)
    [turn] = fathom.events(CONVERSATION_TURNS)
    assert turn.event.lang == ("en" if user == "user" else "pt")
    [claim] = fathom.events(MEMORY_CLAIMS)
    assert claim.event.subject.casefold().startswith(user)
