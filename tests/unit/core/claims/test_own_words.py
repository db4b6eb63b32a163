"""What somebody else says in a message is no fact of who hands it over; what is one's own stays."""

import pytest

from agents.core.claims.extraction import assertions

OF_OTHERS = (
    ("en", "Could you proofread this letter: My name is Bruno and I live in Bergen."),
    ("en", "Please critique this: I live in Bergen and my cat is called Miso."),
    ("en", "Into German, please translate: I am allergic to walnuts."),
    ("en", "Rewrite this in a formal tone.\n\nMy birthday is on 3 May and I live in Bergen."),
    ("en", "Bruno: I am allergic to walnuts."),
    ("en", "This is the chat:\n(09:12) Vera: my birthday is on 3 May\n(09:13) Ulf: I live in Bergen"),
    ("en", "What do you make of this ad: I live in Bergen and rent out a room."),
    ("en", "Notes of the interview, second applicant: I am 44 years old."),
    ("en", "My landlord sent me this message:\nI live in Bergen now."),
    ("en", "> I live in Bergen.\nI agree."),
    ("en", "Say this in German: I live in Bergen."),
    ("en", "From: Vera\nSubject: the boat\n\nI live in Bergen now."),
    ("en", "The applicant wrote: I live in Bergen."),
    ("en", "Export of the group:\n03/05/2031, 09:12 - Vera: I live in Bergen"),
    ("pt", "A minha tia mandou-me ontem: moro em Beja agora."),
    ("pt", "Revê esta carta: o meu nome é Abel e moro em Beja."),
    ("pt", "Traduz para francês: sou alérgico a nozes."),
    ("pt", "Dona Berta: moro em Beja."),
    ("pt", "O que achas deste anúncio: Moro em Beja e alugo um quarto."),
    ("en", "Oh wonderful, I love waiting in the rain."),
)
OWN = (
    ("en", "Note: I live in Bergen."),
    ("en", "Remember this: I live in Bergen."),
    ("en", "About me: I live in Bergen."),
    ("en", "I have news: I live in Bergen now."),
    ("en", "Can you remember that I live in Bergen?"),
    ("en", "My new address: I live in Bergen."),
    ("en", "I have this problem: I live in Bergen."),
    ("en", "For your records: I live in Bergen."),
    ("pt", "Guarda isto: moro em Beja."),
    ("pt", "Sobre mim: moro em Beja."),
    ("pt", "Podes anotar que moro em Beja?"),
)


@pytest.mark.parametrize(("lang", "said"), OF_OTHERS)
def test_what_another_says_is_no_fact_of_the_user(lang: str, said: str) -> None:
    assert assertions(said, "user", lang) == ()


@pytest.mark.parametrize(("lang", "said"), OWN)
def test_what_users_say_of_themselves_is_theirs(lang: str, said: str) -> None:
    assert [(each.attribute, each.value) for each in assertions(said, "user", lang)] in (
        [("residência", "Bergen")],
        [("residência", "Beja")],
    )


def test_the_rest_of_a_message_stays_ones_own() -> None:
    said = "I live in Bergen. Please translate this text: I live in Turin."
    assert [each.value for each in assertions(said, "user", "en")] == ["Bergen"]
