"""What is offered as known: the newest of what excludes each other, in any order, and nothing falsely lost."""

import random
from datetime import timedelta

import pytest

from agents.core.claims.lifecycle import session_claims
from agents.core.claims.resolution import offered
from schemas.base import Conversation
from schemas.memory import ClaimAsserted
from tests.builders.claim_pairs import CONTROL
from tests.builders.claims import NOON, said


def conversation(number: int, *turns: tuple[str, str], lang: str = "pt", user: str = "ana") -> list[ClaimAsserted]:
    """The claims of one conversation; the next one is an hour later."""
    where = Conversation(tenant="acme", client_id="web", conversation_id=f"c{number}")
    spoken = [
        said(
            number * 100 + place,
            author,
            text,
            lang,
            conversation=where,
            frame_id=f"f{number}",
            user_id=user,
            at=NOON + timedelta(hours=number, minutes=place),
        )
        for place, (author, text) in enumerate(turns)
    ]
    return list(session_claims(spoken))


def values(claims: list[ClaimAsserted]) -> list[str]:
    return [each.claim.value for each in offered(claims)]


X = "O prazo do projeto X é "
NEWER = (
    [*conversation(1, ("user", f"{X}dia 15")), *conversation(2, ("user", f"{X}dia 20"))],
    [*conversation(1, ("user", f"{X}dia 15")), *conversation(2, ("user", f"{X}dia 20"), user="bia")],
    [*conversation(1, ("system", f"{X}dia 15"), ("user", f"Não, {X.lower()}dia 20"))],
    [*conversation(1, ("user", f"{X}dia 15"), ("user", f"Na verdade, {X.lower()}dia 20"))],
)


@pytest.mark.covers("AC-12", "S0-75", "S0-73")
@pytest.mark.parametrize("claims", NEWER, ids=["own", "anothers", "assistants", "corrected"])
def test_the_newest_assertion_is_offered_and_names_the_older_one(claims: list[ClaimAsserted]) -> None:
    for seed in range(5):
        arrived = claims[:]
        random.Random(seed).shuffle(arrived)
        [found] = offered(arrived)
        assert "20" in found.claim.value
        assert ["15" in each.value for each in found.instead_of] == [True]


@pytest.mark.parametrize(
    ("lang", "first", "then", "left"),
    [
        ("en", "My plan is Basic.", "My plan is now Premium.", ["Premium"]),
        ("pt", "Meu plano é o básico.", "Agora meu plano é o premium.", ["o premium"]),
        ("pt", "Meu time é o Grêmio.", "Agora meu time é o Inter.", ["Inter"]),
        ("en", "My desk is by the window.", "Now my desk is white.", ["white", "by the window"]),
        ("en", "My car is red.", "My car is now broken.", ["now broken", "red"]),
        ("en", "My bank is Santander.", "My bank is Caixa.", ["Caixa", "Santander"]),
        ("en", "My team is Benfica.", "My team is now Portuguese champion.", ["Portuguese champion", "Benfica"]),
        ("pt", "Meu time é o Grêmio.", "Agora meu time é o líder.", ["o líder", "Grêmio"]),
        (
            "pt",
            "Minha escola é a São José.",
            "Agora minha escola é a melhor da cidade.",
            ["a melhor da cidade", "São José"],
        ),
    ],
)
def test_a_thing_of_ones_own_that_is_called_another_now_is_not_called_the_first(
    lang: str, first: str, then: str, left: list[str]
) -> None:
    said_in = [*conversation(1, ("user", first), lang=lang), *conversation(2, ("user", then), lang=lang)]
    assert values(said_in) == left


@pytest.mark.covers("S0-75", "CF-40")
def test_an_assistants_statement_is_neither_offered_nor_displaces_a_users() -> None:
    assert values(conversation(1, ("system", f"{X}dia 15"))) == []
    insisting = conversation(1, ("system", f"{X}dia 15"), ("user", f"Não, {X.lower()}dia 20"), ("system", f"{X}dia 15"))
    assert ["20" in value for value in values(insisting)] == [True]
    elsewhere = [*conversation(1, ("user", f"{X}dia 20")), *conversation(2, ("system", f"{X}dia 15"))]
    assert ["20" in value for value in values(elsewhere)] == [True]
    [agreed] = offered(conversation(1, ("system", f"{X}dia 15"), ("user", f"Sim, {X.lower()}dia 15")))
    assert agreed.claim.author == "user"


@pytest.mark.covers("S0-75", "CF-74")
def test_what_was_retired_or_contested_by_people_is_not_offered() -> None:
    [claim] = conversation(1, ("user", f"{X}dia 15"))
    for status in ("superseded", "retracted", "contested"):
        assert offered([claim.model_copy(update={"status": status})]) == ()
    assert len(offered([claim.model_copy(update={"status": "confirmed"})])) == 1


def test_the_same_value_said_again_is_offered_once() -> None:
    again = [*conversation(1, ("user", f"{X}dia 20")), *conversation(2, ("user", f"{X}dia 20"))]
    [found] = offered(again)
    assert found.claim.conversation_id == "c2"


@pytest.mark.covers("S0-73", "CF-74")
def test_bare_subjects_of_two_conversations_are_two_things() -> None:
    claims = [*conversation(1, ("user", "O prazo é dia 15")), *conversation(2, ("user", "O prazo é dia 20"))]
    assert sorted(values(claims)) == ["dia 15", "dia 20"]


SUBJECTS = {
    "pt": ("O prazo do projeto {}", "O orçamento do projeto {}", "O responsável pelo projeto {}"),
    "en": ("The deadline of project {}", "The budget of project {}", "The owner of project {}"),
}
SAID = {
    "pt": ("{} é dia {}.", "{} é de R$ {} mil.", "{} é a Ana{}."),
    "en": ("{} is March {}.", "{} is {} thousand dollars.", "{} is Ana{}."),
}


def control_stream(seed: int, statements: int) -> tuple[list[ClaimAsserted], int]:
    """Facts of many projects, said and repeated by several people in both languages; nothing ever changes."""
    chance = random.Random(seed)
    facts: list[tuple[str, str]] = []
    for number in range(statements):
        lang = chance.choice(("pt", "en"))
        kind = chance.randrange(3)
        subject = SUBJECTS[lang][kind].format(f"{chance.choice('ABCDEFG')}{number % 40}{lang}")
        day = sum(map(ord, subject)) % 27 + 1
        facts.append((lang, SAID[lang][kind].format(subject, day if kind < 2 else "")))
    claims: list[ClaimAsserted] = []
    for number, (lang, text) in enumerate(facts):
        author = chance.choice(("user", "user", "system"))
        claims += conversation(number, (author, text), lang=lang, user=chance.choice(("ana", "bia", "caio")))
    pairs = [pair for pair in CONTROL if pair[1] == "user"]
    for number, (lang, first, before, second, after) in enumerate(pairs, statements):
        claims += conversation(number, (first, before), (second, after), lang=lang, user=f"u{number}")
    return claims, len(claims)


@pytest.mark.covers("S0-73", "S0-75", "CF-74")
@pytest.mark.parametrize("seed", range(3))
def test_a_stream_without_changes_loses_less_than_two_in_a_hundred(seed: int) -> None:
    claims, count = control_stream(seed, 150)
    own = [claim for claim in claims if claim.author == "user"]
    found = offered(claims)
    lost = {each.claim_id for one in found for each in one.instead_of if each.author == "user"}
    retired = [claim for claim in own if claim.status in ("superseded", "contested")]
    assert count > 150
    assert len(lost) + len(retired) < 0.02 * count
    shown = [each.claim for each in found]
    known = {(claim.subject, claim.attribute) for claim in own}
    assert len({(claim.subject, claim.attribute) for claim in shown}) >= 0.98 * len(known)


def test_what_is_offered_does_not_depend_on_arrival() -> None:
    claims, _ = control_stream(4, 60)
    changed = [*claims, *conversation(900, ("user", f"{X}dia 15")), *conversation(901, ("user", f"{X}dia 20"))]
    expected = [each.claim.claim_id for each in offered(changed)]
    for order in range(3):
        random.Random(order).shuffle(changed)
        assert [each.claim.claim_id for each in offered(changed)] == expected
