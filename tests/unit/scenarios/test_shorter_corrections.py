"""A newer value of a thing that is named more shortly than before: what it replaces, and what it leaves alone."""

import pytest

from streams.testing.pipeline import Pipeline

ANA = {"user_id": "ana"}
# What was said, what is said later, what is asked, and the older and the newer value.
REPLACED = (
    ("My budget for the bike is 900 euros.", "My budget is now 1,200 euros.", "What is my budget for the bike?",
     "900", "1,200"),
    ("My budget for the bike is 900 euros.", "Actually, my budget is 1200.", "What is my budget?", "900", "1200"),
    ("Meu orçamento para a bicicleta é de 900 euros.", "Meu orçamento agora é de 1.200 euros.",
     "Qual é o meu orçamento para a bicicleta?", "900", "1.200"),
    ("My deadline for the thesis is 5 May.", "My deadline has moved to 9 May.", "What is my deadline?",
     "5 May", "9 May"),
    ("Minha consulta no dentista é dia 5 de maio.", "Minha consulta agora é dia 9 de maio.",
     "Quando é a minha consulta no dentista?", "dia 5", "dia 9"),
    ("My delivery address is 12 Oak Street.", "My address is now 40 Elm Street.", "What is my delivery address?",
     "12 Oak", "40 Elm"),
    ("Meu endereço de entrega é rua das Flores 12.", "Na verdade, meu endereço é rua do Carmo 40.",
     "Qual é o meu endereço de entrega?", "Flores", "Carmo"),
    ("My shoe size is 42.", "Actually, my size is 43.", "What is my shoe size?", "42", "43"),
    ("My plan at the gym is the basic one.", "My plan is now the premium one.", "What is my plan?", "basic", "premium"),
    ("Meu plano na academia é o básico.", "Meu plano agora é o premium.", "Qual é o meu plano?", "básico", "premium"),
)  # fmt: skip
# Of another thing, of several things, or without a word of change.
KEPT = (
    ("My sister's phone is 555-1234.", "My phone is now 555-9999.", "1234"),
    ("O peso do meu cachorro é 12 kg.", "Meu peso agora é 80 kg.", "12 kg"),
    ("My budget for the bike is 900 euros.", "My budget for the trip is now 1,200 euros.", "900"),
    ("My budget for the bike is 900 euros.", "My budget is 1,200 euros.", "900"),
    ("Meu orçamento para a bicicleta é de 900 euros.", "Meu orçamento para a viagem agora é de 1.200 euros.", "900"),
)


def told(fathom: Pipeline, *said: str, talks: tuple[str, ...]) -> dict[str, str]:
    """The status of each value that the user stated."""
    for text, talk in zip(said, talks, strict=True):
        fathom.say(text, conversation=talk, headers=ANA)
        fathom.clock.advance(60)
    return {claim["value"]: claim["status"] for claim in fathom.nodes("Claim")}


@pytest.mark.parametrize("talks", [("c1", "c1"), ("c1", "c2")], ids=["one talk", "two talks"])
@pytest.mark.parametrize(("said", "later", "asked", "old", "new"), REPLACED)
def test_it_replaces_the_value_of_the_only_such_thing(
    said: str, later: str, asked: str, old: str, new: str, talks: tuple[str, str]
) -> None:
    with Pipeline() as fathom:
        told(fathom, said, later, talks=talks)
        fathom.clock.advance(7200)
        pack = fathom.ask(asked, conversation="c3", headers=ANA)
    facts = [item.text for item in pack.semantic.definitions] if pack.semantic else []
    turns = pack.episodic.relevant_events if pack.episodic else ()
    assert not any(old in text for text in facts)
    assert [item.holds for item in turns if old in item.label] in ([], [False])
    assert new in (pack.text or "")


@pytest.mark.parametrize(("said", "later", "old"), KEPT)
def test_it_replaces_no_value_of_another_thing(said: str, later: str, old: str) -> None:
    with Pipeline() as fathom:
        statuses = told(fathom, said, later, talks=("c1", "c1"))
    assert [status for value, status in statuses.items() if old in value] == ["asserted"]


TWO = {
    "en": ("My budget for the bike is 900 euros.", "My budget for the trip is 2000 euros.",
           "My budget is now 1300 euros.", "What is my budget for the bike?"),
    "pt": ("Meu orçamento para a bicicleta é de 900 euros.", "Meu orçamento para a viagem é de 2000 euros.",
           "Meu orçamento agora é de 1300 euros.", "Qual é o meu orçamento para a bicicleta?"),
}  # fmt: skip


@pytest.mark.parametrize("lang", TWO)
def test_of_two_such_things_it_means_the_last_of_its_talk_and_in_another_talk_neither(lang: str) -> None:
    *said, asked = TWO[lang]
    for talks, replaced in ((("c1", "c1", "c1"), {"2000"}), (("c1", "c1", "c2"), set())):
        with Pipeline() as fathom:
            statuses = told(fathom, *said, talks=talks)
            fathom.clock.advance(7200)
            pack = fathom.ask(asked, conversation="c3", headers=ANA)
        assert {value.split()[0] for value, status in statuses.items() if status != "asserted"} == replaced
        marked = [item.label for item in pack.episodic.relevant_events if item.holds is False] if pack.episodic else []
        assert {word for text in marked for word in ("900", "2000") if word in text} == replaced
